# SPDX-License-Identifier: BSD-3-Clause
"""Findings in plain words, for a terminal and for the page."""

from __future__ import annotations

from collections.abc import Sequence

from .findings import Findings, Prediction, Row
from .model import name_in_mpi

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def seconds(value: float) -> str:
    """With three digits, in the unit that fits."""
    size = abs(value)
    for unit, name in _UNITS:
        if size >= unit:
            return f"{value / unit:.3g} {name}"
    return "0 s"


def share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole > 0 else ""


def ranks(by: Sequence[tuple[int, float]]) -> str:
    """Who caused it: the first few."""
    known = [(rank, lost) for rank, lost in by if rank >= 0]
    shown = [f"{rank} ({seconds(lost)})" for rank, lost in known[:3]]
    return ", ".join(shown) + (f" and {len(known) - 3} others" if len(known) > 3 else "")


def prediction(found: Findings, each: Prediction) -> str:
    if each.total is None:
        return f"at most {seconds(each.saved)}"
    if each.saved < 0.005 * found.recorded:
        if each.earlier > 0.005 * found.recorded:
            earlier = seconds(each.earlier)
            return f"nothing of the whole, but rank {each.rank} is through {earlier} earlier"
        return "nothing: others are later still"
    return (
        f"{seconds(each.saved)} of {seconds(found.recorded)} ({share(each.saved, found.recorded)})"
    )


def summary(found: Findings) -> str:
    """The main losses, and what wins most back."""
    job = found.job
    lines = [
        f"{len(job.ranks)} ranks, {seconds(found.recorded)}; in calls on windows "
        f"{share(found.waited, found.rank_time)} of the time of all ranks",
        *found.notes,
    ]
    if not found.rows or found.rows[0].lost < 0.001 * found.rank_time:
        return "\n".join([*lines, "No pattern took more than 0.1% of it."])
    for row in found.rows[:3]:
        if row.lost >= 0.001 * found.rank_time:
            lines.extend(_row(found, row))
    return "\n".join(lines)


def _row(found: Findings, row: Row) -> list[str]:
    where = f"{name_in_mpi(row.call)} at {row.line}"
    cause = f", for {name_in_mpi(row.culprit)} at {row.culprit_line}" if row.culprit else ""
    lines = [
        f"{row.pattern}: {seconds(row.lost)} ({share(row.lost, found.rank_time)}) in {where}{cause}"
    ]
    for each in row.predictions[:1]:
        lines.append(f"    {each.remedy.call} would win back: {prediction(found, each)}")
    return lines
