# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench windows`: how long windows that come and go take."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import interleaved
from .console import new_table, output
from .interleaved import Measured, Sample
from .latency_lines import UNDER

_DESCRIPTION = """\
Windows that are made, used once and freed, one after the other: on each host alone and under
Sidelight, in turns, round after round. Medians of rank 0's times over the windows of a round, and
over the rounds.
"""

TITLES = {
    "allocate_8": "allocate 8 B",
    "allocate_4096": "allocate 4 KB",
    "allocate_1m": "allocate 1 MB",
    "shared_4096": "shared 4 KB",
    "create_8": "create on 8 B",
    "create_4096": "create on 4 KB",
    "create_1m": "create on 1 MB",
    "create_alloc_mem_4096": "create on Alloc_mem",
    "dynamic": "dynamic",
}


@dataclass(frozen=True)
class Row:
    """One line in one column: medians over the rounds, in microseconds."""

    line: str
    column: str
    make: float
    first_put: float
    free: float
    make_first: float  # of the first window of each run

    @property
    def both(self) -> float:
        return self.make + self.free


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "windows", help="how long windows that come and go take", description=_DESCRIPTION
    )
    interleaved.add_options(parser)
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="ranks (default 2)")
    parser.set_defaults(action=main)


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The samples that have figures, as medians, in the order of the first of each."""
    names = ("make", "first_put", "free", "make_first")
    return [
        Row(line, column, *(figures[name] for name in names))
        for (line, column), figures in interleaved.medians(samples).items()
    ]


def main(arguments: argparse.Namespace) -> int:
    options = ["--quick"] if arguments.quick else []
    program = interleaved.Program("windows", list(TITLES), arguments.ranks, options)
    measured = interleaved.run(program, arguments)
    if arguments.json:
        interleaved.print_json(rows(measured.samples), measured)
    else:
        _print_table(measured, arguments.ranks)
    return 0


def _print_table(measured: Measured, ranks: int) -> None:
    console = output()
    table = new_table(
        f"Windows that come and go, {ranks} ranks: medians of {measured.rounds} round(s), us",
        ("", "", "make", "first put", "free", "make, first"),
    )
    table.add_column("make + free\n: alone", justify="right")
    found = {(row.line, row.column): row for row in rows(measured.samples)}
    order = list(TITLES)
    for row in sorted(found.values(), key=lambda row: order.index(row.line)):
        name, under, _ = row.column.partition(UNDER)
        alone = found.get((row.line, name))
        ratio = f"{row.both / alone.both:.2f}" if under and alone else ""
        where = interleaved.where(row.column)
        times = [f"{value:.1f}" for value in (row.make, row.first_put, row.free, row.make_first)]
        table.add_row(TITLES[row.line], where, *times, ratio)
    console.print(table)
    interleaved.print_outcomes(console, measured.samples, TITLES)
