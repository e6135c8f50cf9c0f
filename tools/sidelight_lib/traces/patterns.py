# SPDX-License-Identifier: BSD-3-Clause
"""The inefficiency patterns as formulas over times: docs/design/report.md, which has their
definitions in the same order.

Each function takes the times of one wait and says which span of it is the pattern's. The spans of
the patterns of one call do not overlap. An empty span is no loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .spans import Span, joined, without

LATE_POST = "Late Post"
EARLY_TRANSFER = "Early Transfer"
EARLY_WAIT = "Early Wait"
LATE_COMPLETE = "Late Complete"
EARLY_FENCE = "Early Fence"
WAIT_AT_FENCE = "Wait at Fence"
LATE_UNLOCK = "Late Unlock"
LOCK_CONTENTION = "Lock Contention"
WAIT_FOR_PROGRESS = "Wait for Progress"
PRIVATE_MEMORY = "Private Memory"
DEFERRED_EPOCH = "Deferred Epoch"
LATE_NOTIFICATION = "Late Notification"

PATTERNS = (
    LATE_POST,
    EARLY_TRANSFER,
    EARLY_WAIT,
    LATE_COMPLETE,
    EARLY_FENCE,
    WAIT_AT_FENCE,
    LATE_UNLOCK,
    LOCK_CONTENTION,
    WAIT_FOR_PROGRESS,
    PRIVATE_MEMORY,
    DEFERRED_EPOCH,
    LATE_NOTIFICATION,
)

NEVER = float("-inf")


def deferred_epoch(call: Span, activated: float) -> Span:
    """The call waits for an epoch that is held back behind earlier ones until `activated`."""
    return call.within(Span(NEVER, activated))


def late_post(call: Span, activated: float, posted: float, granted: float) -> Span:
    """A complete or start waits for a target that posts only then, until it hears of that."""
    begin = max(call.begin, activated)
    return call.within(Span(begin, granted if posted > begin else begin))


def early_transfer(
    issued: float, next_event: float, asleep: Sequence[Span], granted: float
) -> Span:
    """An operation itself sleeps until the target has exposed its memory. `asleep`: when its thread
    slept between the issue and its next event."""
    until = min(next_event, granted)
    begun = [each.begin for each in asleep if each.within(Span(issued, until))]
    return Span(min(begun), until) if begun else Span(issued, issued)


def early_wait(call: Span, transferred: float) -> Span:
    """A wait begins before the last transfer is over."""
    return call.within(Span(NEVER, transferred))


def late_complete(call: Span, transferred: float, completing: float) -> Span:
    """A wait goes on after the last transfer, until the origin calls complete."""
    return call.within(Span(transferred, completing))


def early_fence(call: Span, transferred: float) -> Span:
    """A fence begins before the transfers of who comes last are over."""
    return call.within(Span(NEVER, transferred))


def wait_at_fence(call: Span, transferred: float, last_entered: float) -> Span:
    """A fence goes on after these transfers, until the last member calls it."""
    return call.within(Span(transferred, last_entered))


class Holding(NamedTuple):
    """A lock in the way of another: used from `granted` to `transferred`, then only held until its
    unlock is called; `released` when others may have it."""

    granted: float
    transferred: float
    unlocking: float
    released: float


def late_unlock(wait: Span, holdings: Sequence[Holding]) -> list[Span]:
    """While a lock is waited for, held by some who are through with it, and used by none."""
    held = [Span(each.transferred, each.unlocking).within(wait) for each in holdings]
    used = [Span(each.granted, each.transferred) for each in holdings]
    return [part for span in joined(held) for part in without(span, used)]


def lock_contention(wait: Span, holdings: Sequence[Holding], idle: Sequence[Span]) -> list[Span]:
    """While a lock is waited for that others use. `idle`: what is Late Unlock."""
    until = max((holding.released for holding in holdings), default=NEVER)
    return without(wait.within(Span(NEVER, until)), idle)


def late_notification(call: Span, issued: float) -> Span:
    """A wait for a counter begins before the operation is issued that makes it reach the value."""
    return call.within(Span(NEVER, issued))


# An engine that looks all the time answers a message sooner than that (nanoseconds).
_PROMPT = 10e3


def wait_for_progress(wait: Span, moved: float | None, outside: Sequence[Span]) -> list[Span]:
    """A wait for what needs the engine of a peer. `moved`: when its engine first did something from
    the beginning of the wait on; `outside`: when the peer was in no call, for it is not waiting
    then, but computing."""
    if moved is None or moved > wait.end or moved - wait.begin < _PROMPT:
        return []
    spans = (each.within(Span(wait.begin, moved)) for each in outside)
    return [span for span in spans if span]
