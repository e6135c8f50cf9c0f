# SPDX-License-Identifier: BSD-3-Clause
"""Programs that measure in several series on each host, in turns, round after round.

A series is one way to run the program: on the host alone, under Sidelight, under it with options of
the program such as nonblocking calls. A column is a series on a host. Every round runs every column
once, so that what disturbs the machine disturbs all of them alike.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from . import latency_runs, plots, signals
from .console import progress
from .hosts import Host, HostError
from .latency_columns import choose_hosts, require_programs, workaround_notes
from .latency_lines import UNDER
from .namespaces import Nodes

PATIENCE_SECONDS = 120.0
NOT_THERE = "does not run"  # of lines that a program passes over, as a host lacks the calls


@dataclass(frozen=True)
class Series:
    """One way to run the program on a host."""

    suffix: str  # behind the host's name in the names of columns
    title: str
    under: bool = True  # under Sidelight, else on the host alone
    options: Sequence[str] = ()  # of the program
    program: str = ""  # which one, where they are not the same
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)  # of Sidelight
    messages: bool = False  # with the library for progress of messages
    # Variables of the host itself, by its family.
    by_family: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)


ALONE = Series("", "alone", under=False)
STANDARD = Series(UNDER, "sidelight")
ALONE_AND_UNDER = (ALONE, STANDARD)


@dataclass(frozen=True)
class Column:
    """A series on a host."""

    host: Host
    series: Series

    @property
    def name(self) -> str:
        return self.host.name + self.series.suffix


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
    """A program that prints one JSON object a line. Those of bench/ bind themselves to cores; the
    others are bound to a core each, where there are as many."""

    name: str
    lines: Sequence[str]
    ranks: int
    options: Sequence[str] = ()
    operands: Sequence[str] = ()  # ahead of the lines
    folder: str = "bench"
    threads: bool = False  # its own ones: a rank is not bound
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)  # of Sidelight

    def path(self, host: Host, series: Series = ALONE) -> Path:
        return host.program(f"{self.folder}/{series.program or self.name}")


@dataclass(frozen=True)
class Measured:
    """What came of the runs."""

    columns: Sequence[Column]
    samples: Sequence[Sample]
    errors: Sequence[str]  # what programs said that crashed
    rounds: int


def add_options(parser: argparse.ArgumentParser, plot: bool = False, nodes: bool = False) -> None:
    """What every such measurement has. `plot`: it can draw itself; `nodes`: it runs across two."""
    parser.add_argument(
        "--hosts", default="all", metavar="all|A,B", help="host MPIs (default all installed)"
    )
    if nodes:
        parser.add_argument(
            "--nodes",
            type=int,
            default=1,
            metavar="K",
            help="ranks in equal parts on K nodes made of namespaces (default 1)",
        )
    parser.add_argument("--repeat", type=int, metavar="R", help="rounds (default 5, quick 1)")
    parser.add_argument("--quick", action="store_true", help="shorter and less exact")
    parser.add_argument("--json", action="store_true", help="print raw figures and medians as JSON")
    if plot:
        parser.add_argument(
            "--plot",
            type=Path,
            metavar="FILE",
            help=f"also draw it: {', '.join(plots.FORMATS)}, by the name of the file",
        )


def rounds(arguments: argparse.Namespace) -> int:
    return arguments.repeat or (1 if arguments.quick else 5)


def choose_columns(
    program: Program, hosts: str, series: Sequence[Series], nodes: int = 1
) -> list[Column]:
    """Every series on each of the hosts that the program is built for; it is said of the others.
    Raises HostError if one that is named, or every one, lacks it."""
    if program.folder == "bench":
        require_programs()
    wanted = [] if hosts == "all" else hosts.split(",")
    chosen = choose_hosts(wanted)
    needed = [(host, program.path(host, each)) for host in chosen for each in series]
    missing = [(host, path) for host, path in needed if not path.exists()]
    lacking = {host.name: path for host, path in missing}
    built = [host for host in chosen if host.name not in lacking]
    if missing and (wanted or not built):
        paths = dict.fromkeys(str(path) for _, path in missing)
        raise HostError(f"not built: {', '.join(paths)}; run `make`")
    left_out = [f"{name} is left out: {path} is not built" for name, path in lacking.items()]
    for note in left_out + workaround_notes(built, nodes):
        print(note, file=sys.stderr)
    return [Column(host, each) for host in built for each in series]


def run(
    programs: Program | Sequence[Program],
    arguments: argparse.Namespace,
    series: Sequence[Series] = ALONE_AND_UNDER,
) -> Measured:
    """Runs the programs, each in every column in turn, as often as the options say."""
    if getattr(arguments, "plot", None):
        plots.require(arguments.plot)
    nodes = getattr(arguments, "nodes", 1)
    signals.end_in_order()
    several = [programs] if isinstance(programs, Program) else list(programs)
    columns = choose_columns(several[0], arguments.hosts, series, nodes)
    samples: list[Sample] = []
    errors: list[str] = []
    steps = [(program, column) for program in several for column in columns]
    with progress(rounds(arguments) * len(steps), quiet=arguments.json) as advance:
        for number in range(rounds(arguments)):
            for program, column in steps:
                of = f", {program.lines[0]}" if len(several) > 1 else ""
                advance(f"round {number + 1}: {column.name}{of}")
                results = _measure(program, column, nodes)
                errors.extend(results.errors)
                samples.extend(_samples(number, column.name, program.lines, results))
    return Measured(columns, samples, errors, rounds(arguments))


def by_line(samples: Iterable[Sample]) -> dict[tuple[str, str], list[Mapping[str, float]]]:
    """The figures that there are of each line and column, in the order of the first of each."""
    found: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for sample in samples:
        if not sample.outcome:
            found.setdefault((sample.line, sample.column), []).append(sample.figures)
    return found


def medians(samples: Iterable[Sample]) -> dict[tuple[str, str], dict[str, float]]:
    """The median over the rounds of each number that every round has, by line and column."""
    return {
        key: {
            name: median(figures[name] for figures in several)
            for name, first in several[0].items()
            if isinstance(first, (int, float)) and all(name in figures for figures in several)
        }
        for key, several in by_line(samples).items()
    }


def print_json(rows: Iterable[Any], measured: Measured, **further: Any) -> None:
    """What --json prints. A row is a dataclass or a dictionary."""
    found = {
        "rows": [row if isinstance(row, dict) else asdict(row) for row in rows],
        "samples": [asdict(sample) for sample in measured.samples],
        "errors": list(measured.errors),
    }
    print(json.dumps(further | found, indent=2))


def print_outcomes(
    console: Any, samples: Iterable[Sample], titles: Mapping[str, str] | None = None
) -> None:
    """Below a table: what has crashed or hung, but not what a host does not have."""
    for sample in samples:
        if sample.outcome not in ("", NOT_THERE):
            line = (titles or {}).get(sample.line, sample.line)
            console.print(f"{sample.column}: {line}: {sample.outcome}")


def where(column: str) -> str:
    """What tables call a column that is a host alone or under Sidelight."""
    name, under, _ = column.partition(UNDER)
    return f"{name}, {'sidelight' if under else 'alone'}"


def _measure(program: Program, column: Column, nodes: int) -> latency_runs.Results:
    """One run, on nodes of its own where there are several."""
    host, series = column.host, column.series
    libraries = [host.require_library()] if series.under else []
    if series.messages:
        libraries.insert(0, host.require_message_library())
    preload = ":".join(map(str, libraries)) or None
    settings = {k: text for k, text in os.environ.items() if k.startswith("SIDELIGHT_")}
    settings |= {**program.settings, **series.settings}
    settings |= series.by_family.get(host.family, {})
    with contextlib.ExitStack() as stack:
        several = stack.enter_context(Nodes(nodes)) if nodes > 1 else None

        def command_for(lines: Sequence[str]) -> list[str]:
            options = [*program.options, *series.options, *program.operands]
            argv = [program.path(host, series), *options, *lines]
            if several:
                return several.launch(host, program.ranks, argv, preload, settings)
            binding = ["--bind-to", "none" if _binds_itself(program) else "core"]
            return host.command(program.ranks, argv, preload, settings, binding)

        environment = several.environment(host) if several else host.environment()
        return latency_runs.measure(
            command_for, list(program.lines), environment, PATIENCE_SECONDS
        )


def _binds_itself(program: Program) -> bool:
    """Or must not be bound: its ranks would share cores as the launcher has it."""
    crowded = program.ranks > len(os.sched_getaffinity(0))
    return program.folder == "bench" or program.threads or crowded


def _samples(
    number: int, column: str, lines: Sequence[str], results: latency_runs.Results
) -> list[Sample]:
    return [
        Sample(
            number, column, line, results.figures.get(line, {}), results.outcomes.get(line, "")
        )
        for line in lines
    ]
