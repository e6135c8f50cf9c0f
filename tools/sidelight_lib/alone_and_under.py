# SPDX-License-Identifier: BSD-3-Clause
"""Programs that measure on each host alone and under Sidelight, in turns, round after round."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import latency_runs
from .console import progress
from .hosts import Host
from .latency_columns import choose_hosts, require_programs, workaround_notes
from .latency_lines import UNDER

PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Sample:
    """One line in one run of the program."""

    round: int
    column: str
    line: str
    figures: Mapping[str, float]
    outcome: str = ""  # empty, or why there are no figures


@dataclass(frozen=True)
class Program:
    """A program that prints one JSON object a line, and binds itself to its cores."""

    name: str
    lines: Sequence[str]
    ranks: int
    options: Sequence[str]

    def path(self, host: Host) -> Path:
        return host.program(f"bench/{self.name}")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--hosts", default="all", metavar="all|A,B", help="host MPIs (default all installed)"
    )
    parser.add_argument("--repeat", type=int, metavar="R", help="rounds (default 5, quick 1)")
    parser.add_argument("--quick", action="store_true", help="shorter and less exact")
    parser.add_argument("--json", action="store_true", help="print raw figures and medians as JSON")


def rounds(arguments: argparse.Namespace) -> int:
    return arguments.repeat or (1 if arguments.quick else 5)


def run(
    program: Program,
    arguments: argparse.Namespace,
    has: Callable[[str, bool], bool] = lambda line, under: True,
) -> tuple[list[Sample], list[str]]:
    """What the program has measured, and what it said when it crashed. `has`: whether there is
    such a line alone, or under Sidelight."""
    require_programs()
    names = [] if arguments.hosts == "all" else arguments.hosts.split(",")
    chosen = [host for host in choose_hosts(names) if program.path(host).exists()]
    for note in workaround_notes(chosen):
        print(note, file=sys.stderr)
    columns = [(host, under) for host in chosen for under in (False, True)]
    samples: list[Sample] = []
    errors: list[str] = []
    with progress(rounds(arguments) * len(columns), quiet=arguments.json) as advance:
        for number in range(rounds(arguments)):
            for host, under in columns:
                column = host.name + (UNDER if under else "")
                advance(f"round {number + 1}: {column}")
                lines = [line for line in program.lines if has(line, under)]
                results = _measure(program, lines, host, under)
                errors.extend(results.errors)
                samples.extend(_samples(number, column, lines, results))
    return samples, errors


def by_line(samples: Iterable[Sample]) -> dict[tuple[str, str], list[Mapping[str, float]]]:
    """The figures that there are of each line and column, in the order of the first of each."""
    found: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for sample in samples:
        if not sample.outcome:
            found.setdefault((sample.line, sample.column), []).append(sample.figures)
    return found


def _measure(
    program: Program, lines: Sequence[str], host: Host, under: bool
) -> latency_runs.Results:
    preload = host.require_library() if under else None
    settings = {k: text for k, text in os.environ.items() if k.startswith("SIDELIGHT_")}

    def command_for(lines: Sequence[str]) -> list[str]:
        argv = [program.path(host), *program.options, *lines]
        return host.command(program.ranks, argv, preload, settings, ["--bind-to", "none"])

    return latency_runs.measure(command_for, list(lines), host.environment(), PATIENCE_SECONDS)


def _samples(
    number: int, column: str, lines: Sequence[str], results: latency_runs.Results
) -> list[Sample]:
    return [
        Sample(
            number, column, line, results.figures.get(line, {}), results.outcomes.get(line, "")
        )
        for line in lines
    ]
