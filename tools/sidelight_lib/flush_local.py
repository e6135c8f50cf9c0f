# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench flush-local`: what completes a put or a get (P3, figures 5a and 5b)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from . import interleaved, series, sizes
from .interleaved import ALONE_AND_UNDER, Program
from .latency_lines import UNDER
from .series import Row, Shown

_DESCRIPTION = """\
A put or a get and what completes it: lock before and unlock after it, flush, flush_local, or
nothing but a flush of all of them; over sizes. On each host alone and under Sidelight, in turns,
round after round; medians over the rounds. On mapped memory both flushes have nothing to wait for:
SIDELIGHT_ROUTE=emulated takes messages, and so does --nodes 2.
"""

SIZES = (8, 64, 512, 4096, 16384, 65536, 1 << 20)
HOWS = {
    "unlock": "lock, unlock",
    "flush": "flush",
    "flush_local": "flush_local",
    "nothing": "nothing",
}


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "flush-local", help="unlock, flush and flush_local", description=_DESCRIPTION
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.set_defaults(action=main)


def shown(operation: str) -> Shown:
    prefix = f"{operation}_"
    return Shown(
        f"A {operation} and what completes it",
        "us",
        sizes.titles(prefix, SIZES),
        HOWS,
        x=sizes.places(prefix, SIZES),
        x_label="bytes",
        logarithmic="xy",
        decimals=3,
        by_series=True,
    )


def notes(found: Sequence[Row]) -> list[str]:
    """What the paper tells of 8 bytes, under Sidelight."""
    said = []
    for row in found:
        if row.line in ("put_8", "get_8") and row.column.endswith(UNDER):
            unlock, remote, local, bare = (row.figures[how] for how in HOWS)
            calls = max(local - bare, 0.0) / (remote - bare) if remote > bare else 1.0
            said.append(
                f"{interleaved.where(row.column)}: {row.line[:3]} of 8 B: flush_local takes "
                f"{local / remote:.2f} of flush, the calls without it {calls:.2f}, and flush "
                f"{remote / unlock:.2f} of lock and unlock"
            )
    return said


def main(arguments: argparse.Namespace) -> int:
    parts = [shown("put"), shown("get")]
    options = ["--quick"] if arguments.quick else []
    program = Program("flush_local", [line for part in parts for line in part.lines], 2, options)
    measured = interleaved.run(program, arguments, ALONE_AND_UNDER)
    series.show_with_notes(arguments, measured, parts, notes)
    return 0
