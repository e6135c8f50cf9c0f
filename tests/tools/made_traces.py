# SPDX-License-Identifier: BSD-3-Clause
"""Traces that are made by hand, of processes whose ticks are nanoseconds. Times are given in
microseconds."""

import random

import support  # noqa: F401 - where the modules are
from sidelight_lib.traces import files, model, reader
from sidelight_lib.traces.files import Clocks, Event, Process, Record, recorded

CALLS = {name: number for number, name in enumerate(model.CALL_NAMES)}
KINDS = {name: number for number, name in enumerate(model.EPOCH_KINDS)}
FLAVORS = {name: number for number, name in enumerate(model.FLAVORS)}
PUT = model.OPERATION_KINDS.index("put")
WINDOW = 1
NAME = 77
SHORT = 10  # what a call takes that waits for nobody
REAL = 1_000_000_000_000


class Trace:
    """Ranks with one window."""

    def __init__(self, ranks, hosts=None, flavor="allocate"):
        hosts = hosts or ["one"] * ranks
        self.ranks = [Rank(number, ranks, hosts[number], flavor) for number in range(ranks)]

    def __getitem__(self, rank):
        return self.ranks[rank]

    def processes(self):
        return [rank.process() for rank in self.ranks]

    def job(self):
        processes = self.processes()
        files._align(processes)
        return reader.build(processes)

    def write(self, folder):
        for process in self.processes():
            files.write(folder, process)


class Rank:
    """What is told of one rank. Epochs are known by their numbers. Addresses are a call's kind and
    the line that is given with it."""

    def __init__(self, number, ranks, node, flavor):
        self.number, self.all, self.node = number, ranks, node
        self.records, self.helper = [], []
        self.epochs = self.requests = 0
        self.fenced = None
        self.line = 0
        self.note(0, Event.WINDOW_MADE, FLAVORS[flavor], number, epoch=ranks, value=NAME)
        if number == 0:
            for member in range(ranks):
                self.note(0, Event.WINDOW_MEMBER, 0, member, value=member)

    def note(self, time, event, detail=0, peer=-1, epoch=0, value=0, window=WINDOW):
        self.records.append(Record(1000 * time, int(event), detail, peer, window, epoch, value))

    def process(self):
        ordered = sorted(self.records, key=lambda record: record.time)
        threads = [recorded(100 + self.number, False, ordered)]
        if self.helper:
            threads.append(recorded(900 + self.number, True, self.helper))
        last = max(record.time for record in self.records)
        begin, end = Clocks(0, 0, REAL), Clocks(last, last, REAL + last)
        name = f"rank-{self.number:05d}.maps"
        return Process(
            self.number, self.all, 4000 + self.number, False, begin, end, self.node,
            "/none/program", threads, files.Path(name),
        )

    # Calls and epochs.

    def call(self, name, enter, leave, peer=-1, nonblocking=False):
        detail = CALLS[name] | (0x80 if nonblocking else 0)
        address = 0x1000 * CALLS[name] + self.line
        self.note(enter, Event.CALL_ENTERED, detail, peer, value=address)
        self.note(leave, Event.CALL_LEFT, detail, peer)

    def open(self, kind, time, peers, exclusive=False, activated=None):
        self.epochs += 1
        detail = KINDS[kind] | (0x80 if exclusive else 0)
        first = peers[0] if peers else -1
        self.note(time, Event.EPOCH_OPENED, detail, first, self.epochs, len(peers))
        self.note(time if activated is None else activated, Event.EPOCH_ACTIVATED, KINDS[kind], -1,
                  self.epochs)
        return self.epochs

    def grant(self, epoch, time, peer):
        self.note(time, Event.EPOCH_GRANTED, 0, peer, epoch)

    def miss(self, epoch, time, peer):
        """It needs no grant of that one."""
        self.note(time, Event.EPOCH_UNGRANTED, 0, peer, epoch)

    def close(self, epoch, time, completed):
        self.note(time, Event.EPOCH_CLOSED, 0, -1, epoch)
        self.note(completed, Event.EPOCH_COMPLETED, 0, -1, epoch)

    def put(self, epoch, time, target, size=8):
        self.note(time, Event.OPERATION, PUT, target, epoch, size)

    def notify(self, epoch, enter, target, counter=0, leave=None):
        """MPI_Put_notify."""
        leave = enter + SHORT if leave is None else leave
        self.call("notify", enter, leave, target)
        self.put(epoch, leave - 2, target)
        self.note(leave - 1, Event.NOTIFIED, PUT, target, epoch, counter)

    def threshold(self, time, value, counter=0):
        """MPIX_Win_notify_ithreshold."""
        self.call("notify_threshold", time, time + SHORT, nonblocking=True)
        self.note(time + 1, Event.COUNTER_AWAITED, epoch=counter, value=value)
        return self.begin_request(time + SHORT - 1, of=1)

    def reset(self, time, value, counter=0):
        self.note(time, Event.COUNTER_RESET, epoch=counter, value=value)

    def post(self, time, *origins, activated=None):
        self.call("post", time, time + SHORT)
        epoch = self.open("exposure", time + 1, origins, activated=activated)
        for origin in origins:
            self.grant(epoch, time + 1 if activated is None else activated, origin)
        return epoch

    def start(self, time, *targets, activated=None):
        self.call("start", time, time + SHORT)
        return self.open("access", time + 1, targets, activated=activated)

    def complete(self, epoch, enter, leave, nonblocking=False, completed=None):
        self.call("complete", enter, leave, nonblocking=nonblocking)
        self.close(epoch, enter + 1, leave - 1 if completed is None else completed)
        return self.begin_request(leave - 1) if nonblocking else None

    def wait(self, epoch, enter, leave, nonblocking=False, completed=None):
        self.call("wait", enter, leave, nonblocking=nonblocking)
        self.close(epoch, enter + 1, leave - 1 if completed is None else completed)
        return self.begin_request(leave - 1) if nonblocking else None

    def begin_request(self, time, of=0):
        """`of` 1: of a notification."""
        self.requests += 1
        self.note(time, Event.REQUEST_BEGUN, of, value=self.requests)
        return self.requests

    def wait_for(self, enter, leave, *requests):
        """MPI_Wait, or MPI_Waitall."""
        self.call("request", enter, leave)
        for request in requests:
            self.note(leave - 1, Event.REQUEST_ENDED, value=request)

    def fence(self, enter, leave):
        """Closes the epoch of the fence before, and opens one."""
        self.call("fence", enter, leave)
        if self.fenced is not None:
            self.close(self.fenced, enter + 1, leave - 1)
        self.fenced = self.open("fence", leave - 1, [-1])
        self.grant(self.fenced, leave, -1)
        return self.fenced

    def lock(self, time, target, granted, exclusive=True, activated=None):
        self.call("lock", time, time + SHORT, target)
        epoch = self.open("lock", time + 1, [target], exclusive, activated=activated)
        self.grant(epoch, granted, target)
        return epoch

    def unlock(self, epoch, enter, leave, target, nonblocking=False, completed=None):
        self.call("unlock", enter, leave, target, nonblocking)
        self.close(epoch, enter + 1, leave - 1 if completed is None else completed)

    def sleep(self, begin, end):
        self.note(begin, Event.SLEPT, window=0)
        self.note(end, Event.WOKEN, window=0, value=1)

    def moved(self, time):
        self.note(time, Event.MOVED, window=0)

    def free(self, enter, leave):
        self.call("free", enter, leave)
        self.note(leave, Event.WINDOW_FREED)


def ring(ranks, steps, seed=1):
    """Ranks that put to their right neighbours and work for times of their own; each sixth step
    ends with a fence, and in each fourth some update a counter at rank 0 under its lock."""
    chance = random.Random(seed)
    trace = Trace(ranks, [f"node{rank // 64}" for rank in range(ranks)])
    now = [0] * ranks
    now = _fence(trace, now)
    for step in range(1, steps + 1):
        work = [chance.randrange(100, 400) + (900 if rank == step % ranks else 0)
                for rank in range(ranks)]
        posted = [now[rank] + work[rank] for rank in range(ranks)]
        done, exposures = [], []
        for rank in range(ranks):
            right = (rank + 1) % ranks
            exposures.append(trace[rank].post(posted[rank], (rank - 1) % ranks))
            epoch = trace[rank].start(posted[rank] + 12, right)
            trace[rank].put(epoch, posted[rank] + 25, right, 1 << (step % 16))
            granted = max(posted[right] + 2, posted[rank] + 14)
            trace[rank].grant(epoch, granted, right)
            done.append(max(granted, posted[rank] + 30) + 4)
            trace[rank].complete(epoch, posted[rank] + 30, done[rank])
        for rank in range(ranks):
            end = max(done[rank], done[rank - 1]) + 5
            trace[rank].wait(exposures[rank], done[rank] + 1, end)
            now[rank] = end + 2
        if step % 4 == 0:
            now = _update(trace, now, chance)
        if step % 6 == 0:
            now = _fence(trace, now)
    return trace


def _fence(trace, now):
    last = max(now)
    for rank, entered in enumerate(now):
        trace[rank].fence(entered, last + 6)
    return [last + 8] * len(now)


def _update(trace, now, chance):
    free = 0
    later = list(now)
    for rank in sorted(range(len(now)), key=lambda rank: now[rank]):
        if rank == 0 or chance.random() > 0.2:
            continue
        granted = max(now[rank] + 2, free + 1)
        epoch = trace[rank].lock(now[rank], 0, granted)
        unlock = now[rank] + 40
        trace[rank].put(epoch, now[rank] + 15, 0)
        free = max(granted, unlock) + 3
        trace[rank].unlock(epoch, unlock, free + 1, 0)
        later[rank] = free + 3
    return later
