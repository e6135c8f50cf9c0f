# SPDX-License-Identifier: BSD-3-Clause
"""Finds the inefficiency patterns in a trace: which call lost which time, and by whom."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from . import patterns
from .matching import Holds, Meeting, Meetings, Round, fences, meetings, notifiers
from .model import ALL, Call, Epoch, Job, Rank
from .patterns import Holding
from .spans import Span, joined, without
from .transfers import Transfers


@dataclass(frozen=True)
class Loss:
    """A span of time that a call lost to a pattern."""

    pattern: str
    span: Span
    call: Call  # that lost it
    by: int  # the rank that caused it, or ALL
    culprit: Call | None = None  # what that rank called too late, if it was a call

    @property
    def rank(self) -> int:
        return self.call.rank


def find(job: Job) -> list[Loss]:
    """All of them, of blocking calls that have returned."""
    return list(_Finder(job).run())


class _Finder:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._transfers = Transfers(job)
        self._meetings: Meetings = meetings(job)
        self._holds = Holds(job)
        self._notifiers = notifiers(job)
        self._progress = {rank.rank: _Progress(rank) for rank in job.ranks.values()}

    def run(self) -> Iterator[Loss]:
        by_call: dict[str, Callable[[Call, Span, Call], Iterable[Loss]]] = {
            "start": self._start,
            "complete": self._complete,
            "wait": self._wait,
            "lock": self._passive,
            "lock_all": self._passive,
            "unlock": self._passive,
            "unlock_all": self._passive,
            "flush": self._passive,
            "flush_local": self._passive,
            "flush_all": self._passive,
            "flush_local_all": self._passive,
            "notify_threshold": self._threshold,
        }
        self._locks = {rank.rank: Locks(rank) for rank in self._job.ranks.values()}
        self._waiting = {
            request.call: request.waiting
            for rank in self._job.ranks.values()
            for request in rank.requests
            if request.call is not None
        }
        for rank in self._job.ranks.values():
            for call in rank.calls:
                if call.leave is None or call.nonblocking:
                    continue
                span = Span(call.enter, call.leave)
                for of in self._waited_for(call):
                    finder = by_call.get(of.name)
                    if finder is not None:
                        yield from finder(call, span, of)
                yield from self._operations(call, span)
            yield from self._early_transfers(rank)
        for rounds in fences(self._job).values():
            for number, members in enumerate(rounds):
                yield from self._fence(rounds[number - 1] if number > 0 else None, members)
        for rounds in fences(self._job, "set_num_notify").values():
            for members in rounds:
                yield from self._set_number(members)

    def _waited_for(self, call: Call) -> list[Call]:
        """The calls that a blocking call completes: itself, or those whose requests it ends. Of
        several requests it is the last one that it has waited for."""
        if call.name != "request":
            return [call]
        begun = [request.call for request in call.ends if request.call is not None]
        return sorted(begun, key=self._completed)[-1:]

    def _completed(self, call: Call) -> float:
        """When the last of its epochs was; a call that closes none has waited for nobody, but for a
        counter."""
        notifier = self._notifiers.get(call)
        if notifier is not None:
            return notifier.enter
        ends = [epoch.completed for epoch in call.closes]
        return max((float("inf") if end is None else end for end in ends), default=call.enter)

    def _operations(self, call: Call, span: Span) -> Iterator[Loss]:
        """A call that ends requests of operations alone waits as a flush does, or as the end of an
        access epoch: for the one that is granted last."""
        waited = [(each.epoch, each.target) for each in call.ends if each.epoch is not None]
        if not waited or len(waited) < len(call.ends):
            return
        last, target = max(waited, key=lambda each: each[0].all_granted or 0.0)
        if last.kind == "access":
            yield from self._access_wait(call, span, last)
        elif last.kind != "fence":
            yield from self._lock_wait(call, span, last, target)

    # Access epochs. `of` is the call whose epochs are waited for, in the span of the blocking call.

    def _start(self, call: Call, span: Span, of: Call) -> Iterator[Loss]:
        for epoch in of.opens:
            if _waited_for_grant(call, epoch):
                yield from self._grants(call, span, epoch)

    def _complete(self, call: Call, span: Span, of: Call) -> Iterator[Loss]:
        for epoch in of.closes:
            yield from self._access_wait(call, span, epoch)

    def _access_wait(self, call: Call, span: Span, epoch: Epoch) -> Iterator[Loss]:
        yield from self._grants(call, span, epoch)
        granted = epoch.all_granted
        if granted is not None:
            rest = span.within(Span(granted, span.end))
            yield from self._progress_of(call, rest, epoch.granted, epoch)

    def _grants(self, call: Call, span: Span, epoch: Epoch) -> Iterator[Loss]:
        """What passes until the last target grants it."""
        if epoch.activated is None:
            return
        if _was_deferred(epoch):
            deferred = patterns.deferred_epoch(span, epoch.activated)
            if deferred:
                yield Loss(patterns.DEFERRED_EPOCH, deferred, call, call.rank, epoch.opening)
        last = _last_granted(self._meetings.of_access.get(epoch, ()))
        if last is None:
            return
        exposure = last.exposure
        posted, granted = exposure.opened or patterns.NEVER, last.granted or patterns.NEVER
        begin = max(epoch.activated, posted)
        held = span.within(Span(begin, exposure.activated or patterns.NEVER))
        held = held if _was_deferred(exposure) else Span(begin, begin)
        if held:
            yield Loss(patterns.DEFERRED_EPOCH, held, call, exposure.rank, exposure.opening)
        notice = span.within(Span(max(begin, held.end), granted))
        slow = list(self._progress_of(call, notice, [exposure.rank], epoch))
        yield from slow
        late = patterns.late_post(span, epoch.activated, posted, granted)
        for part in without(late, [held, *(loss.span for loss in slow)]):
            yield Loss(patterns.LATE_POST, part, call, exposure.rank, exposure.opening)

    # Exposures.

    def _wait(self, call: Call, span: Span, of: Call) -> Iterator[Loss]:
        for exposure in of.closes:
            met = self._meetings.of_exposure.get(exposure, ())
            known = [each for each in met if each.access.completed is not None]
            if not known:
                continue
            last = max(known, key=lambda each: each.access.completed or 0.0).access
            closing, completing = last.closing, last.closed or patterns.NEVER
            if closing is not None:
                completing = closing.enter
            transferred = self._transfers.end(last, exposure.rank)
            own_fault = self._late_for(exposure, last, completing).within(span)
            if own_fault:
                yield Loss(patterns.LATE_POST, own_fault, call, exposure.rank, exposure.opening)
            for part in without(patterns.early_wait(span, transferred), [own_fault]):
                yield Loss(patterns.EARLY_WAIT, part, call, last.rank, last.opening)
            late = patterns.late_complete(span, transferred, completing)
            if late:
                yield Loss(patterns.LATE_COMPLETE, late, call, last.rank, closing)
            rest = span.within(Span(max(transferred, completing), span.end))
            yield from self._progress_of(call, rest, [last.rank], last)

    def _late_for(self, exposure: Epoch, access: Epoch, completing: float) -> Span:
        """While the origin is in its complete, since this exposure was opened late, the target,
        too, waits for nothing but that the origin hears of it."""
        granted = access.granted.get(exposure.rank, patterns.NEVER)
        posted = exposure.opened or patterns.NEVER
        return Span(posted, granted) if posted > completing else Span(granted, granted)

    # Fences.

    def _fence(self, before: Round | None, members: Round) -> Iterator[Loss]:
        last = max(members.values(), key=lambda call: call.enter)
        transferred = max(
            (self._transfers.end(epoch) for epoch in last.closes if epoch.operations),
            default=patterns.NEVER,
        )
        opened = max((call.enter for call in before.values()), default=0.0) if before else 0.0
        carried: dict[int, list[Epoch]] = defaultdict(list)  # by each rank that they concern
        for each in members.values():
            for epoch in each.closes:
                for rank in {epoch.rank, *(op.target for op in epoch.operations)}:
                    if epoch.operations:
                        carried[rank].append(epoch)
        for member in members.values():
            waiting = self._waiting.get(member) if member.nonblocking else member
            if waiting is None or waiting.leave is None:
                continue
            if self._waited_for(waiting) != [member]:
                continue  # it has ended another one later
            call, span = waiting, Span(waiting.enter, waiting.leave)
            if member is not last and transferred > opened:
                early = patterns.early_fence(span, min(transferred, last.enter))
                if early:
                    yield Loss(patterns.EARLY_FENCE, early, call, last.rank, last)
            if member is not last:
                late = patterns.wait_at_fence(span, transferred, last.enter)
                if late:
                    yield Loss(patterns.WAIT_AT_FENCE, late, call, last.rank, last)
            rest = span.within(Span(last.enter, span.end))
            yield from self._after_fence(call, rest, carried[call.rank])

    def _after_fence(self, call: Call, rest: Span, theirs: list[Epoch]) -> Iterator[Loss]:
        """All have called it: what is left is for transfers that have still to come, and for the
        barrier itself."""
        until = max((self._transfers.end(epoch) for epoch in theirs), default=patterns.NEVER)
        early = patterns.early_fence(rest, until)
        if early:
            latest = max(theirs, key=self._transfers.end)
            yield Loss(patterns.EARLY_FENCE, early, call, latest.rank, latest.closing)
        others = sorted(
            {epoch.rank for epoch in theirs}
            | {op.target for epoch in theirs for op in epoch.operations if epoch.rank == call.rank}
        )
        after = rest.within(Span(until, rest.end))
        peers = [rank for rank in others if rank != call.rank]
        yield from self._progress_of(call, after, peers, theirs[0] if theirs else None)

    # Locks.

    def _passive(self, call: Call, span: Span, of: Call) -> Iterator[Loss]:
        for epoch in self._locks[call.rank].of(of):
            yield from self._lock_wait(call, span, epoch, of.peer)

    def _lock_wait(
        self, call: Call, span: Span, epoch: Epoch, of_target: int = ALL
    ) -> Iterator[Loss]:
        """For that target, or for the one that has granted last."""
        asked = max(epoch.activated or epoch.opened or 0.0, span.begin)
        if epoch.activated is not None and _was_deferred(epoch):
            deferred = patterns.deferred_epoch(span, epoch.activated)
            if deferred:
                yield Loss(patterns.DEFERRED_EPOCH, deferred, call, call.rank, epoch.opening)
        if not epoch.granted:
            return
        target, granted = max(epoch.granted.items(), key=lambda item: item[1])
        if of_target in epoch.granted:
            target, granted = of_target, epoch.granted[of_target]
        wait = Span(asked, granted).within(span)
        explained: list[Span] = []
        if wait:
            holds = self._holds.in_the_way(epoch, target, wait.begin, wait.end)
            holdings = {hold.epoch: self._holding(hold.epoch, hold.granted) for hold in holds}
            idle = patterns.late_unlock(wait, list(holdings.values()))
            for part in idle:
                who = _holding_during(holdings, part)
                yield Loss(patterns.LATE_UNLOCK, part, call, who.rank, who.closing)
            used = patterns.lock_contention(wait, list(holdings.values()), idle)
            for part in used:
                who = _holding_during(holdings, part)
                yield Loss(patterns.LOCK_CONTENTION, part, call, who.rank, who.closing)
            explained = [*idle, *used]
        rest = without(span.within(Span(asked, span.end)), explained)
        for part in rest:
            yield from self._progress_of(call, part, [target], epoch)

    def _holding(self, epoch: Epoch, granted: float) -> Holding:
        released = self._job.end if epoch.completed is None else epoch.completed
        unlocking = released if epoch.closing is None else epoch.closing.enter
        return Holding(granted, max(self._transfers.end(epoch), granted), unlocking, released)

    # Notifications.

    def _threshold(self, call: Call, span: Span, of: Call) -> Iterator[Loss]:
        notifier = self._notifiers.get(of)
        if notifier is None or notifier.notified is None:
            return
        late = patterns.late_notification(span, notifier.enter)
        if late:
            yield Loss(patterns.LATE_NOTIFICATION, late, call, notifier.rank, notifier)
        rest = span.within(Span(notifier.enter, span.end))
        yield from self._progress_of(call, rest, [notifier.rank], notifier.notified.epoch)

    @staticmethod
    def _set_number(members: Round) -> Iterator[Loss]:
        last = max(members.values(), key=lambda call: call.enter)
        for call in members.values():
            if call is not last and call.leave is not None:
                span = Span(call.enter, call.leave)
                late = patterns.wait_at_fence(span, patterns.NEVER, last.enter)
                if late:
                    yield Loss(patterns.WAIT_AT_FENCE, late, call, last.rank, last)

    # What every wait may come to.

    def _progress_of(
        self, call: Call, span: Span, peers: Iterable[int], epoch: Epoch | None
    ) -> Iterator[Loss]:
        """The part of a wait that is for the engine of one of the peers: of whom it is longest."""
        longest: tuple[float, int, list[Span]] = (0.0, ALL, [])
        for peer in peers if span else ():
            progress = self._progress.get(peer)
            if progress is not None and peer != call.rank:
                parts = self._idle(call, span, progress.waited_for(span))
                length = sum(part.length for part in parts)
                longest = max(longest, (length, peer, parts))
        _, peer, parts = longest
        for part in parts:
            yield Loss(self._progress_pattern(call, peer, epoch), part, call, peer)

    def _idle(self, call: Call, span: Span, parts: list[Span]) -> list[Span]:
        """Those of the parts of it in which the call did not copy by itself. One that waits for
        requests never does, and may be in the host's loop, which does not sleep; simulated ranks
        never sleep."""
        rank = self._job.ranks[call.rank]
        if call.name == "request" or not rank.sleeps or not parts:
            return parts
        naps = rank.asleep(call, span)
        return [cut for nap in naps for part in parts if (cut := nap.within(part))]

    def _progress_pattern(self, call: Call, peer: int, epoch: Epoch | None) -> str:
        nodes = [self._job.ranks[rank].node for rank in (call.rank, peer)]
        private = call.window.flavor in ("create", "dynamic") and nodes[0] == nodes[1]
        moves = epoch is not None and bool(epoch.operations)
        return patterns.PRIVATE_MEMORY if private and moves else patterns.WAIT_FOR_PROGRESS

    def _early_transfers(self, rank: Rank) -> Iterator[Loss]:
        """An operation is no call of a trace: its time counts for who closed its epoch."""
        sleeps = rank.sleeps
        if not sleeps:
            return
        events = sorted(
            [call.enter for call in rank.calls]
            + [op.time for epoch in rank.epochs for op in epoch.operations]
        )
        for epoch in rank.epochs:
            for op in epoch.operations if epoch.closing is not None else ():
                granted = epoch.granted.get(op.target, epoch.all_granted)
                if granted is None or granted <= op.time:
                    continue
                place = bisect_right(events, op.time)
                following = events[place] if place < len(events) else rank.end
                first = bisect_left(sleeps, op.time, key=lambda sleep: sleep.begin)
                asleep = []
                for sleep in sleeps[first:]:
                    if sleep.begin >= following:
                        break
                    if sleep.thread == op.thread:
                        asleep.append(Span(sleep.begin, sleep.end))
                span = patterns.early_transfer(op.time, following, asleep, granted)
                if span and epoch.closing is not None:
                    yield Loss(patterns.EARLY_TRANSFER, span, epoch.closing, op.target)


class _Progress:
    """When a rank's engine moved, and when the rank was in no call."""

    def __init__(self, rank: Rank) -> None:
        self._moves = [time for time, _ in rank.moves]
        calls = joined(
            Span(call.enter, rank.end if call.leave is None else call.leave) for call in rank.calls
        )
        self._outside = without(Span(rank.begin, rank.end), calls)

    def waited_for(self, span: Span) -> list[Span]:
        place = bisect_left(self._moves, span.begin)
        moved = self._moves[place] if place < len(self._moves) else None
        if moved is None or moved > span.end:
            return []
        first = max(bisect_right(self._outside, span.begin, key=lambda each: each.begin) - 1, 0)
        outside = []
        for each in self._outside[first:]:
            if each.begin >= moved:
                break
            outside.append(each)
        return patterns.wait_for_progress(span, moved, outside)


class Locks:
    """Which locks of a rank a call waits for, or whoever waits for its request."""

    def __init__(self, rank: Rank) -> None:
        self._pending: dict[Call, list[Epoch]] = {}
        calls = [call for call in rank.calls if call.name in _WAITING]
        enters = [call.enter for call in calls]
        for epoch in rank.epochs:
            if epoch.kind not in ("lock", "lock_all") or epoch.opened is None:
                continue
            if epoch.opening is not None and _waited_for_grant(epoch.opening, epoch):
                self._pending.setdefault(epoch.opening, []).append(epoch)
            until = rank.end if epoch.completed is None else epoch.completed
            for call in calls[bisect_left(enters, epoch.opened) : bisect_right(enters, until)]:
                if call.window is epoch.window and _is_for(call, epoch):
                    self._pending.setdefault(call, []).append(epoch)

    def of(self, call: Call) -> list[Epoch]:
        return self._pending.get(call, [])


_WAITING = (
    "lock",
    "lock_all",
    "unlock",
    "unlock_all",
    "flush",
    "flush_local",
    "flush_all",
    "flush_local_all",
)


def _is_for(call: Call, epoch: Epoch) -> bool:
    if call.name.startswith("unlock"):
        return epoch in call.closes
    if call.name.startswith("lock"):
        return False
    return call.peer == ALL or not epoch.peers or call.peer in epoch.peers


def _waited_for_grant(call: Call, epoch: Epoch) -> bool:
    """Whether the call that opens it returned only when it was granted."""
    granted = epoch.all_granted
    return (
        granted is not None
        and call.leave is not None
        and granted <= call.leave
        and not call.nonblocking
    )


def _was_deferred(epoch: Epoch) -> bool:
    """Whether the call that opened it had returned when it was activated."""
    opening = epoch.opening
    if epoch.activated is None or opening is None or opening.leave is None:
        return False
    return epoch.activated > opening.leave


def _last_granted(met: Iterable[Meeting]) -> Meeting | None:
    known = [each for each in met if each.granted is not None]
    return max(known, key=lambda each: each.granted or 0.0, default=None)


def _holding_during(holdings: dict[Epoch, Holding], span: Span) -> Epoch:
    """Of those who hold the lock at the end of the span the one who does so longest; else who
    released it last before."""
    def reach(epoch: Epoch) -> tuple[bool, float]:
        holding = holdings[epoch]
        return holding.granted < span.end, holding.released

    return max(holdings, key=reach)
