# SPDX-License-Identifier: BSD-3-Clause
"""Plots of measurements, by the package `matplotlib`, asked for only when one is drawn.

A plot is one or more panels beside each other, with one legend. Dashed lines say what is expected.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from . import outputs
from .console import MissingPackage
from .hosts import HostError

FORMATS = ("png", "svg", "pdf")

_COLOURS = ("#8c8c8c", "#d1662a", "#2a7fb8", "#3a9d5d", "#8a5fb0", "#b8902a")
_WIDTH = 5.0  # inches, of a panel
_HEIGHT = 3.2
_ACROSS = 4  # panels, at most
_NAMES = 3  # in a line of the legend, below each panel


@dataclass(frozen=True)
class Bars:
    """Groups of bars; in each group one of every series. None: there is no such figure."""

    title: str
    y_label: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[float | None]]
    # By name: for each group the height of its line, None for none.
    expected: Mapping[str, Sequence[float | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Curves:
    """Series over an x axis, as points (x, y) in its order."""

    title: str
    x_label: str
    y_label: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    expected: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    logarithmic: str = ""  # "x", "y" or "xy": powers of 2 on x, of 10 on y
    ticks: Mapping[float, str] = field(default_factory=dict)  # of the x axis, by their places


Panel = Bars | Curves


def require(path: Path) -> None:
    """Raises where nothing could be drawn into that file: to be found out before minutes pass."""
    if path.suffix.lstrip(".") not in FORMATS:
        raise HostError(f"--plot {path}: the name must end in .{', .'.join(FORMATS)}")
    outputs.require_folder("--plot", path)
    _matplotlib("figure")


def draw(path: Path, panels: Sequence[Panel], title: str = "") -> None:
    """Writes the panels into the file, in the format that its name says."""
    across = min(max(len(panels), 1), _ACROSS)
    down = max(-(-len(panels) // across), 1)
    size = (_WIDTH * across, _HEIGHT * down + 0.7)
    figure = _matplotlib("figure").Figure(figsize=size)
    for number, panel in enumerate(panels, 1):
        axes = figure.add_subplot(down, across, number)
        if isinstance(panel, Bars):
            _draw_bars(axes, panel)
        else:
            _draw_curves(axes, panel)
        axes.set_title(panel.title, fontsize=10)
        axes.set_ylabel(panel.y_label, fontsize=9)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    lines = _add_legend(figure)
    figure.suptitle(title, fontsize=11)
    figure.tight_layout(rect=(0, (0.23 * lines + 0.08) / size[1], 1, 1))
    figure.savefig(path, dpi=130)


def _matplotlib(module: str) -> ModuleType:
    try:
        return importlib.import_module(f"matplotlib.{module}")
    except ImportError as error:
        raise MissingPackage(
            "--plot needs the Python package matplotlib: run `apt-get install python3-matplotlib`, "
            "or leave --plot out"
        ) from error


def _draw_bars(axes: Any, panel: Bars) -> None:
    width = 0.8 / max(len(panel.series), 1)
    for number, (name, heights) in enumerate(panel.series.items()):
        there = [(place, height) for place, height in enumerate(heights) if height is not None]
        left = -0.4 + number * width
        axes.bar(
            [place + left for place, _ in there],
            [height for _, height in there],
            width,
            align="edge",
            label=name,
            color=_COLOURS[number % len(_COLOURS)],
        )
    for number, (name, heights) in enumerate(panel.expected.items()):
        known = [(place, height) for place, height in enumerate(heights) if height is not None]
        axes.hlines(
            [height for _, height in known],
            [place - 0.45 for place, _ in known],
            [place + 0.45 for place, _ in known],
            label=name,
            color="black",
            linestyle=_dashes(number),
            linewidth=1,
        )
    axes.set_xticks(range(len(panel.groups)), panel.groups, fontsize=8)


def _draw_curves(axes: Any, panel: Curves) -> None:
    for number, (name, points) in enumerate(panel.series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        axes.plot(*_coordinates(points), label=name, color=colour, marker="o", markersize=3)
    for number, (name, points) in enumerate(panel.expected.items()):
        style = {"color": "black", "linestyle": _dashes(number), "linewidth": 1}
        axes.plot(*_coordinates(points), label=name, **style)
    if "x" in panel.logarithmic:
        axes.set_xscale("log", base=2)
    if "y" in panel.logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if panel.ticks:
        axes.set_xticks(list(panel.ticks), list(panel.ticks.values()))
        axes.minorticks_off()
    axes.set_xlabel(panel.x_label, fontsize=9)


def _coordinates(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _dashes(number: int) -> str:
    return ("--", ":", "-.")[number % 3]


def _add_legend(figure: Any) -> int:
    """One for all panels: each name once, the series before what is expected. Returns how many
    lines it has."""
    named: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels()):
            named.setdefault(name, handle)
    dashed = [name for name, handle in named.items() if _is_dashed(handle)]
    names = [name for name in named if name not in dashed] + dashed
    columns = max(min(len(names), _NAMES * min(len(figure.axes), _ACROSS)), 1)
    figure.legend(
        [named[name] for name in names], names, loc="lower center", ncol=columns, fontsize=8
    )
    return -(-len(names) // columns)


def _is_dashed(handle: Any) -> bool:
    """Whether it is a line of what is expected: bars have no line style of their own."""
    style = handle.get_linestyle() if hasattr(handle, "get_linestyle") else "-"
    return style not in ("-", "solid") and not hasattr(handle, "patches")
