# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight simulate scale`: what a process pays for its part in a large window."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from . import plots, simulations
from .console import new_table, progress

_DESCRIPTION = """\
Messages and memory of a process in a window of many members: each process puts to its peers, in a
lock epoch of its own each time, all of them pending; or, last, twice to each of 16 peers in one
lock_all epoch on a window without exclusive locks. The engine is the library's. Processes with
nothing to do are not run; those that are lie far apart, where no two share a page of a table.
"""

LOCK, LOCK_ALL = "locks", "lock_all"
USED = 16  # targets of the lock_all epoch


@dataclass(frozen=True)
class Run:
    """One run of the program: what a process has paid."""

    members: int
    way: str
    peers: int
    epochs: int  # pending; of lock_all: its puts
    messages: float
    bytes: float
    window_bytes: int
    pending_bytes: int


def add(kinds: Any) -> None:
    """Adds the program to `sidelight simulate`."""
    parser = kinds.add_parser(
        "scale", help="memory and messages of a process in a large window", description=_DESCRIPTION
    )
    options = {"members": "1000,100000", "peers": "1,16,256", "epochs": "16,256,4096"}
    for name, default in options.items():
        parser.add_argument(
            f"--{name}", default=default, metavar="N,M", help=f"(default {default})"
        )
    parser.add_argument("--node", type=int, default=8, metavar="N", help="ranks of a node (8)")
    simulations.add_options(parser)
    parser.set_defaults(action=main)


def main(arguments: argparse.Namespace) -> int:
    simulations.require(arguments)
    found = measure(arguments, simulations.run)
    simulations.show(
        arguments,
        [asdict(run) for run in found],
        lambda: [_table(found)],
        lambda: panels(found),
        "A process in a large window",
    )
    return 0


def measure(arguments: argparse.Namespace, run: simulations.Runner) -> list[Run]:
    """All runs, smaller windows first."""
    steps = [
        (members, *step)
        for members in simulations.numbers("members", arguments.members, 1)
        for step in [
            *(
                (LOCK, peers, epochs)
                for peers in simulations.numbers("peers", arguments.peers, 1)
                for epochs in simulations.numbers("epochs", arguments.epochs, 1)
            ),
            (LOCK_ALL, USED, 2 * USED),
        ]
    ]
    found = []
    with progress(len(steps), quiet=arguments.json) as advance:
        for members, way, peers, epochs in steps:
            advance(f"{members} members, {peers} peers: {way}")
            named = {"members": members, "peers": peers, "epochs": epochs, "node": arguments.node}
            words = simulations.words(named)
            words += ["--lock-all"] if way == LOCK_ALL else []
            said = json.loads(run(["scale", *words, str(arguments.network)]))
            figures = [said[key] for key in ("messages", "bytes", "window_bytes", "pending_bytes")]
            found.append(Run(members, way, peers, epochs, *figures))
    return found


def panels(found: Sequence[Run]) -> list[plots.Panel]:
    """Over the pending epochs, a curve for each number of peers and members."""
    locks = [run for run in found if run.way == LOCK]
    names = dict.fromkeys((run.members, run.peers) for run in locks)
    ticks = {float(run.epochs): str(run.epochs) for run in locks}
    drawn: list[plots.Panel] = []
    for figure, label in (("messages", "messages"), ("memory", "bytes")):
        curves = {
            f"{members:,} members, {peers} peers": [
                (float(run.epochs), run.messages if figure == "messages" else memory(run))
                for run in locks
                if (run.members, run.peers) == (members, peers)
            ]
            for members, peers in names
        }
        drawn.append(plots.Curves(figure, "pending epochs", label, curves, {}, "xy", ticks))
    return drawn


def memory(run: Run) -> float:
    return float(run.window_bytes + run.pending_bytes)


def _table(found: Sequence[Run]) -> Any:
    headings = ("members", "", "peers", "epochs", "messages", "bytes\nsent")
    table = new_table(
        "A process in a large window",
        (*headings, "bytes for\nthe window", "bytes for\nepochs"),
    )
    for run in found:
        counts = (f"{run.members:,}", run.way, str(run.peers), f"{run.epochs:,}")
        sent = (f"{run.messages:,.1f}", f"{run.bytes:,.0f}")
        table.add_row(*counts, *sent, f"{run.window_bytes:,}", f"{run.pending_bytes:,}")
    return table
