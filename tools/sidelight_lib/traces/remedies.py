# SPDX-License-Identifier: BSD-3-Clause
"""What wins back the time that a pattern takes: the call or the setting, and the change that a
replay makes of it."""

from __future__ import annotations

from dataclasses import dataclass

from . import patterns
from .replay import Change, Site


@dataclass(frozen=True)
class Remedy:
    """`change` is None where a replay cannot tell: then all of the time is the most there is."""

    call: str
    what: str
    change: Change | None


def for_pattern(
    pattern: str, lost_at: frozenset[Site], caused_at: frozenset[Site], ahead: int
) -> list[Remedy]:
    """The least change first. `lost_at`: the calls that wait; `caused_at`: those they wait for."""
    later, early = Change(wait_later=lost_at, ahead=ahead), Change(close_early=caused_at)
    ready = Change(wait_later=lost_at, post_ahead=True, reorder=True, ahead=ahead)
    helped = Change(wait_later=lost_at, progress=True, ahead=ahead)
    thread = Change(progress=True)
    if pattern == patterns.LATE_POST and not any(name == "complete" for name, _, _ in lost_at):
        return _posting_ahead(ready, ahead)
    if pattern in _WAITED_LATER and all(name == "request" for name, _, _ in lost_at):
        return [_waiting_later()]
    known = {
        patterns.LATE_POST: [
            Remedy(
                "MPIX_Win_icomplete",
                "instead of MPI_Win_complete; wait for its request before the buffer is used again",
                later,
            ),
            Remedy(
                "MPIX_Win_icomplete, SIDELIGHT_PROGRESS=thread",
                "and a thread that performs what is pending while the origin computes",
                helped,
            ),
            *_posting_ahead(ready, ahead),
        ],
        patterns.EARLY_TRANSFER: [
            Remedy("MPI_Win_post", "earlier at the target: the operation itself waits for it", None)
        ],
        patterns.EARLY_WAIT: [
            Remedy(
                "MPIX_Win_iwait",
                "instead of MPI_Win_wait, and first compute what does not need the data",
                None,
            )
        ],
        patterns.LATE_COMPLETE: [
            Remedy(
                "MPIX_Win_icomplete",
                "behind the last operation of the origin; wait where MPI_Win_complete was",
                early,
            )
        ],
        patterns.EARLY_FENCE: [
            Remedy(
                "MPIX_Win_ifence",
                "instead of MPI_Win_fence, and first compute what does not need the data",
                later,
            )
        ],
        patterns.WAIT_AT_FENCE: [
            Remedy(
                "MPIX_Win_ifence",
                "behind the last operation of who comes last; wait where MPI_Win_fence was",
                early,
            )
        ],
        patterns.LATE_UNLOCK: [
            Remedy(
                "MPIX_Win_iunlock",
                "behind the last operation of the holder; wait where MPI_Win_unlock was",
                early,
            )
        ],
        patterns.LOCK_CONTENTION: [
            Remedy(
                "MPIX_Win_iunlock, MPI_WIN_ACCESS_AFTER_ACCESS_REORDER",
                "instead of MPI_Win_unlock: several epochs are pending, none waits for another",
                Change(wait_later=_unlocks(lost_at), reorder=True, ahead=ahead),
            )
        ],
        patterns.WAIT_FOR_PROGRESS: [
            Remedy(
                "SIDELIGHT_PROGRESS=thread",
                "moves operations on while a process computes",
                thread,
            )
        ],
        patterns.PRIVATE_MEMORY: [
            Remedy(
                "MPI_Win_allocate",
                "or MPI_Alloc_mem for the memory, or SIDELIGHT_SHARE_MEMORY=always: others on the "
                "node reach it by themselves then",
                thread,
            )
        ],
        patterns.DEFERRED_EPOCH: [
            Remedy(
                "reorder keys",
                "if the epochs on this window may happen in any order",
                Change(reorder=True, ahead=ahead),
            )
        ],
    }
    return known[pattern]


# What a nonblocking call has begun, and is waited for too soon.
_WAITED_LATER = (patterns.EARLY_WAIT, patterns.EARLY_FENCE, patterns.LOCK_CONTENTION)


def _waiting_later() -> Remedy:
    return Remedy("MPI_Wait", "later: first compute what does not need the data", None)


def _posting_ahead(ready: Change, ahead: int) -> list[Remedy]:
    return [
        Remedy(
            "MPIX_Win_icomplete, MPIX_Win_iwait, reorder keys",
            f"and targets that post up to {ahead} exposures ahead, closed by MPIX_Win_iwait, on a "
            "window with all reorder keys, into memory of their own each",
            ready,
        )
    ]


def _unlocks(sites: frozenset[Site]) -> frozenset[Site] | None:
    """Locks that are waited for in other calls are let go by whatever unlock is behind these."""
    unlocks = frozenset(site for site in sites if site[0].startswith("unlock"))
    return unlocks if unlocks == sites else None


def everything(ahead: int) -> Change:
    """All of them at once."""
    return Change(None, None, post_ahead=True, reorder=True, progress=True, ahead=ahead)
