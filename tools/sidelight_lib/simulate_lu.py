# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight simulate lu`: figure 13 of J. A. Zounmevo et al., "Nonblocking Epochs in MPI One-Sided
Communication" (2014), on simulated ranks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import paper_applications, plots, simulations
from .console import new_table, progress

_DESCRIPTION = """\
LU decomposition of a full matrix by rows in turn (figure 13 of the paper on nonblocking epochs) on
simulated ranks: each row is put by its owner to all that need it, in an epoch of its own. With an
epoch that is done in the call that closes it, as lazy hosts do; with standard calls, where the
owner computes inside its epochs; and with nonblocking epochs. What is computed takes the time of
its floating point operations, at the rate of the network's file. Of a row only what says whose it
is moves, and is checked. The clock is virtual: the same seed gives the same figures on every
machine. Runs that do not depend on each other use all cores.
"""

LAZY, STANDARD, NONBLOCKING = "lazy", "standard", "nonblocking"
WAYS = (LAZY, STANDARD, NONBLOCKING)
_Step = tuple[int, int, str]  # rows, ranks, way


@dataclass(frozen=True)
class Run:
    """One run of the program."""

    rows: int
    ranks: int
    way: str
    milliseconds: float
    share: float  # percent of the time in MPI, mean of all ranks
    messages: int


def add(kinds: Any) -> None:
    """Adds the program to `sidelight simulate`."""
    parser = kinds.add_parser(
        "lu", help="figure 13 of the paper at its scale", description=_DESCRIPTION
    )
    parser.add_argument(
        "--ranks", default="64,128,256,512", metavar="N,M", help="(default 64,128,256,512)"
    )
    parser.add_argument(
        "--rows", default="8192", metavar="M,L", help="of the matrix (default 8192)"
    )
    parser.add_argument(
        "--ways", default=",".join(WAYS), metavar="A,B", help=f"of {', '.join(WAYS)} (default all)"
    )
    simulations.add_options(parser)
    simulations.add_trace(parser)
    parser.add_argument(
        "--mflops", type=int, metavar="R", help="of a core, in place of what the file says"
    )
    parser.add_argument(
        "--slots", type=int, default=16, metavar="K", help="rows on their way to a rank (16)"
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="J", help="at a time (default 2)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    parser.set_defaults(action=main)


def main(arguments: argparse.Namespace) -> int:
    simulations.require(arguments)
    found = measure(arguments, simulations.run)
    simulations.show(
        arguments,
        [asdict(run) | {"less": less(found, run)} for run in found],
        lambda: [
            _table([run for run in found if run.rows == rows], arguments.network)
            for rows in dict.fromkeys(run.rows for run in found)
        ],
        lambda: panels(found),
        "Figure 13, simulated",
    )
    names = list(_trace_names(_steps(arguments)).values())
    simulations.show_traces(arguments, names, STANDARD)
    return 0


def measure(arguments: argparse.Namespace, run: simulations.Runner) -> list[Run]:
    """All runs, smaller matrices and fewer ranks first."""
    steps = _steps(arguments)
    names = _trace_names(steps)
    traced = simulations.traced(arguments, names.values())

    def measured(step: _Step) -> Run:
        said = json.loads(run(_options(arguments, *step, traced(names[step]))))
        return Run(*step, said["milliseconds"], said["share"], said["messages"])

    found = []
    with (
        ThreadPoolExecutor(max(arguments.jobs, 1)) as pool,
        progress(len(steps), quiet=arguments.json) as advance,
    ):
        for (rows, ranks, way), one in zip(steps, pool.map(measured, steps)):
            advance(f"{rows} rows, {ranks} ranks: {way}")
            found.append(one)
    return found


def _steps(arguments: argparse.Namespace) -> list[_Step]:
    return [
        (rows, ranks, way)
        for rows in simulations.numbers("rows", arguments.rows, 2)
        for ranks in paper_applications.read_ranks(arguments.ranks)
        for way in simulations.chosen("way", arguments.ways, WAYS)
    ]


def _trace_names(steps: Sequence[_Step]) -> dict[_Step, str]:
    """Of matrices of several sizes these come first."""
    several = len({rows for rows, _, _ in steps}) > 1
    return {
        (rows, ranks, way): f"{rows}-{ranks}-{way}" if several else f"{ranks}-{way}"
        for rows, ranks, way in steps
    }


def _options(
    arguments: argparse.Namespace, rows: int, ranks: int, way: str, traced: Sequence[str]
) -> list[str]:
    named = {"rows": rows, "ranks": ranks, "way": way, "slots": arguments.slots}
    named |= {"seed": arguments.seed}
    named |= {"mflops": arguments.mflops} if arguments.mflops is not None else {}
    words = simulations.words(named)
    return ["lu", *words, *traced, str(arguments.network)]


def less(found: Sequence[Run], run: Run) -> float | None:
    """The share of time that it takes less than standard calls do; None where these were not
    run."""
    for base in found:
        if (base.rows, base.ranks, base.way) == (run.rows, run.ranks, STANDARD):
            return 1 - run.milliseconds / base.milliseconds
    return None


def panels(found: Sequence[Run]) -> list[plots.Panel]:
    """For each matrix the time and the share of it in MPI, as the figure has them."""
    drawn: list[plots.Panel] = []
    for rows in dict.fromkeys(run.rows for run in found):
        of_size = [run for run in found if run.rows == rows]
        ticks = {float(run.ranks): str(run.ranks) for run in of_size}
        ways = dict.fromkeys(run.way for run in of_size)
        times = {way: _curve(of_size, way, "milliseconds") for way in ways}
        shares = {way: _curve(of_size, way, "share") for way in ways}
        title = f"{rows} x {rows}"
        drawn.append(plots.Curves(title, "ranks", "ms", times, {}, "xy", ticks))
        drawn.append(plots.Curves(title, "ranks", "% in MPI", shares, {}, "x", ticks))
    return drawn


def _curve(found: Sequence[Run], way: str, figure: str) -> list[tuple[float, float]]:
    return [(float(run.ranks), getattr(run, figure)) for run in found if run.way == way]


def _table(found: Sequence[Run], network: Path) -> Any:
    rows = found[0].rows
    table = new_table(
        f"LU of {rows} x {rows} on simulated ranks, {network.stem}",
        ("ranks", "", "ms", "less", "in MPI", "messages"),
    )
    for run in found:
        gained = less(found, run)
        shown = "" if gained is None or run.way == STANDARD else f"{gained:.0%}"
        figures = (f"{run.milliseconds:,.0f}", shown, f"{run.share:.0f} %", f"{run.messages:,}")
        table.add_row(str(run.ranks), run.way, *figures)
    return table
