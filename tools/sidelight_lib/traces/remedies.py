# SPDX-License-Identifier: BSD-3-Clause
"""What wins back the time that a pattern takes: the call or the setting, and the change that a
replay makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import patterns
from .replay import Change, Site


@dataclass(frozen=True)
class Remedy:
    """`change` is None where a replay cannot tell: then all of the time is the most there is."""

    call: str
    what: str
    change: Change | None


@dataclass(frozen=True)
class _Place:
    """`lost_at`: the calls that wait; `caused_at`: those they wait for; `ahead`: how many epochs of
    a line may be pending."""

    lost_at: frozenset[Site]
    caused_at: frozenset[Site]
    ahead: int

    @property
    def later(self) -> Change:
        return Change(wait_later=self.lost_at, ahead=self.ahead)

    @property
    def early(self) -> Change:
        return Change(close_early=self.caused_at)


def for_pattern(
    pattern: str, lost_at: frozenset[Site], caused_at: frozenset[Site], ahead: int
) -> list[Remedy]:
    """The least change first. `lost_at`: the calls that wait; `caused_at`: those they wait for."""
    return _KNOWN[pattern](_Place(lost_at, caused_at, ahead))


def _late_post(place: _Place) -> list[Remedy]:
    ahead = Remedy(
        "MPIX_Win_icomplete, MPIX_Win_iwait, reorder keys",
        f"and targets that post up to {place.ahead} exposures ahead, closed by MPIX_Win_iwait, on "
        "a window with all reorder keys, into memory of their own each",
        Change(wait_later=place.lost_at, post_ahead=True, reorder=True, ahead=place.ahead),
    )
    if not any(name == "complete" for name, _, _ in place.lost_at):
        return [ahead]
    closed = Remedy(
        "MPIX_Win_icomplete",
        "instead of MPI_Win_complete; wait for its request before the buffer is used again",
        place.later,
    )
    helped = Remedy(
        f"MPIX_Win_icomplete, {_PROGRESS}",
        "and a thread that performs what is pending while the origin computes",
        Change(wait_later=place.lost_at, progress=True, ahead=place.ahead),
    )
    return [closed, helped, ahead]


def _early_transfer(_: _Place) -> list[Remedy]:
    what = "earlier at the target: the operation itself waits for it"
    return [Remedy("MPI_Win_post", what, None)]


def _early_wait(place: _Place) -> list[Remedy]:
    if _in_requests(place):
        return _waiting_later()
    what = "instead of MPI_Win_wait, and first compute what does not need the data"
    return [Remedy("MPIX_Win_iwait", what, None)]


def _late_complete(place: _Place) -> list[Remedy]:
    what = "behind the last operation of the origin; wait where MPI_Win_complete was"
    return [Remedy("MPIX_Win_icomplete", what, place.early)]


def _early_fence(place: _Place) -> list[Remedy]:
    if _in_requests(place):
        return _waiting_later()
    what = "instead of MPI_Win_fence, and first compute what does not need the data"
    return [Remedy("MPIX_Win_ifence", what, place.later)]


def _wait_at_fence(place: _Place) -> list[Remedy]:
    if any(name == "set_num_notify" for name, _, _ in place.caused_at):
        return []
    what = "behind the last operation of who comes last; wait where MPI_Win_fence was"
    return [Remedy("MPIX_Win_ifence", what, place.early)]


def _late_unlock(place: _Place) -> list[Remedy]:
    what = "behind the last operation of the holder; wait where MPI_Win_unlock was"
    return [Remedy("MPIX_Win_iunlock", what, place.early)]


def _lock_contention(place: _Place) -> list[Remedy]:
    if _in_requests(place):
        return _waiting_later()
    return [
        Remedy(
            "MPIX_Win_iunlock, MPI_WIN_ACCESS_AFTER_ACCESS_REORDER",
            "instead of MPI_Win_unlock: several epochs are pending, none waits for another",
            Change(wait_later=_unlocks(place.lost_at), reorder=True, ahead=place.ahead),
        )
    ]


def _wait_for_progress(_: _Place) -> list[Remedy]:
    return [Remedy(_PROGRESS, "moves operations on while a process computes", _MOVED_ON)]


def _private_memory(_: _Place) -> list[Remedy]:
    return [
        Remedy(
            "MPI_Win_allocate",
            "or MPI_Alloc_mem for the memory; where the program cannot change, "
            "SIDELIGHT_SHARE_MEMORY=inplace: others on the node map it then",
            _MOVED_ON,
        )
    ]


def _deferred_epoch(place: _Place) -> list[Remedy]:
    what = "if the epochs on this window may happen in any order"
    return [Remedy("reorder keys", what, Change(reorder=True, ahead=place.ahead))]


_PROGRESS = "SIDELIGHT_PROGRESS=smart or thread"
_MOVED_ON = Change(progress=True)
_KNOWN: dict[str, Callable[[_Place], list[Remedy]]] = {
    patterns.LATE_POST: _late_post,
    patterns.EARLY_TRANSFER: _early_transfer,
    patterns.EARLY_WAIT: _early_wait,
    patterns.LATE_COMPLETE: _late_complete,
    patterns.EARLY_FENCE: _early_fence,
    patterns.WAIT_AT_FENCE: _wait_at_fence,
    patterns.LATE_UNLOCK: _late_unlock,
    patterns.LOCK_CONTENTION: _lock_contention,
    patterns.WAIT_FOR_PROGRESS: _wait_for_progress,
    patterns.PRIVATE_MEMORY: _private_memory,
    patterns.DEFERRED_EPOCH: _deferred_epoch,
    patterns.LATE_NOTIFICATION: lambda _: [],  # but what its own program does before it notifies
}


def _in_requests(place: _Place) -> bool:
    """Whether what a nonblocking call has begun is waited for too soon."""
    return all(name == "request" for name, _, _ in place.lost_at)


def _waiting_later() -> list[Remedy]:
    return [Remedy("MPI_Wait", "later: first compute what does not need the data", None)]


def _unlocks(sites: frozenset[Site]) -> frozenset[Site] | None:
    """Locks that are waited for in other calls are let go by whatever unlock is behind these."""
    unlocks = frozenset(site for site in sites if site[0].startswith("unlock"))
    return unlocks if unlocks == sites else None


def everything(ahead: int) -> Change:
    """All of them at once."""
    return Change(None, None, post_ahead=True, reorder=True, progress=True, ahead=ahead)
