# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench messages`: the host's own messages while one side computes (P4, chapter 4)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from . import interleaved, series
from .interleaved import ALONE, Program, Series
from .series import Row, Shown

_DESCRIPTION = """\
One rank does a fixed amount of work while the other one waits in MPI for a message of it, or to it;
and both do it beside MPI_Ialltoall. Measured is the time until both have done: where messages move
on by themselves it is that of the work and little more, else that of the work and the transfer.
`issend` is a message of 8 bytes in synchronous mode. With the host alone, under Sidelight without
progress of messages, and with it (`sidelight run --progress smart`), in turns, round after round;
medians.
"""

MODES = (
    ALONE,
    Series("-calls", "calls", settings={"SIDELIGHT_PROGRESS": "calls"}),
    Series("-smart", "smart", settings={"SIDELIGHT_PROGRESS": "smart"}, messages=True),
)
SIZES = {"issend": (8, "issend, 8 B"), "65536": (65536, "64 KB"), "262144": (262144, "256 KB")}
SIZES |= {"1048576": (1 << 20, "1 MB"), "4194304": (4 << 20, "4 MB")}
KINDS = {"receiver": "receiver computes", "sender": "sender computes", "alltoall": "Ialltoall"}
SHOWN = Shown(
    "Messages beside computing",
    "us",
    {line: title for line, (_, title) in SIZES.items()},
    {"work": "work alone", "at_once": "nobody computes", **KINDS, "waits": "the sender waits"},
    x={line: float(size) for line, (size, _) in SIZES.items()},
    x_label="bytes",
    logarithmic="xy",
    by_series=True,
)


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "messages", help="messages while one side computes", description=_DESCRIPTION
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.add_argument(
        "--work", type=float, default=10, metavar="MS", help="milliseconds of it (default 10)"
    )
    parser.set_defaults(action=main)


def notes(found: Sequence[Row]) -> list[str]:
    """How long each kind takes, of what work and transfer take one after the other."""
    said = []
    for row in found:
        figures = row.figures
        if all(name in figures for name in SHOWN.figures):
            both = figures["work"] + figures["at_once"]
            parts = (f"{title} {figures[name] / both:.2f}" for name, title in KINDS.items())
            said.append(
                f"{row.column}, {SHOWN.lines[row.line]}: of work and transfer: {', '.join(parts)}"
            )
    return said


def main(arguments: argparse.Namespace) -> int:
    options = [*(["--quick"] if arguments.quick else []), f"WORK={arguments.work}"]
    program = Program("messages", list(SHOWN.lines), 2, options)
    measured = interleaved.run(program, arguments, MODES)
    series.show_with_notes(arguments, measured, SHOWN, notes)
    return 0
