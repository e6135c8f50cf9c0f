# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench own-accesses`: a program's own loads and stores on memory that is a window."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from . import latency_runs
from .console import output, progress, rich
from .hosts import Host
from .latency_columns import choose_hosts, require_programs
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
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Sample:
    """One line in one run of the program. Times are those of one pass, in microseconds."""

    round: int
    column: str
    line: str
    figures: Mapping[str, float]
    outcome: str = ""  # empty, or why there are no figures


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
    parser.add_argument(
        "--hosts", default="all", metavar="all|A,B", help="host MPIs (default all installed)"
    )
    parser.add_argument("--repeat", type=int, metavar="R", help="rounds (default 5, quick 1)")
    parser.add_argument("--quick", action="store_true", help="shorter and less exact")
    parser.add_argument(
        "--alloc-mem",
        action="store_true",
        help="the window's array is of MPI_Alloc_mem(), the other one of malloc()",
    )
    parser.add_argument("--json", action="store_true", help="print raw figures and medians as JSON")
    parser.set_defaults(action=main)


def ratio(figures: Mapping[str, float], phase: str) -> float:
    """The window's array : the other one, in that phase, against the same before."""

    def relative(name: str) -> float:
        return figures[name] / figures[f"{name}_control"]

    return relative(phase) / relative("before")


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The samples that have figures, as medians, in the order of the first of each."""
    found: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for sample in samples:
        if not sample.outcome:
            found.setdefault((sample.line, sample.column), []).append(sample.figures)
    return [
        Row(
            line,
            column,
            median(figures["before"] for figures in several),
            *(median(ratio(figures, phase) for figures in several) for phase in PHASES),
            all(figures["shared"] for figures in several),
        )
        for (line, column), several in found.items()
    ]


def main(arguments: argparse.Namespace) -> int:
    require_programs()
    names = [] if arguments.hosts == "all" else arguments.hosts.split(",")
    chosen = [host for host in choose_hosts(names) if _program(host).exists()]
    columns = [(host, under) for host in chosen for under in (False, True)]
    rounds = arguments.repeat or (1 if arguments.quick else 5)
    flags = {"--quick": arguments.quick, "--alloc-mem": arguments.alloc_mem}
    options = [flag for flag, given in flags.items() if given]
    samples: list[Sample] = []
    errors: list[str] = []
    with progress(rounds * len(columns), quiet=arguments.json) as advance:
        for number in range(rounds):
            for host, under in columns:
                advance(f"round {number + 1}: {_column(host, under)}")
                results = _measure(host, under, options)
                errors.extend(results.errors)
                samples.extend(_samples(number, _column(host, under), results))
    if arguments.json:
        found = [asdict(row) | {"holds": row.holds} for row in rows(samples)]
        raw = [asdict(sample) for sample in samples]
        print(json.dumps({"rows": found, "samples": raw, "errors": errors}, indent=2))
    else:
        _print_table(samples, rounds)
    return 0


def _program(host: Host) -> Any:
    return host.program("bench/own_accesses")


def _column(host: Host, under: bool) -> str:
    return host.name + (UNDER if under else "")


def _measure(host: Host, under: bool, options: Sequence[str]) -> latency_runs.Results:
    preload = host.require_library() if under else None
    settings = {k: text for k, text in os.environ.items() if k.startswith("SIDELIGHT_")}

    def command_for(lines: Sequence[str]) -> list[str]:
        argv = [_program(host), *options, *lines]
        unbound = ["--bind-to", "none"]  # it binds itself
        return host.command(2, argv, preload, settings, unbound)

    return latency_runs.measure(command_for, list(TITLES), host.environment(), PATIENCE_SECONDS)


def _samples(number: int, column: str, results: latency_runs.Results) -> list[Sample]:
    return [
        Sample(
            number, column, line, results.figures.get(line, {}), results.outcomes.get(line, "")
        )
        for line in TITLES
    ]


def _print_table(samples: Sequence[Sample], rounds: int) -> None:
    console = output()
    table = rich("table").Table(
        title=f"A program's own accesses to 64 MB: medians of {rounds} round(s)",
        title_justify="left",
    )
    for heading in ("", "", "before: us", "in a window\n: before", "after free\n: before"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_column("shared")
    table.add_column("")
    found = sorted(rows(samples), key=lambda row: list(TITLES).index(row.line))
    for row in found:
        name, under, _ = row.column.partition(UNDER)
        mark = ("[green]pass[/green]" if row.holds else "[red]short[/red]") if under else ""
        where = f"{name}, {'sidelight' if under else 'alone'}"
        ratios = [f"{value:.3f}" for value in (row.during, row.after)]
        table.add_row(
            TITLES[row.line], where, f"{row.before:.0f}", *ratios, "yes" if row.shared else "", mark
        )
    console.print(table)
    console.print(f"Limit of the ratios: {LIMIT:g}. Random: 1,048,576 accesses.")
    for sample in samples:
        if sample.outcome:
            console.print(f"{sample.column}: {TITLES[sample.line]}: {sample.outcome}")
