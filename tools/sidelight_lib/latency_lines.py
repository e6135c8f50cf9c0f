# SPDX-License-Identifier: BSD-3-Clause
"""The lines of `sidelight bench latency`, their limits, and the judgement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

# A column is BARE, a host's name, or that and UNDER; with ALLOCATED behind it the window is an
# allocated one, to compare with.
BARE = "bare"
UNDER = "+sidelight"
ALLOCATED = " allocated"

SHARING = "SIDELIGHT_SHARE_MEMORY"  # the setting that may forbid what some limits rest on


@dataclass(frozen=True)
class Line:
    """One measurement. `key` is its name in the programs under bench/."""

    key: str
    title: str
    bare: str  # the bare machine's way to do the same; empty where that is not measured
    bare_limit: float | None = None  # Sidelight at most this many times the bare machine
    host_limit: float | None = None  # Sidelight at most this many times the best host
    ranks: int = 2
    other: str = ""  # another line that it is held against, in the same column
    other_limit: float | None = None  # Sidelight at most this many times its own time of that line
    allocated_limit: float | None = None  # at most this many times its own on an allocated window
    bare_key: str = ""  # the line of the bare program, where that has another name
    information: bool = False  # measured on the bare machine alone

    @property
    def name(self) -> str:
        """Its name in results: those of two ranks go without the number."""
        return self.key if self.ranks == 2 else f"{self.key}_{self.ranks}"


_ROW = re.compile(
    r"(?P<op>sum|replace|max|prod|bor)_(?P<type>u?int(?:8|16|32|64)|(?:long|complex)?double"
    r"|(?:complex)?float)_(?P<bytes>[1-9]\d*)"
)


def accumulate_line(name: str) -> Line | None:
    """An accumulate of many elements, named OPERATION_TYPE_BYTES; None: that is no such name."""
    found = _ROW.fullmatch(name)
    if found is None:
        return None
    size = int(found["bytes"])
    text = f"{size // 1024} KB" if size >= 1024 and size % 1024 == 0 else f"{size} B"
    return Line(name, f"{found['op']} of {found['type']}, {text} + flush", "", host_limit=1.0)


def _rows(op: str, type_name: str, *sizes: int) -> list[Line]:
    lines = (accumulate_line(f"{op}_{type_name}_{size}") for size in sizes)
    return [line for line in lines if line is not None]


_LINES = (
    Line("put_8", "put 8 B + flush", "store, locked instruction", 2.5, 0.75),
    Line("puts_100", "put 8 B, a flush after 100", ""),
    Line("put_local_8", "put 8 B + flush_local", ""),
    Line("rput_8", "Rput 8 B + Wait", "", host_limit=1.0),
    Line("rrput_8", "Rrput 8 B + Wait (hosts: Rput, Wait, flush)", "", host_limit=1.0),
    Line("rget_8", "Rget 8 B + Wait", "", host_limit=1.0),
    Line("get_8", "get 8 B + flush", "load, locked instruction", 2.5, 0.75),
    Line("fetch_and_op", "fetch_and_op + flush", "fetch-add", 2.5, 0.5),
    Line("compare_and_swap", "compare_and_swap + flush", "compare-exchange", 2.5, 0.75),
    Line("accumulate_8", "accumulate 8 B + flush", "fetch-add", 2.5, 0.5),
    Line("lock_put_unlock", "lock, put 8 B, unlock", "fetch-add, store, fetch-add", 3.0, 0.75),
    Line("lock_all_put_unlock_all", "lock_all, put 8 B, unlock_all", "", host_limit=1.0),
    Line("fence", "fence", "barrier on a counter", 3.0, 0.75),
    Line("gats", "GATS, an epoch each way", "the flags of two epochs", 1.5, 0.75),
    Line("put_1m", "put 1 MB + flush", "memcpy", 1.05, 0.75),
    *_rows("sum", "int64", 64, 512, 4096, 65536),
    *_rows("replace", "int64", 64, 4096),
    *_rows("sum", "int32", 4096),
    *_rows("sum", "float", 4096),
    Line("accumulate_1m", "accumulate 1 MB + flush", "additions, not atomic"),
    Line("fence", "fence, 8 ranks on 2 cores", "futex barrier", 2.0, ranks=8),
    Line("flag_trip", "", "flag there and back", information=True),
    Line("load", "", "load", information=True),
    Line("two_empty_calls", "", "two empty calls (put, flush)", information=True),
)

# Windows on the program's own memory, where the limits are not those of allocated windows.
_OWN_MEMORY = {
    "put_8": {"host_limit": 0.1},
    "fetch_and_op": {"host_limit": 0.1},
    "put_1m": {"bare_limit": 1.1},
}
# The same where that memory may not be shared: it is messages then, or copies by the kernel.
_PRIVATE_MEMORY = {name: {"host_limit": 1.1} for name in ("put_8", "fetch_and_op")}

# A dynamic window is held against an allocated one wherever there is an access.
_AS_ALLOCATED = 1.1

# Across nodes the bare machine is the network alone: messages, without MPI.
_TRIP = {"bare": "8 B there, 8 B back", "bare_key": "am_8"}
_SMALL = _TRIP | {"bare_limit": 2.5, "host_limit": 0.1}
_ACROSS_NODES = {
    "put_8": _SMALL,
    "puts_100": {"other": "put_8", "other_limit": 1 / 20},
    "put_local_8": {"other": "put_8", "other_limit": 1 / 5},
    "rrput_8": _SMALL,
    "get_8": _SMALL,
    "fetch_and_op": _SMALL,
    "compare_and_swap": _TRIP,
    "accumulate_8": _SMALL,
    "fence": {"bare": "8 B both ways at once", "bare_key": "am_8_both"},
    "put_1m": {"bare": "1 MB there, 8 B back", "bare_key": "am_1m", "bare_limit": 1 / 0.8},
}
_OF_THE_NETWORK = (
    Line("am_8_100", "", "100 times 8 B there, 8 B back", information=True),
    Line("am_1m_stream", "", "1 MB there, 4 of them on the way", information=True),
)

_NO_LIMITS = {"bare_limit": None, "host_limit": None}


def lines_for(window: str, nodes: int, settings: Mapping[str, str] | None = None) -> list[Line]:
    """The lines of a table, in its order, with the limits that hold there."""
    if nodes > 1:
        return _lines_across_nodes()
    if window not in ("create", "dynamic"):
        return list(_LINES)
    if (settings or {}).get(SHARING) == "never":
        private = {line.key: _NO_LIMITS | _PRIVATE_MEMORY.get(line.key, {}) for line in _LINES}
        return [replace(line, **private[line.key]) for line in _LINES]
    lines = [replace(line, **_OWN_MEMORY.get(line.key, {})) for line in _LINES]
    if window == "create":
        return lines
    accesses = {line.key for line in _LINES if not line.information} - {"fence"}
    return [
        replace(line, allocated_limit=_AS_ALLOCATED if line.key in accesses else None)
        for line in lines
    ]


def _lines_across_nodes() -> list[Line]:
    plain = {"bare": "", **_NO_LIMITS}
    pairs = [line for line in _LINES if line.ranks == 2 and not line.information]
    lines = [replace(line, **(plain | _ACROSS_NODES.get(line.key, {}))) for line in pairs]
    return [*lines, *_OF_THE_NETWORK]


@dataclass(frozen=True)
class Sample:
    """What one run of one line gave: a figure, or the outcome that prevented one."""

    round: int
    column: str
    line: str
    figures: Mapping[str, float]  # as the program printed them
    outcome: str = ""  # empty, or why there is no figure


@dataclass(frozen=True)
class Judgement:
    """One line, judged by its slowest host. None where something was not measured."""

    line: str
    bare_ratio: float | None  # slowest under Sidelight : bare machine
    host_ratio: float | None  # slowest under Sidelight : best host alone
    other_ratio: float | None  # under Sidelight : the other line there; the worst of the hosts
    allocated_ratio: float | None  # this window : an allocated one; the worst of the hosts
    holds: bool | None


Medians = dict[str, dict[str, float]]  # line, column: microseconds
Outcomes = dict[str, dict[str, str]]


def medians(samples: Iterable[Sample]) -> Medians:
    """The median over the rounds of each line in each column."""
    collected: dict[str, dict[str, list[float]]] = {}
    for sample in samples:
        if not sample.outcome:
            columns = collected.setdefault(sample.line, {})
            columns.setdefault(sample.column, []).append(sample.figures["microseconds"])
    return {
        line: {column: median(values) for column, values in columns.items()}
        for line, columns in collected.items()
    }


def outcomes(samples: Iterable[Sample]) -> Outcomes:
    """Why there is no figure, where there is none in some round: it may have some from others."""
    found: Outcomes = {}
    for sample in samples:
        if sample.outcome:
            found.setdefault(sample.line, {})[sample.column] = sample.outcome
    return found


def judge(
    line: Line,
    figures: Mapping[str, float],
    failed: Mapping[str, str],
    other: Mapping[str, float] | None = None,
) -> Judgement:
    """Holds the slowest column under Sidelight against the limits of the line; and each of those
    columns against the figures of its other line, and against those of an allocated window."""
    under = [value for column, value in figures.items() if column.endswith(UNDER)]
    alone = [value for column, value in figures.items() if column != BARE and UNDER not in column]
    slowest = max(under, default=None)
    bare_ratio = _ratio(slowest, figures.get(BARE))
    host_ratio = _ratio(slowest, min(alone, default=None))
    other_ratio = _worst_ratio(figures, other or {})
    allocated_ratio = max(allocated_ratios(figures).values(), default=None)
    checks = [
        None if ratio is None else ratio <= limit
        for ratio, limit in (
            (bare_ratio, line.bare_limit),
            (host_ratio, line.host_limit),
            (other_ratio, line.other_limit),
            (allocated_ratio, line.allocated_limit),
        )
        if limit is not None
    ]
    if any(UNDER in column for column in failed):
        checks.append(False)
    ratios = (bare_ratio, host_ratio, other_ratio, allocated_ratio)
    return Judgement(line.name, *ratios, _all(checks))


def allocated_ratios(figures: Mapping[str, float]) -> dict[str, float]:
    """By host: under Sidelight this window : an allocated one, where both were measured."""
    return {
        column.removesuffix(UNDER): value / figures[column + ALLOCATED]
        for column, value in figures.items()
        if column + ALLOCATED in figures
    }


def _ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def _worst_ratio(figures: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    ratios = [
        _ratio(value, other.get(column))
        for column, value in figures.items()
        if column.endswith(UNDER)
    ]
    return max((ratio for ratio in ratios if ratio is not None), default=None)


def _all(checks: list[bool | None]) -> bool | None:
    if False in checks:
        return False
    return None if None in checks or not checks else True
