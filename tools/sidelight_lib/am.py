# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench am`: figures 3 to 7 of X. Zhao et al., "MPI-Interoperable Generalized Active
Messages" (2013), on real processes, and a handler that does nothing against a fetch_and_op."""

from __future__ import annotations

import argparse
import contextlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from . import interleaved, latency_runs, plots, series
from .console import output
from .hosts import HostError
from .interleaved import Measured, Program, Series
from .latency_columns import Column, network_program
from .latency_lines import BARE
from .namespaces import Nodes
from .series import Shown

_DESCRIPTION = """\
Active messages of 100 segments: 20 characters that are looked for, or 100 integers whose absolute
values are added to others', each way. The figures: `unit`, one message, and the rate of many, by
the segments of a piece (3); `room`, the rate by the internal buffer (4); `origins`, the time that
2 to 8 ranks take to send to one, by the internal buffer (5); `order`, large and small messages in
turn, each flushed before the next, in order, or not, by the attached buffer (6); `concurrent`, the
rate on one node (7); `empty`, a handler that does nothing, against a fetch_and_op. On one node all
but `concurrent` and a half of `empty` take messages: each rank is taken for a node of its own. With
--nodes 2 they travel over TCP, and `concurrent` is left out.
"""

UNITS = (5, 10, 20, 40, 60, 80, 100)
ROOMS = {0: "0", 1024: "1 KB", 2048: "2 KB", 4096: "4 KB", 8192: "8 KB", 16384: "16 KB"}
ROOMS |= {32768: "32 KB", 65536: "64 KB"}
ROOMS_OF_ORIGINS = (0, 1024, 8192)
ATTACHED = {16384: "16 KB", 32768: "32 KB", 65536: "64 KB", 262144: "256 KB"}
WORKS = {"search": "search", "absolute": "absolute values"}
UNIT, ROOM, ROUTE = "SIDELIGHT_AM_UNIT", "SIDELIGHT_AM_BUFFER", "SIDELIGHT_ROUTE"
MESSAGES = {ROUTE: "emulated"}
PAPERS_ROOM = {ROOM: "8192"}
CONCURRENT = ("--concurrent",)
ROUND_TRIP = "am_8"  # the line of the network's program: 8 bytes there and back by UCX


@dataclass(frozen=True)
class Figure:
    """What is run for it, and shown."""

    programs: Sequence[Program]
    series: Sequence[Series]
    parts: Sequence[Shown]


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "am", help="figures of the paper on active messages", description=_DESCRIPTION
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.add_argument(
        "--figures",
        default=",".join(FIGURES),
        metavar="A,B",
        help=f"of {', '.join(FIGURES)} (default all)",
    )
    parser.add_argument(
        "--ranks", default="2,4,8", metavar="N,M", help="of figures 5 and 7 (default 2,4,8)"
    )
    parser.add_argument(
        "--messages", type=int, metavar="N", help="of an epoch (default 10,000, quick 1,000)"
    )
    parser.set_defaults(action=main)


def _options(arguments: argparse.Namespace, share: int = 1) -> list[str]:
    messages = arguments.messages or (1000 if arguments.quick else 10000)
    quick = ["--quick"] if arguments.quick else []
    return [*quick, "--messages", str(max(messages // share, 1))]


def _by_messages(arguments: argparse.Namespace) -> Mapping[str, str]:
    return MESSAGES if arguments.nodes == 1 else {}


def unit(arguments: argparse.Namespace) -> Figure:
    """Figure 3: a and c are latencies, b and d rates."""
    lines = [f"{work}_{what}" for work in WORKS for what in ("latency", "rate")]
    programs = [
        Program(
            "am",
            [f"{line}_{number}" for line in lines],
            2,
            _options(arguments),
            settings={UNIT: str(number), **PAPERS_ROOM, **_by_messages(arguments)},
        )
        for number in UNITS
    ]
    parts = []
    latency = {"microseconds": "one message", "handler": "in its handler"}
    for work, name in WORKS.items():
        title = f"Figure 3, {name}"
        parts.append(_over_units(f"{title}: latency", "us", f"{work}_latency", latency, 1))
        rate = {"rate": "messages/s"}
        parts.append(_over_units(f"{title}: rate", "messages/s", f"{work}_rate", rate))
        parts.append(_over_units(f"{title}: buffers", "%", f"{work}_rate", _SHARES, 1))
    return Figure(programs, [_UNDER], parts)


_UNDER = Series("+sidelight", "sidelight")
_SHARES = {"internal": "segments by the internal buffer", "user": "by the attached one"}


def _over_units(
    title: str, unit_of_figures: str, line: str, figures: Mapping[str, str], decimals: int = 0
) -> Shown:
    return Shown(
        title,
        unit_of_figures,
        {f"{line}_{number}": str(number) for number in UNITS},
        figures,
        x={f"{line}_{number}": float(number) for number in UNITS},
        x_label="segments of a piece",
        decimals=decimals,
        by_series=True,
    )


def room(arguments: argparse.Namespace) -> Figure:
    """Figure 4."""
    programs = [
        Program(
            "am",
            [f"search_rate_{size}"],
            2,
            _options(arguments),
            settings={ROOM: str(size), **_by_messages(arguments)},
        )
        for size in ROOMS
    ]

    def over_rooms(title: str, of: str, figures: Mapping[str, str], decimals: int) -> Shown:
        lines = {f"search_rate_{size}": name for size, name in ROOMS.items()}
        # None lies on a logarithmic axis where half of the least one would.
        x = {f"search_rate_{size}": float(size or 512) for size in ROOMS}
        label = "internal buffer"
        return Shown(title, of, lines, figures, (), x, label, "x", decimals, by_series=True)

    rate = over_rooms("Figure 4, search: rate", "messages/s", {"rate": "messages/s"}, 0)
    shares = over_rooms("Figure 4, search: buffers", "%", _SHARES, 1)
    return Figure(programs, [_UNDER], [rate, shares])


def origins(arguments: argparse.Namespace) -> Figure:
    """Figure 5."""
    ranks = _ranks(arguments)
    of_rooms = [
        Series(f"+{size}", f"internal buffer {ROOMS[size]}", settings={ROOM: str(size)})
        for size in ROOMS_OF_ORIGINS
    ]
    settings = _by_messages(arguments)
    programs = [
        Program("am", [f"search_rate_{n}"], n, _options(arguments, 4), settings=settings)
        for n in ranks
    ]
    title = "Figure 5, search: time of an epoch of every origin"
    return Figure(programs, of_rooms, [_over_ranks(title, "ms", {"milliseconds": ""}, ranks, 1)])


def order(arguments: argparse.Namespace) -> Figure:
    """Figure 6."""
    ways = [
        Series("+alone", "one at a time", options=("--one-at-a-time",)),
        Series("+ordered", "ordered"),
        Series("+unordered", "unordered", options=("--unordered",)),
    ]
    programs = [
        Program(
            "am",
            [f"mixed_rate_{size}"],
            2,
            [*_options(arguments, 10), "--buffer", str(size)],
            settings={**PAPERS_ROOM, **_by_messages(arguments)},
        )
        for size in ATTACHED
    ]
    lines = {f"mixed_rate_{size}": name for size, name in ATTACHED.items()}
    x = {f"mixed_rate_{size}": float(size) for size in ATTACHED}
    title, label = "Figure 6, large and small messages in turn: rate", "attached buffer"
    shown = Shown(title, "messages/s", lines, {"rate": ""}, (), x, label, "x")
    return Figure(programs, ways, [shown])


def concurrent(arguments: argparse.Namespace) -> Figure:
    """Figure 7."""
    ranks = _ranks(arguments)
    ways = [
        Series("+messages", "serial, at the target", settings=MESSAGES),
        Series("+serial", "serial, at the origins"),
        Series("+concurrent", "concurrent", options=CONCURRENT),
    ]
    programs = [Program("am", [f"search_rate_{n}"], n, _options(arguments, 4)) for n in ranks]
    title = "Figure 7, search: rate of all origins on one node"
    return Figure(programs, ways, [_over_ranks(title, "messages/s", {"rate": ""}, ranks, 0)])


def empty(arguments: argparse.Namespace) -> Figure:
    """A handler that does nothing."""
    by_messages = Series("+serial", "serial, by messages", settings=_by_messages(arguments))
    mapped = Series("+concurrent", "concurrent, on mapped memory", options=CONCURRENT)
    ways = [by_messages] if arguments.nodes > 1 else [mapped, by_messages]
    quick = ["--quick"] if arguments.quick else []
    figures = {"microseconds": "active message + flush", "fetch_and_op": "fetch_and_op + flush"}
    title = "A handler that does nothing"
    shown = Shown(title, "us", {"empty": ""}, figures, decimals=3)
    return Figure([Program("am", ["empty"], 2, quick)], ways, [shown])


FIGURES = {
    "unit": unit,
    "room": room,
    "origins": origins,
    "order": order,
    "concurrent": concurrent,
    "empty": empty,
}


def _ranks(arguments: argparse.Namespace) -> list[int]:
    words = arguments.ranks.split(",")
    if not all(word.isdigit() and int(word) >= 2 for word in words):
        raise HostError(f"--ranks takes numbers from 2 on, not {arguments.ranks}")
    return [int(word) for word in words]


def _over_ranks(
    title: str, of: str, figures: Mapping[str, str], ranks: Sequence[int], decimals: int
) -> Shown:
    lines = {f"search_rate_{n}": f"{n - 1}" for n in ranks}
    x = {f"search_rate_{n}": float(n - 1) for n in ranks}
    return Shown(title, of, lines, figures, (), x, "origins", "", decimals)


def chosen(arguments: argparse.Namespace) -> dict[str, Figure]:
    """The figures that are asked for and can be measured on so many nodes."""
    names = arguments.figures.split(",")
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        raise HostError(f"no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    possible = [name for name in names if name != "concurrent" or arguments.nodes == 1]
    return {name: FIGURES[name](arguments) for name in possible}


def main(arguments: argparse.Namespace) -> int:
    figures = chosen(arguments)
    measured = {
        name: interleaved.run(figure.programs, arguments, figure.series)
        for name, figure in figures.items()
    }
    trip = round_trip(arguments) if "empty" in figures and arguments.nodes > 1 else None
    if arguments.json:
        _print_json(figures, measured, trip)
    else:
        _print_tables(figures, measured, trip)
    if arguments.plot:
        panels = [
            panel
            for name, figure in figures.items()
            for part in figure.parts
            for panel in titled(part, series.panels(measured[name], part))
        ]
        plots.draw(arguments.plot, panels, "Active messages (P5, figures 3 to 7)")
    return 0


def titled(part: Shown, panels: Sequence[plots.Panel]) -> list[plots.Panel]:
    """With what they show ahead: there are several kinds in one plot."""
    return [replace(panel, title=f"{part.title}\n{panel.title}") for panel in panels]


def round_trip(arguments: argparse.Namespace) -> float | None:
    """What UCX's active messages take there and back between two nodes, without MPI; none where the
    program is not built."""
    if not network_program().exists():
        return None
    found: list[float] = []
    column = Column(BARE)
    for _ in range(interleaved.rounds(arguments)):
        with contextlib.ExitStack() as stack:
            nodes = stack.enter_context(Nodes(arguments.nodes))

            def command_for(lines: Sequence[str], nodes: Nodes = nodes) -> list[str]:
                quick = ["--quick"] if arguments.quick else []
                return column.command(2, [*quick, *lines], nodes)

            patience = interleaved.PATIENCE_SECONDS
            results = latency_runs.measure(command_for, [ROUND_TRIP], {}, patience)
            found += [figures["microseconds"] for figures in results.figures.values()]
    return median(found) if found else None


def sentences(measured: Measured, trip: float | None) -> list[str]:
    """The empty handler against what it is measured with."""
    said = []
    for (_, column), figures in interleaved.medians(measured.samples).items():
        said.append(f"{column}: {figures['ratio']:.2f} times a fetch_and_op.")
        if trip is not None:
            ratio = figures["microseconds"] / trip
            said.append(
                f"{column}: {ratio:.2f} times a round trip of UCX's active messages, {trip:.1f} us."
            )
    return said


def _print_tables(
    figures: Mapping[str, Figure], measured: Mapping[str, Measured], trip: float | None
) -> None:
    console = output()
    for name, figure in figures.items():
        for part in figure.parts:
            series.print_tables(console, measured[name], part)
        for sentence in sentences(measured[name], trip) if name == "empty" else ():
            console.print(sentence)


def _print_json(
    figures: Mapping[str, Figure], measured: Mapping[str, Measured], trip: float | None
) -> None:
    rows = [
        {"figure": name, "line": line, "column": column, "figures": found}
        for name in figures
        for (line, column), found in interleaved.medians(measured[name].samples).items()
    ]
    each = list(measured.values())
    samples = list(itertools.chain.from_iterable(one.samples for one in each))
    errors = list(itertools.chain.from_iterable(one.errors for one in each))
    together = Measured([], samples, errors, each[0].rounds if each else 0)
    interleaved.print_json(rows, together, round_trip=trip)
