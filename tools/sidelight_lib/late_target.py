# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench progress`: who waits for an origin that computes (P4, figures 5.8 to 5.13)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from . import interleaved, series
from .interleaved import Program, Series
from .series import Row, Shown

_DESCRIPTION = """\
An origin opens an epoch without waiting, issues one operation, closes the epoch likewise and
computes for 1 to 50 milliseconds. Its target comes half a millisecond after that, and what is
measured is how long it waits; with fetch_and_op, how long an origin takes for lock, operation and
unlock while the target computes. Where progress needs nobody's attention that does not depend on
the computing; without any it grows with it: its slope is 1. With no thread; the same where targets
perform what is offered to them; with a thread that everything wakes; and with one that is
called for what is recorded, in turns, round after round; medians.
"""

MODES = (
    Series("-calls", "calls", options=("--calls",)),
    Series(
        "-offers", "calls, offers", options=("--calls",), settings={"SIDELIGHT_OFFERS": "1"}
    ),
    Series("-thread", "thread", options=("--thread",)),
    Series("-smart", "smart", options=("--smart",)),
)
MILLISECONDS = ("1", "2", "5", "10", "20", "50")
SHOWN = Shown(
    "Waiting for an origin that computes",
    "us",
    {each: f"{each} ms" for each in MILLISECONDS},
    {
        "fence": "fence",
        "put": "post-start, put",
        "get": "post-start, get",
        "accumulate": "post-start, accumulate",
        "lock": "lock, put",
        "fetch_and_op": "lock, fetch_and_op",
    },
    x={each: float(each) for each in MILLISECONDS},
    x_label="computing, ms",
    logarithmic="xy",
    by_series=True,
)


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "progress", help="late targets of origins that compute", description=_DESCRIPTION
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.add_argument(
        "--bytes", type=int, default=8, metavar="N", help="of the operation (default 8)"
    )
    parser.set_defaults(action=main)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the straight line through the points, by least squares."""
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / spread


def notes(found: Sequence[Row]) -> list[str]:
    """How much of the computing is waited for, for each column: its slopes, in percent."""
    said = []
    for column in dict.fromkeys(row.column for row in found):
        rows = [row for row in found if row.column == column]
        slopes = [
            f"{title} {slope([(1000 * SHOWN.x[r.line], r.figures[name]) for r in rows]):.1%}"
            for name, title in SHOWN.figures.items()
            if len(rows) > 1 and all(name in row.figures for row in rows)
        ]
        if slopes:
            said.append(f"{column}: of the computing is waited for: {', '.join(slopes)}")
    return said


def main(arguments: argparse.Namespace) -> int:
    options = [*(["--quick"] if arguments.quick else []), f"BYTES={arguments.bytes}"]
    program = Program("progress", list(SHOWN.lines), 2, options)
    measured = interleaved.run(program, arguments, MODES)
    series.show_with_notes(arguments, measured, SHOWN, notes)
    return 0
