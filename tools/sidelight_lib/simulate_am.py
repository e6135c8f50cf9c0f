# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight simulate am`: figures 3 to 7 of X. Zhao et al., "MPI-Interoperable Generalized Active
Messages" (2013), on simulated ranks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import plots, simulations
from .am import ATTACHED, ROOMS, ROOMS_OF_ORIGINS, UNITS, WORKS
from .console import progress, rich

_DESCRIPTION = """\
Active messages of 100 segments, 20 characters or 100 integers each way, from simulated ranks to the
last one of them: what `sidelight bench am` measures, with as many origins as are wanted. Handlers
take the time that the options say. The engine is the library's; the clock is virtual, and messages
cost what the file of the network says (LogGP). Each run is checked, and the same seed gives the
same figures on every machine.
"""

BYTES = {"search": 20, "absolute": 400}  # of a segment, each way
ONE_NODE = 1 << 12  # ranks of a node: all


@dataclass(frozen=True)
class Run:
    """One run of the program, as it is shown: a point of a curve."""

    figure: str
    curve: str
    x: float
    label: str  # of x
    value: float
    further: Mapping[str, float]


@dataclass(frozen=True)
class Point:
    """What a run is asked for."""

    curve: str
    x: float
    label: str
    options: Mapping[str, Any]  # of the program; True: without a value


@dataclass(frozen=True)
class Figure:
    title: str
    x_label: str
    value: str  # of what the program prints
    unit: str
    points: Callable[[argparse.Namespace], list[Point]]
    logarithmic: str = ""


def add(kinds: Any) -> None:
    """Adds the program to `sidelight simulate`."""
    parser = kinds.add_parser(
        "am", help="figures of the paper on active messages", description=_DESCRIPTION
    )
    parser.add_argument(
        "--figures",
        default=",".join(FIGURES),
        metavar="A,B",
        help=f"of {', '.join(FIGURES)} (default all)",
    )
    parser.add_argument(
        "--origins", default="1,2,4,8,16,32", metavar="N,M", help="(default 1,2,4,8,16,32)"
    )
    parser.add_argument(
        "--messages", type=int, default=200, metavar="K", help="of each origin (default 200)"
    )
    parser.add_argument(
        "--call-ns", type=int, default=100, metavar="T", help="that a call of a handler takes (100)"
    )
    parser.add_argument(
        "--segment-ns", type=int, default=30, metavar="T", help="and each of its segments (30)"
    )
    parser.add_argument(
        "--between-ns",
        type=int,
        default=0,
        metavar="T",
        help="that an origin computes behind each of its messages (0)",
    )
    simulations.add_options(parser)
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    parser.set_defaults(action=main)


def _latency(_: argparse.Namespace) -> list[Point]:
    return [
        Point(name, unit, str(unit), {"bytes": BYTES[work], "unit": unit, "messages": 1})
        for work, name in WORKS.items()
        for unit in UNITS
    ]


def _rate(_: argparse.Namespace) -> list[Point]:
    return [
        Point(name, unit, str(unit), {"bytes": BYTES[work], "unit": unit})
        for work, name in WORKS.items()
        for unit in UNITS
    ]


def _room(_: argparse.Namespace) -> list[Point]:
    return [
        Point(name, size or 512, text, {"bytes": BYTES[work], "internal": size})
        for work, name in WORKS.items()
        for size, text in ROOMS.items()
    ]


def _origins(arguments: argparse.Namespace) -> list[Point]:
    return [
        Point(f"internal buffer {ROOMS[size]}", n, str(n), {"ranks": n + 1, "internal": size})
        for size in ROOMS_OF_ORIGINS
        for n in numbers(arguments.origins)
    ]


def _order(_: argparse.Namespace) -> list[Point]:
    ways: Mapping[str, Mapping[str, Any]] = {
        "one at a time": {"one-at-a-time": True},
        "ordered": {},
        "unordered": {"unordered": True},
    }
    return [
        Point(way, size, text, {"mixed": True, "attached": size, **options})
        for way, options in ways.items()
        for size, text in ATTACHED.items()
    ]


def _concurrent(arguments: argparse.Namespace) -> list[Point]:
    ways: dict[str, Mapping[str, Any]] = {
        "serial, at the target": {"node": 1},
        "serial, at the origins": {"node": ONE_NODE},
        "concurrent": {"node": ONE_NODE, "concurrent": True},
    }
    return [
        Point(way, n, str(n), {"ranks": n + 1, **options})
        for way, options in ways.items()
        for n in numbers(arguments.origins)
    ]


_UNIT, _MICROSECONDS, _RATE = "segments of a piece", "microseconds", "rate"
FIGURES: Mapping[str, Figure] = {
    "latency": Figure("Figure 3: latency", _UNIT, _MICROSECONDS, "us", _latency),
    "rate": Figure("Figure 3: rate", _UNIT, _RATE, "messages/s", _rate),
    "room": Figure("Figure 4: rate", "internal buffer", _RATE, "messages/s", _room, "x"),
    "origins": Figure("Figure 5: time", "origins", _MICROSECONDS, "us", _origins, "xy"),
    "order": Figure("Figure 6: rate", "attached buffer", _RATE, "messages/s", _order, "x"),
    "concurrent": Figure("Figure 7: rate", "origins", _RATE, "messages/s", _concurrent, "xy"),
}


def numbers(wanted: str) -> list[int]:
    return simulations.numbers("origins", wanted, 1, ONE_NODE)


def chosen(wanted: str) -> list[str]:
    return simulations.chosen("figure", wanted, FIGURES)


def main(arguments: argparse.Namespace) -> int:
    simulations.require(arguments)
    found = measure(arguments, simulations.run)
    names = chosen(arguments.figures)
    simulations.show(
        arguments,
        [asdict(run) for run in found],
        lambda: [_table(name, found, arguments.network) for name in names],
        lambda: [panel(name, found) for name in names],
        "Active messages (P5, figures 3 to 7), simulated",
    )
    return 0


def measure(arguments: argparse.Namespace, run: simulations.Runner) -> list[Run]:
    """All runs, figure by figure."""
    steps = [
        (name, point)
        for name in chosen(arguments.figures)
        for point in FIGURES[name].points(arguments)
    ]
    found = []
    with progress(len(steps), quiet=arguments.json) as advance:
        for name, point in steps:
            advance(f"{name}: {point.curve}, {point.label}")
            said = json.loads(run(["am", *_options(arguments, point), str(arguments.network)]))
            further = {key: number for key, number in said.items() if isinstance(number, float)}
            value = further[FIGURES[name].value]
            found.append(Run(name, point.curve, point.x, point.label, value, further))
    return found


def _options(arguments: argparse.Namespace, point: Point) -> list[str]:
    named: dict[str, Any] = {
        "messages": arguments.messages,
        "call-ns": arguments.call_ns,
        "segment-ns": arguments.segment_ns,
        "between-ns": arguments.between_ns,
        "seed": arguments.seed,
        "node": 1,
        **point.options,
    }
    words = []
    for name, value in named.items():
        words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return words


def _curves(name: str, found: Sequence[Run]) -> dict[str, list[Run]]:
    curves: dict[str, list[Run]] = {}
    for run in found:
        if run.figure == name:
            curves.setdefault(run.curve, []).append(run)
    return curves


def panel(name: str, found: Sequence[Run]) -> plots.Curves:
    figure = FIGURES[name]
    curves = _curves(name, found)
    drawn = {curve: [(run.x, run.value) for run in runs] for curve, runs in curves.items()}
    ticks = {run.x: run.label for runs in curves.values() for run in runs}
    log = figure.logarithmic
    return plots.Curves(figure.title, figure.x_label, figure.unit, drawn, {}, log, ticks)


def _table(name: str, found: Sequence[Run], network: Path) -> Any:
    """A row for each x, a column for each curve."""
    figure = FIGURES[name]
    curves = _curves(name, found)
    title = f"{figure.title} on simulated ranks, {figure.unit}, {network.stem}"
    table = rich("table").Table(title=title, title_justify="left")
    for heading in (figure.x_label, *curves):
        table.add_column(heading, justify="right")
    for runs in zip(*curves.values()):
        values = (f"{run.value:,.1f}" if run.value < 1000 else f"{run.value:,.0f}" for run in runs)
        table.add_row(runs[0].label, *values)
    return table
