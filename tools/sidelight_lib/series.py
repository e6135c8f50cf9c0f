# SPDX-License-Identifier: BSD-3-Clause
"""Measurements that are shown as series: bars, or curves over an x axis, with what is expected.

    shown = Shown("Late Post", "us", {"late_post": "1 MB"}, {"epoch": "access epoch"})
    series.main(arguments, Program("patterns", list(shown.lines), 3), SERIES, shown)

runs the program in its series, prints a table for each host, draws the same, or prints JSON.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import interleaved, plots
from .console import output, rich
from .interleaved import Column, Measured, Program, Series

Figures = Mapping[str, float]


@dataclass(frozen=True)
class Expectation:
    """What one of the figures should be, from others of the same line, column and run."""

    title: str
    figure: str
    value: Callable[[Figures], float]
    of: Sequence[Series] = ()  # the series that it is expected of; none: of all


@dataclass(frozen=True)
class Shown:
    """What is shown of the program's lines, and how."""

    title: str
    unit: str  # of all figures; where they differ, none: their titles say it
    lines: Mapping[str, str]  # by their names in the program
    figures: Mapping[str, str]  # likewise
    expectations: Sequence[Expectation] = ()
    x: Mapping[str, float] = field(default_factory=dict)  # where lines lie; without: bars
    x_label: str = ""
    logarithmic: str = ""  # as in plots.Curves
    decimals: int = 0
    by_series: bool = False  # a panel for each series, whose figures are its curves

    def text(self, value: float | None) -> str:
        return "" if value is None else f"{value:,.{self.decimals}f}"


@dataclass(frozen=True)
class Row:
    """One line in one column: medians over the rounds, and what they should be."""

    line: str
    column: str
    figures: Figures
    expected: Mapping[str, float]  # by the titles of expectations


def rows(measured: Measured, shown: Shown) -> list[Row]:
    """What was measured, in the order of lines and columns."""
    medians = interleaved.medians(measured.samples)
    return [
        Row(line, column.name, figures, _expected(figures, column.series, shown))
        for line in shown.lines
        for column in measured.columns
        if (figures := medians.get((line, column.name))) is not None
    ]


def _expected(figures: Figures, series: Series, shown: Shown) -> dict[str, float]:
    known: dict[str, float] = {}
    for expectation in shown.expectations:
        # A figure may be missing in a series.
        with contextlib.suppress(KeyError):
            if not expectation.of or series in expectation.of:
                known[expectation.title] = expectation.value(figures)
    return known


def main(
    arguments: argparse.Namespace,
    programs: Program | Sequence[Program],
    chosen: Sequence[Series],
    shown: Shown,
) -> int:
    """All of a measurement, as the options of interleaved.add_options say."""
    measured = interleaved.run(programs, arguments, chosen)
    show(arguments, measured, shown)
    return 0


def show(
    arguments: argparse.Namespace,
    measured: Measured,
    shown: Shown | Sequence[Shown],
    below: Sequence[Any] = (),
    **further: Any,
) -> None:
    """The tables with what is to be printed below them, or JSON with the further members; and the
    plot, where one is wanted. There may be several parts."""
    parts = [shown] if isinstance(shown, Shown) else shown
    if arguments.json:
        found = [row for part in parts for row in rows(measured, part)]
        interleaved.print_json(found, measured, **further)
    else:
        console = output()
        for part in parts:
            print_tables(console, measured, part)
        for what in below:
            console.print(what)
    if arguments.plot:
        drawn = [panel for part in parts for panel in panels(measured, part)]
        plots.draw(arguments.plot, drawn, parts[0].title if len(parts) == 1 else "")


def show_with_notes(
    arguments: argparse.Namespace,
    measured: Measured,
    shown: Shown | Sequence[Shown],
    notes: Callable[[Sequence[Row]], Sequence[str]],
) -> None:
    """The same with sentences that `notes` makes of the rows."""
    parts = [shown] if isinstance(shown, Shown) else shown
    said = notes([row for part in parts for row in rows(measured, part)])
    show(arguments, measured, shown, said, notes=list(said))


def print_tables(console: Any, measured: Measured, shown: Shown) -> None:
    """One for each host: a row for each figure of each line, a column for each series."""
    by_place = {(row.line, row.column): row for row in rows(measured, shown)}
    rounds = f"{shown.title}: medians of {measured.rounds} round(s)"
    rounds += f", {shown.unit}" if shown.unit else ""
    for host, columns in _by_host(measured).items():
        table = rich("table").Table(title=f"{host}. {rounds}", title_justify="left")
        table.add_column("")
        for column in columns:
            table.add_column(column.series.title, justify="right")
        for line, name in shown.lines.items():
            of_line = [by_place.get((line, column.name)) for column in columns]
            _add_rows(table, name, of_line, shown)
        console.print(table)
    of_lines = [sample for sample in measured.samples if sample.line in shown.lines]
    interleaved.print_outcomes(console, of_lines, shown.lines)


def _add_rows(table: Any, name: str, of_line: Sequence[Row | None], shown: Shown) -> None:
    for figure, title in shown.figures.items():
        cells = [shown.text(row.figures.get(figure) if row else None) for row in of_line]
        table.add_row(", ".join(filter(None, (name, title))), *cells)
        for expectation in shown.expectations:
            if expectation.figure == figure:
                values = [row.expected.get(expectation.title) if row else None for row in of_line]
                cells = [f"[dim]{shown.text(value)}[/dim]" for value in values]
                table.add_row(f"[dim]  {expectation.title}[/dim]", *cells)


def panels(measured: Measured, shown: Shown) -> list[plots.Panel]:
    """One for each host; of curves, one for each figure of each host, or for each series."""
    by_place = {(row.line, row.column): row for row in rows(measured, shown)}
    made: list[plots.Panel] = []
    for host, columns in _by_host(measured).items():
        if shown.x and shown.by_series:
            made += [_curves_of(column, by_place, shown) for column in columns]
        elif shown.x:
            made += [_curves(host, columns, by_place, shown, figure) for figure in shown.figures]
        else:
            made.append(_bars(host, columns, by_place, shown))
    return made


def _bars(
    host: str, columns: Sequence[Column], by_place: Mapping[tuple[str, str], Row], shown: Shown
) -> plots.Bars:
    groups = [(line, figure) for line in shown.lines for figure in shown.figures]
    names = [
        "\n".join(filter(None, (shown.lines[line], shown.figures[figure])))
        for line, figure in groups
    ]

    def heights(column: Column) -> list[float | None]:
        found = [(by_place.get((line, column.name)), figure) for line, figure in groups]
        return [row.figures.get(figure) if row else None for row, figure in found]

    def lines_of(expectation: Expectation) -> list[float | None]:
        return [
            _typical(expectation.title, line, columns, by_place)
            if figure == expectation.figure
            else None
            for line, figure in groups
        ]

    return plots.Bars(
        host,
        shown.unit,
        names,
        {column.series.title: heights(column) for column in columns},
        {each.title: lines_of(each) for each in shown.expectations},
    )


def _curves(
    host: str,
    columns: Sequence[Column],
    by_place: Mapping[tuple[str, str], Row],
    shown: Shown,
    figure: str,
) -> plots.Curves:
    places = [(line, shown.x[line]) for line in shown.lines]
    drawn = {
        column.series.title: [
            (x, row.figures[figure])
            for line, x in places
            if (row := by_place.get((line, column.name))) is not None and figure in row.figures
        ]
        for column in columns
    }
    expected = {
        each.title: [
            (x, value)
            for line, x in places
            if (value := _typical(each.title, line, columns, by_place)) is not None
        ]
        for each in shown.expectations
        if each.figure == figure
    }
    return plots.Curves(
        ": ".join(filter(None, (host, shown.figures[figure]))),
        shown.x_label,
        shown.unit or shown.figures[figure],
        drawn,
        expected,
        shown.logarithmic,
        {shown.x[line]: name for line, name in shown.lines.items()},
    )


def _curves_of(
    column: Column, by_place: Mapping[tuple[str, str], Row], shown: Shown
) -> plots.Curves:
    of_line = {line: by_place.get((line, column.name)) for line in shown.lines}

    def points(value: Callable[[Row], float | None]) -> list[tuple[float, float]]:
        values = [(shown.x[line], value(row)) for line, row in of_line.items() if row]
        return [(x, y) for x, y in values if y is not None]

    def figure(name: str) -> Callable[[Row], float | None]:
        return lambda row: row.figures.get(name)

    def expected(title: str) -> Callable[[Row], float | None]:
        return lambda row: row.expected.get(title)

    return plots.Curves(
        f"{column.host.name}, {column.series.title}",
        shown.x_label,
        shown.unit,
        {title: points(figure(name)) for name, title in shown.figures.items()},
        {each.title: points(expected(each.title)) for each in shown.expectations},
        shown.logarithmic,
        {shown.x[line]: name for line, name in shown.lines.items()},
    )


def _typical(
    title: str, line: str, columns: Sequence[Column], by_place: Mapping[tuple[str, str], Row]
) -> float | None:
    """What is expected of the last series that has it: one line in the plot, not one for each."""
    found = [by_place.get((line, column.name)) for column in columns]
    values = [row.expected[title] for row in found if row and title in row.expected]
    return values[-1] if values else None


def _by_host(measured: Measured) -> dict[str, list[Column]]:
    found: dict[str, list[Column]] = {}
    for column in measured.columns:
        found.setdefault(column.host.name, []).append(column)
    return found
