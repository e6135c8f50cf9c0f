# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench notify`: how soon a target knows that data are there."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from . import by_size, interleaved, plots
from .console import output, rich
from .interleaved import Sample
from .latency_lines import UNDER

_DESCRIPTION = """\
How soon does a target know that data are there? By a put, a flush and a message; by a notified put
(MPI-5.1, 12.6) and a loop that asks for the counter, or a wait for it; by a bare flag in shared
memory, with no MPI. From a producer to a consumer and back; once around a ring of four; from three
to one, who lets them go on. On each host alone, where notified puts may be missing, and under
Sidelight, in turns, round after round; medians over the rounds. The routes are those of the
settings: SIDELIGHT_ROUTE=emulated and SIDELIGHT_NETWORK=tcp take messages, and so does --nodes 2,
where the host's message travels, too, and only two ranks are measured.
"""

SIZES = {8: "8 B", 1 << 10: "1 KB", 64 << 10: "64 KB"}
HOWS = ("message", "polled", "waited", "flag")
PAIR = 2
PATTERNS = {  # by number of ranks and what the program calls it
    (2, "ring"): "there and back",
    (4, "ring"): "a ring of 4",
    (4, "many"): "3 to one and back",
}


@dataclass(frozen=True)
class Row:
    """One pattern and size in one column: medians over the rounds, in microseconds."""

    pattern: str
    bytes: int
    column: str
    figures: dict[str, float]

    def ratio(self, how: str, other: str) -> float | None:
        """None where one of them was not measured."""
        if how not in self.figures or other not in self.figures:
            return None
        return self.figures[how] / self.figures[other]


def add(kinds: Any) -> None:
    """Adds the measurement to `sidelight bench`."""
    parser = kinds.add_parser(
        "notify", help="notified puts against flushes and messages", description=_DESCRIPTION
    )
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.set_defaults(action=main)


def rows(ranks: int, samples: Iterable[Sample]) -> list[Row]:
    """Of one number of ranks, pattern by pattern and column by column, smallest first."""
    found: dict[tuple[str, str, int], dict[str, float]] = {}
    for (line, column), several in interleaved.by_line(samples).items():
        pattern, how, size = line.split("_")
        time = median(figures["microseconds"] for figures in several)
        found.setdefault((pattern, column, int(size)), {})[how] = time
    return [
        Row(PATTERNS[ranks, pattern], size, column, figures)
        for (pattern, column, size), figures in sorted(found.items())
    ]


def main(arguments: argparse.Namespace) -> int:
    options = ["--quick"] if arguments.quick else []
    samples: list[Sample] = []
    found: list[Row] = []
    errors: list[str] = []
    for ranks in [PAIR] if arguments.nodes > 1 else sorted({ranks for ranks, _ in PATTERNS}):
        patterns = [pattern for number, pattern in PATTERNS if number == ranks]
        sizes = list(SIZES) if ranks == PAIR else [min(SIZES)]  # shared cores take their time
        lines = [f"{one}_{how}_{size}" for one in patterns for size in sizes for how in HOWS]
        program = interleaved.Program("notify", lines, ranks, options)
        measured = interleaved.run(program, arguments)
        samples.extend(measured.samples)
        errors.extend(measured.errors)
        found.extend(rows(ranks, measured.samples))
    if arguments.json:
        raw = [asdict(sample) for sample in samples]
        table = [asdict(row) for row in found]
        print(json.dumps({"rows": table, "samples": raw, "errors": errors}, indent=2))
    else:
        _print_table(found, samples, interleaved.rounds(arguments))
    by_size.draw(arguments, "Producer to consumer and back (MPI-5.1, 12.6)", panels(found))
    return 0


def panels(found: Sequence[Row]) -> list[plots.Panel]:
    """Of two ranks, which are measured at all sizes: one for each column, a curve for each way."""
    pair = [row for row in found if row.pattern == PATTERNS[PAIR, "ring"]]
    return by_size.panels(pair, HOWS, SIZES)


def _print_table(found: Sequence[Row], samples: Sequence[Sample], rounds: int) -> None:
    console = output()
    table = rich("table").Table(
        title=f"Until the data are known to be there: medians of {rounds} round(s), us",
        title_justify="left",
    )
    for heading in ("", "", ""):
        table.add_column(heading)
    for heading in (*HOWS, "polled\n: message", "waited\n: message", "polled\n: flag"):
        table.add_column(heading, justify="right")
    for row in found:
        name, under, _ = row.column.partition(UNDER)
        where = f"{name}, {'sidelight' if under else 'alone'}"
        times = [f"{row.figures[how]:.3f}" if how in row.figures else "" for how in HOWS]
        pairs = (("polled", "message"), ("waited", "message"), ("polled", "flag"))
        ratios = [row.ratio(how, other) for how, other in pairs]
        texts = ["" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
        table.add_row(row.pattern, where, SIZES[row.bytes], *times, *texts)
    console.print(table)
    interleaved.print_outcomes(console, samples)
