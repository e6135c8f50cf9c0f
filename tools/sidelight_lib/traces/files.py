# SPDX-License-Identifier: BSD-3-Clause
"""The files of a trace, as docs/reference/trace-format.md has them: read, and written for tests.

A file is read as the records that are written, by thread; their times are nanoseconds of one clock
of the job.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from ..hosts import HostError

MAGIC = b"SDLTRACE"
VERSION = 1
HEADER_BYTES = 4096
CHUNK_BYTES = 262_144

_HEADER = struct.Struct("<8sIiiiII6Q64s256s")
_CHUNK = struct.Struct("<III20x")
_RECORD = struct.Struct("<QBBHiIIQ")
_MOST_RECORDS = (CHUNK_BYTES - _CHUNK.size) // _RECORD.size


class Event(IntEnum):
    """What has happened; the numbers are those of src/base/trace.hpp."""

    WINDOW_MADE = 1
    WINDOW_MEMBER = 2
    WINDOW_FREED = 3
    CALL_ENTERED = 4
    CALL_LEFT = 5
    EPOCH_OPENED = 6
    EPOCH_ACTIVATED = 7
    EPOCH_GRANTED = 8
    EPOCH_CLOSED = 9
    EPOCH_COMPLETED = 10
    OPERATION = 11
    MOVED = 12
    SLEPT = 13
    WOKEN = 14
    REQUEST_BEGUN = 15
    REQUEST_ENDED = 16
    EPOCH_UNGRANTED = 17
    NOTIFIED = 18
    COUNTER_AWAITED = 19
    COUNTER_RESET = 20


class Record(NamedTuple):
    """One event. `time` is in ticks in a file, in nanoseconds of the job's clock once read."""

    time: float
    event: int
    detail: int = 0
    peer: int = -1
    window: int = 0
    epoch: int = 0
    value: int = 0


class Clocks(NamedTuple):
    """One moment by three clocks: ticks, and nanoseconds of CLOCK_MONOTONIC and CLOCK_REALTIME."""

    ticks: int
    monotonic: int
    real: int


class Records:
    """Those of one thread, as they are in its file: made anew whenever they are gone through, for
    a trace may have more of them than there is memory for."""

    def __init__(self) -> None:
        self._parts: list[memoryview] = []
        self._line = (0, 1.0, 0.0)  # ticks, nanoseconds in a tick, nanoseconds at these ticks

    def append(self, part: memoryview) -> None:
        """Whole records."""
        self._parts.append(part)

    def set_clock(self, ticks: int, rate: float, shown: float) -> None:
        self._line = (ticks, rate, shown)

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts) // _RECORD.size

    def __iter__(self) -> Iterator[Record]:
        ticks, rate, shown = self._line
        for part in self._parts:
            for time, event, detail, _, peer, window, epoch, value in _RECORD.iter_unpack(part):
                moment = (time - ticks) * rate + shown
                yield Record(moment, event, detail, peer, window, epoch, value)

    def of(self, wanted: Event) -> Iterator[Record]:
        """Those of one event, without making the others."""
        ticks, rate, shown = self._line
        for part in self._parts:
            for time, event, detail, _, peer, window, epoch, value in _RECORD.iter_unpack(part):
                if event == wanted:
                    moment = (time - ticks) * rate + shown
                    yield Record(moment, event, detail, peer, window, epoch, value)

    def span(self) -> tuple[float, float] | None:
        """Times of the first and the last."""
        ticks, rate, shown = self._line
        parts = [part for part in self._parts if len(part)]
        if not parts:
            return None
        first = _RECORD.unpack_from(parts[0])[0]
        last = _RECORD.unpack_from(parts[-1], len(parts[-1]) - _RECORD.size)[0]
        return (first - ticks) * rate + shown, (last - ticks) * rate + shown


@dataclass
class Thread:
    """One thread of a process."""

    number: int
    own: bool  # the library's
    records: Records = field(default_factory=Records)


@dataclass
class Process:
    """What one file says."""

    rank: int  # in the job; -1 without one
    ranks: int
    process: int
    full: bool  # what came later is missing
    begin: Clocks
    end: Clocks
    node: str
    program: str
    threads: list[Thread]
    maps: Path  # which may not be there


def read(folder: Path) -> list[Process]:
    """The processes of a trace, by rank, but for those whose files are empty. Their clocks are one:
    the least of the times that the headers say is 0."""
    empty = set(without_header(folder))
    try:
        paths = [path for path in sorted(folder.glob("*.trace")) if path not in empty]
        read_ones = [_read_file(path) for path in paths]
    except OSError as error:
        raise HostError(f"{error.filename or folder}: {error.strerror}") from error
    if not paths:
        raise HostError(
            f"{folder} has no trace: `sidelight run --trace {folder} PROGRAM` writes one"
        )
    _align(read_ones)
    return sorted(read_ones, key=lambda each: (each.rank < 0, each.rank, each.process))


def without_header(folder: Path) -> list[Path]:
    """Files in which nothing is: their processes were killed, or had no room, before they wrote
    anything."""
    return [path for path in sorted(folder.glob("*.trace")) if _is_empty(path)]


def are_of_several_runs(processes: Iterable[Process]) -> bool:
    """Whether not all ranks have been of one job, at one time."""
    ranks = [each for each in processes if each.rank >= 0]
    if not ranks:
        return False
    begun, ended = max(each.begin.real for each in ranks), min(each.end.real for each in ranks)
    return len({each.ranks for each in ranks}) > 1 or begun > ended


def _is_empty(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return not any(file.read(_HEADER.size))
    except OSError:  # whoever reads it says why
        return False


def _read_file(path: Path) -> Process:
    data = _map(path)
    if len(data) < _HEADER.size or bytes(data[:8]) != MAGIC:
        raise HostError(f"{path} is not the file of a trace")
    _, version, rank, ranks, process, full, _, *words = _HEADER.unpack_from(data)
    if version != VERSION:
        raise HostError(f"{path} has version {version} of the format, this command reads {VERSION}")
    *clocks, node, program = words
    return Process(
        rank,
        ranks,
        process,
        bool(full),
        Clocks(*clocks[:3]),
        Clocks(*clocks[3:]),
        _text(node),
        _text(program),
        list(_threads(data)),
        path.with_suffix(".maps"),
    )


def _map(path: Path) -> memoryview:
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _text(field_of_header: bytes) -> str:
    return field_of_header.partition(b"\0")[0].decode(errors="replace")


def _threads(data: memoryview) -> Iterable[Thread]:
    """What is written of each chunk, those of one thread joined. A chunk that the process was
    killed in may be cut."""
    found: dict[int, Thread] = {}
    # By the first record: the part that a thread fills lies before those that were full earlier. Of
    # two that begin alike the later one is a copy, which may not be whole: the process was killed.
    parts: dict[int, dict[bytes, memoryview]] = {}
    for place in range(HEADER_BYTES, len(data) - _CHUNK.size, CHUNK_BYTES):
        count, number, own = _CHUNK.unpack_from(data, place)
        first = place + _CHUNK.size
        count = min(count, _MOST_RECORDS, (len(data) - first) // _RECORD.size)
        found.setdefault(number, Thread(number, bool(own)))
        if count > 0:
            part = data[first : first + count * _RECORD.size]
            parts.setdefault(number, {}).setdefault(bytes(part[: _RECORD.size]), part)
    for number, those in parts.items():
        for part in sorted(those.values(), key=lambda part: _RECORD.unpack_from(part)[0]):
            found[number].records.append(part)
    return found.values()


def _align(processes: Sequence[Process]) -> None:
    """Turns ticks into nanoseconds: by one line for each machine, whose processes have the same
    ticks, from the first to the last moment that its headers know. Machines are compared by
    CLOCK_REALTIME."""
    nodes: dict[str, list[Process]] = {}
    for each in processes:
        nodes.setdefault(each.node, []).append(each)
    lines = {}
    for node, those in nodes.items():
        first = min((each.begin for each in those), key=lambda clocks: clocks.ticks)
        last = max((each.end for each in those), key=lambda clocks: clocks.ticks)
        ticks = last.ticks - first.ticks
        rate = (last.monotonic - first.monotonic) / ticks if ticks > 0 else 1.0
        shown = first.real if len(nodes) > 1 else first.monotonic
        lines[node] = (first.ticks, rate, shown)
    zero = min(shown for _, _, shown in lines.values())
    for each in processes:
        ticks, rate, shown = lines[each.node]
        for thread in each.threads:
            thread.records.set_clock(ticks, rate, shown - zero)


def recorded(number: int, own: bool, records: Iterable[Record]) -> Thread:
    """A thread with these records, whose times are ticks. For tests."""
    thread = Thread(number, own)
    packed = [
        _RECORD.pack(int(time), event, detail, 0, peer, window, epoch, value)
        for time, event, detail, peer, window, epoch, value in records
    ]
    for first in range(0, len(packed), _MOST_RECORDS):
        thread.records.append(memoryview(b"".join(packed[first : first + _MOST_RECORDS])))
    return thread


def write(folder: Path, process: Process) -> Path:
    """Writes a file as the library does; times of records are ticks. For tests."""
    name = f"process-{process.node}-{process.process}"
    name = f"rank-{process.rank:05d}" if process.rank >= 0 else name
    path = folder / f"{name}.trace"
    header = _HEADER.pack(
        MAGIC,
        VERSION,
        process.rank,
        process.ranks,
        process.process,
        int(process.full),
        0,
        *process.begin,
        *process.end,
        process.node.encode(),
        process.program.encode(),
    )
    with path.open("wb") as file:
        file.write(header.ljust(HEADER_BYTES, b"\0"))
        for thread in process.threads:
            for part in thread.records._parts:
                count = len(part) // _RECORD.size
                chunk = _CHUNK.pack(count, thread.number, int(thread.own)) + part
                file.write(chunk.ljust(CHUNK_BYTES, b"\0"))
    return path
