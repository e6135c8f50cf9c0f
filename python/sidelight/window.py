# SPDX-License-Identifier: BSD-3-Clause
"""Windows of mpi4py with the calls that only Sidelight has."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from mpi4py import MPI

from .buffers import Buffer, buffer, place
from .library import address_of_handle, call, handle

MAX_MEMHANDLE_SIZE = 256

# Attributes of a window: how many counters a process may ask for, and the highest value of one.
WIN_NOTIFICATION_NUM_SB = 0x5ADE0001
WIN_NOTIFICATION_NUM_UB = 0x5ADE0003
WIN_NOTIFICATION_VALUE_UB = 0x5ADE0005

# What MPI_Win_get_attr answers for them is an address, of these.
_BOUNDS = {
    WIN_NOTIFICATION_NUM_SB: ctypes.c_int,
    WIN_NOTIFICATION_NUM_UB: ctypes.c_int,
    WIN_NOTIFICATION_VALUE_UB: ctypes.c_longlong,
}


def _releasing(method: Any) -> Any:
    """A method of mpi4py's that may complete the request, and then lets its buffers go."""

    @functools.wraps(method)
    def completing(self: Request, *arguments: Any, **named: Any) -> Any:
        try:
            return method(self, *arguments, **named)
        finally:
            if self == MPI.REQUEST_NULL:
                self.kept = None

    return completing


class Request(MPI.Request):
    """A request of mpi4py's; it keeps alive the buffers of an operation that it is of, until one of
    its own methods has completed it: those for many, such as Waitall, are mpi4py's."""

    kept: Any = None
    Wait = _releasing(MPI.Request.Wait)
    Test = _releasing(MPI.Request.Test)
    wait = _releasing(MPI.Request.wait)
    test = _releasing(MPI.Request.test)


def _request(name: str, *arguments: Any, kept: Any = None) -> Request:
    """Calls a function whose last argument is a request."""
    request = Request()
    call(name, *arguments, address_of_handle(request))
    request.kept = kept
    return request


def _call_or_request(name: str, *arguments: Any, kept: Any) -> Request | None:
    """By its name, an operation with a request or without."""
    if name.startswith("MPIX_R"):
        return _request(name, *arguments, kept=kept)
    return call(name, *arguments)


def _notified_transfer(name: str, written: bool = False) -> Any:
    """A method for a notified put or get."""

    def method(
        self: Win, origin: Any, target_rank: int, notification_idx: int, target: Any = None
    ) -> Any:
        memory = buffer(origin, written)
        return self._operation(name, memory, target_rank, target, (notification_idx,))

    return method


def _notified_accumulate(name: str) -> Any:
    def method(
        self: Win,
        origin: Any,
        target_rank: int,
        notification_idx: int,
        target: Any = None,
        op: MPI.Op = MPI.SUM,
    ) -> Any:
        last = (handle(op), notification_idx)
        return self._operation(name, buffer(origin), target_rank, target, last)

    return method


def _notified_get_accumulate(name: str) -> Any:
    def method(
        self: Win,
        origin: Any,
        result: Any,
        target_rank: int,
        notification_idx: int,
        target: Any = None,
        op: MPI.Op = MPI.SUM,
    ) -> Any:
        last = (handle(op), notification_idx)
        return self._get_accumulate(name, origin, result, target_rank, target, last)

    return method


class Win(MPI.Win):
    """A window with more calls: `Win(window)`, where `window` is one of mpi4py's. Both are the same
    window; free one of them.

    What completes when is said in sidelight.h, under MPIX_ and the name. Where a nonblocking call
    closes an epoch, buffers of its operations have to be kept alive until the request of that call
    is complete, as mpi4py wants those of all operations to be until the end of the epoch."""

    # --- Nonblocking epochs -------------------------------------------------------------------

    def Ifence(self, assertion: int = 0) -> Request:
        return _request("MPIX_Win_ifence", assertion, handle(self))

    def Ipost(self, group: MPI.Group, assertion: int = 0) -> Request:
        return _request("MPIX_Win_ipost", handle(group), assertion, handle(self))

    def Istart(self, group: MPI.Group, assertion: int = 0) -> Request:
        return _request("MPIX_Win_istart", handle(group), assertion, handle(self))

    def Icomplete(self) -> Request:
        return _request("MPIX_Win_icomplete", handle(self))

    def Iwait(self) -> Request:
        return _request("MPIX_Win_iwait", handle(self))

    def Ilock(
        self, rank: int, lock_type: int = MPI.LOCK_EXCLUSIVE, assertion: int = 0
    ) -> Request:
        return _request("MPIX_Win_ilock", lock_type, rank, assertion, handle(self))

    def Iunlock(self, rank: int) -> Request:
        return _request("MPIX_Win_iunlock", rank, handle(self))

    def Ilock_all(self, assertion: int = 0) -> Request:
        return _request("MPIX_Win_ilock_all", assertion, handle(self))

    def Iunlock_all(self) -> Request:
        return _request("MPIX_Win_iunlock_all", handle(self))

    def Iflush(self, rank: int) -> Request:
        return _request("MPIX_Win_iflush", rank, handle(self))

    def Iflush_all(self) -> Request:
        return _request("MPIX_Win_iflush_all", handle(self))

    def Iflush_local(self, rank: int) -> Request:
        return _request("MPIX_Win_iflush_local", rank, handle(self))

    def Iflush_local_all(self) -> Request:
        return _request("MPIX_Win_iflush_local_all", handle(self))

    # --- Operations with a request that waits for the target ----------------------------------

    def Rrput(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        return self._operation("MPIX_Rrput_c", buffer(origin), target_rank, target, ())

    def Rraccumulate(
        self, origin: Any, target_rank: int, target: Any = None, op: MPI.Op = MPI.SUM
    ) -> Request:
        return self._operation(
            "MPIX_Rraccumulate_c", buffer(origin), target_rank, target, (handle(op),)
        )

    def Rrget_accumulate(
        self, origin: Any, result: Any, target_rank: int, target: Any = None, op: MPI.Op = MPI.SUM
    ) -> Request:
        return self._get_accumulate(
            "MPIX_Rrget_accumulate_c", origin, result, target_rank, target, (handle(op),)
        )

    # --- Notified operations (MPI-5.1, 12.6) --------------------------------------------------

    def Set_num_notify(self, num_notifications: int, info: MPI.Info = MPI.INFO_NULL) -> None:
        """Collective; all counters are zero afterwards."""
        call("MPIX_Win_set_num_notify", handle(self), handle(info), num_notifications)

    def Get_num_notify(self, rank: int) -> int:
        number = ctypes.c_int()
        call("MPIX_Win_get_num_notify", handle(self), rank, ctypes.byref(number))
        return number.value

    def Get_notify_value(self, notification_idx: int) -> int:
        return self._counter("MPIX_Win_get_notify_value", notification_idx)

    def Reset_notify_value(self, notification_idx: int) -> int:
        return self._counter("MPIX_Win_reset_notify_value", notification_idx)

    def Notify_ithreshold(self, notification_idx: int, expected: int) -> Request:
        return _request("MPIX_Win_notify_ithreshold", handle(self), notification_idx, expected)

    def Get_attr(self, keyval: int) -> Any:
        """As mpi4py's, and it knows the attributes WIN_NOTIFICATION_*."""
        found = super().Get_attr(keyval)
        bound = _BOUNDS.get(keyval)
        return found if bound is None or found is None else bound.from_address(found).value

    # Those that begin with R return a request; `notification_idx` is behind the target's rank.
    Put_notify = _notified_transfer("MPIX_Put_notify_c")
    Get_notify = _notified_transfer("MPIX_Get_notify_c", written=True)
    Accumulate_notify = _notified_accumulate("MPIX_Accumulate_notify_c")
    Get_accumulate_notify = _notified_get_accumulate("MPIX_Get_accumulate_notify_c")
    Rput_notify = _notified_transfer("MPIX_Rput_notify_c")
    Rget_notify = _notified_transfer("MPIX_Rget_notify_c", written=True)
    Raccumulate_notify = _notified_accumulate("MPIX_Raccumulate_notify_c")
    Rget_accumulate_notify = _notified_get_accumulate("MPIX_Rget_accumulate_notify_c")

    # --- Active messages ----------------------------------------------------------------------

    def Am_op_register(self, am_op: MPI.Op) -> None:
        """Collective."""
        call("MPIX_Am_win_op_register", handle(am_op), handle(self))

    def Am(self, message: ActiveMessage, target_rank: int, am_op: MPI.Op) -> None:
        self._active_message("MPIX_Am_c", message, target_rank, am_op)

    def Ram(self, message: ActiveMessage, target_rank: int, am_op: MPI.Op) -> Request:
        return self._active_message("MPIX_Ram_c", message, target_rank, am_op)

    def Am_notify(
        self, message: ActiveMessage, target_rank: int, notification_idx: int, am_op: MPI.Op
    ) -> None:
        self._active_message("MPIX_Am_notify_c", message, target_rank, am_op, notification_idx)

    def Ram_notify(
        self, message: ActiveMessage, target_rank: int, notification_idx: int, am_op: MPI.Op
    ) -> Request:
        return self._active_message(
            "MPIX_Ram_notify_c", message, target_rank, am_op, notification_idx
        )

    def Am_buffer_attach(self, memory: Any) -> None:
        """The memory has to live until it is detached."""
        given = MPI.memory.frombuffer(memory)
        call("MPIX_Am_win_buffer_attach", given.address, given.nbytes, handle(self))

    def Am_buffer_detach(self) -> None:
        call("MPIX_Am_win_buffer_detach", handle(self))

    # --- Other handles of windows and of memory -----------------------------------------------

    def Op_intrinsic(self, ops: str, max_count: int, datatype: MPI.Datatype) -> bool:
        flag = ctypes.c_int()
        call("MPIX_Win_op_intrinsic", ops.encode(), max_count, handle(datatype), handle(self),
             ctypes.byref(flag))
        return bool(flag.value)

    def Dup_with_info(self, info: MPI.Info = MPI.INFO_NULL) -> Win:
        duplicate = Win()
        call("MPIX_Win_dup_with_info", handle(self), handle(info), address_of_handle(duplicate))
        return duplicate

    def Memhandle_create(self, memory: Any, info: MPI.Info = MPI.INFO_NULL) -> bytes:
        """A handle of this process's memory, which has to live until the handle is released; this
        window is a dynamic one."""
        given = MPI.memory.frombuffer(memory)
        made = ctypes.create_string_buffer(MAX_MEMHANDLE_SIZE)
        size = ctypes.c_int()
        call("MPIX_Memhandle_create", given.address, given.nbytes, handle(info), handle(self),
             made, ctypes.byref(size))
        return made.raw[: size.value]

    def From_memhandle(
        self,
        memhandle: bytes,
        size: int,
        target: int,
        disp_unit: int = 1,
        info: MPI.Info = MPI.INFO_NULL,
    ) -> Win:
        """A window of the memory that a handle of `target`'s names; this window is the dynamic one
        that it was made with."""
        made = Win()
        call("MPIX_Win_from_memhandle", _memhandle(memhandle), size, disp_unit, handle(info),
             target, handle(self), address_of_handle(made))
        return made

    def Memhandle_release(self, memhandle: bytes) -> None:
        call("MPIX_Memhandle_release", _memhandle(memhandle), handle(self))

    # ------------------------------------------------------------------------------------------

    def _counter(self, name: str, notification_idx: int) -> int:
        value = ctypes.c_longlong()
        call(name, handle(self), notification_idx, ctypes.byref(value))
        return value.value

    def _operation(
        self,
        name: str,
        origin: Buffer,
        rank: int,
        target: Any,
        last: tuple[Any, ...],
    ) -> Any:
        where = place(rank, target, origin)
        given = (*origin.arguments, *where.arguments, *last, handle(self))
        return _call_or_request(name, *given, kept=origin)

    def _get_accumulate(
        self,
        name: str,
        origin: Any,
        result: Any,
        rank: int,
        target: Any,
        last: tuple[Any, ...],
    ) -> Any:
        given, fetched = buffer(origin), buffer(result, True)
        # With MPI_NO_OP there may be no origin.
        where = place(rank, target, fetched if origin is None else given)
        all_given = (*given.arguments, *fetched.arguments, *where.arguments, *last, handle(self))
        return _call_or_request(name, *all_given, kept=(given, fetched))

    def _active_message(
        self, name: str, message: ActiveMessage, rank: int, am_op: MPI.Op, *counter: int
    ) -> Any:
        given = (*message.arguments(rank), handle(am_op), *counter, handle(self))
        return _call_or_request(name, *given, kept=message)


class ActiveMessage:
    """What MPIX_Am sends. A segment is what `input` has of its type, divided by `num_segments`."""

    def __init__(
        self,
        input: Any = None,  # noqa: A002
        output: Any = None,
        num_segments: int = 1,
        target_input_datatype: MPI.Datatype | None = None,
        target_output_datatype: MPI.Datatype | None = None,
        persistent: tuple[int, int, MPI.Datatype] = (0, 0, MPI.BYTE),
    ) -> None:
        self._input, self._output = buffer(input), buffer(output, True)
        self._num_segments = num_segments
        self._target_input = target_input_datatype or self._input.datatype
        self._target_output = target_output_datatype or self._output.datatype
        self._persistent = persistent
        for each in (self._input, self._output):
            if num_segments < 1 or each.count % num_segments != 0:
                raise ValueError(f"{each.count} elements are not {num_segments} segments")

    def arguments(self, target_rank: int) -> tuple[Any, ...]:
        displacement, count, datatype = self._persistent
        return (
            *self._segments(self._input),
            *self._segments(self._output),
            self._num_segments,
            target_rank,
            handle(self._target_input),
            displacement,
            count,
            handle(datatype),
            handle(self._target_output),
        )

    def _segments(self, whole: Buffer) -> tuple[int, int, Any]:
        return whole.address, whole.count // self._num_segments, handle(whole.datatype)


_handlers: list[Any] = []  # all that were ever given: windows run them after the operation is freed


def am_op_create(function: Any, large: bool = False) -> MPI.Op:
    """An operation for a handler: a function of C with the arguments of MPIX_Am_user_function, or
    `large`, of MPIX_Am_user_function_c, as its address, or as ctypes or numba's `cfunc` have it,
    which is kept alive. Free the operation with its method Free. Where the handler is written in
    Python, free the windows that it is registered for before the program ends or calls
    MPI.Finalize: it cannot run in there."""
    operation = MPI.Op()
    address = getattr(function, "address", function)
    pointer = address if isinstance(address, int) else ctypes.cast(function, ctypes.c_void_p)
    call(
        "MPIX_Am_op_create_c" if large else "MPIX_Am_op_create",
        pointer,
        address_of_handle(operation),
    )
    _handlers.append(function)
    return operation


def _memhandle(given: bytes) -> Any:
    """A copy with the room that a handle may have: only its bytes are read, and a release spoils
    them."""
    return ctypes.create_string_buffer(bytes(given), MAX_MEMHANDLE_SIZE)
