# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench windows`: how long windows that come and go take."""

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
Windows that are made, used once and freed, one after the other: on each host alone and under
Sidelight, in turns, round after round. Medians of rank 0's times over the windows of a round, and
over the rounds.
"""

TITLES = {
    "allocate_8": "allocate 8 B",
    "allocate_4096": "allocate 4 KB",
    "allocate_1m": "allocate 1 MB",
    "shared_4096": "allocate_shared 4 KB",
    "create_8": "create on 8 B",
    "create_4096": "create on 4 KB",
    "create_1m": "create on 1 MB",
    "create_alloc_mem_4096": "create, MPI_Alloc_mem 4 KB",
    "dynamic": "create_dynamic",
}
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Sample:
    """One line in one run of the program. Times are microseconds."""

    round: int
    column: str
    line: str
    figures: Mapping[str, float]
    outcome: str = ""  # empty, or why there are no figures


@dataclass(frozen=True)
class Row:
    """One line in one column: medians over the rounds, in microseconds."""

    line: str
    column: str
    make: float
    first_put: float
    free: float
    make_first: float  # of the first window of each run

    @property
    def both(self) -> float:
        return self.make + self.free


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "windows", help="how long windows that come and go take", description=_DESCRIPTION
    )
    parser.add_argument(
        "--hosts", default="all", metavar="all|A,B", help="host MPIs (default all installed)"
    )
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="ranks (default 2)")
    parser.add_argument("--repeat", type=int, metavar="R", help="rounds (default 5, quick 1)")
    parser.add_argument("--quick", action="store_true", help="shorter and less exact")
    parser.add_argument("--json", action="store_true", help="print raw figures and medians as JSON")
    parser.set_defaults(action=main)


def rows(samples: Iterable[Sample]) -> list[Row]:
    """The samples that have figures, as medians, in the order of the first of each."""
    found: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for sample in samples:
        if not sample.outcome:
            found.setdefault((sample.line, sample.column), []).append(sample.figures)
    names = ("make", "first_put", "free", "make_first")
    return [
        Row(line, column, *(median(figures[name] for figures in several) for name in names))
        for (line, column), several in found.items()
    ]


def main(arguments: argparse.Namespace) -> int:
    require_programs()
    names = [] if arguments.hosts == "all" else arguments.hosts.split(",")
    chosen = [host for host in choose_hosts(names) if _program(host).exists()]
    columns = [(host, under) for host in chosen for under in (False, True)]
    rounds = arguments.repeat or (1 if arguments.quick else 5)
    options = ["--quick"] if arguments.quick else []
    samples: list[Sample] = []
    errors: list[str] = []
    with progress(rounds * len(columns), quiet=arguments.json) as advance:
        for number in range(rounds):
            for host, under in columns:
                advance(f"round {number + 1}: {_column(host, under)}")
                results = _measure(host, under, arguments.ranks, options)
                errors.extend(results.errors)
                samples.extend(
                    Sample(number, _column(host, under), line, results.figures.get(line, {}),
                           results.outcomes.get(line, ""))
                    for line in TITLES
                )
    if arguments.json:
        raw = [asdict(sample) for sample in samples]
        found = [asdict(row) for row in rows(samples)]
        print(json.dumps({"rows": found, "samples": raw, "errors": errors}, indent=2))
    else:
        _print_table(samples, arguments.ranks, rounds)
    return 0


def _program(host: Host) -> Any:
    return host.program("bench/windows")


def _column(host: Host, under: bool) -> str:
    return host.name + (UNDER if under else "")


def _measure(host: Host, under: bool, ranks: int, options: Sequence[str]) -> latency_runs.Results:
    preload = host.require_library() if under else None
    settings = {k: text for k, text in os.environ.items() if k.startswith("SIDELIGHT_")}

    def command_for(lines: Sequence[str]) -> list[str]:
        argv = [_program(host), *options, *lines]
        unbound = ["--bind-to", "none"]  # it binds itself
        return host.command(ranks, argv, preload, settings, unbound)

    return latency_runs.measure(command_for, list(TITLES), host.environment(), PATIENCE_SECONDS)


def _print_table(samples: Sequence[Sample], ranks: int, rounds: int) -> None:
    console = output()
    table = rich("table").Table(
        title=f"Windows that come and go, {ranks} ranks: medians of {rounds} round(s), us",
        title_justify="left",
    )
    for heading in ("", "", "make", "first put", "free", "make, first"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_column("make + free\n: alone", justify="right")
    found = {(row.line, row.column): row for row in rows(samples)}
    order = list(TITLES)
    for row in sorted(found.values(), key=lambda row: order.index(row.line)):
        name, under, _ = row.column.partition(UNDER)
        alone = found.get((row.line, name))
        ratio = f"{row.both / alone.both:.2f}" if under and alone else ""
        where = f"{name}, {'sidelight' if under else 'alone'}"
        times = [f"{value:.1f}" for value in (row.make, row.first_put, row.free, row.make_first)]
        table.add_row(TITLES[row.line], where, *times, ratio)
    console.print(table)
    for sample in samples:
        if sample.outcome:
            console.print(f"{sample.column}: {TITLES[sample.line]}: {sample.outcome}")
