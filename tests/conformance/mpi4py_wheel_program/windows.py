# SPDX-License-Identifier: BSD-3-Clause
"""One-sided calls from Python, as a program of mpi4py has it. It knows nothing of Sidelight. With
the argument "sidelight" it demands that its windows are Sidelight's, and calls what only Sidelight
has, as docs/guide/unmodified-programs.md says."""

import ctypes
import sys
from array import array

from mpi4py import MPI

WORDS, WORD = 16, 8
comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
left, right = (rank - 1) % ranks, (rank + 1) % ranks
demanded = sys.argv[1:] == ["sidelight"]
wrong = []


def check(holds, what):
    if not holds:
        wrong.append(what)
        print(f"rank {rank}: not true: {what}", flush=True)


def words_of(window):
    return window.tomemory().cast("q")


def is_sidelights(window):
    """A window of Sidelight tells a hint that no host knows."""
    info = window.Get_info()
    holds = "sidelight_share_memory" in info
    info.Free()
    return holds


def numbers(*values):
    return array("q", values)


def put_to_neighbour(window, where, mine):
    """By a fence; `where` is this rank's memory as words."""
    where[3] = -1
    value = numbers(100 + rank)
    window.Fence()
    window.Put([value, MPI.INT64_T], right, target=3)
    window.Fence(MPI.MODE_NOSUCCEED)
    check(where[3] == 100 + left, f"{mine}: put and fence")


def expect(window, flavor, what):
    if demanded:
        check(is_sidelights(window), f"{what}: the window is Sidelight's")
    check(window.flavor == flavor and window.model == MPI.WIN_UNIFIED, f"{what}: flavor and model")


def allocated():
    window = MPI.Win.Allocate(WORDS * WORD, WORD, comm=comm)
    expect(window, MPI.WIN_FLAVOR_ALLOCATE, "Allocate")
    _, size, unit = window.attrs
    check((size, unit) == (WORDS * WORD, WORD), "Allocate: size and unit")
    put_to_neighbour(window, words_of(window), "Allocate")
    exposures(window)
    operations(window)
    errors(window)
    own_calls(window)
    attributes(window)
    window.Free()
    check(window == MPI.WIN_NULL, "Free")


def created():
    memory = numbers(*[0] * WORDS)
    window = MPI.Win.Create(memory, WORD, comm=comm)
    expect(window, MPI.WIN_FLAVOR_CREATE, "Create")
    put_to_neighbour(window, memory, "Create")
    window.Free()


def shared():
    window = MPI.Win.Allocate_shared(WORDS * WORD, WORD, comm=comm)
    expect(window, MPI.WIN_FLAVOR_SHARED, "Allocate_shared")
    put_to_neighbour(window, words_of(window), "Allocate_shared")
    buffer, unit = window.Shared_query(right)
    theirs = memoryview(buffer).cast("q")
    comm.Barrier()
    check(unit == WORD and theirs[3] == 100 + rank, "Shared_query")
    comm.Barrier()
    window.Free()


def dynamic():
    memory = numbers(*[0] * WORDS)
    window = MPI.Win.Create_dynamic(comm=comm)
    expect(window, MPI.WIN_FLAVOR_DYNAMIC, "Create_dynamic")
    window.Attach(memory)
    places = comm.allgather(MPI.Get_address(memory))
    window.Lock(right, MPI.LOCK_SHARED)
    place = places[right] + 5 * WORD
    value = numbers(500 + rank)
    window.Put([value, MPI.INT64_T], right, target=[place, 1, MPI.INT64_T])
    window.Unlock(right)
    comm.Barrier()
    check(memory[5] == 500 + left, "an attached array")
    window.Detach(memory)
    window.Free()


def exposures(window):
    world = window.Get_group()
    origins, targets = world.Incl([left]), world.Incl([right])
    value = numbers(700 + rank)
    window.Post(origins)
    window.Start(targets)
    window.Put([value, MPI.INT64_T], right, target=4)
    window.Complete()
    while not window.Test():
        pass
    check(words_of(window)[4] == 700 + left, "Post, Start, Complete, Test")
    for group in (origins, targets, world):
        group.Free()


def operations(window):
    mine = words_of(window)
    window.Lock(rank, MPI.LOCK_EXCLUSIVE)
    mine[8:12] = numbers(0, 0, 0, 0)
    window.Unlock(rank)
    comm.Barrier()
    one, value, old, found = numbers(1), numbers(9 + rank), numbers(-1), numbers(-1)
    window.Lock_all()
    window.Fetch_and_op(one, old, 0, 8, MPI.SUM)
    window.Flush(0)
    check(0 <= old[0] < ranks, "Fetch_and_op")
    window.Rput([value, MPI.INT64_T], right, target=9).Wait()
    window.Flush(right)
    window.Rget([found, MPI.INT64_T], right, target=9).Wait()
    check(found[0] == 9 + rank, "Rput and Rget")
    for _ in range(5):
        window.Accumulate([one, MPI.INT64_T], 0, target=10, op=MPI.SUM)
    turn, after = numbers(rank), numbers(rank + 1)
    old[0] = -1
    while old[0] != rank:
        window.Compare_and_swap(after, turn, old, 0, 11)
        window.Flush_all()
    comm.Barrier()
    sums = numbers(-1, -1)
    nothing = numbers(0, 0)
    window.Get_accumulate([nothing, MPI.INT64_T], [sums, MPI.INT64_T], 0, target=10, op=MPI.NO_OP)
    window.Unlock_all()
    check(list(sums) == [5 * ranks, ranks], "Accumulate and Compare_and_swap")
    comm.Barrier()


def errors(window):
    if not demanded:
        return
    raised = None
    window.Lock(0)
    try:
        window.Put([numbers(1), MPI.INT64_T], 0, target=WORDS)
    except MPI.Exception as error:
        raised = error.Get_error_class()
    window.Unlock(0)
    check(raised == MPI.ERR_RMA_RANGE, "an error is an exception")


def call(name, *arguments):
    """A call of Sidelight's: handles as their values, what it hands out as objects in a list."""
    handle = ctypes.c_int if MPI._sizeof(MPI.Win) == 4 else ctypes.c_void_p
    values = [argument if isinstance(argument, int) else
              ctypes.c_void_p(MPI._addressof(argument[0])) if isinstance(argument, list) else
              handle(MPI._handleof(argument)) for argument in arguments]
    code = getattr(ctypes.CDLL(None), name)(*values)
    if code != MPI.SUCCESS:
        raise MPI.Exception(code)


def own_calls(window):
    if not demanded:
        return
    opened, closed, value = MPI.Request(), MPI.Request(), numbers(800 + rank)
    call("MPIX_Win_ilock", MPI.LOCK_EXCLUSIVE, right, 0, window, [opened])
    window.Put([value, MPI.INT64_T], right, target=12)
    call("MPIX_Win_iunlock", right, window, [closed])
    MPI.Request.Waitall([opened, closed])
    comm.Barrier()
    check(words_of(window)[12] == 800 + left, "MPIX_Win_iunlock")
    handle = MPI.Win()
    call("MPIX_Win_dup_with_info", window, MPI.INFO_NULL, [handle])
    expect(handle, MPI.WIN_FLAVOR_ALLOCATE, "MPIX_Win_dup_with_info")
    handle.Free()
    raised = None
    try:
        call("MPIX_Win_iunlock", right, window, [closed])
    except MPI.Exception as error:
        raised = error.Get_error_class()
    check(raised == MPI.ERR_RMA_SYNC and closed == MPI.REQUEST_NULL, "an error of Sidelight's call")
    comm.Barrier()


def attributes(window):
    deleted = []
    key = MPI.Win.Create_keyval(delete_fn=lambda win, key, value: deleted.append(value))
    window.Set_attr(key, "one")
    window.Set_attr(key, "two")
    check(window.Get_attr(key) == "two" and deleted == ["one"], "Set_attr")
    window.Delete_attr(key)
    check(deleted == ["one", "two"], "Delete_attr")
    MPI.Win.Free_keyval(key)
    window.name = "from Python"
    check(window.name == "from Python", "name")


for part in (allocated, created, shared, dynamic):
    part()
failures = comm.allreduce(len(wrong))
if rank == 0:
    print("ok" if failures == 0 else f"{failures} failures", flush=True)
sys.exit(failures != 0)
