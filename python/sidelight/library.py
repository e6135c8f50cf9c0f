# SPDX-License-Identifier: BSD-3-Clause
"""Sidelight's own functions of C, as they are preloaded; how objects of mpi4py go in and out."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from mpi4py import MPI

# An MPI handle: an int, or a pointer.
_Handle = ctypes.c_int if MPI._sizeof(MPI.Win) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p

# The kinds of parameters, by a letter each.
_KINDS = {
    "i": ctypes.c_int,
    "a": ctypes.c_ssize_t,  # MPI_Aint
    "c": ctypes.c_longlong,  # MPI_Count
    "p": ctypes.c_void_p,
    "s": ctypes.c_char_p,
    "h": _Handle,
}

_PUT = "pchiach"  # origin buffer, count and type; rank, displacement, count and type at the target
_GET_ACCUMULATE = "pchpchiachh"
_ACTIVE_MESSAGE = "pchpchcihachhh"

# What each function takes; `h` where an object is made, `p`: its handle is written there.
_FUNCTIONS = {
    "MPIX_Win_ifence": "ihp",
    "MPIX_Win_ipost": "hihp",
    "MPIX_Win_istart": "hihp",
    "MPIX_Win_icomplete": "hp",
    "MPIX_Win_iwait": "hp",
    "MPIX_Win_ilock": "iiihp",
    "MPIX_Win_iunlock": "ihp",
    "MPIX_Win_ilock_all": "ihp",
    "MPIX_Win_iunlock_all": "hp",
    "MPIX_Win_iflush": "ihp",
    "MPIX_Win_iflush_all": "hp",
    "MPIX_Win_iflush_local": "ihp",
    "MPIX_Win_iflush_local_all": "hp",
    "MPIX_Rrput_c": _PUT + "hp",
    "MPIX_Rraccumulate_c": _PUT + "hhp",
    "MPIX_Rrget_accumulate_c": _GET_ACCUMULATE + "hp",
    "MPIX_Win_op_intrinsic": "sahhp",
    "MPIX_Win_dup_with_info": "hhp",
    "MPIX_Memhandle_create": "pahhpp",
    "MPIX_Win_from_memhandle": "paihihp",
    "MPIX_Memhandle_release": "ph",
    "MPIX_Win_set_num_notify": "hhi",
    "MPIX_Win_get_num_notify": "hip",
    "MPIX_Win_get_notify_value": "hip",
    "MPIX_Win_reset_notify_value": "hip",
    "MPIX_Win_notify_ithreshold": "hicp",
    "MPIX_Put_notify_c": _PUT + "ih",
    "MPIX_Get_notify_c": _PUT + "ih",
    "MPIX_Accumulate_notify_c": _PUT + "hih",
    "MPIX_Get_accumulate_notify_c": _GET_ACCUMULATE + "ih",
    "MPIX_Rput_notify_c": _PUT + "ihp",
    "MPIX_Rget_notify_c": _PUT + "ihp",
    "MPIX_Raccumulate_notify_c": _PUT + "hihp",
    "MPIX_Rget_accumulate_notify_c": _GET_ACCUMULATE + "ihp",
    "MPIX_Err_rma_notification": "",
    "MPIX_Am_op_create": "pp",
    "MPIX_Am_op_create_c": "pp",
    "MPIX_Am_win_op_register": "hh",
    "MPIX_Am_c": _ACTIVE_MESSAGE + "h",
    "MPIX_Ram_c": _ACTIVE_MESSAGE + "hp",
    "MPIX_Am_notify_c": _ACTIVE_MESSAGE + "ih",
    "MPIX_Ram_notify_c": _ACTIVE_MESSAGE + "ihp",
    "MPIX_Am_win_buffer_attach": "pah",
    "MPIX_Am_win_buffer_detach": "h",
    "MPIX_Progress_set": "i",
    "MPIX_Progress_get": "p",
    "MPIX_Progress_counts": "pppp",
    "sidelight_version": "",
    "sidelight_active": "",
    "sidelight_dump": "i",
}


class NotLoadedError(RuntimeError):
    """The program runs without Sidelight."""


def is_loaded() -> bool:
    """Whether the program runs under Sidelight, so that the other calls can be made: not where the
    library has stepped aside (`sidelight_active`)."""
    try:
        return bool(_function("sidelight_active")())
    except NotLoadedError:
        return False


@functools.cache
def _function(name: str) -> Any:
    try:
        function = getattr(ctypes.CDLL(None), name)
    except AttributeError:
        raise NotLoadedError(
            f"there is no {name}: this program runs without Sidelight, or with an older one. "
            "Start it with `sidelight run`, as in: sidelight run -n 2 python3 program.py"
        ) from None
    function.argtypes = [_KINDS[letter] for letter in _FUNCTIONS[name]]
    function.restype = ctypes.c_int
    return function


def call(name: str, *arguments: Any) -> None:
    """Calls a function; an error is an exception of mpi4py's. Other threads of Python run on."""
    code = _function(name)(*arguments)
    if code != MPI.SUCCESS:
        raise MPI.Exception(code)


def handle(thing: Any) -> Any:
    """An object of mpi4py, as a function takes it."""
    return _Handle(MPI._handleof(thing))


def address_of_handle(thing: Any) -> int:
    """Where an object of mpi4py has its handle, for a function that makes one."""
    return MPI._addressof(thing)


def version() -> str:
    """The version of the library that is loaded, as "major.minor.patch"."""
    function = _function("sidelight_version")
    function.restype = ctypes.c_char_p
    return function().decode()


def error_class_of_notifications() -> int:
    """MPI_ERR_RMA_NOTIFICATION."""
    return _function("MPIX_Err_rma_notification")()


def dump(file: int = 2) -> None:
    """Writes to a file descriptor what each window of this process waits for."""
    _function("sidelight_dump")(file)
