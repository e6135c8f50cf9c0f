# SPDX-License-Identifier: BSD-3-Clause
"""What a job would have taken if some of its calls had been others: its trace is played again in
virtual time, all ranks together, under the rules of the other calls.

What stays and what changes is in docs/design/report.md. A replay without changes takes as long as
the trace, which is the test of it.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .model import Call, Epoch, Request, Window
from .plan import Plan, Step, Thread, kinds
from .symbols import Place

# Which calls are meant: the name, and where each is called.
Site = tuple[str, Window, Place]


def site(call: Call) -> Site:
    return call.name, call.window, call.place


@dataclass(frozen=True)
class Change:
    """What is done differently. `None` as sites means all of the calls that it can be done with."""

    # Closed by the nonblocking call, and waited for `ahead` epochs of the same line later.
    wait_later: frozenset[Site] | None = frozenset()
    # Closed by the nonblocking call behind the last operation, and waited for where it was closed.
    close_early: frozenset[Site] | None = frozenset()
    post_ahead: bool = False  # exposures are opened `ahead - 1` of them before their turn
    reorder: bool = False  # all reorder keys
    progress: bool = False  # nobody has to enter a call for something to move on
    ahead: int = 4

    def waits_later(self, call: Call) -> bool:
        return self.wait_later is None or site(call) in self.wait_later

    def closes_early(self, call: Call) -> bool:
        return self.close_early is None or site(call) in self.close_early


@dataclass(frozen=True)
class Outcome:
    """Times are nanoseconds from the begin of the job."""

    total: float
    ends: dict[int, float]  # by rank
    stuck: int  # calls that would have waited for ever, and were let go


def play(plan: Plan, change: Change = Change()) -> Outcome:
    return _Play(plan, change).run()


class _Signal:
    """Something that happens once."""

    __slots__ = ("time", "_then")

    def __init__(self) -> None:
        self.time: float | None = None
        self._then: list[Callable[[], None]] = []

    def fire(self, time: float) -> None:
        """`time` may be one that is still to come, and is certain."""
        self.time = time
        then, self._then = self._then, []
        for each in then:
            each()

    def then(self, act: Callable[[], None]) -> None:
        """As soon as it is known when it happens."""
        if self.time is None:
            self._then.append(act)
        else:
            act()

    def over(self, now: float) -> bool:
        return self.time is not None and self.time <= now


def _when_all(signals: Sequence[_Signal], act: Callable[[float], None]) -> None:
    """With the time of the last."""
    left = len(signals)

    def one() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            act(max(signal.time or 0.0 for signal in signals))

    for signal in signals:
        signal.then(one)


class _State:
    """An epoch in the replay. Of an access epoch each target has a grant and an end of its own."""

    __slots__ = ("activated", "closed", "completed", "granted", "done", "opened")

    def __init__(self) -> None:
        self.opened = False
        self.activated = _Signal()
        self.closed = _Signal()
        self.completed = _Signal()
        self.granted: dict[int, _Signal] = defaultdict(_Signal)
        self.done: dict[int, _Signal] = defaultdict(_Signal)


class _Server:
    """The lock of one target: fair, in the order of arrival."""

    def __init__(self) -> None:
        self.queue: list[tuple[Epoch, Callable[[float], None]]] = []
        self.holders: list[Epoch] = []

    def ask(self, epoch: Epoch, grant: Callable[[float], None], now: float) -> None:
        self.queue.append((epoch, grant))
        self._serve(now)

    def release(self, epoch: Epoch, now: float) -> None:
        if epoch in self.holders:
            self.holders.remove(epoch)
        self._serve(now)

    def _serve(self, now: float) -> None:
        while self.queue:
            epoch, grant = self.queue[0]
            if self.holders and (epoch.exclusive or any(each.exclusive for each in self.holders)):
                return
            self.queue.pop(0)
            self.holders.append(epoch)
            grant(now)


_Thread = Generator[Any, None, None]


class _Play:
    def __init__(self, plan: Plan, change: Change) -> None:
        self._plan, self._change = plan, change
        self._now = 0.0
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._states: dict[Epoch, _State] = defaultdict(_State)
        self._servers: dict[tuple[Window, int], _Server] = defaultdict(_Server)
        self._arrived: dict[int, tuple[dict[int, _Signal], _Signal]] = {}  # by rounds
        self._in_call: dict[int, int] = defaultdict(int)  # threads of a rank
        self._work: dict[int, list[tuple[float, _Signal]]] = defaultdict(list)
        self._pending: dict[tuple[int, Window], list[tuple[Epoch, _State]]] = defaultdict(list)
        self._closings: dict[tuple[int, Site], list[_Signal]] = defaultdict(list)
        self._turns: dict[tuple[int, Window], int] = defaultdict(int)  # exposures by their calls
        self._posted: dict[tuple[int, Window], int] = defaultdict(int)  # and those opened already
        self._issued: dict[Call, _Signal] = defaultdict(_Signal)  # notified operations
        self._blocked: dict[_Thread, float] = {}
        self._stuck = 0
        self._ends: dict[int, float] = {}

    def run(self) -> Outcome:
        for thread in self._plan.threads:
            self._resume(self._run_thread(thread), 0.0)
        while True:
            while self._heap:
                self._now, _, act = heapq.heappop(self._heap)
                act()
            if not self._blocked:
                break
            stuck = min(self._blocked, key=lambda thread: self._blocked[thread])
            self._stuck += 1
            self._resume(stuck, self._now)
        return Outcome(max(self._ends.values(), default=0.0), self._ends, self._stuck)

    # Threads.

    def _at(self, time: float, act: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._heap, (max(time, self._now), self._count, act))

    def _resume(self, thread: _Thread, time: float) -> None:
        self._blocked.pop(thread, None)
        self._at(time, lambda: self._step(thread))

    def _step(self, thread: _Thread) -> None:
        """Runs it until it waits: for a time or for a signal."""
        for wanted in thread:
            if isinstance(wanted, _Signal):
                if wanted.over(self._now):
                    continue
                self._block(thread, wanted)
            else:
                self._resume(thread, wanted)
            return

    def _block(self, thread: _Thread, signal: _Signal) -> None:
        self._blocked[thread] = self._now

        def happened() -> None:
            if thread in self._blocked:
                self._resume(thread, signal.time or 0.0)

        signal.then(happened)

    def _run_thread(self, thread: Thread) -> _Thread:
        for step in thread.steps:
            early = self._is_closed_early(step)
            if early:
                yield self._now + step.gap - step.since_operation
                yield from self._close_before(step)
            else:
                yield self._now + step.gap
            yield from self._enter(step.call.rank)
            yield from self._perform(step, early)
            self._in_call[step.call.rank] -= 1
        yield self._now + thread.rest
        yield from self._enter(thread.rank)  # the end of the program is a call, too
        for (rank, _), closings in list(self._closings.items()):
            for signal in closings if rank == thread.rank else ():
                yield signal
        self._ends[thread.rank] = max(self._ends.get(thread.rank, 0.0), self._now)

    def _close_before(self, step: Step) -> _Thread:
        """By a nonblocking call; then the program computes as it did before the blocking one."""
        yield from self._enter(step.call.rank)
        self._close_all(step)
        yield self._now + self._plan.short
        self._in_call[step.call.rank] -= 1
        yield self._now + max(step.since_operation - self._plan.short, 0.0)

    def _enter(self, rank: int) -> _Thread:
        """What could not be done while the rank computed is done now, by itself."""
        self._in_call[rank] += 1
        work, self._work[rank] = self._work[rank], []
        for duration, done in work:
            yield self._now + duration
            done.fire(self._now)

    def _is_closed_early(self, step: Step) -> bool:
        call = step.call
        if call.nonblocking or not self._change.closes_early(call):
            return False
        return bool(call.closes) and call.name in ("complete", "fence", "unlock")

    # Calls.

    def _perform(self, step: Step, early: bool) -> _Thread:
        call, plan = step.call, self._plan
        own = step.own
        if self._change.progress:
            own = max(own - plan.lost_to_progress.get(call, 0.0), 0.0)
        self._post_first(call)
        if call.notified is not None:
            self._issued[call].fire(self._now)
        if call.name == "request":
            for request in call.ends:
                yield from self._await(request)
            yield self._now + own
            return
        if step.round is not None:
            yield from self._meet(step, own, early)
            return
        for epoch in call.opens:
            yield from self._wait_for_earlier(epoch)
            self._open(epoch)
        for epoch in plan.pending_locks.get(call, ()) if not call.nonblocking else ():
            if epoch not in call.closes:
                for signal in self._states[epoch].granted.values():
                    yield signal
        if not call.closes:
            yield self._now + own
        elif call.nonblocking or self._waits_later(call):
            yield from self._leave_at_once(step, own)
        else:
            if not early:
                self._close_all(step)
            for epoch in call.closes:
                yield self._states[epoch].completed
            yield self._now + step.exit

    def _await(self, request: Request) -> _Thread:
        """What a program does that has ended this request by MPI_Wait."""
        if request.epoch is not None:
            for signal in self._states[request.epoch].granted.values():
                yield signal
            return
        assert request.call is not None
        notifier = self._plan.notifiers.get(request.call)
        if notifier is not None:
            yield self._issued[notifier]
        members = self._plan.rounds.get(request.call)
        if members is not None:
            yield self._arrivals(members)[1]
        for epoch in request.call.closes if members is None else ():
            yield self._states[epoch].completed

    def _waits_later(self, call: Call) -> bool:
        return self._change.waits_later(call) and call.name in ("complete", "unlock", "fence")

    def _leave_at_once(self, step: Step, own: float) -> _Thread:
        """The call does what can be done already, as the nonblocking one does; that has taken its
        time in the trace."""
        call = step.call
        self._close_all(step)
        if call.nonblocking:
            yield self._now + own
            return
        yield self._now + self._plan.short
        for epoch in call.closes:
            state = self._states[epoch]
            if epoch.kind == "access" and all(
                signal.over(self._now) for signal in state.granted.values()
            ):
                yield state.completed
            self._closings[call.rank, site(call)].append(state.completed)

    def _wait_for_earlier(self, epoch: Epoch) -> _Thread:
        """The buffer of an epoch is that of the one `ahead` before, which must be complete."""
        if epoch.closing is not None:
            closings = self._closings.get((epoch.rank, site(epoch.closing)), [])
            if len(closings) >= self._change.ahead:
                yield closings[-self._change.ahead]

    def _meet(self, step: Step, own: float, early: bool) -> _Thread:
        """A fence, or another call that all make together."""
        call, members = step.call, step.round
        assert members is not None
        arrived, everybody = self._arrivals(members)
        for epoch in call.opens:
            self._states[epoch].activated.fire(self._now)
        if not early:
            arrived[call.rank].fire(self._now)
        if call.nonblocking or not step.waits_for_all:
            yield self._now + own
            return
        later = self._closings[call.rank, (call.name, call.window, Place("", 0))]
        if self._waits_later(call) and call.name == "fence":
            yield self._now + self._plan.short
            if later:
                yield later[-1]
            over = _Signal()
            everybody.then(lambda: over.fire((everybody.time or 0.0) + own))
            later.append(over)
            return
        if later:
            yield later[-1]
        yield everybody
        yield self._now + own

    def _arrivals(self, members: dict[int, Call]) -> tuple[dict[int, _Signal], _Signal]:
        """Of each member, and of all."""
        key = id(members)
        if key not in self._arrived:
            arrived, everybody = {rank: _Signal() for rank in members}, _Signal()
            _when_all(list(arrived.values()), everybody.fire)
            self._arrived[key] = arrived, everybody
        return self._arrived[key]

    # Epochs.

    def _post_first(self, call: Call) -> None:
        """Opens exposures before their turn: the first `ahead` at the first call on the window, and
        one more at each post from then on."""
        if not self._change.post_ahead:
            return
        key = (call.rank, call.window)
        exposures = self._plan.exposures.get(key, [])
        turn = sum(epoch.kind == "exposure" for epoch in call.opens)
        self._turns[key] += turn
        until = max(self._turns[key] - 1, 0) + self._change.ahead
        for epoch in exposures[self._posted[key] : until]:
            self._open(epoch)
        self._posted[key] = max(self._posted[key], min(until, len(exposures)))

    def _open(self, epoch: Epoch) -> None:
        state = self._states[epoch]
        if state.opened:
            return
        state.opened = True
        key = (epoch.rank, epoch.window)
        pending = [each for each in self._pending[key] if not each[1].completed.over(self._now)]
        self._pending[key] = [*pending, (epoch, state)]
        before = [
            other.completed
            for earlier, other in pending
            if other.closed.time is not None and not self._may_reorder(earlier, epoch)
        ]
        if before:
            now = self._now
            _when_all(before, lambda time: self._activate(epoch, max(time, now)))
        else:
            self._activate(epoch, self._now)

    def _may_reorder(self, earlier: Epoch, later: Epoch) -> bool:
        return self._change.reorder or kinds(earlier, later) in self._plan.reordered

    def _activate(self, epoch: Epoch, time: float) -> None:
        state = self._states[epoch]
        if epoch.kind == "access":
            self._arrange_access(epoch, state)
        elif epoch.kind == "exposure":
            self._arrange_exposure(epoch, state)
        elif epoch.kind == "lock":
            self._arrange_lock(epoch, state)
        elif epoch.kind == "lock_all":
            lag = self._lag_of_grant(epoch, (epoch.all_granted or 0.0) - (epoch.activated or 0.0))
            state.granted[epoch.rank].fire(time + lag)
            self._end_when_closed(epoch, state, [epoch.rank])
        state.activated.fire(time)

    def _arrange_access(self, epoch: Epoch, state: _State) -> None:
        met = self._plan.met.of_access.get(epoch, [])
        for meeting in met:
            granted = state.granted[meeting.exposure.rank]
            exposed = self._states[meeting.exposure].activated
            notice = self._plan.notice.get(meeting, 0.0)

            def grant(
                time: float,
                granted: _Signal = granted,
                exposed: _Signal = exposed,
                notice: float = notice,
            ) -> None:
                late = (exposed.time or 0.0) > (state.activated.time or 0.0)
                granted.fire(time + (notice if late else 0.0))

            _when_all([state.activated, *([exposed] if meeting.is_waited_for else [])], grant)
        if not met:
            state.activated.then(lambda: state.granted[epoch.rank].fire(state.activated.time or 0))
        self._end_when_closed(epoch, state, list(state.granted) or [epoch.rank])

    def _arrange_exposure(self, epoch: Epoch, state: _State) -> None:
        met = self._plan.met.of_exposure.get(epoch, [])
        ends = [self._states[meeting.access].done[epoch.rank] for meeting in met]
        lag = self._plan.lag.get(epoch, 0.0)
        _when_all(
            [state.activated, state.closed, *ends],
            lambda _: state.completed.fire(
                max(
                    (state.closed.time or 0.0) + (0.0 if ends else lag),
                    max(((end.time or 0.0) + lag for end in ends), default=0.0),
                )
            ),
        )

    def _arrange_lock(self, epoch: Epoch, state: _State) -> None:
        targets = [target for target in epoch.granted if target >= 0] or [epoch.rank]
        lag = self._lag_of_grant(epoch, self._plan.handover.get(epoch, 0.0))
        earlier = self._plan.released_before_end.get(epoch, 0.0)
        for target in targets:
            server = self._servers[epoch.window, target]
            granted = state.granted[target]

            def ask(server: _Server = server, granted: _Signal = granted) -> None:
                server.ask(epoch, lambda now: granted.fire(now + lag), self._now)

            def release(server: _Server = server) -> None:
                server.release(epoch, self._now)

            self._later(state.activated, ask)
            self._later(state.done[target], release, earlier)
        self._end_when_closed(epoch, state, targets)

    def _lag_of_grant(self, epoch: Epoch, lag: float) -> float:
        lost = self._plan.lost_before_grant.get(epoch, 0.0) if self._change.progress else 0.0
        return max(lag - lost, 0.0)

    def _later(self, signal: _Signal, act: Callable[[], None], earlier: float = 0.0) -> None:
        """When it happens, or so much earlier, rather than when it is known."""
        signal.then(lambda: self._at((signal.time or 0.0) - earlier, act))

    def _end_when_closed(self, epoch: Epoch, state: _State, peers: Iterable[int]) -> None:
        """Its transfers run when it is closed and granted: in a call of its rank, which performs
        them, or, with progress, whenever it is. Of an epoch that a nonblocking call has closed the
        lag has in it that they waited for a call."""
        lag = self._plan.lag.get(epoch, 0.0)
        closing = epoch.closing
        if self._change.progress and closing is not None:
            lag = max(lag - self._plan.lost_to_progress.get(closing, 0.0), 0.0)
        peers = list(peers)
        for peer in peers:
            done = state.done[peer]

            def perform(done: _Signal = done) -> None:
                at_once = self._change.progress or (closing is not None and closing.nonblocking)
                if at_once or self._in_call[epoch.rank] or lag == 0.0:
                    done.fire(self._now + lag)
                else:
                    self._work[epoch.rank].append((lag, done))

            def ready(time: float, perform: Callable[[], None] = perform) -> None:
                self._at(time, perform)

            _when_all([state.granted[peer], state.closed], ready)
        ends = [state.done[peer] for peer in peers]
        _when_all(ends, state.completed.fire)

    def _close_all(self, step: Step) -> None:
        if step.round is not None:
            arrived = self._arrivals(step.round)[0][step.call.rank]
            arrived.fire(self._now)
            return
        for epoch in step.call.closes:
            state = self._states[epoch]
            if state.closed.time is None:
                state.closed.fire(self._now)
