# SPDX-License-Identifier: BSD-3-Clause
"""What a trace says: ranks, windows, calls, epochs and operations, on one clock.

Times are nanoseconds. Ranks are those in the job, also where a record has the rank in the window.
What had not happened when the trace ended has the time None.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple

from .files import Event, Process, Record, Thread, read, without_header
from .spans import Span, joined, without
from .symbols import Maps, Place

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
_NONBLOCKING = 0x80
_BETWEEN_NAPS = 100e3  # nanoseconds: longer than a wait polls
_EXCLUSIVE = 0x80
_OF_A_NOTIFICATION = 1  # the detail of a request
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

    @property
    def begin(self) -> float:
        return min((each.begin for each in self.ranks.values()), default=0.0)

    @property
    def end(self) -> float:
        return max((each.end for each in self.ranks.values()), default=0.0)

    def epochs(self, window: Window) -> Iterator[Epoch]:
        for rank in self.ranks.values():
            yield from (epoch for epoch in rank.epochs if epoch.window is window)


def load(folder: Path) -> Job:
    job = build(read(folder))
    job.empty = [path.name for path in without_header(folder)]
    return job


def build(processes: Sequence[Process]) -> Job:
    """A process without a rank in the job gets a number behind those that have one."""
    others = count(max((each.ranks for each in processes), default=0))
    numbered = {each.rank if each.rank >= 0 else next(others): each for each in processes}
    makers = _Windows()
    local = {rank: makers.of_process(rank, each) for rank, each in numbered.items()}
    makers.add_members(numbered, local)
    ranks = {rank: _Reader(rank, each, local[rank]).run() for rank, each in numbered.items()}
    return Job(ranks, makers.all)


class _Windows:
    """Finds which windows of the processes are one: those of one name, made for the same time."""

    def __init__(self) -> None:
        self.all: list[Window] = []
        self._by_name: dict[tuple[int, int], Window] = {}

    def of_process(self, rank: int, process: Process) -> dict[int, Window]:
        """By their numbers in the process."""
        times: dict[int, int] = {}
        found = {}
        for record in _in_order(process.threads, Event.WINDOW_MADE):
            name = record.value
            times[name] = times.get(name, 0) + 1
            window = self._by_name.get((name, times[name]))
            if window is None:
                window = Window(len(self.all) + 1, _named(FLAVORS, record.detail), {})
                self._by_name[name, times[name]] = window
                self.all.append(window)
            window.members[record.peer] = rank
            found[record.window] = window
        return found

    @staticmethod
    def add_members(
        processes: dict[int, Process], local: dict[int, dict[int, Window]]
    ) -> None:
        """Those that have written no file."""
        for rank, process in processes.items():
            for record in _in_order(process.threads, Event.WINDOW_MEMBER):
                window = local[rank].get(record.window)
                if window is not None:
                    window.members.setdefault(record.peer, record.value)


def _in_order(threads: Iterable[Thread], event: Event) -> list[Record]:
    found = [record for thread in threads for record in thread.records.of(event)]
    return sorted(found, key=lambda record: record.time)


def _named(names: Sequence[str], number: int) -> str:
    return names[number] if number < len(names) else f"unknown {number}"


class _Reader:
    """Makes one rank of the records of its threads."""

    def __init__(self, rank: int, process: Process, windows: dict[int, Window]) -> None:
        spans = [thread.records.span() for thread in process.threads]
        times = [time for span in spans if span is not None for time in span]
        self._threads = process.threads
        self._windows = windows
        self._epochs: dict[tuple[int, int], Epoch] = {}
        # Those of all threads: one may wait for what another has begun.
        self._begun: list[tuple[float, int, Request]] = []
        self._ended: list[tuple[float, int, Call | None]] = []
        self._call: Call | None = None  # that the thread is in
        self._operated: Epoch | None = None  # of its last operation
        self._asleep: float | None = None
        self._maps = Maps.read(process.maps)
        self._places: dict[int, Place] = {}
        self._number = 0
        self._own = False
        self._rank = Rank(
            rank,
            process.node,
            process.program,
            process.maps,
            process.full,
            min(times, default=0.0),
            max(times, default=0.0),
        )
        self._takers = {
            Event.CALL_ENTERED: self._enter,
            Event.CALL_LEFT: self._leave,
            Event.EPOCH_OPENED: self._open,
            Event.EPOCH_ACTIVATED: self._activate,
            Event.EPOCH_GRANTED: self._grant,
            Event.EPOCH_UNGRANTED: self._miss,
            Event.EPOCH_CLOSED: self._close,
            Event.EPOCH_COMPLETED: self._complete,
            Event.OPERATION: self._operate,
            Event.MOVED: self._move,
            Event.SLEPT: self._sleep,
            Event.WOKEN: self._wake,
            Event.REQUEST_BEGUN: self._begin_request,
            Event.REQUEST_ENDED: self._end_request,
            Event.NOTIFIED: self._notify,
            Event.COUNTER_AWAITED: self._await_counter,
            Event.COUNTER_RESET: self._reset_counter,
        }

    def run(self) -> Rank:
        for thread in self._threads:
            self._call, self._operated, self._asleep = None, None, None
            self._number, self._own = thread.number, thread.own
            for record in thread.records:
                taker = self._takers.get(record.event)  # type: ignore[call-overload]
                if taker is not None:
                    taker(record)
        self._match_requests()
        rank = self._rank
        rank.calls.sort(key=lambda call: call.enter)
        opened = [epoch for epoch in self._epochs.values() if epoch.opened is not None]
        rank.epochs = sorted(opened, key=lambda epoch: (epoch.opened, epoch.number))
        for epoch in rank.epochs:
            epoch.operations.sort(key=lambda operation: operation.time)
        rank.sleeps.sort(key=lambda sleep: sleep.begin)
        rank.moves.sort()
        return rank

    def _epoch(self, record: Record) -> Epoch | None:
        window = self._windows.get(record.window)
        if window is None:
            return None
        key = (record.window, record.epoch)
        if key not in self._epochs:
            self._epochs[key] = Epoch(self._rank.rank, window, record.epoch)
        return self._epochs[key]

    def _enter(self, record: Record) -> None:
        window = self._windows.get(record.window)
        if window is None:
            return
        self._call = Call(
            self._rank.rank,
            self._number,
            window,
            _named(CALL_NAMES, record.detail & ~_NONBLOCKING),
            bool(record.detail & _NONBLOCKING),
            window.job_rank(record.peer),
            self._place(record.value),
            record.time,
        )
        self._rank.calls.append(self._call)

    def _place(self, address: int) -> Place:
        if address not in self._places:
            self._places[address] = self._maps.place(address)
        return self._places[address]

    def _leave(self, record: Record) -> None:
        if self._call is not None:
            self._call.leave = record.time
            self._call = None

    def _open(self, record: Record) -> None:
        epoch = self._epoch(record)
        if epoch is not None:
            epoch.opened, epoch.opening = record.time, self._call
            epoch.kind = _named(EPOCH_KINDS, record.detail & ~_EXCLUSIVE)
            epoch.exclusive = bool(record.detail & _EXCLUSIVE)
            if self._call is not None:
                self._call.opens.append(epoch)

    def _activate(self, record: Record) -> None:
        epoch = self._epoch(record)
        if epoch is not None:
            epoch.activated = record.time

    def _grant(self, record: Record) -> None:
        epoch = self._epoch(record)
        if epoch is not None:
            epoch.granted.setdefault(epoch.window.job_rank(record.peer), record.time)

    def _miss(self, record: Record) -> None:
        epoch = self._epoch(record)
        if epoch is not None:
            epoch.ungranted.append(epoch.window.job_rank(record.peer))

    def _close(self, record: Record) -> None:
        epoch = self._epoch(record)
        if epoch is not None:
            epoch.closed, epoch.closing = record.time, self._call
            if self._call is not None:
                self._call.closes.append(epoch)

    def _complete(self, record: Record) -> None:
        epoch = self._epoch(record)
        if epoch is not None:
            epoch.completed = record.time

    def _operate(self, record: Record) -> None:
        epoch = self._operated = self._epoch(record)
        if epoch is not None:
            epoch.operations.append(
                Operation(
                    record.time,
                    _named(OPERATION_KINDS, record.detail),
                    epoch.window.job_rank(record.peer),
                    record.value,
                    self._number,
                )
            )

    def _notify(self, record: Record) -> None:
        """The operation before it does."""
        call, epoch = self._call, self._epoch(record)
        if call is not None and epoch is not None:
            target = epoch.window.job_rank(record.peer)
            call.notified = Notified(epoch, target, record.value)
            call.name = f"{epoch.operations[-1].kind}_notify"

    def _await_counter(self, record: Record) -> None:
        if self._call is not None:
            self._call.awaited = Awaited(record.epoch, record.value)

    def _reset_counter(self, record: Record) -> None:
        window = self._windows.get(record.window)
        if window is not None:
            self._rank.resets.append(Reset(record.time, window, record.epoch, record.value))

    def _begin_request(self, record: Record) -> None:
        call: Call | None = self._call
        if record.detail == _OF_A_NOTIFICATION and (call is None or call.awaited is None):
            return  # nothing in the trace says when it can be ended
        if call is not None and call.notified is not None:
            call = None  # it is the operation's
        epoch = None if call is not None else self._operated
        if call is not None or epoch is not None:
            request = Request(call, epoch, record.time)
            self._begun.append((record.time, record.value, request))
            self._rank.requests.append(request)

    def _end_request(self, record: Record) -> None:
        self._ended.append((record.time, record.value, self._call))

    def _match_requests(self) -> None:
        """By their handles, which others have later."""
        pending: dict[int, Request] = {}
        begun = sorted(self._begun, key=lambda each: each[0])
        place = 0
        for time, handle, call in sorted(self._ended, key=lambda each: each[0]):
            while place < len(begun) and begun[place][0] <= time:
                pending[begun[place][1]] = begun[place][2]
                place += 1
            request = pending.pop(handle, None)
            if request is not None:
                request.ended, request.waiting = time, call
                if call is not None:
                    call.ends.append(request)

    def _move(self, record: Record) -> None:
        self._rank.moves.append((record.time, self._own))

    def _sleep(self, record: Record) -> None:
        self._asleep = record.time

    def _wake(self, record: Record) -> None:
        if self._asleep is not None:
            self._rank.sleeps.append(Sleep(self._asleep, record.time, self._number, self._own))
            self._rank.wakes += record.value
            self._asleep = None
