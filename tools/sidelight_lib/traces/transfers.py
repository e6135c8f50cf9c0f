# SPDX-License-Identifier: BSD-3-Clause
"""How long transfers take, as far as a trace tells.

A record says when an operation was issued, or, of one that the call itself performed, when it was
done; it does not say when a transfer was over at the target. What is known of an epoch is that its
transfers are over when it is complete; so the least time that any epoch of the window with as many
bytes has taken from then on is the time of such transfers. Where all of these were closed late that
is too long; then, between processes of one machine, it is bounded by what transfers there may take.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from .model import Epoch, Job, Window

_LATENCY = 5e3  # nanoseconds, between processes of one machine
_BYTES_PER_NANOSECOND = 0.5


class _Alike(NamedTuple):
    """Epochs whose transfers take as long, for all that is known."""

    window: Window
    kind: str
    late: bool  # granted after the operations were issued, so that all of them run after that
    size: int  # bits of the bytes


class Transfers:
    """The times of the transfers of a job."""

    def __init__(self, job: Job) -> None:
        least: dict[_Alike, float] = defaultdict(lambda: float("inf"))
        seen = set()
        self._kinds: dict[Epoch, _Alike] = {}
        self._lasts: dict[Epoch, dict[int, float]] = {}
        for rank in job.ranks.values():
            for epoch in rank.epochs:
                ready = _ready(epoch.last_operation, epoch.all_granted)
                if ready is not None and epoch.completed is not None:
                    alike = self._alike(epoch)
                    least[alike] = min(least[alike], max(epoch.completed - ready, 0.0))
                    if _closed_before_the_end(epoch, ready):
                        seen.add(alike)
        self._least = least
        self._seen = seen
        self._nodes = {rank.rank: rank.node for rank in job.ranks.values()}

    def end(self, epoch: Epoch, target: int | None = None) -> float:
        """When its transfers are over, all of them or those to one target, which need not wait for
        the others' grants; without any, when it is granted."""
        if target is None:
            last, granted = epoch.last_operation, epoch.all_granted
        else:
            last, granted = self._last(epoch, target), epoch.granted.get(target)
        ready = _ready(last, granted)
        if ready is None:
            return float("-inf") if granted is None else granted
        alike = self._alike(epoch)
        time = self._least.get(alike, 0.0)
        if alike not in self._seen:
            time = min(time, self._bound(epoch))
        return ready + time if epoch.completed is None else min(ready + time, epoch.completed)

    def _last(self, epoch: Epoch, target: int) -> float | None:
        """When the last operation that goes there was issued."""
        if epoch not in self._lasts:
            self._lasts[epoch] = {each.target: each.time for each in epoch.operations}
        return self._lasts[epoch].get(target)

    def _alike(self, epoch: Epoch) -> _Alike:
        if epoch not in self._kinds:
            granted = epoch.all_granted
            late = granted is not None and granted > (epoch.last_operation or 0.0)
            size = epoch.bytes.bit_length()
            self._kinds[epoch] = _Alike(epoch.window, epoch.kind, late, size)
        return self._kinds[epoch]

    def _bound(self, epoch: Epoch) -> float:
        node = self._nodes.get(epoch.rank)
        if any(self._nodes.get(each.target) != node for each in epoch.operations):
            return float("inf")
        return _LATENCY + epoch.bytes / _BYTES_PER_NANOSECOND


def _ready(last: float | None, granted: float | None) -> float | None:
    """From when on transfers can run of which the last was issued then."""
    if last is None:
        return None
    return last if granted is None else max(last, granted)


def _closed_before_the_end(epoch: Epoch, ready: float) -> bool:
    """Whether its transfers, and nothing else, were waited for when it was closed, for most of
    their time: to wake somebody takes a while, too. A fence waits for the others as well."""
    if epoch.kind == "fence" or epoch.closed is None or epoch.completed is None:
        return False
    tail = epoch.completed - max(epoch.closed, ready)
    return tail > _LATENCY and tail > 0.5 * (epoch.completed - ready)
