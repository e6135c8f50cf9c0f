# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench solver` and `progress-memory`: an application beside messages, and what progress
takes of memory (P4, 4.5 and 5.4)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from . import interleaved, paper_applications, series
from .interleaved import ALONE, Measured, Program, Series
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

_CALLS = """\
How long the program's own MPI_Irecv, MPI_Isend and MPI_Test take, medians and 99th percentiles,
while a receive is under way for which nothing comes (`waiting`), while it is tested all the time
(`polling`), and in an exchange of 1 MB (`moving`): a thread that moves messages on must not be in
their way. With the host alone, under Sidelight without progress of messages, and with it, in turns,
round after round; medians.
"""

CALL_LINES = {
    "waiting": "nothing comes",
    "polling": "nothing comes, tested all the time",
    "moving": "1 MB each way",
}
CALL_FIGURES = {
    f"{call}_{of}": f"MPI_{call.capitalize()}, {title}"
    for call in ("irecv", "isend", "test")
    for of, title in (("50", "median"), ("99", "99 %"))
}
CALL_SERIES = tuple(each for each in MESSAGE_SERIES if not each.by_family)
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
        "call-times", help="P4: calls of MPI beside progress", description=_CALLS
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.set_defaults(action=call_times)
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


def call_times(arguments: argparse.Namespace) -> int:
    shown = Shown("Calls of the program", "us", CALL_LINES, CALL_FIGURES, decimals=3)
    options = ["--quick"] if arguments.quick else []
    program = Program("call_times", list(CALL_LINES), 2, options)
    measured = interleaved.run(program, arguments, CALL_SERIES)
    series.show(arguments, measured, shown)
    return 0


def memory(arguments: argparse.Namespace) -> int:
    ranks = paper_applications.read_ranks(arguments.ranks, arguments.nodes)
    figures = {"own": "of its own", "all": "with what it maps"}
    shown = paper_applications.over_ranks("Memory of a process", "KB", "memory", ranks, figures)
    measured = _joined([_memory_of(number, arguments) for number in ranks])
    series.show_with_notes(arguments, measured, shown, memory_notes)
    return 0


def _memory_of(ranks: int, arguments: argparse.Namespace) -> Measured:
    """The program calls its line `memory`, whatever ranks there are."""
    options = ["--quick"] if arguments.quick else []
    program = Program("progress_memory", ["memory"], ranks, options)
    measured = interleaved.run(program, arguments, MEMORY_SERIES)
    samples = [replace(sample, line=f"{sample.line}_{ranks}") for sample in measured.samples]
    return replace(measured, samples=samples)


def _joined(several: Sequence[Measured]) -> Measured:
    """Of the same columns."""
    samples = [sample for measured in several for sample in measured.samples]
    errors = [error for measured in several for error in measured.errors]
    return replace(several[0], samples=samples, errors=errors)


def memory_notes(found: Sequence[Row]) -> list[str]:
    """How much more each kind of smart progress takes than none."""
    by_place = {(row.line, row.column): row.figures for row in found}
    said = []
    for (line, column), figures in by_place.items():
        for suffix in SMART:
            host, ends, _ = column.partition(suffix)
            base = by_place.get((line, host + CALLS.suffix))
            if ends and base is not None:
                more = [figures[name] - base[name] for name in ("own", "all")]
                said.append(
                    f"{column}, {line.removeprefix('memory_')} ranks: {more[0]:+.0f} KB of its "
                    f"own, {more[1]:+.0f} KB in all, to calls"
                )
    return said
