# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench own-accesses`: a program's own loads and stores on memory that is a window."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from . import interleaved
from .console import new_table, output
from .interleaved import Measured, Sample
from .latency_lines import UNDER

_DESCRIPTION = """\
A program's own loads and stores on 64 MB: before MPI_Win_create, while the window is
there, and after MPI_Win_free; on each host alone and under Sidelight, in turns, round after round.
Every pass takes its turn with one over an array that never is in a window. A ratio says how much
longer the window's array took than the other one, against what it was before; medians over the
rounds. What hosts alone show is how exact the ratios are. With --window the memory is what MPI
allocates with the window, which takes the array's place while it is there; under Sidelight it may
take 1.02 times what it takes on that host alone.
"""

TITLES = {
    "stores": "all words stored",
    "loads": "all words loaded",
    "random_loads": "random loads",
    "random_stores": "random stores",
}
PHASES = ("during", "after")
LIMIT = 1.05  # as slow as before, within what can be told
LIMIT_OF_ALLOCATED = 1.02  # : the same on the host alone


@dataclass(frozen=True)
class Row:
    """One line in one column: medians over the rounds."""

    line: str
    column: str
    before: float  # microseconds
    during: float  # : before
    after: float  # : before
    shared: bool  # whether the memory was made shareable, in every round
    alone: float | None = None  # `during` on the host alone, of memory that the window brings along

    @property
    def holds(self) -> bool:
        if self.alone is not None:
            return self.during <= LIMIT_OF_ALLOCATED * self.alone
        return max(self.during, self.after) <= LIMIT


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "own-accesses",
        help="a program's own loads and stores on memory that is a window",
        description=_DESCRIPTION,
    )
    interleaved.add_options(parser)
    memory = parser.add_mutually_exclusive_group()
    memory.add_argument(
        "--alloc-mem",
        action="store_true",
        help="the window's array is of MPI_Alloc_mem(), the other one of malloc()",
    )
    memory.add_argument(
        "--window",
        choices=("create", "allocate", "allocate_shared"),
        default="create",
        help="what makes the window (default: %(default)s)",
    )
    parser.set_defaults(action=main)


def ratio(figures: Mapping[str, float], phase: str) -> float:
    """The window's array : the other one, in that phase, against the same before."""

    def relative(name: str) -> float:
        return figures[name] / figures[f"{name}_control"]

    return relative(phase) / relative("before")


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The samples that have figures, as medians, in the order of the first of each."""
    return [
        Row(
            line,
            column,
            median(figures["before"] for figures in several),
            *(median(ratio(figures, phase) for figures in several) for phase in PHASES),
            all(figures["shared"] for figures in several),
        )
        for (line, column), several in interleaved.by_line(samples).items()
    ]


def against_alone(found: list[Row]) -> list[Row]:
    """For memory that a window brings along: after the window the array is another one again."""
    during = {(row.line, row.column): row.during for row in found}
    return [
        replace(row, alone=during.get((row.line, row.column.removesuffix(UNDER)), row.during))
        for row in found
    ]


def main(arguments: argparse.Namespace) -> int:
    window = arguments.window
    flags = {"--quick": arguments.quick, "--alloc-mem": arguments.alloc_mem}
    options = [flag for flag, given in flags.items() if given]
    if window != "create":
        options.append("--" + window.replace("_", "-"))
    program = interleaved.Program("own_accesses", list(TITLES), 2, options)
    measured = interleaved.run(program, arguments)
    found = rows(measured.samples)
    if window != "create":
        found = against_alone(found)
    if arguments.json:
        entries = [asdict(row) | {"holds": row.holds} for row in found]
        interleaved.print_json(entries, measured)
    else:
        _print_table(found, measured)
    return 0


def _print_table(found: list[Row], measured: Measured) -> None:
    console = output()
    table = new_table(
        f"A program's own accesses to 64 MB: medians of {measured.rounds} round(s)",
        ("", "", "before: us", "in a window\n: before", "after free\n: before"),
    )
    table.add_column("shared")
    table.add_column("")
    for row in sorted(found, key=lambda row: list(TITLES).index(row.line)):
        under = row.column.endswith(UNDER)
        mark = ("[green]pass[/green]" if row.holds else "[red]short[/red]") if under else ""
        where = interleaved.where(row.column)
        ratios = [f"{value:.3f}" for value in (row.during, row.after)]
        table.add_row(
            TITLES[row.line], where, f"{row.before:.0f}", *ratios, "yes" if row.shared else "", mark
        )
    console.print(table)
    brought = all(row.alone is None for row in found)
    limit = f"{LIMIT:g}" if brought else f"{LIMIT_OF_ALLOCATED:g} of the host alone"
    console.print(f"Limit of the ratios: {limit}. Random: 1,048,576 accesses.")
    interleaved.print_outcomes(console, measured.samples, TITLES)
