# SPDX-License-Identifier: BSD-3-Clause
"""What measurements of ways at sizes share: lines HOW_BYTES, rows of a size, curves of a way."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from . import interleaved, plots, sizes
from .interleaved import Measured, Sample

SIZES = {size: sizes.title(size) for size in (8, 1 << 10, 16 << 10, 64 << 10, 1 << 20)}


class Row(Protocol):
    """One size in one column."""

    @property
    def bytes(self) -> int: ...

    @property
    def column(self) -> str: ...


AnyRow = TypeVar("AnyRow", bound=Row)


def run(name: str, hows: Sequence[str], arguments: argparse.Namespace) -> Measured:
    """The program of that name, in all ways and sizes, on two ranks."""
    options = ["--quick"] if arguments.quick else []
    lines = [f"{how}_{size}" for size in SIZES for how in hows]
    return interleaved.run(interleaved.Program(name, lines, 2, options), arguments)


def figures(samples: Iterable[Sample]) -> dict[tuple[str, int], dict[str, float]]:
    """Medians over the rounds by column and size, smallest first: what each way takes."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for (line, column), several in interleaved.medians(samples).items():
        how, _, size = line.partition("_")
        found.setdefault((column, int(size)), {})[how] = several["microseconds"]
    return dict(sorted(found.items()))


def panels(
    rows: Sequence[AnyRow], hows: Sequence[str], titles: Mapping[int, str] = SIZES
) -> list[plots.Panel]:
    """One for each column: a curve for each way, over the sizes at which it was measured."""

    def time(row: AnyRow, how: str) -> float | None:
        of_row: Any = getattr(row, "figures", None)
        found = of_row.get(how) if of_row is not None else getattr(row, how)
        return None if found is None else float(found)

    def curve(column: str, how: str) -> list[tuple[float, float]]:
        points = [(float(row.bytes), time(row, how)) for row in rows if row.column == column]
        return [(size, value) for size, value in points if value is not None]

    return [
        plots.Curves(
            interleaved.where(column),
            "bytes",
            "us",
            {how: points for how in hows if (points := curve(column, how))},
            logarithmic="xy",
            ticks={float(size): name for size, name in titles.items()},
        )
        for column in dict.fromkeys(row.column for row in rows)
    ]


def draw(arguments: argparse.Namespace, title: str, drawn: list[plots.Panel]) -> None:
    """Where a plot is wanted."""
    if arguments.plot:
        plots.draw(arguments.plot, drawn, title)
