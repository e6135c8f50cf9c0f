# SPDX-License-Identifier: BSD-3-Clause
"""A trace as an OTF2 archive with its records of one-sided communication, by the Python package
`otf2`, asked for only when one is written.

Each rank is a process, each of its threads a location, each window an RmaWin. Calls are regions;
operations are RmaPut, RmaGet and RmaAtomic, and complete with their epoch; fences are collectives,
post, start, complete and wait RmaGroupSync, locks are requested, acquired and released.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..console import MissingPackage
from ..hosts import HostError
from .model import Call, Epoch, Job, Operation, Rank, Window


def require(folder: Path) -> None:
    """Raises where no archive could be written: to be found out before the trace is read."""
    _otf2()
    if folder.exists():
        raise HostError(f"--otf2 {folder}: it is there already; name a folder that is not")


def _otf2() -> Any:
    try:
        return importlib.import_module("otf2")
    except ImportError as error:
        raise MissingPackage(
            "--otf2 needs the Python package otf2: run `apt-get install python3-otf2`"
        ) from error


def write(job: Job, folder: Path) -> None:
    otf2 = _otf2()
    with otf2.writer.open(str(folder), timer_resolution=1_000_000_000) as archive:
        _Writer(otf2, archive, job).run()


_Action = Callable[[Any, int], None]  # with the writer of a location, and the time


class _Writer:
    def __init__(self, otf2: Any, archive: Any, job: Job) -> None:
        self._otf2, self._archive, self._job = otf2, archive, job
        self._definitions = archive.definitions
        self._regions: dict[str, Any] = {}
        self._groups: dict[tuple[Window, tuple[int, ...]], Any] = {}
        self._locations: dict[int, dict[int, Any]] = {}
        self._places: dict[int, int] = {}  # of ranks among the locations of the communicators
        self._windows: dict[Window, Any] = {}
        # Ranks in windows as the archive has these: of the members with a file.
        self._ranks: dict[Window, dict[int, int]] = {}

    def run(self) -> None:
        self._define_ranks()
        self._define_windows()
        for rank in self._job.ranks.values():
            for thread, actions in self._actions(rank).items():
                writer = self._archive.event_writer_from_location(
                    self._locations[rank.rank][thread]
                )
                for time, _, act in sorted(actions, key=lambda action: action[:2]):
                    act(writer, round(time - self._job.begin))

    # Definitions.

    def _define_ranks(self) -> None:
        definitions, otf2 = self._definitions, self._otf2
        root = definitions.system_tree_node("job")
        nodes: dict[str, Any] = {}
        for rank in self._job.ranks.values():
            if rank.node not in nodes:
                nodes[rank.node] = definitions.system_tree_node(rank.node, parent=root)
            group = definitions.location_group(
                f"rank {rank.rank}", system_tree_parent=nodes[rank.node]
            )
            threads = sorted({call.thread for call in rank.calls}) or [0]
            self._locations[rank.rank] = {
                thread: definitions.location(
                    "calls" if place == 0 else f"calls, thread {place}",
                    type=otf2.LocationType.CPU_THREAD,
                    group=group,
                )
                for place, thread in enumerate(threads)
            }
            self._places[rank.rank] = len(self._places)
        self._all = definitions.group(
            "ranks",
            group_type=otf2.GroupType.COMM_LOCATIONS,
            paradigm=otf2.Paradigm.MPI,
            members=[self._main(rank) for rank in self._job.ranks],
        )

    def _main(self, rank: int) -> Any:
        return next(iter(self._locations[rank].values()))

    def _define_windows(self) -> None:
        for window in self._job.windows:
            members = [
                job_rank
                for _, job_rank in sorted(window.members.items())
                if job_rank in self._places
            ]
            self._ranks[window] = {job_rank: rank for rank, job_rank in enumerate(members)}
            group = self._group(window, members, f"members of {window.label}")
            comm = self._definitions.comm(window.label, group=group)
            self._windows[window] = self._definitions.rma_win(window.label, comm=comm)

    def _group(self, window: Window, ranks: list[int], name: str = "") -> Any:
        key = (window, tuple(ranks))
        if key not in self._groups:
            self._groups[key] = self._definitions.group(
                name or f"{len(ranks)} of {window.label}",
                group_type=self._otf2.GroupType.COMM_GROUP,
                paradigm=self._otf2.Paradigm.MPI,
                members=[self._places[rank] for rank in ranks if rank in self._places],
            )
        return self._groups[key]

    def _region(self, call: Call) -> Any:
        name = call.label
        if name not in self._regions:
            self._regions[name] = self._definitions.region(
                name,
                region_role=self._otf2.RegionRole.RMA,
                paradigm=self._otf2.Paradigm.MPI,
            )
        return self._regions[name]

    # Events.

    def _actions(self, rank: Rank) -> dict[int, list[tuple[float, int, _Action]]]:
        """By thread, with the time and the place among those of the same time."""
        found: dict[int, list[tuple[float, int, _Action]]] = defaultdict(list)
        main = next(iter(self._locations[rank.rank]))

        def add(thread: int, time: float | None, act: _Action) -> None:
            actions = found[thread if thread in self._locations[rank.rank] else main]
            actions.append((rank.end if time is None else time, len(actions), act))

        for window in self._first_and_last(rank):
            add(main, *window)
        for call in rank.calls:
            for time, act in self._of_call(rank, call):
                add(call.thread, time, act)
        matching = 0
        for epoch in rank.epochs:
            for operation in epoch.operations:
                matching += 1
                add(operation.thread, operation.time, self._issue(epoch, operation, matching))
                add(main, epoch.completed, self._end(epoch, matching))
            if epoch.kind in ("lock", "lock_all"):
                for time, act in self._of_lock(epoch):
                    add(main, time, act)
        return found

    def _first_and_last(self, rank: Rank) -> Iterator[tuple[float, _Action]]:
        used: dict[Window, list[float]] = defaultdict(list)
        for call in rank.calls:
            used[call.window].append(call.enter)
            used[call.window].append(rank.end if call.leave is None else call.leave)
        for window, times in used.items():
            yield min(times), self._made(self._windows[window])
            yield max(times), self._freed(self._windows[window])

    @staticmethod
    def _made(win: Any) -> _Action:
        return lambda writer, time: writer.rma_win_create(time, win)

    @staticmethod
    def _freed(win: Any) -> _Action:
        return lambda writer, time: writer.rma_win_destroy(time, win)

    def _of_call(self, rank: Rank, call: Call) -> Iterator[tuple[float | None, _Action]]:
        region, win = self._region(call), self._windows[call.window]
        yield call.enter, lambda writer, time: writer.enter(time, region)
        if call.name in ("fence", "free", "set_num_notify"):
            yield call.enter, lambda writer, time: writer.rma_collective_begin(time)
            yield call.leave, self._collective_end(win)
        elif call.name in ("post", "start", "complete", "wait"):
            epochs = call.opens if call.name in ("post", "start") else call.closes
            peers = sorted({peer for epoch in epochs for peer in epoch.peers})
            level = self._otf2.RmaSyncLevel.PROCESS
            if call.name in ("complete", "wait"):
                level |= self._otf2.RmaSyncLevel.MEMORY
            group = self._group(call.window, peers)
            yield call.leave, lambda writer, time: writer.rma_group_sync(time, level, win, group)
        yield call.leave, lambda writer, time: writer.leave(time, region)

    def _collective_end(self, win: Any) -> _Action:
        level = self._otf2.RmaSyncLevel.PROCESS | self._otf2.RmaSyncLevel.MEMORY
        barrier = self._otf2.CollectiveOp.BARRIER
        root = self._otf2.Undefined.UINT32.value
        return lambda writer, time: writer.rma_collective_end(
            time, barrier, level, win, root, 0, 0
        )

    def _issue(self, epoch: Epoch, operation: Operation, matching: int) -> _Action:
        win, remote = self._windows[epoch.window], self._rank(epoch.window, operation.target)
        size = operation.bytes
        if operation.kind in ("put", "active_message"):
            return lambda writer, time: writer.rma_put(time, win, remote, size, matching)
        if operation.kind == "get":
            return lambda writer, time: writer.rma_get(time, win, remote, size, matching)
        types = self._otf2.RmaAtomicType
        kind = types.COMPARE_AND_SWAP if operation.kind == "compare_and_swap" else types.ACCUMULATE
        return lambda writer, time: writer.rma_atomic(time, win, remote, kind, size, 0, matching)

    def _end(self, epoch: Epoch, matching: int) -> _Action:
        win = self._windows[epoch.window]
        return lambda writer, time: writer.rma_op_complete_remote(time, win, matching)

    def _of_lock(self, epoch: Epoch) -> Iterator[tuple[float | None, _Action]]:
        win = self._windows[epoch.window]
        types = self._otf2.LockType
        kind = types.EXCLUSIVE if epoch.exclusive else types.SHARED
        for target, granted in epoch.granted.items():
            remote = self._rank(epoch.window, target)
            asked, got, released = self._lock(win, remote, kind)
            yield epoch.opened, asked
            yield granted, got
            yield epoch.completed, released

    @staticmethod
    def _lock(win: Any, remote: int, kind: Any) -> tuple[_Action, _Action, _Action]:
        return (
            lambda writer, time: writer.rma_request_lock(time, win, remote, 0, kind),
            lambda writer, time: writer.rma_acquire_lock(time, win, remote, 0, kind),
            lambda writer, time: writer.rma_release_lock(time, win, remote, 0),
        )

    def _rank(self, window: Window, job_rank: int) -> int:
        nobody: int = self._otf2.Undefined.UINT32.value
        return self._ranks[window].get(job_rank, nobody)
