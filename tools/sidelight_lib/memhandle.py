# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench memhandle`: put and flush through the windows of memory handles."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import interleaved
from .console import output, rich
from .interleaved import Measured, Sample
from .latency_lines import UNDER

_DESCRIPTION = """\
A put and a flush: in an allocated window, in a dynamic one, through the window of a memory handle
(MPIX_Win_from_memhandle), and through one that is opened before each put and freed after its flush.
On each host alone, which has the first two, and under Sidelight, in turns, round after round;
medians over the rounds. The routes are those of the settings: SIDELIGHT_ROUTE=emulated takes each
rank for a node of its own, and SIDELIGHT_NETWORK=tcp messages through the network's stack.
"""

SIZES = {8: "8 B", 1 << 10: "1 KB", 16 << 10: "16 KB", 64 << 10: "64 KB", 1 << 20: "1 MB"}
HOWS = ("allocated", "dynamic", "memhandle", "opened")
OF_HOSTS = HOWS[:2]


@dataclass(frozen=True)
class Row:
    """One size in one column: medians over the rounds, in microseconds. A host alone has no memory
    handles."""

    bytes: int
    column: str
    allocated: float
    dynamic: float
    memhandle: float | None = None
    opened: float | None = None


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "memhandle", help="windows of memory handles", description=_DESCRIPTION
    )
    interleaved.add_options(parser, nodes=True)
    parser.set_defaults(action=main)


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The sizes that have all figures of their column, column by column, smallest first."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for (line, column), figures in interleaved.medians(samples).items():
        how, _, size = line.partition("_")
        found.setdefault((column, int(size)), {})[how] = figures["microseconds"]
    return [
        Row(size, column, **figures)
        for (column, size), figures in sorted(found.items())
        if set(figures) == set(HOWS if column.endswith(UNDER) else OF_HOSTS)
    ]


def main(arguments: argparse.Namespace) -> int:
    options = ["--quick"] if arguments.quick else []
    lines = [f"{how}_{size}" for size in SIZES for how in HOWS]
    program = interleaved.Program("memhandle", lines, 2, options)
    measured = interleaved.run(program, arguments)
    if arguments.json:
        interleaved.print_json(rows(measured.samples), measured)
    else:
        _print_table(measured)
    return 0


def _print_table(measured: Measured) -> None:
    console = output()
    table = rich("table").Table(
        title=f"A put and a flush: medians of {measured.rounds} round(s), us", title_justify="left"
    )
    for heading in ("", "", *HOWS, "memhandle\n: allocated", "open and\nfree"):
        table.add_column(heading, justify="right" if heading else "left")
    for row in rows(measured.samples):
        times = [f"{value:.3f}" for value in (row.allocated, row.dynamic)]
        if row.memhandle is not None and row.opened is not None:
            times += [f"{value:.3f}" for value in (row.memhandle, row.opened)]
            times += [f"{row.memhandle / row.allocated:.2f}", f"{row.opened - row.memhandle:.2f}"]
        table.add_row(interleaved.where(row.column), SIZES[row.bytes], *times)
    console.print(table)
    there = [sample for sample in measured.samples if sample.outcome != interleaved.NOT_THERE]
    interleaved.print_outcomes(console, there)
