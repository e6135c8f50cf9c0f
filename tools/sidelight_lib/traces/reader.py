# SPDX-License-Identifier: BSD-3-Clause
"""Makes the job that a trace is of out of the records of its files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

from .files import Event, Process, Record, Thread, are_of_several_runs, read, without_header
from .model import (
    ALL,
    CALL_NAMES,
    EPOCH_KINDS,
    FLAVORS,
    OPERATION_KINDS,
    Awaited,
    Call,
    Epoch,
    Job,
    Notified,
    Operation,
    Rank,
    Request,
    Reset,
    Sleep,
    Window,
)
from .symbols import Maps, Place

_NONBLOCKING = 0x80  # in the detail of a call
_EXCLUSIVE = 0x80  # in that of an epoch
_OF_A_NOTIFICATION = 1  # the detail of a request


def load(folder: Path) -> Job:
    processes = read(folder)
    job = build(processes)
    job.of_several_runs = are_of_several_runs(processes)
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
        self._tested: Epoch | None = None  # closed in no call: by a test, which is noted later
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
            self._call, self._operated, self._asleep, self._tested = None, None, None, None
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
        if self._call.name == "test" and self._tested is not None:
            self._call.enter = self._tested.closed or record.time
            self._close_in(self._call, self._tested)
            self._tested = None

    def _place(self, address: int) -> Place:
        if address not in self._places:
            self._places[address] = self._maps.place(address)
        return self._places[address]

    def _leave(self, record: Record) -> None:
        if self._call is not None:
            self._call.leave, self._call.failed = record.time, record.value != 0
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
            epoch.closed = record.time
            if self._call is not None:
                self._close_in(self._call, epoch)
            else:
                self._tested = epoch

    @staticmethod
    def _close_in(call: Call, epoch: Epoch) -> None:
        epoch.closing = call
        call.closes.append(epoch)

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
            target = ALL if epoch is None else epoch.operations[-1].target
            request = Request(call, epoch, record.time, target=target)
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
