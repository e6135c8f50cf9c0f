# SPDX-License-Identifier: BSD-3-Clause
"""The results of `sidelight bench latency` for people and for programs."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .console import Column, output, tables
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
    further: Sequence[Line] = ()  # lines that the table does not have
    samples: list[Sample] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)  # last words of programs that crashed

    @property
    def lines(self) -> list[Line]:
        return [*lines_for(self.window, self.nodes, self.settings), *self.further]

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
    """The tables for people; where there is too little room for one, several below each other."""
    console = output()
    facts = machine()
    for table in _tables(console, report):
        console.print(table)
    if any(sample.column.endswith(ALLOCATED) for sample in report.samples):
        for table in _against_allocated(console, report):
            console.print(table)
    console.print(f"{facts['processor']}, {facts['cores']} cores, Linux {facts['kernel']}.")
    console.print(f"{BINDING}.")
    console.print("Ratios are those of the slowest host under Sidelight.")
    if report.settings:
        settings = [f"{name}={value}" for name, value in report.settings.items()]
        console.print(f"Settings of Sidelight: {', '.join(settings)}.", markup=False)
    extra = medians(report.samples)
    for line in report.lines:
        if line.information and line.name in extra:
            console.print(f"Bare, for comparison: {line.bare} {time_text(extra[line.name][BARE])}")
    for sentence in _against_other_lines(report):
        console.print(sentence)
    for note in report.notes:
        console.print(note, style="yellow", markup=False)
    if report.errors:
        console.print("What the crashed programs said is in the output of --json.")


def call_of(window: str) -> str:
    """The MPI call that makes such a window."""
    return f"MPI_Win_{_CALLS.get(window, window)}"


def _tables(console: Any, report: Report) -> list[Any]:
    call = call_of(report.window)
    where = f" on {report.nodes} nodes, over TCP" if report.nodes > 1 else ""
    title = f"{call}{where}: microseconds, medians of {report.rounds} round(s)"
    bare = "network" if report.nodes > 1 else "machine"
    lines = {line.name: line for line in report.lines}
    figures, failed = medians(report.samples), outcomes(report.samples)
    judged = report.judgements()
    names = [judgement.line for judgement in judged]
    columns = []
    for column in report.columns:
        host, under, _ = column.partition(UNDER)
        heading = f"{host}\n{bare if column == BARE else 'sidelight' if under else 'alone'}"
        cells = [
            _cell(figures.get(name, {}).get(column), failed.get(name, {}).get(column))
            for name in names
        ]
        columns.append(Column(heading, cells, "bold" if under else None))
    verdicts = zip(*(_verdict(lines[each.line], each) for each in judged), strict=True)
    headings = ("x bare\n(limit)", "x best host\n(limit)", "")
    columns += [Column(*each) for each in zip(headings, verdicts, strict=False)]
    return tables(console, title, [_title(lines[name]) for name in names], columns)


def _against_allocated(console: Any, report: Report) -> list[Any]:
    """This window : an allocated one, by host; what is on an allocated one beside it."""
    title = f"MPI_Win_allocate under Sidelight: microseconds, and {report.window} : that"
    figures = medians(report.samples)
    judged = {judgement.line: judgement for judgement in report.judgements()}
    lines = [
        line
        for line in report.lines
        if line.allocated_limit is not None and line.name in judged
    ]
    columns = []
    for column in (column for column in report.columns if column.endswith(UNDER)):
        host = column.removesuffix(UNDER)
        cells = []
        for line in lines:
            own = figures.get(line.name, {})
            ratio = allocated_ratios(own).get(host)
            beside = own.get(column + ALLOCATED)
            cells.append("" if ratio is None else f"{time_text(beside or 0.0)}  {ratio:.2f}")
        columns.append(Column(host, cells))
    worst = [_against(judged[line.name].allocated_ratio, line.allocated_limit) for line in lines]
    columns.append(Column("worst\n(limit)", worst))
    return tables(console, title, [line.title for line in lines], columns)


def _title(line: Line) -> str:
    return f"{line.title}\n[dim]  bare: {line.bare}[/dim]" if line.bare else line.title


def _cell(figure: float | None, outcome: str | None) -> str:
    if outcome:
        return f"[red]{outcome}[/red]"
    return "" if figure is None else time_text(figure)


def time_text(microseconds: float) -> str:
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
