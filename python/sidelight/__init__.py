# SPDX-License-Identifier: BSD-3-Clause
"""Sidelight for programs with mpi4py: the calls that no MPI has, on windows of mpi4py's.

    from mpi4py import MPI
    import sidelight

    window = sidelight.Win(MPI.Win.Allocate(1 << 20, 8))
    window.Lock(1)
    window.Put(data, 1)
    request = window.Iunlock(1)     # a request as all others: Wait, Test, MPI.Request.Waitall
    compute()
    request.Wait()

The program has to run under Sidelight: `sidelight run -n 2 python3 program.py`. Without it every
call raises NotLoadedError; `is_loaded()` tells beforehand. Errors are MPI.Exception, as mpi4py's.
"""

from .library import NotLoadedError, dump, error_class_of_notifications, is_loaded, version
from .progress import (
    PROGRESS_AUTO,
    PROGRESS_CALLS,
    PROGRESS_SMART,
    PROGRESS_THREAD,
    ProgressCounts,
    progress_counts,
    progress_get,
    progress_set,
)
from .window import (
    MAX_MEMHANDLE_SIZE,
    WIN_NOTIFICATION_NUM_SB,
    WIN_NOTIFICATION_NUM_UB,
    WIN_NOTIFICATION_VALUE_UB,
    ActiveMessage,
    Request,
    Win,
    am_op_create,
)

MODE_CONCURRENT_AM = 0x20000000

__all__ = [
    "MAX_MEMHANDLE_SIZE",
    "MODE_CONCURRENT_AM",
    "PROGRESS_AUTO",
    "PROGRESS_CALLS",
    "PROGRESS_SMART",
    "PROGRESS_THREAD",
    "WIN_NOTIFICATION_NUM_SB",
    "WIN_NOTIFICATION_NUM_UB",
    "WIN_NOTIFICATION_VALUE_UB",
    "ActiveMessage",
    "NotLoadedError",
    "ProgressCounts",
    "Request",
    "Win",
    "am_op_create",
    "dump",
    "error_class_of_notifications",
    "is_loaded",
    "progress_counts",
    "progress_get",
    "progress_set",
    "version",
]
