# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight simulate`: programs on simulated ranks, by the library's engine, in virtual time."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import (
    paper_applications,
    plots,
    simulate_am,
    simulate_lu,
    simulate_progress,
    simulate_scale,
    simulations,
)
from .console import new_table, progress

_DESCRIPTION = """\
Massive unstructured transactions (figure 12 of the paper on nonblocking epochs) on simulated ranks:
each adds to numbers of random others, each time in an exclusive lock epoch of its own; then the
sums are checked. With standard calls, with nonblocking ones, and with the reorder key A_A_A_R as
well. The engine is the library's; the clock is virtual, and messages cost what the file of the
network says (LogGP). The same seed gives the same figures on every machine.
"""

# By title: options of the program, less the number of epochs ahead.
STANDARD = "standard"
WAYS: Mapping[str, Sequence[str]] = {STANDARD: (), "nonblocking": (), "with key": ("--key",)}


@dataclass(frozen=True)
class Run:
    """One run of the program."""

    ranks: int
    way: str
    rate: float  # transactions in a second of virtual time
    messages: float  # for one transaction
    pending: int  # most epochs of one rank that were not complete


def add(commands: Any) -> None:
    """Adds the command to the command line."""
    simulate = commands.add_parser(
        "simulate", help="programs on simulated ranks", description="Simulations."
    )
    kinds = simulate.add_subparsers(title="programs", metavar="KIND", required=True)
    parser = kinds.add_parser(
        "transactions", help="figure 12 of the paper at its scale", description=_DESCRIPTION
    )
    parser.add_argument(
        "--ranks", default="64,128,256,512", metavar="N,M", help="(default 64,128,256,512)"
    )
    simulations.add_options(parser)
    simulations.add_trace(parser)
    parser.add_argument(
        "--transactions", type=int, default=100, metavar="K", help="of each rank (default 100)"
    )
    parser.add_argument(
        "--pending", type=int, default=64, metavar="P", help="epochs ahead (default 64)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    parser.set_defaults(action=main)
    simulate_am.add(kinds)
    simulate_lu.add(kinds)
    simulate_progress.add(kinds)
    simulate_scale.add(kinds)


def main(arguments: argparse.Namespace) -> int:
    simulations.require(arguments)
    found = measure(arguments, simulations.run)
    simulations.show(
        arguments,
        [asdict(run) | {"gain": gain(found, run)} for run in found],
        lambda: [_table(found, arguments.network)],
        lambda: [panel(found)],
        "Figure 12, simulated",
    )
    names = [_trace_name(run.ranks, run.way) for run in found]
    simulations.show_traces(arguments, names, STANDARD)
    return 0


def measure(arguments: argparse.Namespace, run: simulations.Runner) -> list[Run]:
    """All runs, of fewer ranks first."""
    ranks = paper_applications.read_ranks(arguments.ranks)
    names = [_trace_name(number, way) for number in ranks for way in WAYS]
    traced = simulations.traced(arguments, names)
    found = []
    with progress(len(ranks) * len(WAYS), quiet=arguments.json) as advance:
        for number in ranks:
            for way, options in WAYS.items():
                advance(f"{number} ranks: {way}")
                pending = 1 if way == STANDARD else arguments.pending
                words = [*options, *traced(_trace_name(number, way))]
                said = json.loads(run([*_options(arguments, number, pending), *words]))
                figures = (said["rate"], said["messages"], said["pending"])
                found.append(Run(number, way, *figures))
    return found


def _trace_name(ranks: int, way: str) -> str:
    return f"{ranks}-{way.replace(' ', '-')}"


def _options(arguments: argparse.Namespace, ranks: int, pending: int) -> list[str]:
    numbers = {
        "--ranks": ranks,
        "--transactions": arguments.transactions,
        "--pending": pending,
        "--seed": arguments.seed,
    }
    words = [word for name, number in numbers.items() for word in (name, str(number))]
    return [*words, str(arguments.network)]


def gain(found: Sequence[Run], run: Run) -> float:
    """The share by which it does more than standard calls do at as many ranks."""
    base = next(each for each in found if (each.ranks, each.way) == (run.ranks, STANDARD))
    return run.rate / base.rate - 1


def panel(found: Sequence[Run]) -> plots.Curves:
    ranks = dict.fromkeys(run.ranks for run in found)
    curves = {
        way: [(float(run.ranks), run.rate) for run in found if run.way == way] for way in WAYS
    }
    ticks = {float(number): str(number) for number in ranks}
    return plots.Curves("", "ranks", "transactions/s", curves, {}, "x", ticks)


def _table(found: Sequence[Run], network: Path) -> Any:
    table = new_table(
        f"Transactions in a second on simulated ranks, {network.stem}",
        ("ranks", "", "a second", "gain", "messages\nof each", "most epochs\nahead"),
    )
    for run in found:
        gained = "" if run.way == STANDARD else f"{gain(found, run):+.0%}"
        figures = (f"{run.rate:,.0f}", gained, f"{run.messages:.1f}", str(run.pending))
        table.add_row(str(run.ranks), run.way, *figures)
    return table
