# SPDX-License-Identifier: BSD-3-Clause
"""Tables and progress bars, from the package `rich`, asked for only when one is drawn."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any


class MissingPackage(Exception):
    """A Python package that a command needs is not installed. The text says which."""


def rich(module: str) -> ModuleType:
    """The module `rich.<module>`."""
    try:
        return importlib.import_module(f"rich.{module}")
    except ImportError as error:
        raise MissingPackage(
            "tables need the Python package rich: run `apt-get install python3-rich`, "
            "or use --json where the command has it"
        ) from error


def output() -> Any:
    """The console of what a command prints: as wide as the terminal, and without one 80 columns, or
    what the environment variable COLUMNS says."""
    return rich("console").Console(highlight=False)


def new_table(title: str, headings: Sequence[str]) -> Any:
    """An empty one. Columns without a heading have words in them, the others numbers."""
    made = rich("table").Table(title=title, title_justify="left")
    for heading in headings:
        made.add_column(heading, justify="right" if heading else "left")
    return made


@dataclass(frozen=True)
class Column:
    """One column of a table that may have to be cut into several."""

    heading: str
    cells: Sequence[str]
    style: str | None = None


def tables(console: Any, title: str, rows: Sequence[str], columns: Sequence[Column]) -> list[Any]:
    """A table with a line for each of the rows; where the console is too narrow, several below each
    other, of which the first alone has more than the first line of each row's name."""
    short = [row.partition("\n")[0] for row in rows]
    cut: list[list[Column]] = [[]]
    for column in columns:
        names = rows if len(cut) == 1 else short
        if cut[-1] and not _fits(console, _table("", names, [*cut[-1], column])):
            cut.append([])
        cut[-1].append(column)
    first, *others = cut
    return [_table(title, rows, first), *(_table("", short, part) for part in others)]


def _table(title: str, rows: Sequence[str], columns: Sequence[Column]) -> Any:
    table = rich("table").Table(title=title or None, title_justify="left")
    table.add_column("")
    for column in columns:
        table.add_column(column.heading, justify="right", style=column.style, no_wrap=True)
    for number, row in enumerate(rows):
        table.add_row(row, *(column.cells[number] for column in columns))
    return table


def _fits(console: Any, table: Any) -> bool:
    """Whether nothing in it would be wrapped. Its title may be."""
    table.title = None
    unbounded = console.options.update(width=10 * console.width)
    needed = rich("measure").Measurement.get(console, unbounded, table).maximum
    return bool(needed <= console.width)


@contextlib.contextmanager
def progress(steps: int, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A progress bar on the error stream, where there is someone to look at it."""
    try:
        bars = rich("progress")
    except MissingPackage:
        if not quiet:
            raise
        yield lambda description: None
        return
    console = rich("console").Console(stderr=True)
    with bars.Progress(console=console, transient=True) as bar:
        task: Any = bar.add_task("starting", total=steps)
        started = 0

        def advance(description: str) -> None:
            nonlocal started
            bar.update(task, completed=started, description=description)
            started += 1

        yield advance
