# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench undelayed`: epochs in which nobody is late (P1, VIII.A)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from . import interleaved, series, sizes
from .interleaved import ALONE, STANDARD, Program
from .latency_lines import UNDER
from .paper_figures import NONBLOCKING
from .series import Row, Shown

_DESCRIPTION = """\
One put or one accumulate of doubles in an epoch of post-start, fence or exclusive lock, with a
target that is there: how long the epoch takes at the origin, and its overlap, how much of a
computation as long as the epoch takes no time of its own. On each host alone and under Sidelight
with standard calls the origin computes inside the epoch, with nonblocking calls behind the call
that closes it. In turns, round after round; medians over the rounds.
"""

SIZES = (8, 1 << 10, 8 << 10, 16 << 10, 64 << 10, 1 << 20)
SERIES = (ALONE, STANDARD, NONBLOCKING)
KINDS = {"gats": "post-start", "fence": "fence", "lock": "lock"}
LINES = {
    f"{operation}_{size}": f"{operation}, {sizes.title(size)}"
    for operation in ("put", "accumulate")
    for size in SIZES
}
SHOWN = Shown(
    "Epochs in which nobody is late",
    "",
    LINES,
    {
        **{kind: f"{title}, us" for kind, title in KINDS.items()},
        **{f"{kind}_overlap": f"{title}, overlap, %" for kind, title in KINDS.items()},
    },
    decimals=2,
)


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "undelayed", help="epochs in which nobody is late", description=_DESCRIPTION
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.set_defaults(action=main)


def notes(found: Sequence[Row]) -> list[str]:
    """What takes longer than on the host alone, by more than 5 %."""
    alone = {(row.line, row.column): row.figures for row in found if UNDER not in row.column}
    said = []
    for row in found:
        host, under, rest = row.column.partition(UNDER)
        if not under or rest or (row.line, host) not in alone:
            continue
        for kind, title in KINDS.items():
            ratio = row.figures[kind] / alone[row.line, host][kind]
            if ratio > 1.05:
                said.append(f"{host}: {LINES[row.line]}, {title}: {ratio:.2f} of the host alone")
    return said


def main(arguments: argparse.Namespace) -> int:
    options = ["--quick"] if arguments.quick else []
    measured = interleaved.run(
        Program("undelayed", list(SHOWN.lines), 2, options), arguments, SERIES
    )
    series.show_with_notes(arguments, measured, SHOWN, notes)
    return 0
