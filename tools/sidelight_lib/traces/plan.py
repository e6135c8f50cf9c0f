# SPDX-License-Identifier: BSD-3-Clause
"""What a replay starts from: the calls of a trace in the order of their threads, with the times
that stay as they are when the calls are re-timed.

These are: the gaps between calls, in which the program computes; what a call takes that waits for
nobody; and what passes after the last thing that a call waits for has happened (its lag), for the
transfers, the notice and the waking up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from .losses import Loss, Locks
from .matching import Holds, Meeting, Meetings, Round, fences, meetings, notifiers
from .model import Call, Epoch, Job, Request, Window
from .patterns import PRIVATE_MEMORY, WAIT_FOR_PROGRESS
from .spans import Span

_TOGETHER = ("fence", "free", "set_num_notify")  # calls that are over when all have come
# When the last one came, of these; of calls that ask for the value of a counter, when it came.
_Ends = dict[Call, float]
Kinds = tuple[Window, str, str]  # of an epoch and a later one
_UNKNOWN_CALL = 1000.0  # nanoseconds, where a trace has no call that does not wait


@dataclass(eq=False)
class Step:
    """A call, after the time that its thread computes before it."""

    call: Call
    gap: float
    own: float  # what it takes if it need not wait
    exit: float = 0.0  # of its own time, what follows the end of the epochs that it closes
    since_operation: float = 0.0  # of the gap, what follows the last operation
    round: Round | None = None  # of a call that all make together: with whom it is one
    waits_for_all: bool = False  # it had not returned when the last of them came


@dataclass
class Thread:
    rank: int
    steps: list[Step]
    rest: float  # after the last call


@dataclass
class Plan:
    """Times of epochs: `lag` of an access or a lock from when it is closed and granted until it is
    complete, of an exposure from when its origins' are, or, if none is known, from when it is
    closed; `notice` of an exposure that an origin waits for
    until it hears of it; `handover` of a lock from when it could be granted until it is, and
    `released_before_end` from when others may have it until it is complete."""

    threads: list[Thread] = field(default_factory=list)
    met: Meetings = field(default_factory=Meetings)
    lag: dict[Epoch, float] = field(default_factory=dict)
    notice: dict[Meeting, float] = field(default_factory=dict)
    handover: dict[Epoch, float] = field(default_factory=dict)
    released_before_end: dict[Epoch, float] = field(default_factory=dict)
    lost_to_progress: dict[Call, float] = field(default_factory=dict)
    lost_before_grant: dict[Epoch, float] = field(default_factory=dict)  # to progress
    pending_locks: dict[Call, list[Epoch]] = field(default_factory=dict)
    exposures: dict[tuple[int, Window], list[Epoch]] = field(default_factory=dict)
    rounds: dict[Call, Round] = field(default_factory=dict)  # of _TOGETHER
    # Of calls that ask for the value of a counter those that have made it reach that.
    notifiers: dict[Call, Call] = field(default_factory=dict)
    # Kinds of epochs of which a later one was active before an earlier one was complete.
    reordered: set[Kinds] = field(default_factory=set)
    short: float = _UNKNOWN_CALL  # what a nonblocking call takes
    recorded: float = 0.0

    @property
    def size(self) -> int:
        return sum(len(thread.steps) for thread in self.threads)


def make(job: Job, found: list[Loss]) -> Plan:
    """`found`: the losses of the job."""
    plan = Plan(met=meetings(job), recorded=job.end - job.begin)
    for loss in found:
        if loss.pattern in (WAIT_FOR_PROGRESS, PRIVATE_MEMORY):
            lost = plan.lost_to_progress
            lost[loss.call] = lost.get(loss.call, 0.0) + loss.span.length
    plan.rounds = {
        call: members
        for name in _TOGETHER
        for those in fences(job, name).values()
        for members in those
        for call in members.values()
    }
    plan.notifiers = notifiers(job)
    ends = {call: notifier.enter for call, notifier in plan.notifiers.items()}
    for call, members in plan.rounds.items():
        ends[call] = max(each.enter for each in members.values())
    for rank in job.ranks.values():
        locks = Locks(rank)
        by_thread: dict[int, list[Call]] = defaultdict(list)
        for call in rank.calls:
            by_thread[call.thread].append(call)
            plan.pending_locks[call] = locks.of(call)
        for calls in by_thread.values():
            plan.threads.append(_thread(plan, calls, Span(job.begin, rank.end), ends))
        plan.reordered.update(_reordered(rank.epochs))
        for epoch in rank.epochs:
            if epoch.kind == "exposure":
                plan.exposures.setdefault((rank.rank, epoch.window), []).append(epoch)
    for call, lost_time in plan.lost_to_progress.items():
        for epoch in plan.pending_locks.get(call, ()):
            waited = max((epoch.all_granted or 0.0) - call.enter, 0.0)
            before = plan.lost_before_grant
            before[epoch] = before.get(epoch, 0.0) + min(waited, lost_time)
    _add_lags(plan, job)
    _add_notices(plan)
    brief = [
        step.own
        for thread in plan.threads
        for step in thread.steps
        if step.call.nonblocking or step.call.name in ("start", "post")
    ]
    plan.short = median(brief) if brief else _UNKNOWN_CALL
    return plan


def kinds(earlier: Epoch, later: Epoch) -> Kinds:
    return later.window, earlier.kind, later.kind


def _reordered(epochs: list[Epoch]) -> Iterator[Kinds]:
    """Of the epochs of one rank, in which pairs the window's reorder keys show."""
    pending: dict[Window, list[Epoch]] = defaultdict(list)
    for epoch in sorted(epochs, key=lambda each: each.number):
        activated = epoch.activated
        if activated is None:
            continue
        left = [
            each
            for each in pending[epoch.window]
            if each.completed is None or each.completed > activated
        ]
        for each in left:
            if each.closed is not None and each.closed < activated:
                yield kinds(each, epoch)
        pending[epoch.window] = [*left, epoch]


def _thread(plan: Plan, calls: list[Call], span: Span, ends_elsewhere: _Ends) -> Thread:
    steps = []
    now, end = span
    for call in calls:
        leave = end if call.leave is None else call.leave
        members = plan.rounds.get(call)
        last = ends_elsewhere[call] if members is not None else None
        step = Step(call, max(call.enter - now, 0.0), leave - call.enter, round=members)
        step.waits_for_all = last is not None and last <= leave
        issued = [epoch.last_operation for epoch in call.closes if epoch.operations]
        latest = max((time for time in issued if time is not None), default=None)
        if latest is not None:
            step.since_operation = min(max(call.enter - latest, 0.0), step.gap)
        step.own = _own_time(call, leave, last, plan.pending_locks[call], ends_elsewhere)
        ends = [epoch.completed for epoch in call.closes if epoch.completed is not None]
        step.exit = max(leave - max(ends), 0.0) if ends else 0.0
        steps.append(step)
        now = leave
    return Thread(calls[0].rank, steps, max(end - now, 0.0))


def _ends_of(request: Request, ends_elsewhere: _Ends) -> list[float]:
    """What must have happened before it can be ended."""
    if request.epoch is not None:
        granted = request.epoch.all_granted
        return [] if granted is None else [granted]
    assert request.call is not None
    if request.call in ends_elsewhere:
        return [ends_elsewhere[request.call]]
    return [epoch.completed for epoch in request.call.closes if epoch.completed is not None]


def _own_time(
    call: Call, leave: float, last: float | None, locks: list[Epoch], ends_elsewhere: _Ends
) -> float:
    """Of a call that has waited what is left when what it waited for is taken off."""
    happened = call.enter
    if call.nonblocking:
        return leave - call.enter
    if last is not None:
        return leave - max(last if last <= leave else call.enter, call.enter)
    if call.name == "request":
        ends = [time for request in call.ends for time in _ends_of(request, ends_elsewhere)]
        return leave - max(min(max(ends, default=call.enter), leave), call.enter)
    for epoch in [*call.closes, *call.opens, *locks]:
        granted = epoch.all_granted
        if granted is not None and epoch.kind != "exposure" and granted <= leave:
            happened = max(happened, granted)
        if epoch.kind == "exposure" and epoch in call.closes and epoch.completed is not None:
            happened = max(happened, min(epoch.completed, leave))
    return leave - happened


def _add_lags(plan: Plan, job: Job) -> None:
    holds = Holds(job)
    usual: list[float] = []
    unknown: list[Epoch] = []
    for rank in job.ranks.values():
        for epoch in rank.epochs:
            if epoch.completed is None or epoch.closed is None:
                continue
            if epoch.kind == "exposure":
                done = done_at_target(plan.met, epoch)
                if done is None:
                    plan.lag[epoch] = epoch.completed - epoch.closed
                elif done < epoch.closed:
                    unknown.append(epoch)
                else:
                    plan.lag[epoch] = epoch.completed - done
                    usual.append(plan.lag[epoch])
                continue
            plan.lag[epoch] = tail(epoch)
            if epoch.kind == "lock" and epoch.activated is not None:
                _add_handover(plan, holds, epoch, epoch.activated)
    typical = median(usual) if usual else 0.0
    plan.lag.update(dict.fromkeys(unknown, typical))


def _add_notices(plan: Plan) -> None:
    for met in plan.met.of_access.values():
        for meeting in met:
            access, exposure = meeting.access, meeting.exposure
            times = (meeting.granted, exposure.activated, access.activated)
            if None not in times:
                granted, exposed, asked = (time or 0.0 for time in times)
                plan.notice[meeting] = max(granted - exposed, 0.0) if exposed > asked else 0.0


def tail(epoch: Epoch) -> float:
    """What passes from when it is closed and granted until it is complete."""
    if epoch.completed is None or epoch.closed is None:
        return 0.0
    return max(epoch.completed - max(epoch.closed, epoch.all_granted or epoch.closed), 0.0)


def done_at_target(met: Meetings, exposure: Epoch) -> float | None:
    """When the last of its origins was done with it, as a replay reckons."""
    times = []
    for meeting in met.of_exposure.get(exposure, ()):
        granted, closed = meeting.granted, meeting.access.closed
        if closed is None or (granted is None and meeting.is_waited_for):
            return None
        times.append(max(granted or closed, closed) + tail(meeting.access))
    return max(times, default=None)


def _add_handover(plan: Plan, holds: Holds, epoch: Epoch, activated: float) -> None:
    """Who has let the lock go may note that only later, when it has woken the next."""
    target, granted = max(epoch.granted.items(), key=lambda item: item[1], default=(-1, activated))
    free = activated
    for hold in holds.in_the_way(epoch, target, activated, granted):
        closed = hold.epoch.closed
        if closed is not None and closed <= granted:
            free = max(free, min(hold.released, granted))
            known = plan.released_before_end.get(hold.epoch, 0.0)
            plan.released_before_end[hold.epoch] = max(known, hold.released - granted)
    plan.handover[epoch] = max(granted - free, 0.0)
