# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench ordered-put`: data and then a flag, with a flush between them or in order."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import by_size, interleaved, plots
from .console import new_table, output
from .interleaved import Measured, Sample
from .latency_lines import UNDER

_DESCRIPTION = """\
Pairs of puts, data and a flag (P2, figure 10): with a flush behind each put, in a window whose
operations are ordered (info key mpi_win_order) with one behind every 16 pairs, and in an ordinary
window likewise, which orders nothing. On each host alone, where the key is not known, and under
Sidelight, in turns, round after round; medians over the rounds. The routes are those of the
settings: SIDELIGHT_ROUTE=emulated and SIDELIGHT_NETWORK=tcp take messages, and so does --nodes 2.
"""

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
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.set_defaults(action=main)


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The sizes that have all three figures, column by column, smallest first."""
    return [
        Row(size, column, **figures)
        for (column, size), figures in by_size.figures(samples).items()
        if len(figures) == len(HOWS)
    ]


def main(arguments: argparse.Namespace) -> int:
    measured = by_size.run("ordered_put", HOWS, arguments)
    if arguments.json:
        interleaved.print_json(rows(measured.samples), measured)
    else:
        _print_table(measured)
    by_size.draw(arguments, "Data, a flag and a flush (P2, figure 10)", panels(measured))
    return 0


def panels(measured: Measured) -> list[plots.Panel]:
    """One for each column: a curve for each way."""
    return by_size.panels(rows(measured.samples), HOWS)


def _print_table(measured: Measured) -> None:
    console = output()
    table = new_table(
        f"Data and a flag, a pair: medians of {measured.rounds} round(s), us",
        ("", "", "flushed", "ordered", "unordered", "ordered\n: flushed"),
    )
    table.add_column("ordered\n: unordered", justify="right")
    for row in rows(measured.samples):
        under = row.column.endswith(UNDER)
        where = interleaved.where(row.column)
        times = [f"{value:.3f}" for value in (row.flushed, row.ordered, row.unordered)]
        ratios = [f"{row.ordered / other:.2f}" for other in (row.flushed, row.unordered)]
        table.add_row(where, by_size.SIZES[row.bytes], *times, *(ratios if under else ("", "")))
    console.print(table)
    interleaved.print_outcomes(console, measured.samples)
