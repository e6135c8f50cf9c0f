# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench two-sided`: one-sided against two-sided communication, each as well as it can be
written."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from . import interleaved, paper_applications, series
from .console import rich
from .interleaved import ALONE, STANDARD, Measured, Program, Series
from .series import Shown

_DESCRIPTION = """\
A halo exchange on a 2-D grid of processes, over the length of an edge; or LU factorisation of a
full matrix, over its rows. With sends and receives on the host alone; with one-sided epochs and
standard calls on the host alone and under Sidelight; and with nonblocking epochs. The halo exchange
also with receives, and with exposures, that are posted one exchange ahead, on two places in turn,
and with notified puts. In turns, round after round; medians over the rounds.
"""

HALO_SIZES = {8: "8 B", 1024: "1 KB", 16384: "16 KB", 65536: "64 KB", 262144: "256 KB"}
HALO_SIZES[1 << 20] = "1 MB"
TWO_SIDED = ("+persistent", "+isend", "+isend-ahead")
LU_SIZES = (256, 512, 1024)
HALO_SERIES = (
    Series("+persistent", "persistent", under=False, options=("--way=persistent",)),
    Series("+isend", "isend", under=False, options=("--way=isend",)),
    Series("+isend-ahead", "received\nahead", under=False, options=("--way=isend_ahead",)),
    replace(ALONE, title="epochs", options=("--way=gats",)),
    replace(STANDARD, title="epochs,\nsidelight", options=("--way=gats",)),
    Series("+nonblocking", "non-\nblocking", options=("--way=nonblocking",)),
    Series("+ahead", "posted\nahead", options=("--way=ahead",)),
    Series("+notified", "notified", options=("--way=notified",)),
)
LU_SERIES = (
    Series("+isend", "isend", under=False, program="lu_two_sided"),
    replace(ALONE, title="epochs", program="lu_blocking"),
    replace(STANDARD, title="epochs,\nsidelight", program="lu_blocking"),
    Series("+nonblocking", "non-\nblocking", program="lu_nonblocking"),
)


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "two-sided", help="one-sided against two-sided communication", description=_DESCRIPTION
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.add_argument(
        "--program", choices=("halo", "lu"), default="halo", help="(default halo)"
    )
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="ranks (default 2)")
    parser.set_defaults(action=main)


def main(arguments: argparse.Namespace) -> int:
    paper_applications.read_ranks(str(arguments.ranks), arguments.nodes)
    nodes = "one node" if arguments.nodes == 1 else f"{arguments.nodes} nodes"
    where = f"{arguments.ranks} ranks, {nodes}"
    if arguments.program == "halo":
        chosen: Sequence[Series] = HALO_SERIES
        programs, shown = _halo(arguments, where)
        measured = interleaved.run(programs, arguments, chosen)
    else:
        chosen = LU_SERIES
        programs, shown = _lu(arguments, where)
        measured = paper_applications.with_shares(interleaved.run(programs, arguments, chosen))
    found = ratios(measured, shown)
    below = [] if arguments.json else [_table(found, shown)]
    series.show(arguments, measured, shown, below, ratios=found)
    return 0


def _halo(arguments: argparse.Namespace, where: str) -> tuple[list[Program], Shown]:
    lines = {f"halo_{size}": title for size, title in HALO_SIZES.items()}
    x = {f"halo_{size}": float(size) for size in HALO_SIZES}
    options = ["--quick"] if arguments.quick else []
    figures = {"microseconds": ""}
    title = f"Halo exchange, {where}"
    shown = Shown(title, "us", lines, figures, (), x, "bytes of an edge", "xy", decimals=2)
    return [Program("halo", list(lines), arguments.ranks, options)], shown


def _lu(arguments: argparse.Namespace, where: str) -> tuple[list[Program], Shown]:
    rounds, seconds = ("3", "1") if arguments.quick else ("9", "4")
    programs = [
        Program(
            "lu_blocking",
            [f"lu_{size}"],
            arguments.ranks,
            ["-r", rounds, "-t", seconds],
            [f"dense:{size}"],
            "examples",
        )
        for size in LU_SIZES
    ]
    lines = {f"lu_{size}": f"{size} rows" for size in LU_SIZES}
    x = {f"lu_{size}": float(size) for size in LU_SIZES}
    figures = {"milliseconds": ""}
    shown = Shown(f"LU, {where}", "ms", lines, figures, (), x, "rows", "xy", decimals=2)
    return programs, shown


def ratios(measured: Measured, shown: Shown) -> list[dict[str, Any]]:
    """The best one-sided form under Sidelight : the best two-sided form on its host, by line."""
    (figure,) = shown.figures
    by_place = {(row.line, row.column): row for row in series.rows(measured, shown)}
    found: list[dict[str, Any]] = []
    for host in dict.fromkeys(column.host.name for column in measured.columns):
        columns = [column for column in measured.columns if column.host.name == host]
        two_sided = [c.name for c in columns if c.series.suffix in TWO_SIDED]
        one_sided = [c.name for c in columns if c.series.under]
        for line in shown.lines:
            best = [
                min((by_place[line, name].figures[figure] for name in names), default=None)
                for names in (
                    [name for name in several if (line, name) in by_place]
                    for several in (one_sided, two_sided)
                )
            ]
            if None not in best:
                found.append({"host": host, "line": line, "ratio": best[0] / best[1]})
    return found


def _table(found: Sequence[dict[str, Any]], shown: Shown) -> Any:
    """At most 1 is as it should be."""
    table = rich("table").Table(
        title="The best one-sided form under Sidelight : the best two-sided one",
        title_justify="left",
    )
    table.add_column("")
    table.add_column("ratio", justify="right")
    table.add_column("")
    for row in found:
        mark = "[green]pass[/green]" if row["ratio"] <= 1 else "[red]short[/red]"
        table.add_row(f"{row['host']}, {shown.lines[row['line']]}", f"{row['ratio']:.2f}", mark)
    return table
