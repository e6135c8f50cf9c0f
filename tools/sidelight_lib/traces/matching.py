# SPDX-License-Identifier: BSD-3-Clause
"""Which epochs and calls of different ranks belong together.

Nothing in a trace says so: it follows from the order, as it does in MPI. The n-th access epoch of
an origin at a target meets the n-th exposure of that target to that origin; the n-th fences of all
members are one; the n-th notified operation at a counter is the one that makes it n.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field

from .model import Call, Epoch, Job, Reset, Window


@dataclass(frozen=True)
class Meeting:
    """An access epoch and the exposure of one of its targets."""

    access: Epoch
    exposure: Epoch

    @property
    def granted(self) -> float | None:
        """When the origin saw the exposure."""
        return self.access.granted.get(self.exposure.rank)

    @property
    def is_waited_for(self) -> bool:
        """Whether the access needed the exposure; else it had nothing to do there."""
        return self.exposure.rank not in self.access.ungranted


@dataclass
class Meetings:
    """All of them, by the epochs of both sides."""

    of_access: dict[Epoch, list[Meeting]] = field(default_factory=lambda: defaultdict(list))
    of_exposure: dict[Epoch, list[Meeting]] = field(default_factory=lambda: defaultdict(list))


def meetings(job: Job) -> Meetings:
    waiting: dict[tuple[Window, int, int], tuple[list[Epoch], list[Epoch]]] = defaultdict(
        lambda: ([], [])
    )
    for rank in job.ranks.values():
        for epoch in sorted(rank.epochs, key=lambda each: each.number):
            if epoch.kind == "access":
                for target in targets(epoch):
                    waiting[epoch.window, epoch.rank, target][0].append(epoch)
            elif epoch.kind == "exposure":
                for origin in epoch.peers:
                    waiting[epoch.window, origin, epoch.rank][1].append(epoch)
    found = Meetings()
    for accesses, exposures in waiting.values():
        for access, exposure in zip(accesses, exposures):
            meeting = Meeting(access, exposure)
            found.of_access[access].append(meeting)
            found.of_exposure[exposure].append(meeting)
    return found


def targets(epoch: Epoch) -> list[int]:
    """Whom an access epoch is for: its peers, and, if it was cut, whom it has operations for."""
    return list(dict.fromkeys([*epoch.peers, *(each.target for each in epoch.operations)]))


Round = dict[int, Call]  # by rank


def fences(job: Job, name: str = "fence") -> dict[Window, list[Round]]:
    """The n-th calls of that name of all members, without fences that have failed: they are refused
    before anybody hears of them."""
    found: dict[Window, list[Round]] = defaultdict(list)
    for rank in job.ranks.values():
        counts: dict[Window, int] = defaultdict(int)
        for call in rank.calls:
            refused = name == "fence" and call.failed and not call.closes and not call.opens
            if call.name == name and not refused:
                rounds, number = found[call.window], counts[call.window]
                if number == len(rounds):
                    rounds.append({})
                rounds[number][rank.rank] = call
                counts[call.window] += 1
    return found


_Counter = tuple[Window, int, int, int]  # of which rank, between which of its settings, its number


def notifiers(job: Job) -> dict[Call, Call]:
    """Of calls that ask for the value of a counter those whose operations have made it reach that,
    in the order in which they were issued. A rank's own settings, which it makes together with all
    others, say since when it counts."""
    raised: dict[_Counter, list[Call]] = defaultdict(list)
    awaited: list[tuple[Call, _Counter, int]] = []
    for rank in job.ranks.values():
        settings: dict[Window, int] = defaultdict(int)
        taken: dict[_Counter, int] = defaultdict(int)  # by resets
        for each in sorted([*rank.calls, *rank.resets], key=_happened):
            window, setting = each.window, settings[each.window]
            if isinstance(each, Reset):
                taken[window, rank.rank, setting, each.counter] += each.value
            elif each.name == "set_num_notify":
                settings[window] += 1
            elif each.notified is not None:
                _, target, number = each.notified
                raised[window, target, setting, number].append(each)
            elif each.awaited is not None and each.awaited.value > 0:
                counter = (window, rank.rank, setting, each.awaited.counter)
                awaited.append((each, counter, taken[counter] + each.awaited.value))
    for calls in raised.values():
        calls.sort(key=_happened)
    return {
        call: raised[counter][count - 1]
        for call, counter, count in awaited
        if count <= len(raised[counter])
    }


def _happened(what: Call | Reset) -> float:
    return what.time if isinstance(what, Reset) else what.enter


@dataclass(frozen=True)
class Hold:
    """A lock at one target, from when it is granted until it is released."""

    epoch: Epoch
    target: int
    granted: float
    released: float


class Holds:
    """All locks of a job, by windows and targets."""

    def __init__(self, job: Job) -> None:
        self._holds: dict[tuple[Window, int], list[Hold]] = defaultdict(list)
        for rank in job.ranks.values():
            for epoch in rank.epochs:
                if epoch.kind in ("lock", "lock_all"):
                    self._add(epoch, job.end)
        for holds in self._holds.values():
            holds.sort(key=lambda hold: hold.granted)
        self._longest = {
            key: max(hold.released - hold.granted for hold in holds)
            for key, holds in self._holds.items()
        }

    def _add(self, epoch: Epoch, end: float) -> None:
        for target, granted in epoch.granted.items():
            released = end if epoch.completed is None else epoch.completed
            self._holds[epoch.window, target].append(Hold(epoch, target, granted, released))

    def at(self, window: Window, target: int) -> list[Hold]:
        """By when they were granted."""
        return self._holds.get((window, target), [])

    def in_the_way(self, epoch: Epoch, target: int, begin: float, end: float) -> list[Hold]:
        """Those of others at the target, between begin and end, beside which this one cannot be."""
        holds = self.at(epoch.window, target)
        if not holds:
            return []
        earliest = begin - self._longest[epoch.window, target]
        first = bisect_left(holds, earliest, key=lambda hold: hold.granted)
        last = bisect_left(holds, end, key=lambda hold: hold.granted)
        return [
            hold
            for hold in holds[first:last]
            if hold.released > begin
            and hold.epoch is not epoch
            and (epoch.exclusive or hold.epoch.exclusive)
        ]
