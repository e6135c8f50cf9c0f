# SPDX-License-Identifier: BSD-3-Clause
"""Who moves operations on while this process is in no call of MPI."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from .library import call

PROGRESS_AUTO = 0
PROGRESS_CALLS = 1
PROGRESS_THREAD = 2
PROGRESS_SMART = 3


class ProgressCounts(NamedTuple):
    """What the thread of PROGRESS_SMART has done; `delay` in nanoseconds."""

    calls: int
    messages: int
    futile: int
    delay: int


def progress_set(mode: int) -> None:
    call("MPIX_Progress_set", mode)


def progress_get() -> int:
    mode = ctypes.c_int()
    call("MPIX_Progress_get", ctypes.byref(mode))
    return mode.value


def progress_counts() -> ProgressCounts:
    counts = [ctypes.c_longlong() for _ in ProgressCounts._fields]
    call("MPIX_Progress_counts", *map(ctypes.byref, counts))
    return ProgressCounts(*(count.value for count in counts))
