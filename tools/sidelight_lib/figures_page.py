# SPDX-License-Identifier: BSD-3-Clause
"""The page of figures, docs/figures.md: a section for each kind of window and number of nodes,
which `sidelight bench latency --write` replaces; what stands around them is left alone."""

from __future__ import annotations

import datetime
import subprocess
import textwrap
from pathlib import Path

from .latency_lines import BARE, UNDER, Line, medians, outcomes
from .latency_table import BINDING, Report, call_of, machine, time_text

_END = "<!-- end of the measurement -->"
_PLACES = ("SIDELIGHT_BUILD_DIR", "SIDELIGHT_HOSTS_DIR")  # where things lie, not how they work


def write(path: Path, report: Report) -> None:
    """Puts the section of a report in the place of the one before it, or at the end."""
    text = path.read_text() if path.exists() else "# Figures\n"
    begin = f"<!-- bench latency, {report.window}, nodes: {report.nodes} -->"
    section = f"{begin}\n{_section(report)}\n{_END}"
    head, found, rest = text.partition(begin)
    if found:
        _, _, tail = rest.partition(_END)
        path.write_text(head + section + tail)
    else:
        path.write_text(f"{text.rstrip()}\n\n{section}\n")


def _section(report: Report) -> str:
    where = f"{report.nodes} nodes, over TCP" if report.nodes > 1 else "one node"
    bare = "network alone" if report.nodes > 1 else "bare machine"
    alone = [name for name in report.columns if name != BARE and not name.endswith(UNDER)]
    headings = ["microseconds", bare, *alone, "Sidelight on these"]
    rows = [_row(report, line, alone) for line in report.lines if not line.information]
    facts = machine()
    settings = "".join(
        f", {name}={value}" for name, value in report.settings.items() if name not in _PLACES
    )
    notes = "".join(f" {note}." for note in report.notes)
    conditions = (
        f"{facts['processor']}, {facts['cores']} cores, Linux {facts['kernel']}; medians of "
        f"{report.rounds} interleaved round(s), {datetime.date.today().isoformat()}, state "
        f"{_state()}{settings}. {BINDING}.{notes}"
    )
    return "\n".join(
        [
            f"## {call_of(report.window)}, {where}",
            "",
            _cells(headings),
            _cells(["---"] * len(headings)),
            *(_cells(row) for row in rows if any(row[1:])),
            "",
            textwrap.fill(conditions, 132, break_on_hyphens=False),
        ]
    )


def _row(report: Report, line: Line, alone: list[str]) -> list[str]:
    """The name, the bare machine, each host alone, and the range of all hosts under Sidelight."""
    figures = medians(report.samples).get(line.name, {})
    failed = outcomes(report.samples).get(line.name, {})
    hosts = [
        failed.get(name) or (time_text(figures[name]) if name in figures else "") for name in alone
    ]
    under = [figures[name] for name in report.columns if name.endswith(UNDER) and name in figures]
    crashed = [failed[name] for name in report.columns if name.endswith(UNDER) and name in failed]
    ends = dict.fromkeys(time_text(end) for end in (min(under), max(under))) if under else {}
    both = [text for text in (" - ".join(ends), *crashed) if text]
    bare = time_text(figures[BARE]) if BARE in figures else ""
    return [line.title, bare, *hosts, ", ".join(both)]


def _cells(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _state() -> str:
    """The commit that is checked out, marked where files differ from it."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return "unknown"
    return described.stdout.strip() or "unknown"
