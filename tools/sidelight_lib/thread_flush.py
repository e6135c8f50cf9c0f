# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench thread-flush`: threads that each put and flush (P2, figures 8, 9, 11)."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import interleaved, plots
from .console import Column, output, tables
from .interleaved import Measured, Sample
from .latency_lines import UNDER

_DESCRIPTION = """\
Threads of one process that each put and flush, on a window with process scope, on one with thread
scope and on one with process scope that is ordered (the info keys mpi_win_scope and mpi_win_order,
which hosts alone ignore): on each host alone and under
Sidelight, in turns, round after round; medians over the rounds. Processor time is that of the whole
process for one put and its flush. Where more threads run than there are cores the time on the clock
says little.
"""

KINDS = {"process": "process scope", "thread": "thread scope", "ordered": "ordered"}
THREADS = (1, 2, 4, 8, 16, 32)
LINES = [f"{kind}_{threads}" for threads in THREADS for kind in KINDS]


@dataclass(frozen=True)
class Row:
    """One line in one column: medians over the rounds, in microseconds."""

    line: str
    column: str
    cpu: float
    wall: float

    @property
    def kind(self) -> str:
        return self.line.partition("_")[0]

    @property
    def threads(self) -> int:
        return int(self.line.partition("_")[2])


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "thread-flush", help="threads that each put and flush", description=_DESCRIPTION
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.add_argument("--bytes", type=int, default=8, metavar="N", help="of a put (default 8)")
    parser.set_defaults(action=main)


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The samples that have figures, as medians, in the order of the first of each."""
    return [
        Row(line, column, figures["cpu"], figures["wall"])
        for (line, column), figures in interleaved.medians(samples).items()
    ]


def main(arguments: argparse.Namespace) -> int:
    options = [*(["--quick"] if arguments.quick else []), "--bytes", str(arguments.bytes)]
    program = interleaved.Program("thread_flush", LINES, 2, options)
    measured = interleaved.run(program, arguments)
    if arguments.json:
        interleaved.print_json(rows(measured.samples), measured)
    else:
        _print_table(measured, arguments.bytes)
    if arguments.plot:
        title = f"A put of {arguments.bytes} B and its flush by each thread (P2, figures 8, 9, 11)"
        plots.draw(arguments.plot, panels(measured), title)
    return 0


def panels(measured: Measured) -> list[plots.Panel]:
    """Processor time, one panel for each column: a curve for each kind of window."""
    found = rows(measured.samples)

    def curve(column: str, kind: str) -> list[tuple[float, float]]:
        of_kind = [row for row in found if (row.column, row.kind) == (column, kind)]
        return [(float(row.threads), row.cpu) for row in of_kind]

    return [
        plots.Curves(
            interleaved.where(column),
            "threads",
            "us of the processor",
            {title: curve(column, kind) for kind, title in KINDS.items()},
            logarithmic="xy",
            ticks={float(threads): str(threads) for threads in THREADS},
        )
        for column in dict.fromkeys(row.column for row in found)
    ]


def _print_table(measured: Measured, size: int) -> None:
    console = output()
    found = rows(measured.samples)
    title = f"A put of {size} B and its flush: medians of {measured.rounds} round(s), in us"
    by_key = {(row.column, row.kind, row.threads): row for row in found}
    names = list(dict.fromkeys(row.column for row in found))
    every = [(threads, name) for threads in THREADS for name in names]
    lines = [(threads, name) for threads, name in every if (name, "thread", threads) in by_key]

    def cells(kind: str, figure: str) -> list[str]:
        of_lines = [by_key.get((name, kind, threads)) for threads, name in lines]
        return [f"{getattr(row, figure):.3f}" if row else "" for row in of_lines]

    def ratio(threads: int, name: str) -> str:
        alone = by_key.get((name, "thread", 1))
        row = by_key[name, "thread", threads]
        return f"{row.cpu / alone.cpu:.2f}" if alone and alone.cpu else ""

    columns = [
        Column(f"{kind}\n{figure}", cells(kind, figure))
        for kind in KINDS
        for figure in ("cpu", "wall")
    ]
    columns.append(Column("thread cpu:\nthat of one", [ratio(*line) for line in lines]))
    titles = [f"{threads} {name.replace(UNDER, ', sidelight')}" for threads, name in lines]
    for table in tables(console, title, titles, columns):
        console.print(table)
    interleaved.print_outcomes(console, measured.samples)
