# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench thread-flush`: threads that each put and flush (P2, figures 8 and 9)."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from . import alone_and_under
from .alone_and_under import Sample
from .console import Column, output, tables
from .latency_lines import UNDER

_DESCRIPTION = """\
Threads of one process that each put and flush, on a window with process scope and on one with
thread scope (the info key mpi_win_scope, which hosts alone ignore): on each host alone and under
Sidelight, in turns, round after round; medians over the rounds. Processor time is that of the whole
process for one put and its flush. Where more threads run than there are cores the time on the clock
says little.
"""

SCOPES = ("process", "thread")
THREADS = (1, 2, 4, 8, 16, 32)
LINES = [f"{scope}_{threads}" for threads in THREADS for scope in SCOPES]


@dataclass(frozen=True)
class Row:
    """One line in one column: medians over the rounds, in microseconds."""

    line: str
    column: str
    cpu: float
    wall: float

    @property
    def scope(self) -> str:
        return self.line.partition("_")[0]

    @property
    def threads(self) -> int:
        return int(self.line.partition("_")[2])


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "thread-flush", help="threads that each put and flush", description=_DESCRIPTION
    )
    alone_and_under.add_options(parser)
    parser.add_argument("--bytes", type=int, default=8, metavar="N", help="of a put (default 8)")
    parser.set_defaults(action=main)


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The samples that have figures, as medians, in the order of the first of each."""
    return [
        Row(
            line,
            column,
            *(median(figures[name] for figures in several) for name in ("cpu", "wall")),
        )
        for (line, column), several in alone_and_under.by_line(samples).items()
    ]


def main(arguments: argparse.Namespace) -> int:
    options = [*(["--quick"] if arguments.quick else []), "--bytes", str(arguments.bytes)]
    program = alone_and_under.Program("thread_flush", LINES, 2, options)
    samples, errors = alone_and_under.run(program, arguments)
    found = rows(samples)
    if arguments.json:
        raw = [asdict(sample) for sample in samples]
        print(
            json.dumps(
                {"rows": [asdict(row) for row in found], "samples": raw, "errors": errors}, indent=2
            )
        )
    else:
        _print_table(found, samples, arguments)
    return 0


def _print_table(found: Sequence[Row], samples: Sequence[Sample], arguments: Any) -> None:
    console = output()
    rounds = alone_and_under.rounds(arguments)
    title = f"A put of {arguments.bytes} B and its flush: medians of {rounds} round(s), in us"
    by_key = {(row.column, row.scope, row.threads): row for row in found}
    names = list(dict.fromkeys(row.column for row in found))
    every = [(threads, name) for threads in THREADS for name in names]
    lines = [(threads, name) for threads, name in every if (name, "thread", threads) in by_key]

    def cells(scope: str, figure: str) -> list[str]:
        of_lines = [by_key.get((name, scope, threads)) for threads, name in lines]
        return [f"{getattr(row, figure):.3f}" if row else "" for row in of_lines]

    def ratio(threads: int, name: str) -> str:
        alone = by_key.get((name, "thread", 1))
        row = by_key[name, "thread", threads]
        return f"{row.cpu / alone.cpu:.2f}" if alone and alone.cpu else ""

    columns = [
        Column(f"{scope}\n{figure}", cells(scope, figure))
        for scope in SCOPES
        for figure in ("cpu", "wall")
    ]
    columns.append(Column("cpu: that\nof one", [ratio(*line) for line in lines]))
    titles = [f"{threads} {name.replace(UNDER, ', sidelight')}" for threads, name in lines]
    for table in tables(console, title, titles, columns):
        console.print(table)
    for sample in samples:
        if sample.outcome:
            console.print(f"{sample.column}: {sample.line}: {sample.outcome}")
