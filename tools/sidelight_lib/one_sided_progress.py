# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench one-sided-progress`: puts while their target computes (P2, figure 5)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from . import interleaved, series
from .interleaved import ALONE_AND_UNDER, Program
from .series import Row, Shown

_DESCRIPTION = """\
100,000 puts of one byte, each with a flush, while their target waits in a barrier, and while it
computes for three seconds outside of MPI; on an allocated window and on a dynamic one. On each host
alone and under Sidelight, in turns, round after round; medians over the rounds. More than 30 us for
a put and its flush means that nothing was performed before the target came back.
"""

NO_PROGRESS = 30.0  # microseconds: the target computes so long for each put
SHOWN = Shown(
    "A put of 1 B and its flush",
    "us",
    {"allocated": "allocated", "dynamic": "dynamic"},
    {"waits": "target waits", "computes": "target computes"},
    decimals=3,
)


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "one-sided-progress", help="puts while the target computes", description=_DESCRIPTION
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.set_defaults(action=main)


def notes(found: Sequence[Row]) -> list[str]:
    """Where nothing moved while the target computed."""
    return [
        f"{interleaved.where(row.column)}: no progress on the {row.line} window while the target "
        "computes"
        for row in found
        if row.figures["computes"] >= NO_PROGRESS
    ]


def main(arguments: argparse.Namespace) -> int:
    options = ["--quick"] if arguments.quick else []
    program = Program("one_sided_progress", list(SHOWN.lines), 2, options)
    measured = interleaved.run(program, arguments, ALONE_AND_UNDER)
    series.show_with_notes(arguments, measured, SHOWN, notes)
    return 0
