# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench transactions` and `lu`: figures 12 and 13 of J. A. Zounmevo et al., "Nonblocking
Epochs in MPI One-Sided Communication" (2014), on real processes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from . import interleaved, series
from .console import rich
from .hosts import HostError
from .interleaved import ALONE, STANDARD, Measured, Program, Series
from .paper_figures import KEY, NONBLOCKING
from .series import Shown

_TRANSACTIONS = """\
Every process updates others for a fixed time, each update an accumulate in an exclusive lock epoch
of its own; then the sums are checked. On each host alone, under Sidelight with standard calls, with
nonblocking calls some epochs ahead, and with the reorder key A_A_A_R as well. The updates are of
random places; or, over a graph of pages in a Matrix Market file, each link counts itself at its
page, or each page adds its share of its rank to those that it links to.
"""

_LU = """\
LU factorisation of a full matrix by rows in turn, each row put to all that need it in a GATS epoch,
and the substitution; the residual is checked by `make demo`. On each host alone and under Sidelight
with standard calls, where a process computes inside its epochs as one is taught to, and with
nonblocking epochs. Two figures: the time, and the share of it inside MPI, mean of all processes.
With --progress also where a progress thread, or the interrupt thread of smart progress, moves
things on while a process computes (P4, figure 5.14).
"""

UPDATES = {"random": "random places", "links": "links of a graph", "ranks": "ranks over a graph"}
TRANSACTION_SERIES = (ALONE, STANDARD, NONBLOCKING, KEY)
OVERLAPPING = "lu_overlapping"
LU_SERIES = (
    replace(ALONE, program=OVERLAPPING),
    replace(STANDARD, program=OVERLAPPING),
    Series("+nonblocking", "nonblocking", program="lu_nonblocking"),
)
PROGRESS = ("thread", "smart")
PROGRESS_SERIES = (
    *LU_SERIES,
    *(
        replace(
            each,
            suffix=f"{each.suffix}-{mode}",
            title=f"{each.title},\n{mode}",
            settings={"SIDELIGHT_PROGRESS": mode},
        )
        for each in LU_SERIES[1:]
        for mode in PROGRESS
    ),
)


def add(kinds: Any) -> None:
    """Adds the measurements to `sidelight bench`."""
    parser = kinds.add_parser(
        "transactions",
        help="figure 12 of the paper: massive unstructured transactions",
        description=_TRANSACTIONS,
    )
    _add_options(parser, "2,4,8")
    parser.add_argument(
        "--update", choices=UPDATES, default="random", help="what is updated (default random)"
    )
    parser.add_argument("--graph", metavar="FILE", help="links between pages (.mtx, .mtx.gz)")
    parser.add_argument(
        "--pending", type=int, default=64, metavar="N", help="epochs ahead (default 64)"
    )
    parser.set_defaults(action=transactions)
    parser = kinds.add_parser("lu", help="figure 13 of the paper: LU", description=_LU)
    _add_options(parser, "2,4,8")
    parser.add_argument(
        "--size", type=int, default=1024, metavar="N", help="rows of the matrix (default 1024)"
    )
    parser.add_argument(
        "--progress", action="store_true", help="also with threads that give progress: P4, 5.14"
    )
    parser.set_defaults(action=lu)


def _add_options(parser: argparse.ArgumentParser, ranks: str) -> None:
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.add_argument(
        "--ranks", default=ranks, metavar="N,M", help=f"numbers of ranks (default {ranks})"
    )


def read_ranks(wanted: str, nodes: int = 1) -> list[int]:
    """The numbers of ranks, each of which must be in equal parts on the nodes."""
    words = wanted.split(",")
    if not all(word.isdigit() and int(word) >= 2 for word in words):
        raise HostError(f"--ranks takes numbers from 2 on, not {wanted}")
    numbers = [int(word) for word in words]
    unequal = [str(number) for number in numbers if number % nodes != 0]
    if unequal:
        raise HostError(f"{', '.join(unequal)} ranks cannot be in equal parts on {nodes} nodes")
    return numbers


def transactions(arguments: argparse.Namespace) -> int:
    update = arguments.update
    if update != "random" and arguments.graph is None:
        raise HostError(f"--update {update} needs a graph of pages: --graph FILE")
    ranks = read_ranks(arguments.ranks, arguments.nodes)
    options = [*(["--quick"] if arguments.quick else []), "--pending", str(arguments.pending)]
    options += ["--graph", arguments.graph] if update != "random" else []
    programs = [Program("transactions", [f"{update}_{n}"], n, options) for n in ranks]
    title = f"Figure 12, transactions ({UPDATES[update]})"
    shown = over_ranks(title, "transactions/s", update, ranks, {"rate": ""})
    measured = interleaved.run(programs, arguments, TRANSACTION_SERIES)
    found = gains(measured, shown, lambda figures, base: figures["rate"] / base["rate"] - 1)
    _show(arguments, measured, shown, found, "Transactions beyond those of standard calls")
    return 0


def lu(arguments: argparse.Namespace) -> int:
    ranks = read_ranks(arguments.ranks, arguments.nodes)
    rounds, seconds = ("3", "1") if arguments.quick else ("9", "4")
    options = ["-r", rounds, "-t", seconds]
    programs = [
        Program(OVERLAPPING, [f"lu_{n}"], n, options, [f"dense:{arguments.size}"], "examples")
        for n in ranks
    ]
    title = f"Figure 13, LU of {arguments.size} x {arguments.size}"
    figures = {"milliseconds": "ms", "share": "% in MPI"}
    shown = over_ranks(title, "", "lu", ranks, figures)
    wanted = PROGRESS_SERIES if arguments.progress else LU_SERIES
    measured = with_shares(interleaved.run(programs, arguments, wanted))
    found = gains(measured, shown, lambda figures, base: 1 - figures["seconds"] / base["seconds"])
    _show(arguments, measured, shown, found, "Less time than standard calls take")
    return 0


def with_shares(measured: Measured) -> Measured:
    """With the time in milliseconds and the percentage of it that is spent in MPI."""
    samples = [
        replace(sample, figures=sample.figures | _shares(sample.figures))
        if not sample.outcome
        else sample
        for sample in measured.samples
    ]
    return replace(measured, samples=samples)


def _shares(figures: series.Figures) -> dict[str, float]:
    inside = 100 * figures["seconds_in_mpi_mean"] / figures["seconds"]
    return {"milliseconds": 1000 * figures["seconds"], "share": inside}


def over_ranks(
    title: str, unit: str, line: str, ranks: Sequence[int], figures: Mapping[str, str]
) -> Shown:
    lines = {f"{line}_{n}": f"{n} ranks" for n in ranks}
    x = {f"{line}_{n}": float(n) for n in ranks}
    return Shown(title, unit, lines, figures, (), x, "ranks", "x")


def gains(
    measured: Measured,
    shown: Shown,
    gain: Callable[[series.Figures, series.Figures], float],
) -> list[dict[str, Any]]:
    """What each further series gains on Sidelight with standard calls, as a share, by host and
    line."""
    by_place = {(row.line, row.column): row for row in series.rows(measured, shown)}
    found: list[dict[str, Any]] = []
    for host in dict.fromkeys(column.host.name for column in measured.columns):
        further = [column for column in measured.columns if column.host.name == host][2:]
        for line in shown.lines:
            base = by_place.get((line, host + STANDARD.suffix))
            if base is None:
                continue
            of_line = {each.series.title: by_place.get((line, each.name)) for each in further}
            gained = {
                title: gain(row.figures, base.figures) for title, row in of_line.items() if row
            }
            found.append({"host": host, "line": line, "gains": gained})
    return found


def _show(
    arguments: argparse.Namespace,
    measured: Measured,
    shown: Shown,
    found: Sequence[Mapping[str, Any]],
    title: str,
) -> None:
    below = [] if arguments.json else [_table(found, shown, title)]
    series.show(arguments, measured, shown, below, gains=list(found))


def _table(found: Sequence[Mapping[str, Any]], shown: Shown, title: str) -> Any:
    table = rich("table").Table(title=title, title_justify="left")
    table.add_column("")
    names = list(dict.fromkeys(name for row in found for name in row["gains"]))
    for name in names:
        table.add_column(name, justify="right")
    for row in found:
        cells = [f"{row['gains'][name]:+.0%}" if name in row["gains"] else "" for name in names]
        table.add_row(f"{row['host']}, {shown.lines[row['line']]}", *cells)
    return table
