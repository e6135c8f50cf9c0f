# SPDX-License-Identifier: BSD-3-Clause
"""Epochs of one rank in lanes, in each of which none overlaps another: for who draws them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from .model import Epoch


def assign(epochs: Iterable[Epoch], end: float) -> list[tuple[Epoch, int]]:
    """The epochs by when they were opened, each with the lowest lane that is free. `end`: of those
    that are not complete."""
    free: list[int] = []
    taken: list[tuple[float, int]] = []
    found = []
    lanes = 0
    for epoch in sorted(epochs, key=lambda each: each.opened or 0.0):
        opened = epoch.opened or 0.0
        while taken and taken[0][0] <= opened:
            heapq.heappush(free, heapq.heappop(taken)[1])
        if not free:
            free.append(lanes)
            lanes += 1
        lane = heapq.heappop(free)
        heapq.heappush(taken, (end if epoch.completed is None else epoch.completed, lane))
        found.append((epoch, lane))
    return found
