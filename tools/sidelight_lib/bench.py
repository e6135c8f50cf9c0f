# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench`: measure the machine, the hosts, and the hosts under Sidelight."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import (
    am,
    figures_page,
    flush_local,
    get_compute_put,
    late_target,
    latency_runs,
    memhandle,
    messages,
    notify,
    one_sided_progress,
    ordered_put,
    outputs,
    overlap,
    own_accesses,
    paper_applications,
    paper_figures,
    progress_programs,
    signals,
    thread_flush,
    two_sided,
    undelayed,
    window_kinds,
    window_times,
)
from .console import progress
from .hosts import HostError
from .latency_columns import Column, choose_columns, choose_hosts
from .latency_lines import ALLOCATED, Line, Sample, accumulate_line, lines_for
from .latency_table import Report, print_report
from .namespaces import Nodes

_DESCRIPTION = """\
Latency of one-sided calls between two ranks of this node: on the bare machine (no MPI in it), on
each host alone, and on each host under Sidelight, measured in turns, round after round; medians
over the rounds. A limit that is missed is marked "short". A line in which a host crashes or hangs
is shown as that, and the others go on. On a busy or shared machine take more rounds; `taskset -c
0,2 sidelight bench latency` chooses the cores. With `--nodes 2` the two ranks are on two nodes made
of Linux namespaces, with TCP between them, and the bare machine is the network alone: UCX's active
messages.
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
        "--hosts", default="all", metavar="all|A,B", help="host MPIs (default all installed)"
    )
    parser.add_argument(
        "--nodes",
        type=int,
        default=1,
        choices=(1, 2),
        metavar="K",
        help="the two ranks on K nodes made of namespaces, 1 or 2 (default 1)",
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
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of Sidelight, such as SIDELIGHT_SHARE_MEMORY=never; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print raw figures and medians as JSON")
    parser.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="also put the table into a Markdown page, such as docs/figures.md",
    )
    parser.set_defaults(action=main)
    am.add(kinds)
    memhandle.add(kinds)
    messages.add(kinds)
    notify.add(kinds)
    window_kinds.add(kinds)
    flush_local.add(kinds)
    get_compute_put.add(kinds)
    one_sided_progress.add(kinds)
    late_target.add(kinds)
    overlap.add(kinds)
    own_accesses.add(kinds)
    ordered_put.add(kinds)
    paper_figures.add(kinds)
    paper_applications.add(kinds)
    progress_programs.add(kinds)
    thread_flush.add(kinds)
    two_sided.add(kinds)
    undelayed.add(kinds)
    window_times.add(kinds)


def _names() -> list[str]:
    return [line.name for line in lines_for("allocate", 1)]


def main(arguments: argparse.Namespace) -> int:
    if arguments.write is not None:
        outputs.require_folder("--write", arguments.write)
    nodes = arguments.nodes
    chosen = choose_hosts([] if arguments.hosts == "all" else arguments.hosts.split(","))
    settings = read_settings(arguments.set, os.environ)
    known = lines_for(arguments.window, nodes, settings)
    lines = choose_lines(arguments.lines, known)
    columns, notes = choose_columns(chosen, arguments.window, nodes, settings)
    rounds = arguments.repeat or (1 if arguments.quick else 5)
    names = [column.name for column in columns]
    further = [line for line in lines if line not in known]
    report = Report(arguments.window, names, rounds, nodes, settings, further, notes=notes)
    signals.end_in_order()
    with progress(rounds * len(columns), quiet=arguments.json) as advance:
        for number in range(rounds):
            for column in columns:
                advance(f"round {number + 1}: {column.name}")
                _measure_column(report, number, column, lines, arguments.quick)
    if arguments.json:
        print(json.dumps(report.as_dict(), indent=2))
    else:
        print_report(report)
    if arguments.write is not None:
        with outputs.writing(arguments.write):
            figures_page.write(arguments.write, report)
    return 0


def choose_lines(wanted: str | None, lines: Sequence[Line]) -> list[Line]:
    """The lines named, in the order of the table, and accumulates that it does not have."""
    known = [line.name for line in lines]
    names = known if wanted is None else wanted.split(",")
    further = {name: accumulate_line(name) for name in names if name not in known}
    unknown = [name for name, line in further.items() if line is None]
    if unknown:
        raise HostError(f"no line {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [line for line in lines if line.name in names]
    return chosen + [line for line in further.values() if line is not None]


def read_settings(wanted: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Those of the environment, and what is set in their place."""
    settings = {k: text for k, text in environment.items() if k.startswith("SIDELIGHT_")}
    for assignment in wanted:
        name, equals, value = assignment.partition("=")
        if not equals or not name.startswith("SIDELIGHT_"):
            raise HostError(f"--set takes SIDELIGHT_NAME=VALUE, not {assignment}")
        settings[name] = value
    return settings


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
    for ranks in (2, EIGHT):  # each a start of the program
        wanted: dict[str, list[str]] = {}  # by what the program calls it
        for line in lines:
            if line.ranks == ranks and column.measures(line) and line.name not in failed:
                wanted.setdefault(column.key(line), []).append(line.name)

        def command_for(keys: Sequence[str], ranks: int = ranks) -> list[str]:
            options = [*(["--quick"] if quick else []), *keys]
            return column.command(ranks, options, nodes)

        results = latency_runs.measure(
            command_for, list(wanted), column.environment(nodes), PATIENCE_SECONDS
        )
        report.errors.extend(results.errors)
        for key, names in wanted.items():
            figures, outcome = results.figures.get(key, {}), results.outcomes.get(key, "")
            for name in names:
                report.samples.append(Sample(number, column.name, name, figures, outcome))
                if "beside" in figures:
                    allocated = {"microseconds": figures["beside"]}
                    report.samples.append(
                        Sample(number, column.name + ALLOCATED, name, allocated)
                    )
