# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight simulate progress`: figures 5.6 and 5.8 to 5.11 of the thesis on progress (P4), on
simulated ranks and processors."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import plots, simulations, sizes
from .console import new_table, progress

_DESCRIPTION = """\
Origins on one node, targets on another one, on simulated ranks: the targets are late, and the
origins work inside of their epochs, for as long as an epoch of the largest size takes. Shown is how
long a target's epoch takes, over the size of the operation: with no progress while the origin
works, with a thread in each process that polls, and with one that is woken for what is recorded.
Each node has a processor for each rank, or as many as are asked for: who polls wants one too, and
who is woken has that of its process, for the time that the file of the network says. The engine is
the library's; the clock is virtual: the same seed gives the same figures on every machine.
"""

MOVERS = {"nobody": "no progress", "polling": "polling thread", "interrupts": "interrupt thread"}
KINDS = {
    f"{scheme}-{epoch}-{operation}": [
        *(["--many"] if scheme == "many" else []),
        *(["--fence"] if epoch == "fence" else []),
        *(["--get"] if operation == "get" else []),
    ]
    for scheme in ("pairs", "many")
    for epoch in ("fence", "gats")
    for operation in ("put", "get")
}
SIZES = (16 << 10, 64 << 10, 256 << 10, 512 << 10, 1 << 20)
LATE_NS = 20_000


@dataclass(frozen=True)
class Run:
    """One run of the program."""

    kind: str
    ranks: int  # of a node
    bytes: int
    mover: str
    latency: float  # us of an epoch without work or delay
    epoch: float  # with both
    work: float
    wakes: float  # of a process, in an epoch


def add(kinds: Any) -> None:
    """Adds the program to `sidelight simulate`."""
    parser = kinds.add_parser(
        "progress", help="P4, 5.6 to 5.11: epochs beside work", description=_DESCRIPTION
    )
    parser.add_argument(
        "--ranks", default="1,8,36", metavar="N,M", help="of a node (default 1,8,36)"
    )
    parser.add_argument(
        "--kinds",
        default="pairs-gats-put",
        metavar="A,B",
        help=f"of {', '.join(KINDS)} (default pairs-gats-put)",
    )
    parser.add_argument(
        "--processors", type=int, default=0, metavar="P", help="of a node (default one a rank)"
    )
    parser.add_argument("--epochs", type=int, default=10, metavar="K", help="(default 10)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    simulations.add_options(parser)
    parser.set_defaults(action=main)


def main(arguments: argparse.Namespace) -> int:
    simulations.require(arguments)
    found = measure(arguments, simulations.run)
    simulations.show(
        arguments,
        [asdict(run) for run in found],
        lambda: [_table(part, arguments.network) for part in _parts(found)],
        lambda: [panel(part) for part in _parts(found)],
        "Epochs beside work, simulated",
    )
    return 0


def measure(arguments: argparse.Namespace, run: simulations.Runner) -> list[Run]:
    """All runs, of fewer ranks first."""
    kinds = simulations.chosen("kind", arguments.kinds, KINDS)
    ranks = simulations.numbers("ranks", arguments.ranks, 1, 257)
    found = []
    with progress(len(kinds) * len(ranks) * len(MOVERS), quiet=arguments.json) as advance:
        for kind in kinds:
            for number in ranks:
                for mover in MOVERS:
                    advance(f"{kind}, {number} ranks a node: {mover}")
                    found += _measure(arguments, run, kind, number, mover)
    return found


def _measure(
    arguments: argparse.Namespace, run: simulations.Runner, kind: str, ranks: int, mover: str
) -> list[Run]:
    """Over the sizes. The latency of the largest one says how much work there is."""

    def simulated(size: int, work: float, late: int) -> dict[str, float]:
        named = {"ranks": 2 * ranks, "processors": arguments.processors, "bytes": size}
        named |= {"work-ns": round(1000 * work), "late-ns": late, "epochs": arguments.epochs}
        named |= {"seed": arguments.seed}
        words = simulations.words(named)
        words += [*KINDS[kind], "--mover", mover, str(arguments.network)]
        said: dict[str, float] = json.loads(run(["progress", *words]))
        return said

    latencies = {size: simulated(size, 0, 0)["epoch"] for size in SIZES}
    work = latencies[SIZES[-1]]
    found = []
    for size in SIZES:
        said = simulated(size, work, LATE_NS)
        wakes = said["wakes"] / (2 * ranks * arguments.epochs)
        found.append(Run(kind, ranks, size, mover, latencies[size], said["epoch"], work, wakes))
    return found


def _parts(found: Sequence[Run]) -> list[list[Run]]:
    """Those of one kind and number of ranks."""
    keys = dict.fromkeys((run.kind, run.ranks) for run in found)
    return [[run for run in found if (run.kind, run.ranks) == key] for key in keys]


def panel(part: Sequence[Run]) -> plots.Curves:
    curves = {
        title: [(float(run.bytes), run.epoch) for run in part if run.mover == mover]
        for mover, title in MOVERS.items()
    }
    work = {"work alone": [(float(run.bytes), run.work) for run in part if run.mover == "nobody"]}
    ticks = {float(size): sizes.title(size) for size in SIZES}
    first = part[0]
    title = f"{first.kind}, {first.ranks} a node"
    return plots.Curves(title, "bytes", "us", curves, work, "x", ticks)


def _table(part: Sequence[Run], network: Path) -> Any:
    first = part[0]
    table = new_table(
        f"Epochs of targets in us: {first.kind}, {first.ranks} ranks a node, {network.stem}",
        ("bytes", "", "no work", "late, with work", "of the work", "wakes"),
    )
    for run in part:
        figures = (f"{run.latency:,.0f}", f"{run.epoch:,.0f}", f"{run.epoch / run.work:.2f}")
        table.add_row(sizes.title(run.bytes), MOVERS[run.mover], *figures, f"{run.wakes:.1f}")
    return table
