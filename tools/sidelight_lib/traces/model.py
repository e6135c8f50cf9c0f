# SPDX-License-Identifier: BSD-3-Clause
"""What a trace says: ranks, windows, calls, epochs and operations, on one clock.

Times are nanoseconds. Ranks are those in the job, also where a record has the rank in the window.
What had not happened when the trace ended has the time None.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .spans import Span, joined, without
from .symbols import Place

FLAVORS = ("create", "allocate", "dynamic", "shared")
EPOCH_KINDS = ("fence", "access", "exposure", "lock", "lock_all")
OPERATION_KINDS = (
    "marker",
    "put",
    "get",
    "accumulate",
    "compare_and_swap",
    "active_message",
)
CALL_NAMES = (
    "",
    "fence",
    "post",
    "start",
    "complete",
    "wait",
    "test",
    "lock",
    "unlock",
    "lock_all",
    "unlock_all",
    "flush",
    "flush_local",
    "flush_all",
    "flush_local_all",
    "free",
    "request",  # MPI_Wait and its like
    "notify",  # a notified operation: its name has the kind of it before that
    "notify_threshold",
    "set_num_notify",
)
_NAMES = {
    "": "",
    "request": "MPI_Wait",
    "notify": "notified operation",  # that was refused
    "put_notify": "MPI_Put_notify",
    "get_notify": "MPI_Get_notify",
    "accumulate_notify": "MPI_Accumulate_notify",
    "active_message_notify": "MPIX_Am_notify",
    "notify_threshold": "MPIX_Win_notify_ithreshold",
}
_BETWEEN_NAPS = 100e3  # nanoseconds: longer than a wait polls
ALL = -1  # in the place of a peer: all at once


def name_in_mpi(name: str, nonblocking: bool = False) -> str:
    """Of a call; of those that end requests, and of a kind of notified operations, that of one."""
    return _NAMES.get(name, f"{'MPIX_Win_i' if nonblocking else 'MPI_Win_'}{name}")


@dataclass(eq=False)
class Window:
    """The same object at all members."""

    number: int  # in the order in which they were made
    flavor: str
    members: dict[int, int]  # rank in the window to rank in the job

    @property
    def label(self) -> str:
        return f"window {self.number}"

    def job_rank(self, rank: int) -> int:
        """Of a rank in the window, or ALL."""
        return rank if rank == ALL else self.members.get(rank, ALL)


@dataclass(eq=False)
class Call:
    """One call of the program on a window."""

    rank: int
    thread: int
    window: Window
    name: str
    nonblocking: bool
    peer: int  # the rank that it names, or ALL
    place: Place  # where it was called from
    enter: float
    leave: float | None = None
    failed: bool = False  # it has ended with an error
    closes: list[Epoch] = field(default_factory=list)
    opens: list[Epoch] = field(default_factory=list)
    ends: list[Request] = field(default_factory=list)  # a call that waits for requests
    notified: Notified | None = None
    awaited: Awaited | None = None

    @property
    def label(self) -> str:
        """Its name in MPI."""
        return name_in_mpi(self.name, self.nonblocking)


class Notified(NamedTuple):
    """What a call does that issues a notified operation of an epoch."""

    epoch: Epoch
    target: int
    counter: int  # of the target, which it raises


class Awaited(NamedTuple):
    """What a request waits for: that a counter of its rank reaches a value."""

    counter: int
    value: int


class Reset(NamedTuple):
    """A rank has set a counter of its own to zero."""

    time: float
    window: Window
    counter: int
    value: int  # before


@dataclass(eq=False)
class Request:
    """What a nonblocking call has given the program, or an operation of an epoch."""

    call: Call | None
    epoch: Epoch | None  # of the operation; without one the request is the call's
    begun: float
    ended: float | None = None
    waiting: Call | None = None  # that has ended it, if it was no test
    target: int = ALL  # of the operation


@dataclass
class Operation:
    time: float
    kind: str
    target: int
    bytes: int
    thread: int


@dataclass(eq=False)
class Epoch:
    """One epoch of one process."""

    rank: int
    window: Window
    number: int  # in the window, of this process
    kind: str = ""
    exclusive: bool = False  # a lock
    opened: float | None = None
    activated: float | None = None
    granted: dict[int, float] = field(default_factory=dict)  # by whom; by ALL at once
    ungranted: list[int] = field(default_factory=list)  # peers whose grant it did not need
    closed: float | None = None
    completed: float | None = None
    operations: list[Operation] = field(default_factory=list)
    opening: Call | None = None
    closing: Call | None = None

    @property
    def peers(self) -> list[int]:
        """Who has granted it, or need not: its targets, or, of an exposure, its origins."""
        return [peer for peer in dict.fromkeys([*self.granted, *self.ungranted]) if peer != ALL]

    @property
    def all_granted(self) -> float | None:
        """When the last of them did."""
        return max(self.granted.values(), default=None)

    @property
    def last_operation(self) -> float | None:
        return self.operations[-1].time if self.operations else None

    @property
    def bytes(self) -> int:
        return sum(operation.bytes for operation in self.operations)


@dataclass(frozen=True)
class Sleep:
    """A thread that waits has given its core away."""

    begin: float
    end: float
    thread: int
    own: bool  # the library's


@dataclass
class Rank:
    """What one process did. Calls by when they were entered, epochs by when they were opened."""

    rank: int
    node: str
    program: str
    maps: Path
    full: bool
    begin: float
    end: float
    calls: list[Call] = field(default_factory=list)
    epochs: list[Epoch] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    resets: list[Reset] = field(default_factory=list)
    sleeps: list[Sleep] = field(default_factory=list)
    moves: list[tuple[float, bool]] = field(default_factory=list)  # sweeps; by a thread of its own?
    wakes: int = 0

    def asleep(self, call: Call, within: Span) -> list[Span]:
        """When the call slept, with the pauses between naps that follow each other closely."""
        first = bisect_left(self.sleeps, call.enter, key=lambda nap: nap.begin)
        last = bisect_left(self.sleeps, within.end, key=lambda nap: nap.begin)
        naps = joined(
            Span(nap.begin, nap.end + _BETWEEN_NAPS)
            for nap in self.sleeps[first:last]
            if nap.thread == call.thread
        )
        spans = (Span(nap.begin, nap.end - _BETWEEN_NAPS).within(within) for nap in naps)
        return [span for span in spans if span]

    def asleep_elsewhere(self) -> list[Span]:
        """When a thread of the program slept in no call on a window: it waited in another call of
        MPI, whose naps are joined where they follow each other closely."""
        naps = joined(
            Span(sleep.begin, sleep.end + _BETWEEN_NAPS) for sleep in self.sleeps if not sleep.own
        )
        calls = joined(
            Span(call.enter, self.end if call.leave is None else call.leave) for call in self.calls
        )
        place, found = 0, []
        for nap in naps:
            while place < len(calls) and calls[place].end <= nap.begin:
                place += 1
            last = bisect_left(calls, nap.end, key=lambda call: call.begin)
            found += without(Span(nap.begin, nap.end - _BETWEEN_NAPS), calls[place:last])
        return found


@dataclass
class Job:
    """A trace of all its processes."""

    ranks: dict[int, Rank]
    windows: list[Window]
    empty: list[str] = field(default_factory=list)  # files in which nothing is
    of_several_runs: bool = False

    @property
    def begin(self) -> float:
        return min((each.begin for each in self.ranks.values()), default=0.0)

    @property
    def end(self) -> float:
        return max((each.end for each in self.ranks.values()), default=0.0)

    def epochs(self, window: Window) -> Iterator[Epoch]:
        for rank in self.ranks.values():
            yield from (epoch for epoch in rank.epochs if epoch.window is window)
