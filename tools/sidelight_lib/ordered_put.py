# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench ordered-put`: data and then a flag, with a flush between them or in order."""

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
Two puts, data and a flag, and a flush: with a flush between the two, in a window whose operations
are ordered (info key mpi_win_order) without one, and in an ordinary window without one, which
orders nothing. On each host alone, where the key is not known, and under Sidelight, in turns, round
after round; medians over the rounds. The routes are those of the settings: SIDELIGHT_ROUTE=emulated
and SIDELIGHT_NETWORK=tcp take messages.
"""

SIZES = {8: "8 B", 1 << 10: "1 KB", 16 << 10: "16 KB", 64 << 10: "64 KB", 1 << 20: "1 MB"}
HOWS = ("flushed", "ordered", "unordered")


@dataclass(frozen=True)
class Row:
    """One size in one column: medians over the rounds, in microseconds."""

    bytes: int
    column: str
    flushed: float
    ordered: float
    unordered: float


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "ordered-put", help="ordered windows against flushes", description=_DESCRIPTION
    )
    alone_and_under.add_options(parser)
    parser.set_defaults(action=main)


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The sizes that have all three figures, column by column, smallest first."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for (line, column), several in alone_and_under.by_line(samples).items():
        how, _, size = line.partition("_")
        figures = [figures["microseconds"] for figures in several]
        found.setdefault((column, int(size)), {})[how] = median(figures)
    return [
        Row(size, column, **figures)
        for (column, size), figures in sorted(found.items())
        if len(figures) == len(HOWS)
    ]


def main(arguments: argparse.Namespace) -> int:
    options = ["--quick"] if arguments.quick else []
    lines = [f"{how}_{size}" for size in SIZES for how in HOWS]
    program = alone_and_under.Program("ordered_put", lines, 2, options)
    samples, errors = alone_and_under.run(program, arguments)
    if arguments.json:
        raw = [asdict(sample) for sample in samples]
        found = [asdict(row) for row in rows(samples)]
        print(json.dumps({"rows": found, "samples": raw, "errors": errors}, indent=2))
    else:
        _print_table(samples, alone_and_under.rounds(arguments))
    return 0


def _print_table(samples: Sequence[Sample], rounds: int) -> None:
    console = output()
    table = rich("table").Table(
        title=f"Data, a flag and a flush: medians of {rounds} round(s), us", title_justify="left"
    )
    for heading in ("", "", "flushed", "ordered", "unordered", "ordered\n: flushed"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_column("ordered\n: unordered", justify="right")
    for row in rows(samples):
        name, under, _ = row.column.partition(UNDER)
        where = f"{name}, {'sidelight' if under else 'alone'}"
        times = [f"{value:.3f}" for value in (row.flushed, row.ordered, row.unordered)]
        ratios = [f"{row.ordered / other:.2f}" for other in (row.flushed, row.unordered)]
        table.add_row(where, SIZES[row.bytes], *times, *(ratios if under else ("", "")))
    console.print(table)
    for sample in samples:
        if sample.outcome:
            console.print(f"{sample.column}: {sample.line}: {sample.outcome}")
