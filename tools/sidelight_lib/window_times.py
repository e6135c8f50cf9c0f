# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench windows`: how long windows that come and go take."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from . import alone_and_under
from .alone_and_under import Sample
from .console import output, rich
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
    alone_and_under.add_options(parser)
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="ranks (default 2)")
    parser.set_defaults(action=main)


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The samples that have figures, as medians, in the order of the first of each."""
    names = ("make", "first_put", "free", "make_first")
    return [
        Row(line, column, *(median(figures[name] for figures in several) for name in names))
        for (line, column), several in alone_and_under.by_line(samples).items()
    ]


def main(arguments: argparse.Namespace) -> int:
    options = ["--quick"] if arguments.quick else []
    program = alone_and_under.Program("windows", list(TITLES), arguments.ranks, options)
    samples, errors = alone_and_under.run(program, arguments)
    if arguments.json:
        raw = [asdict(sample) for sample in samples]
        found = [asdict(row) for row in rows(samples)]
        print(json.dumps({"rows": found, "samples": raw, "errors": errors}, indent=2))
    else:
        _print_table(samples, arguments.ranks, alone_and_under.rounds(arguments))
    return 0


def _print_table(samples: Sequence[Sample], ranks: int, rounds: int) -> None:
    console = output()
    table = rich("table").Table(
        title=f"Windows that come and go, {ranks} ranks: medians of {rounds} round(s), us",
        title_justify="left",
    )
    for heading in ("", "", "make", "first put", "free", "make, first"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_column("make + free\n: alone", justify="right")
    found = {(row.line, row.column): row for row in rows(samples)}
    order = list(TITLES)
    for row in sorted(found.values(), key=lambda row: order.index(row.line)):
        name, under, _ = row.column.partition(UNDER)
        alone = found.get((row.line, name))
        ratio = f"{row.both / alone.both:.2f}" if under and alone else ""
        where = f"{name}, {'sidelight' if under else 'alone'}"
        times = [f"{value:.1f}" for value in (row.make, row.first_put, row.free, row.make_first)]
        table.add_row(TITLES[row.line], where, *times, ratio)
    console.print(table)
    for sample in samples:
        if sample.outcome:
            console.print(f"{sample.column}: {TITLES[sample.line]}: {sample.outcome}")
