# SPDX-License-Identifier: BSD-3-Clause
"""The results of `sidelight bench latency` for people and for programs."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .console import rich
from .latency_lines import (
    ALLOCATED,
    BARE,
    UNDER,
    Judgement,
    Line,
    Sample,
    allocated_ratios,
    judge,
    lines_for,
    medians,
    outcomes,
)

_CALLS = {"dynamic": "create_dynamic"}  # where the name of the window's kind is not the call's
BINDING = "2 ranks: one core each; 8 ranks: two cores together; the same in every column"


@dataclass
class Report:
    """All that was measured on one kind of window."""

    window: str
    columns: list[str]
    rounds: int
    nodes: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)  # of Sidelight
    samples: list[Sample] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)  # last words of programs that crashed

    @property
    def lines(self) -> list[Line]:
        return lines_for(self.window, self.nodes, self.settings)

    def judgements(self) -> list[Judgement]:
        figures, failed = medians(self.samples), outcomes(self.samples)
        return [
            judge(
                line,
                figures.get(line.name, {}),
                failed.get(line.name, {}),
                figures.get(line.other, {}),
            )
            for line in self.lines
            if not line.information and line.name in figures.keys() | failed.keys()
        ]

    def as_dict(self) -> dict[str, Any]:
        return {
            "window": self.window,
            "nodes": self.nodes,
            "rounds": self.rounds,
            "settings": dict(self.settings),
            "machine": machine(),
            "binding": BINDING,
            "unit": "microseconds",
            "limits": {
                line.name: {
                    "bare": line.bare_limit,
                    "best_host": line.host_limit,
                    "other_line": line.other_limit,
                    "allocated": line.allocated_limit,
                }
                for line in self.lines
                if not line.information
            },
            "medians": medians(self.samples),
            "outcomes": outcomes(self.samples),
            "judgements": [asdict(judgement) for judgement in self.judgements()],
            "samples": [asdict(sample) for sample in self.samples],
            "notes": self.notes,
            "errors": self.errors,
        }


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    models = (
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    return {
        "processor": next(models, platform.machine()),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
    }


def print_report(report: Report) -> None:
    """The human table. It is as wide as its columns need: a narrow terminal wraps it."""
    needed = 80 + 11 * len(report.columns)
    columns = max(needed, shutil.get_terminal_size().columns)
    console = rich("console").Console(width=columns, highlight=False)
    facts = machine()
    console.print(_table(report))
    if any(sample.column.endswith(ALLOCATED) for sample in report.samples):
        console.print(_against_allocated(report))
    console.print(f"{facts['processor']}, {facts['cores']} cores, Linux {facts['kernel']}.")
    console.print(f"{BINDING}.")
    console.print("Ratios are those of the slowest host under Sidelight.")
    if report.settings:
        settings = [f"{name}={value}" for name, value in report.settings.items()]
        console.print(f"Settings of Sidelight: {', '.join(settings)}.", markup=False)
    extra = medians(report.samples)
    for line in report.lines:
        if line.information and line.name in extra:
            console.print(f"Bare, for comparison: {line.bare} {_time(extra[line.name][BARE])}")
    for sentence in _against_other_lines(report):
        console.print(sentence)
    for note in report.notes:
        console.print(note, style="yellow", markup=False)
    if report.errors:
        console.print("What the crashed programs said is in the output of --json.")


def _table(report: Report) -> Any:
    call = f"MPI_Win_{_CALLS.get(report.window, report.window)}"
    where = f" on {report.nodes} nodes, over TCP" if report.nodes > 1 else ""
    title = f"{call}{where}: microseconds, medians of {report.rounds} round(s)"
    table = rich("table").Table(title=title, title_justify="left")
    table.add_column("")
    bare = "network" if report.nodes > 1 else "machine"
    for column in report.columns:
        host, under, _ = column.partition(UNDER)
        heading = f"{host}\n{bare if column == BARE else 'sidelight' if under else 'alone'}"
        table.add_column(heading, justify="right", style="bold" if under else None)
    table.add_column("x bare\n(limit)", justify="right")
    table.add_column("x best host\n(limit)", justify="right")
    table.add_column("")
    lines = {line.name: line for line in report.lines}
    figures, failed = medians(report.samples), outcomes(report.samples)
    for judgement in report.judgements():
        name = judgement.line
        cells = [
            _cell(figures.get(name, {}).get(column), failed.get(name, {}).get(column))
            for column in report.columns
        ]
        table.add_row(_title(lines[name]), *cells, *_verdict(lines[name], judgement))
    return table


def _against_allocated(report: Report) -> Any:
    """This window : an allocated one, by host; what is on an allocated one beside it."""
    table = rich("table").Table(
        title=f"MPI_Win_allocate under Sidelight: microseconds, and {report.window} : that",
        title_justify="left",
    )
    table.add_column("")
    under = [column for column in report.columns if column.endswith(UNDER)]
    for column in under:
        table.add_column(column.removesuffix(UNDER), justify="right")
    table.add_column("worst\n(limit)", justify="right")
    figures = medians(report.samples)
    judged = {judgement.line: judgement for judgement in report.judgements()}
    for line in report.lines:
        if line.allocated_limit is None or line.name not in judged:
            continue
        own = figures.get(line.name, {})
        ratios = allocated_ratios(own)
        cells = [
            f"{_time(own[column + ALLOCATED])}  {ratio:.2f}"
            if (ratio := ratios.get(column.removesuffix(UNDER))) is not None
            else ""
            for column in under
        ]
        worst = _against(judged[line.name].allocated_ratio, line.allocated_limit)
        table.add_row(line.title, *cells, worst)
    return table


def _title(line: Line) -> str:
    return f"{line.title}\n[dim]  bare: {line.bare}[/dim]" if line.bare else line.title


def _cell(figure: float | None, outcome: str | None) -> str:
    if outcome:
        return f"[red]{outcome}[/red]"
    return "" if figure is None else _time(figure)


def _time(microseconds: float) -> str:
    """Three significant digits, down to a tenth of a nanosecond."""
    decimals = 4 if microseconds < 0.1 else 3 if microseconds < 1 else 2
    return f"{microseconds:.{decimals if microseconds < 100 else 0}f}"


def _verdict(line: Line, judgement: Judgement) -> Sequence[str]:
    mark = {True: "[green]pass[/green]", False: "[red]short[/red]", None: ""}[judgement.holds]
    return (
        _against(judgement.bare_ratio, line.bare_limit),
        _against(judgement.host_ratio, line.host_limit),
        mark,
    )


def _against_other_lines(report: Report) -> list[str]:
    """Lines that are held against another one: they have no column for that."""
    lines = {line.name: line for line in report.lines}
    held = [
        (lines[judged.line], judged.other_ratio)
        for judged in report.judgements()
        if judged.other_ratio is not None and lines[judged.line].other_limit is not None
    ]
    return [
        f"{line.title}: {_against(ratio, line.other_limit)} of {lines[line.other].title}, "
        "in the worst column under Sidelight"
        for line, ratio in held
    ]


def _against(ratio: float | None, limit: float | None) -> str:
    text = "" if ratio is None else f"{ratio:.{3 if ratio < 0.1 else 2}f}"
    return text if limit is None else f"{text} ({limit:g})".strip()
