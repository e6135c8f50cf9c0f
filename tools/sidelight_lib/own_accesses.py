# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench own-accesses`: a program's own loads and stores on memory that is a window."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
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
rounds. What hosts alone show is how exact the ratios are.
"""

TITLES = {
    "stores": "all words stored",
    "loads": "all words loaded",
    "random_loads": "random loads",
    "random_stores": "random stores",
}
PHASES = ("during", "after")
LIMIT = 1.05  # as slow as before, within what can be told


@dataclass(frozen=True)
class Row:
    """One line in one column: medians over the rounds."""

    line: str
    column: str
    before: float  # microseconds
    during: float  # : before
    after: float  # : before
    shared: bool  # whether the memory was made shareable, in every round

    @property
    def holds(self) -> bool:
        return max(self.during, self.after) <= LIMIT


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "own-accesses",
        help="a program's own loads and stores on memory that is a window",
        description=_DESCRIPTION,
    )
    interleaved.add_options(parser)
    parser.add_argument(
        "--alloc-mem",
        action="store_true",
        help="the window's array is of MPI_Alloc_mem(), the other one of malloc()",
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


def main(arguments: argparse.Namespace) -> int:
    flags = {"--quick": arguments.quick, "--alloc-mem": arguments.alloc_mem}
    options = [flag for flag, given in flags.items() if given]
    program = interleaved.Program("own_accesses", list(TITLES), 2, options)
    measured = interleaved.run(program, arguments)
    if arguments.json:
        found = [asdict(row) | {"holds": row.holds} for row in rows(measured.samples)]
        interleaved.print_json(found, measured)
    else:
        _print_table(measured)
    return 0


def _print_table(measured: Measured) -> None:
    console = output()
    table = new_table(
        f"A program's own accesses to 64 MB: medians of {measured.rounds} round(s)",
        ("", "", "before: us", "in a window\n: before", "after free\n: before"),
    )
    table.add_column("shared")
    table.add_column("")
    found = sorted(rows(measured.samples), key=lambda row: list(TITLES).index(row.line))
    for row in found:
        under = row.column.endswith(UNDER)
        mark = ("[green]pass[/green]" if row.holds else "[red]short[/red]") if under else ""
        where = interleaved.where(row.column)
        ratios = [f"{value:.3f}" for value in (row.during, row.after)]
        table.add_row(
            TITLES[row.line], where, f"{row.before:.0f}", *ratios, "yes" if row.shared else "", mark
        )
    console.print(table)
    console.print(f"Limit of the ratios: {LIMIT:g}. Random: 1,048,576 accesses.")
    interleaved.print_outcomes(console, measured.samples, TITLES)
