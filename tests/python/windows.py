# SPDX-License-Identifier: BSD-3-Clause
"""The module `sidelight` on windows of mpi4py's, by two ranks: every call that it has."""

import ctypes
import gc
import os
import sys
import time
from array import array

from mpi4py import MPI

import sidelight

WORDS, WORD = 64, 8
comm = MPI.COMM_WORLD
rank = comm.Get_rank()
other = 1 - rank
wrong = []


def check(holds, what):
    if not holds:
        wrong.append(what)
        print(f"rank {rank}: not true: {what}", flush=True)


def numbers(*values):
    return array("q", values)


def made():
    window = sidelight.Win(MPI.Win.Allocate(WORDS * WORD, WORD, comm=comm))
    words = memoryview(window.tomemory()).cast("B").cast("q")
    words[:] = numbers(*[-1] * WORDS)
    comm.Barrier()
    return window, words


def info_of(key, value):
    info = MPI.Info.Create()
    info.Set(key, value)
    return info


def check_freed(window):
    window.Free()
    check(window == MPI.WIN_NULL, "a freed window is none")


def fences():
    window, words = made()
    window.Ifence(MPI.MODE_NOPRECEDE).Wait()
    value = numbers(10 + rank, 20 + rank)
    window.Put([value, MPI.INT64_T], other, target=3)
    if rank == 0:
        request = window.Ifence(MPI.MODE_NOSUCCEED)
        check(not request.Test(), "a fence waits for the other one")
        comm.send(None, 1)
        request.Wait()
    else:
        comm.recv(source=0)
        window.Ifence(MPI.MODE_NOSUCCEED).Wait()
    check(words[3:5].tolist() == [10 + other, 20 + other], "put and ifence")
    check_freed(window)


def exposures():
    window, words = made()
    whole = comm.Get_group()
    group = whole.Incl([other])
    opened = [window.Ipost(group), window.Istart(group)]
    check(MPI.Request.Testall(opened), "opening calls are complete at once")
    value = numbers(30 + rank)
    window.Put(value, other, 1)
    message = numbers(rank)
    received = numbers(0)
    requests = [window.Icomplete(), window.Iwait()]
    requests += [comm.Isend(message, other), comm.Irecv(received, other)]
    MPI.Request.Waitall(requests)
    check(words[1] == 30 + other and received[0] == other, "requests of all kinds together")
    group.Free()
    whole.Free()
    check_freed(window)


def locks():
    window, words = made()
    if rank == 0:
        window.Ilock(1).Wait()
        value = numbers(1, 2, 3, 4)
        window.Put([value, (2, 1), MPI.INT64_T], 1, [5, 2, MPI.INT64_T])
        window.Iflush_local(1).Wait()
        window.Iflush(1).Wait()
        got = numbers(0, 0)
        window.Get(got, 1, 5)
        window.Iunlock(1).Wait()
        check(got.tolist() == [2, 3], "a part of a buffer, put and got")
    comm.Barrier()
    if rank == 1:
        window.Ilock(1, MPI.LOCK_SHARED).Wait()
        window.Iflush(1).Wait()
        check(words[4:8].tolist() == [-1, 2, 3, -1], "what was put is there")
        window.Iunlock(1).Wait()
    comm.Barrier()
    window.Ilock_all(MPI.MODE_NOCHECK).Wait()
    one, fetched = numbers(1), numbers(0)
    window.Rraccumulate(one, 0, 20, MPI.SUM).Wait()
    window.Iflush_local_all().Wait()
    window.Iflush_all().Wait()
    comm.Barrier()
    window.Rrget_accumulate(None, fetched, 0, 20, MPI.NO_OP).Wait()
    check(fetched[0] == 1, "two sums of one, beginning with -1")
    comm.Barrier()
    nine = numbers(9)
    window.Rrput(nine, other, 21).Wait()
    comm.Barrier()
    check(words[21] == 9, "a put that waits for its target")
    window.Iunlock_all().Wait()
    check_freed(window)


def duplicates():
    window, words = made()
    info = info_of("mpi_win_order", "true")
    duplicate = window.Dup_with_info(info)
    info.Free()
    info = duplicate.Get_info()
    check(info.Get("mpi_win_order") == "true", "a duplicate has a key of its own")
    info.Free()
    window.Lock_all()
    for value in (5, 6):
        duplicate.Put([numbers(value), MPI.INT64_T], other, 7)
        duplicate.Flush_local(other)
    window.Unlock_all()
    comm.Barrier()
    check(words[7] == 6, "one put after the other")
    mapped = os.environ["SIDELIGHT_ROUTE"] == "auto"
    check(window.Op_intrinsic("sum,cas", 1, MPI.INT64_T) is mapped, "intrinsic where it is mapped")
    check_freed(duplicate)
    check_freed(window)


def memory_handles():
    dynamic = sidelight.Win(MPI.Win.Create_dynamic(comm=comm))
    memory = numbers(*range(8))
    info = info_of("sidelight_share_memory", "never")
    mine = dynamic.Memhandle_create(memory, info)
    info.Free()
    theirs = comm.sendrecv(mine, other, source=other)
    check(0 < len(mine) <= sidelight.MAX_MEMHANDLE_SIZE, "the size of a handle")
    dynamic.Lock_all()
    window = dynamic.From_memhandle(theirs, 8 * WORD, other, WORD)
    value, got = numbers(40 + rank), numbers(0)
    window.Put(value, other, 2)
    window.Flush(other)
    window.Get(got, other, 3)
    window.Flush(other)
    dynamic.Unlock_all()
    check_freed(window)
    comm.Barrier()
    check(memory.tolist() == [0, 1, 40 + other, *range(3, 8)] and got[0] == 3, "by a handle")
    dynamic.Memhandle_release(mine)
    check_freed(dynamic)


def notifications():
    window, words = made()
    info = info_of("mpi_assert_same_num_notifications", "true")
    window.Set_num_notify(3, info)
    info.Free()
    check(window.Get_num_notify(other) == 3, "the number of counters")
    bounds = [window.Get_attr(key) for key in (
        sidelight.WIN_NOTIFICATION_NUM_SB, sidelight.WIN_NOTIFICATION_NUM_UB,
        sidelight.WIN_NOTIFICATION_VALUE_UB)]
    check(bounds == [1 << 10, 1 << 20, (1 << 63) - 1], f"the bounds of counters: {bounds}")
    check(window.Get_attr(MPI.WIN_SIZE) == WORDS * WORD, "other attributes are mpi4py's")
    all_arrived = window.Notify_ithreshold(0, 5)
    check(isinstance(all_arrived, sidelight.Request), "requests are of one class")
    check(not all_arrived.Test(), "no operation has come yet")
    comm.Barrier()
    window.Lock_all()
    value, got, fetched, fetched_too = numbers(7), numbers(0), numbers(0), numbers(0)
    window.Put_notify(value, other, 0, 30)
    window.Rput_notify(value, other, 0, 31).Wait()
    window.Accumulate_notify(value, other, 0, 32, MPI.SUM)
    window.Raccumulate_notify(value, other, 0, 33, MPI.REPLACE).Wait()
    window.Get_accumulate_notify(value, fetched, other, 0, 34, MPI.SUM)
    all_arrived.Wait()
    check(words[30:35].tolist() == [7, 7, 6, 7, 6], "five notified operations")
    window.Get_notify(got, other, 1, 63)
    window.Rget_notify(got, other, 1, 63).Wait()
    window.Rget_accumulate_notify(None, fetched_too, other, 1, 63, MPI.NO_OP).Wait()
    window.Unlock_all()
    comm.Barrier()
    check((got[0], fetched[0], fetched_too[0]) == (-1, -1, -1), "what they fetch")
    check(window.Get_notify_value(1) == 3, "operations that fetch are counted too")
    check(window.Reset_notify_value(1) == 3, "a counter's value when it is reset")
    check(window.Get_notify_value(1) == 0, "and then it is zero")
    raises(sidelight.error_class_of_notifications(), lambda: window.Get_notify_value(3))
    check_freed(window)


HANDLE = ctypes.c_int if MPI._sizeof(MPI.Datatype) == 4 else ctypes.c_void_p
BUFFER = (ctypes.c_void_p, ctypes.c_int, HANDLE)

HANDLER = ctypes.CFUNCTYPE(None, *BUFFER * 3, ctypes.c_int, ctypes.c_int)

LARGE_BUFFER = (ctypes.c_void_p, ctypes.c_longlong, HANDLE)
LARGE_HANDLER = ctypes.CFUNCTYPE(None, *LARGE_BUFFER * 3, ctypes.c_longlong, ctypes.c_longlong)


def add(given, count, _type, kept, _kept_count, _kept_type, answer, _answers, _its_type, segments,
        offset):
    """Adds what it is given to what is there, and answers with the sum so far."""
    values = (ctypes.c_longlong * (count * segments)).from_address(given)
    total = ctypes.c_longlong.from_address(kept)
    answers = (ctypes.c_longlong * segments).from_address(answer)
    for number in range(segments):
        total.value += sum(values[number * count : (number + 1) * count])
        answers[number] = total.value


def active_messages():
    window, words = made()
    operation = sidelight.am_op_create(HANDLER(add))
    gc.collect()
    later = [HANDLER(lambda *_: check(False, "a handler is kept alive")) for _ in range(8)]
    window.Am_op_register(operation)
    room = bytearray(1 << 16)
    window.Am_buffer_attach(room)
    comm.Barrier()
    values, answers = numbers(1, 2, 3, 4, 5, 6), numbers(0, 0, 0)
    message = sidelight.ActiveMessage(
        values, answers, num_segments=3, persistent=(40, 1, MPI.INT64_T)
    )
    window.Lock(other, assertion=sidelight.MODE_CONCURRENT_AM)
    window.Am(message, other, operation)
    window.Flush(other)
    check(answers.tolist() == [2, 9, 20], "a handler's answers")
    window.Ram(message, other, operation).Wait()
    window.Unlock(other)
    comm.Barrier()
    check(words[40] == 41, "what handlers have left")
    window.Set_num_notify(1)
    both_have_run = window.Notify_ithreshold(0, 2)
    window.Lock(other)
    window.Am_notify(message, other, 0, operation)
    window.Ram_notify(message, other, 0, operation).Wait()
    window.Unlock(other)
    both_have_run.Wait()
    check(words[40] == 83, "what handlers have left that notify")
    check(len(later) == 8, "others are not run")
    window.Am_buffer_detach()
    operation.Free()
    check_freed(window)


def large_active_messages():
    """A handler with large counts is told more elements of the window than an int can count, here
    of a type without contents. One without is not."""
    window, _ = made()
    many = (1 << 31) + 1
    nothing = MPI.BYTE.Create_contiguous(0).Commit()

    @LARGE_HANDLER
    def tell(_given, count, _type, _kept, kept_count, _kept_type, answer, *_others):
        ctypes.c_longlong.from_address(answer).value = kept_count + count

    large = sidelight.am_op_create(tell, large=True)
    small = sidelight.am_op_create(HANDLER(add))
    answer = numbers(0)
    message = sidelight.ActiveMessage(numbers(1, 2), answer, persistent=(0, many, nothing))
    for operation in (large, small):
        window.Am_op_register(operation)
    window.Lock(other)
    window.Am(message, other, large)
    window.Flush(other)
    check(answer[0] == many + 2, f"large counts come to the handler, which is told {answer[0]}")
    raises(MPI.ERR_COUNT, lambda: window.Am(message, other, small))
    window.Unlock(other)
    for thing in (nothing, large, small):
        thing.Free()
    check_freed(window)


def raises(error, what):
    try:
        what()
    except MPI.Exception as caught:
        check(caught.Get_error_class() == error, f"error {error}, and it is {caught}")
    else:
        check(False, f"error {error}")


class Tensor:
    """Memory that only the protocols of arrays tell of."""

    def __init__(self, values):
        self.values = values
        address, count = values.buffer_info()
        self.__cuda_array_interface__ = {
            "version": 0, "data": (address, False), "shape": (count,), "typestr": "<i8",
        }


def tensors():
    window, words = made()
    window.Lock(other)
    window.Rrput([Tensor(numbers(8, 9)), MPI.INT64_T], other, 2).Wait()
    window.Rrput([None, 0, MPI.INT64_T], other).Wait()
    window.Unlock(other)
    comm.Barrier()
    check(words[2:4].tolist() == [8, 9], "memory whose type is given")
    check_freed(window)


def errors():
    window, _ = made()
    raises(MPI.ERR_RMA_SYNC, window.Icomplete)
    raises(MPI.ERR_RANK, lambda: window.Ilock(2))
    raises(MPI.ERR_WIN, sidelight.Win().Icomplete)
    window.Lock_all()
    raises(MPI.ERR_RMA_RANGE, lambda: window.Rrput(numbers(1), other, WORDS).Wait())
    window.Unlock_all()
    for given in ([numbers(1), 2], [MPI.BOTTOM, 1], [numbers(1), (1, 1)], [None, 1, MPI.INT64_T]):
        try:
            window.Rrput(given, other)
        except ValueError:
            continue
        check(False, f"{given} is refused")
    try:
        window.Rrput(Tensor(numbers(1)), other)
    except TypeError as error:
        check("[tensor, MPI.DOUBLE]" in str(error), "what to give")
    else:
        check(False, "a tensor without a type is refused")
    comm.Barrier()
    check_freed(window)


def dumps():
    window, _ = made()
    reading, writing = os.pipe()
    window.Lock(other)
    sidelight.dump(writing)
    window.Unlock(other)
    os.close(writing)
    with open(reading) as pipe:
        text = pipe.read()
    check(f"rank {rank}: lock epoch" in text, f"what the window waits for: {text}")
    check_freed(window)


def until(holds):
    while not holds():
        pass


def buffers_live():
    """A request keeps what its operation uses, though nobody else does, until it is complete."""
    window, words = made()
    window.Lock_all()
    requests = [window.Rrput(numbers(*[number] * 4), other, number * 4) for number in range(8)]
    garbage = [numbers(*[99] * 4) for _ in range(64)]
    MPI.Request.Waitall(requests)
    window.Unlock_all()
    comm.Barrier()
    check(words[:32].tolist() == [number // 4 for number in range(32)], "buffers are kept alive")
    check(len(garbage) == 64, "no more than that")
    for complete in (
        lambda request: request.Wait(),
        lambda request: request.wait(),
        lambda request: until(request.Test),
        lambda request: until(lambda: request.test()[0]),
    ):
        grown = bytearray(8)
        window.Lock(other)
        request = window.Rrput(grown, other)
        complete(request)
        grown.extend(b"more")
        window.Unlock(other)
    check_freed(window)


def progress():
    mode = sidelight.progress_get()
    for each in (sidelight.PROGRESS_AUTO, sidelight.PROGRESS_THREAD, sidelight.PROGRESS_CALLS,
                 sidelight.PROGRESS_SMART):
        sidelight.progress_set(each)
        check(sidelight.progress_get() == each, "the mode that was chosen")
    window, words = made()
    window.Lock(other)
    window.Put(numbers(50), other, 50)
    time.sleep(0.01)
    window.Unlock(other)
    comm.Barrier()
    check(words[50] == 50, "with the thread")
    counts = sidelight.progress_counts()
    check(isinstance(counts, sidelight.ProgressCounts), "numbers with names")
    check(min(counts) >= 0 and counts.futile <= counts.calls + counts.messages, "what is counted")
    check_freed(window)
    sidelight.progress_set(mode)


def main():
    if sys.argv[1:] == ["without"]:
        check(not sidelight.is_loaded(), "is_loaded says so")
        window = sidelight.Win(MPI.Win.Allocate(8, comm=comm))
        try:
            window.Ifence()
        except sidelight.NotLoadedError as error:
            check("sidelight run" in str(error), "what to do")
        else:
            check(False, "NotLoadedError")
        window.Free()
    elif sys.argv[1:] == ["disabled"]:
        check(not sidelight.is_loaded(), "is_loaded says so")
        window = sidelight.Win(MPI.Win.Allocate(8, comm=comm))
        window.Lock(rank)
        raises(MPI.ERR_UNSUPPORTED_OPERATION, lambda: window.Iunlock(rank))
        check(window.Get_attr(sidelight.WIN_NOTIFICATION_NUM_UB) is None, "no counters, no bound")
        window.Unlock(rank)
        window.Free()
    else:
        check(sidelight.is_loaded(), "is_loaded says so")
        check(sidelight.version().count(".") == 2, "a version has three numbers")
        for test in (fences, exposures, locks, duplicates, memory_handles, notifications,
                     active_messages, large_active_messages, tensors, errors, dumps, buffers_live,
                     progress):
            test()
    failed = comm.allreduce(len(wrong))
    if rank == 0 and failed == 0:
        print("ok", flush=True)
    sys.exit(1 if failed else 0)


main()
