# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench dynamic` and `dynamic-static`: dynamic windows against allocated ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from . import interleaved, series, sizes
from .interleaved import ALONE_AND_UNDER, Program
from .latency_lines import UNDER
from .series import Row, Shown

_DYNAMIC = """\
A put and its flush on an allocated window and on a dynamic one, over sizes (P2, figure 4): on each
host alone and under Sidelight, in turns, round after round; the two windows take turns batch by
batch. Medians over the rounds.
"""

_BOTH = """\
Latency, bandwidth and overlap of puts and gets on an allocated window and on a dynamic one, over
sizes (P3, figures 3 and 4): on each host alone and under Sidelight, in turns, round after round.
Overlap is how much of an operation is hidden behind a computation that is as long and calls
nothing.
"""

SIZES = (8, 64, 512, 4096, 32768, 262144, 2097152, 4194304)
KINDS = {"allocated": "allocated", "dynamic": "dynamic"}
WHATS = {"latency": "us", "bandwidth": "MB/s", "overlap": "%"}
LIMIT = 1.1  # dynamic to allocated


def add(kinds: Any) -> None:
    """Adds the measurements to `sidelight bench`."""
    for name, text, action, description in (
        ("dynamic", "dynamic windows: latency of puts", main, _DYNAMIC),
        ("dynamic-static", "the same: latency, bandwidth, overlap", main_of_all, _BOTH),
    ):
        parser = kinds.add_parser(name, help=text, description=description)
        interleaved.add_options(parser, plot=True, nodes=True)
        parser.set_defaults(action=action)


def shown(operation: str, what: str) -> Shown:
    """One figure of the papers."""
    prefix = f"{operation}_{what}_"
    part = Shown(
        f"{operation} on both kinds of windows, {what}",
        WHATS[what],
        sizes.titles(prefix, SIZES),
        KINDS,
        x=sizes.places(prefix, SIZES),
        x_label="bytes",
        logarithmic="xy",
        decimals=3 if what == "latency" else 0,
        by_series=True,
    )
    return replace(part, logarithmic="x") if what == "overlap" else part


def notes(found: Sequence[Row]) -> list[str]:
    """The sizes in which a dynamic window is slower under Sidelight."""
    said = []
    for row in found:
        operation, what, size = row.line.split("_")
        if what == "latency" and row.column.endswith(UNDER):
            ratio = row.figures["dynamic"] / row.figures["allocated"]
            if ratio > LIMIT:
                where = interleaved.where(row.column)
                said.append(
                    f"{where}: {operation} of {sizes.title(int(size))} takes {ratio:.2f} of an "
                    f"allocated window's (at most {LIMIT})"
                )
    return said


def _run(arguments: argparse.Namespace, parts: Sequence[Shown]) -> int:
    lines = [line for part in parts for line in part.lines]
    options = ["--quick"] if arguments.quick else []
    program = Program("window_kinds", lines, 2, options)
    measured = interleaved.run(program, arguments, ALONE_AND_UNDER)
    series.show_with_notes(arguments, measured, parts, notes)
    return 0


def main(arguments: argparse.Namespace) -> int:
    return _run(arguments, [shown("put", "latency")])


def main_of_all(arguments: argparse.Namespace) -> int:
    parts = [shown(operation, what) for operation in ("put", "get") for what in WHATS]
    return _run(arguments, parts)
