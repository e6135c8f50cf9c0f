# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench solver` and `progress-memory`: an application beside messages, and what progress
takes of memory (P4, 4.5 and 5.4)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from . import interleaved, paper_applications, series
from .interleaved import ALONE, Program, Series
from .overlap import CALLS, MESSAGE_SERIES
from .series import Row, Shown

_SOLVER = """\
Penta-diagonal systems along each line of a cube, in each direction in turn, as in NAS SP: each rank
computes the coefficients of a cell while the message of its predecessor is under way. Over the edge
of the cube, and so over the size of messages: those that the host sends at once gain nothing. The
number of ranks is a square. With the host alone, with its own asynchronous progress, under
Sidelight without progress of messages, and with it, in turns, round after round; medians.
"""

_MEMORY = """\
What a process has of memory after it has put to and sent to the next one, over the number of ranks:
of its own, and with what it maps. Without progress, with a progress thread, with the interrupt
thread of windows, and with the thread of messages beside it, in turns, round after round; medians.
"""

EDGES = ("16", "24", "36", "48", "72", "96")
MEMORY_SERIES = (
    ALONE,
    CALLS,
    Series("-thread", "thread", settings={"SIDELIGHT_PROGRESS": "thread"}),
    Series("-windows", "smart,\nwindows", settings={"SIDELIGHT_PROGRESS": "smart"}),
    Series(
        "-smart", "smart,\nmessages too", settings={"SIDELIGHT_PROGRESS": "smart"}, messages=True
    ),
)
SMART = ("-windows", "-smart")


def add(kinds: Any) -> None:
    """Adds the measurements to `sidelight bench`."""
    parser = kinds.add_parser(
        "solver", help="P4, 4.14: penta-diagonal systems", description=_SOLVER
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.add_argument("--ranks", type=int, default=4, metavar="N", help="ranks (default 4)")
    parser.set_defaults(action=solver)
    parser = kinds.add_parser(
        "progress-memory", help="P4, 4.5: memory that progress takes", description=_MEMORY
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.add_argument(
        "--ranks", default="2,4,8", metavar="N,M", help="numbers of ranks (default 2,4,8)"
    )
    parser.set_defaults(action=memory)


def solver(arguments: argparse.Namespace) -> int:
    paper_applications.read_ranks(str(arguments.ranks), arguments.nodes)
    q = round(arguments.ranks**0.5)
    edges = [edge for edge in EDGES if int(edge) % q == 0]
    shown = Shown(
        f"Penta-diagonal solver, {arguments.ranks} ranks",
        "ms",
        {edge: f"{edge} x {edge} x {edge}" for edge in edges},
        {"milliseconds": "an iteration"},
        x={edge: float(edge) for edge in edges},
        x_label="edge of the cube",
        logarithmic="xy",
        decimals=1,
    )
    options = ["--quick"] if arguments.quick else []
    program = Program("solver", edges, arguments.ranks, options)
    measured = interleaved.run(program, arguments, MESSAGE_SERIES)
    series.show_with_notes(arguments, measured, shown, solver_notes)
    return 0


def solver_notes(found: Sequence[Row]) -> list[str]:
    """For each host and size, what smart progress takes of the time without it."""
    by_place = {(row.column, row.line): row for row in found}
    said = []
    for row in found:
        host, ends, _ = row.column.partition("-smart")
        base = by_place.get((host + CALLS.suffix, row.line))
        if ends and base is not None:
            of = row.figures["milliseconds"] / base.figures["milliseconds"]
            said.append(
                f"{host}, {row.line}: messages of {row.figures['bytes'] / 1024:.0f} KB: smart takes"
                f" {of:.2f} of the time of calls; largest error {row.figures['error']:.1e}"
            )
    return said


def memory(arguments: argparse.Namespace) -> int:
    ranks = paper_applications.read_ranks(arguments.ranks, arguments.nodes)
    options = ["--quick"] if arguments.quick else []
    programs = [Program("progress_memory", ["memory"], number, options) for number in ranks]
    for number, program in zip(ranks, programs, strict=True):
        measured = interleaved.run(program, arguments, MEMORY_SERIES)
        shown = Shown(
            f"Memory of a process, {number} ranks",
            "KB",
            {"memory": ""},
            {"own": "of its own", "all": "with what it maps"},
        )
        series.show_with_notes(arguments, measured, shown, memory_notes)
    return 0


def memory_notes(found: Sequence[Row]) -> list[str]:
    """How much more each kind of smart progress takes than none."""
    by_column = {row.column: row.figures for row in found}
    said = []
    for column, figures in by_column.items():
        for suffix in SMART:
            host, ends, _ = column.partition(suffix)
            base = by_column.get(host + CALLS.suffix)
            if ends and base is not None:
                more = [figures[name] - base[name] for name in ("own", "all")]
                said.append(
                    f"{column}: {more[0]:+.0f} KB of its own, {more[1]:+.0f} KB in all, to calls"
                )
    return said
