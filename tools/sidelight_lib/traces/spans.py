# SPDX-License-Identifier: BSD-3-Clause
"""Spans of time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """From begin to end; empty where the end is not behind the begin."""

    begin: float
    end: float

    @property
    def length(self) -> float:
        return max(self.end - self.begin, 0.0)

    def __bool__(self) -> bool:
        return self.end > self.begin

    def within(self, other: Span) -> Span:
        """What they have in common."""
        return Span(max(self.begin, other.begin), min(self.end, other.end))


def joined(spans: Iterable[Span]) -> list[Span]:
    """The same time in spans that do not overlap, in order."""
    found: list[Span] = []
    for span in sorted(each for each in spans if each):
        if found and span.begin <= found[-1].end:
            found[-1] = Span(found[-1].begin, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def without(span: Span, taken: Iterable[Span]) -> list[Span]:
    """What is left of it."""
    left = []
    begin = span.begin
    for each in sorted(taken):
        if each.begin > begin:
            left.append(Span(begin, min(each.begin, span.end)))
        begin = max(begin, each.end)
    left.append(Span(begin, span.end))
    return [each for each in left if each]
