# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench memhandle`: put and flush through the windows of memory handles."""

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
A put and a flush: in an allocated window, in a dynamic one, through the window of a memory handle
(MPIX_Win_from_memhandle), and through one that is opened before each put and freed after its flush.
On each host alone, which has the first two, and under Sidelight, in turns, round after round;
medians over the rounds. The routes are those of the settings: SIDELIGHT_ROUTE=emulated takes each
rank for a node of its own, and SIDELIGHT_NETWORK=tcp messages through the network's stack.
"""

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
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.set_defaults(action=main)


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The sizes that have all figures of their column, column by column, smallest first."""
    return [
        Row(size, column, **figures)
        for (column, size), figures in by_size.figures(samples).items()
        if set(figures) == set(HOWS if column.endswith(UNDER) else OF_HOSTS)
    ]


def main(arguments: argparse.Namespace) -> int:
    measured = by_size.run("memhandle", HOWS, arguments)
    if arguments.json:
        interleaved.print_json(rows(measured.samples), measured)
    else:
        _print_table(measured)
    title = "A put and a flush through memory handles (P2, figure 12)"
    by_size.draw(arguments, title, panels(measured))
    return 0


def panels(measured: Measured) -> list[plots.Panel]:
    """One for each column: a curve for each way that it has."""
    return by_size.panels(rows(measured.samples), HOWS)


def _print_table(measured: Measured) -> None:
    console = output()
    table = new_table(
        f"A put and a flush: medians of {measured.rounds} round(s), us",
        ("", "", *HOWS, "memhandle\n: allocated", "open and\nfree"),
    )
    for row in rows(measured.samples):
        times = [f"{value:.3f}" for value in (row.allocated, row.dynamic)]
        if row.memhandle is not None and row.opened is not None:
            times += [f"{value:.3f}" for value in (row.memhandle, row.opened)]
            times += [f"{row.memhandle / row.allocated:.2f}", f"{row.opened - row.memhandle:.2f}"]
        table.add_row(interleaved.where(row.column), by_size.SIZES[row.bytes], *times)
    console.print(table)
    interleaved.print_outcomes(console, measured.samples)
