# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench get-compute-put`: copying behind computing (P3, figure 5c)."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from . import interleaved, routes, series, sizes
from .interleaved import ALONE_AND_UNDER, Program
from .latency_lines import UNDER
from .series import Expectation, Figures, Row, Shown

_DESCRIPTION = """\
25 blocks of the target's memory, each fetched, computed on and put back: one after the other; with
locks, the next block on its way while one is computed on; with requests, all of it on its way.
Computing takes a tenth longer than copying, and both are measured alone, too. On each host alone
and under Sidelight, in turns, round after round; medians over the rounds. Where copying is the
origin's own work nothing can hide it: the route is printed below.
"""

SIZES = (16384, 65536, 262144, 1 << 20, 4 << 20)


def optimal(figures: Figures) -> float:
    """The longer of computing and copying."""
    return max(figures["computing"], figures["copying"])


SHOWN = Shown(
    "25 blocks fetched, computed on and put back",
    "ms",
    sizes.titles("", SIZES),
    {"none": "no overlap", "lock": "lock-unlock", "requests": "requests"},
    [Expectation("optimal", "requests", optimal)],
    x=sizes.places("", SIZES),
    x_label="bytes of a block",
    logarithmic="xy",
    decimals=2,
    by_series=True,
)


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "get-compute-put", help="copying behind computing", description=_DESCRIPTION
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.set_defaults(action=main)


def notes_for(nodes: int) -> Callable[[Sequence[Row]], list[str]]:
    """What requests are worth at the largest size."""

    def notes(found: Sequence[Row]) -> list[str]:
        said = [f"Under Sidelight by {routes.describe(nodes)}."]
        for row in found:
            if row.line == str(SIZES[-1]) and row.column.endswith(UNDER):
                requests, lock = row.figures["requests"], row.figures["lock"]
                said.append(
                    f"{interleaved.where(row.column)}: {sizes.title(SIZES[-1])}: requests take "
                    f"{requests / optimal(row.figures):.2f} of the longer of computing and "
                    f"copying, and {requests / lock:.2f} of lock-unlock"
                )
        return said

    return notes


def main(arguments: argparse.Namespace) -> int:
    options = ["--quick"] if arguments.quick else []
    program = Program("get_compute_put", list(SHOWN.lines), 2, options)
    measured = interleaved.run(program, arguments, ALONE_AND_UNDER)
    series.show_with_notes(arguments, measured, SHOWN, notes_for(arguments.nodes))
    return 0
