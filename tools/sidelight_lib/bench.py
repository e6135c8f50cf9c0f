# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench`: measure the machine, the hosts, and the hosts under Sidelight."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import hosts, latency_runs
from .console import MissingPackage, rich
from .hosts import Host, HostError
from .latency_lines import BARE, UNDER, Line, Sample, lines_for
from .latency_table import Report, print_report
from .namespaces import Nodes

_DESCRIPTION = """\
Latency of one-sided calls between two ranks of this node: on the bare machine (no MPI in it), on
each host alone, and on each host under Sidelight, measured in turns, round after round; medians
over the rounds. A limit that is missed is marked "short". A line in which a host crashes or hangs
is shown as that, and the others go on. On a busy or shared machine take more rounds; `taskset -c
0,2 sidelight bench latency` chooses the cores. With `--hosts 2` the two ranks are on two nodes made
of Linux namespaces, with TCP between them.
"""

PATIENCE_SECONDS = 20.0
EIGHT = 8


def add(commands: argparse._SubParsersAction) -> None:
    """Adds the command to the command line."""
    bench = commands.add_parser("bench", help="measure", description="Measurements.")
    kinds = bench.add_subparsers(title="measurements", metavar="KIND", required=True)
    parser = kinds.add_parser(
        "latency", help="latency between two ranks, against limits", description=_DESCRIPTION
    )
    parser.add_argument(
        "--hosts",
        default="all",
        metavar="all|A,B|2|2,A,B",
        help="host MPIs to measure (default all installed); the number 2: across two nodes",
    )
    parser.add_argument(
        "--window",
        choices=("allocate", "allocate_shared", "create", "dynamic"),
        default="allocate",
        help="how the window is made (default allocate)",
    )
    parser.add_argument("--repeat", type=int, metavar="R", help="rounds (default 5, quick 1)")
    parser.add_argument("--quick", action="store_true", help="shorter and less exact")
    parser.add_argument(
        "--lines", metavar="A,B", help=f"lines to measure, of {', '.join(_names())} (default all)"
    )
    parser.add_argument("--json", action="store_true", help="print raw figures and medians as JSON")
    parser.set_defaults(action=main)


def _names() -> list[str]:
    return [line.name for line in lines_for("allocate", 1)]


@dataclass(frozen=True)
class Column:
    """What is measured in turns: the bare machine, a host, or a host under Sidelight."""

    name: str
    host: Host | None = None
    preload: Path | None = None

    def measures(self, line: Line) -> bool:
        return bool(line.bare) if self.host is None else not line.information

    def environment(self, nodes: Nodes | None) -> Mapping[str, str]:
        if self.host is None:
            return {}
        return nodes.environment(self.host) if nodes else self.host.environment()

    def command(
        self, ranks: int, options: Sequence[str], window: str, nodes: Nodes | None
    ) -> list[str]:
        """The programs bind themselves, all alike, so launchers must not."""
        if self.host is None:
            return [str(bare_program()), f"--ranks={ranks}", *options]
        argv = [self.host.program("bench/latency"), f"--window={window}", *options]
        if nodes:
            return nodes.launch(self.host, ranks, argv, preload=self.preload)
        unbound = ["--bind-to", "none"]
        return self.host.command(ranks, argv, preload=self.preload, mpiexec_arguments=unbound)


def bare_program() -> Path:
    """The program that measures the bare machine: built once, with no host."""
    return hosts.build_directory() / "bench" / "bare"


def main(arguments: argparse.Namespace) -> int:
    nodes, names = nodes_and_hosts(arguments.hosts)
    lines = choose_lines(arguments.lines, lines_for(arguments.window, nodes))
    columns, notes = choose_columns(choose_hosts(names), nodes)
    rounds = arguments.repeat or (1 if arguments.quick else 5)
    names = [column.name for column in columns]
    report = Report(arguments.window, names, rounds, nodes, notes=notes)
    if nodes > 1:  # to be taken down
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with _progress(rounds * len(columns), quiet=arguments.json) as advance:
        for number in range(rounds):
            for column in columns:
                advance(f"round {number + 1}: {column.name}")
                _measure_column(report, number, column, lines, arguments.quick)
    if arguments.json:
        print(json.dumps(report.as_dict(), indent=2))
    else:
        print_report(report)
    return 0


def choose_lines(wanted: str | None, lines: Sequence[Line]) -> list[Line]:
    """The lines named, in the order of the table."""
    known = [line.name for line in lines]
    names = known if wanted is None else wanted.split(",")
    unknown = set(names) - set(known)
    if unknown:
        raise HostError(f"no line {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return [line for line in lines if line.name in names]


def nodes_and_hosts(wanted: str) -> tuple[int, list[str]]:
    """The number of nodes and the names of the host MPIs, none of them for all."""
    words = [word for word in wanted.split(",") if word != "all"]
    numbers = [int(word) for word in words if word.isdigit()] or [1]
    if numbers not in ([1], [2]):
        raise HostError("the latency between two ranks is measured on 1 node or across 2")
    return numbers[0], [word for word in words if not word.isdigit()]


def choose_hosts(names: Sequence[str]) -> list[Host]:
    """The hosts named, or all that are installed."""
    if names:
        return [hosts.find(name) for name in names]
    installed = hosts.all()
    if not installed:
        raise HostError(f"no host MPI is installed; try `{hosts.known()[0].install}`")
    return installed


def choose_columns(chosen: Sequence[Host], nodes: int) -> tuple[list[Column], list[str]]:
    """Bare machine, hosts alone, hosts under Sidelight; and notes on what cannot be measured. The
    bare machine is one node."""
    if not bare_program().exists():
        raise HostError(
            f"the measuring programs are not there (no {bare_program()}): run `make` in the source "
            "tree and use its tools/sidelight; they are not installed"
        )
    columns, notes = [Column(BARE)] if nodes == 1 else [], []
    under = []
    for host in chosen:
        if not host.program("bench/latency").exists():
            notes.append(f"{host.name} is left out: {host.program('bench/latency')} is not built")
            continue
        columns.append(Column(host.name, host))
        if host.library.exists():
            under.append(Column(host.name + UNDER, host, host.library))
        else:
            notes.append(f"{host.name} is measured alone: {host.library} is not built")
    return columns + under, notes


def _measure_column(
    report: Report, number: int, column: Column, lines: Sequence[Line], quick: bool
) -> None:
    """One round of one column, on nodes of its own where there are several."""
    with contextlib.ExitStack() as stack:
        several = report.nodes > 1
        nodes = stack.enter_context(Nodes(report.nodes)) if several else None
        _measure_lines(report, number, column, lines, quick, nodes)


def _measure_lines(
    report: Report,
    number: int,
    column: Column,
    lines: Sequence[Line],
    quick: bool,
    nodes: Nodes | None,
) -> None:
    """A line that failed before is not tried again."""
    failed = {s.line for s in report.samples if s.column == column.name and s.outcome}
    for ranks in (2, EIGHT):
        wanted = {
            line.key: line.name
            for line in lines
            if line.ranks == ranks and column.measures(line) and line.name not in failed
        }

        def command_for(keys: Sequence[str], ranks: int = ranks) -> list[str]:
            options = [*(["--quick"] if quick else []), *keys]
            return column.command(ranks, options, report.window, nodes)

        results = latency_runs.measure(
            command_for, list(wanted), column.environment(nodes), PATIENCE_SECONDS
        )
        report.errors.extend(results.errors)
        for key, name in wanted.items():
            report.samples.append(
                Sample(
                    number,
                    column.name,
                    name,
                    results.figures.get(key, {}),
                    results.outcomes.get(key, ""),
                )
            )


@contextlib.contextmanager
def _progress(steps: int, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A progress bar on the error stream, where there is someone to look at it."""
    try:
        progress = rich("progress")
    except MissingPackage:
        if not quiet:
            raise
        yield lambda description: None
        return
    console = rich("console").Console(stderr=True)
    with progress.Progress(console=console, transient=True) as bar:
        task: Any = bar.add_task("starting", total=steps)
        started = 0

        def advance(description: str) -> None:
            nonlocal started
            bar.update(task, completed=started, description=description)
            started += 1

        yield advance
