# SPDX-License-Identifier: BSD-3-Clause
"""A replay without changes takes as long as the trace; with changes as long as can be reckoned by
hand."""

import unittest

import support
from made_traces import Trace
from sidelight_lib.traces import losses, plan, replay
from sidelight_lib.traces.replay import Change

MICROSECOND = 1000.0
AROUND = 25 * MICROSECOND  # what calls and notices take


def played(trace, change=Change()):
    job = trace.job()
    return replay.play(plan.make(job, losses.find(job)), change)


def ping_pong(rounds=6, work=1000, transfer=4):
    """Two ranks that send to each other in turn and then work: each waits for the other's work,
    since it posts only after it. What lu_blocking does."""
    trace = Trace(2)
    now, sender = 0, 0
    post = trace[1].post(5, 0)
    for number in range(rounds):
        reader = 1 - sender
        epoch = trace[sender].start(now, reader)
        trace[sender].put(epoch, now + 12, reader, 64)
        posted = now + 6 if number == 0 else now + work
        if number > 0:
            post = trace[reader].post(posted - 1, sender)
        trace[sender].grant(epoch, posted + 1, reader)
        trace[sender].complete(epoch, now + 15, max(posted + transfer, now + 20))
        trace[reader].wait(post, posted + 14, max(posted + 30, now + 30))
        now = max(posted + 30, now + 30) + 5
        sender = reader
    return trace


def late_post(trace, origin, target, granted):
    """The origin waits in its complete for the post, and the target for the data."""
    epoch = trace[origin].start(0, target)
    trace[origin].put(epoch, 20, target)
    trace[origin].grant(epoch, granted, target)
    trace[origin].complete(epoch, 50, 1010)
    exposure = trace[target].post(1000, origin)
    trace[target].wait(exposure, 1011, 1020)


class Unchanged(unittest.TestCase):
    def check(self, trace):
        job = trace.job()
        outcome = played(trace)
        self.assertEqual(outcome.stuck, 0)
        recorded = job.end - job.begin
        self.assertAlmostEqual(outcome.total, recorded, delta=max(AROUND, recorded / 100))

    def test_late_post(self):
        trace = Trace(2)
        late_post(trace, 0, 1, 1005)
        self.check(trace)

    def test_an_epoch_that_needed_no_grant(self):
        """It does not wait for the exposure, which waits for it."""
        trace = Trace(2)
        epoch = trace[0].start(0, 1)
        trace[0].miss(epoch, 48, 1)
        trace[0].complete(epoch, 20, 50)
        exposure = trace[1].post(700, 0)
        trace[1].wait(exposure, 711, 720)
        trace[0].free(800, 1000)
        trace[1].free(999, 1000)
        self.check(trace)

    def test_ping_pong(self):
        self.check(ping_pong())

    def test_fences(self):
        trace = Trace(3)
        for enter in ((10, 12, 14), (900, 500, 100), (1000, 1800, 1700)):
            for rank, when in zip(trace.ranks, enter):
                rank.fence(when, max(enter) + 5)
        self.check(trace)

    def test_locks(self):
        trace = Trace(3)
        for rank, granted, unlock in ((0, 5, 1000), (1, 1004, 2000)):
            epoch = trace[rank].lock(rank, 2, granted)
            trace[rank].put(epoch, granted + 20, 2)
            trace[rank].unlock(epoch, unlock, unlock + 3, 2)
        self.check(trace)

    def test_locks_that_are_complete_when_the_next_one_is_granted(self):
        """The unlock wakes who waits, and takes two milliseconds for that."""
        trace = Trace(3)
        for rank, granted, unlock in ((0, 5, 1000), (1, 1004, 2000), (0, 3100, 4000)):
            epoch = trace[rank].lock(3010 if granted > 3000 else rank, 2, granted)
            trace[rank].put(epoch, granted + 20, 2)
            trace[rank].unlock(epoch, unlock, unlock + 2003, 2)
        self.check(trace)

    def pipeline(self, ahead=4, rounds=20, work=300):
        """Exposures that are posted ahead, and waited for when their turn has come."""
        trace = Trace(2)
        posted, requests = [], []
        for number in range(ahead):
            posted.append(trace[1].post(30 * number, 0))
            requests.append(None)
        closed = []
        for number in range(rounds):
            begin = work * number + 200
            epoch = trace[0].start(begin, 1)
            trace[0].grant(epoch, begin + 2, 1)
            trace[0].put(epoch, begin + 12, 1)
            closed.append(trace[0].complete(epoch, begin + 15, begin + 20, True, begin + 25))
            trace[0].wait_for(begin + 26, begin + 28, closed[-1])
            done = begin + 30
            request = trace[1].wait(
                posted[number], 30 * number + 15 if number < ahead else done - work * ahead + 25,
                30 * number + 20 if number < ahead else done - work * ahead + 30, True, done,
            )
            trace[1].wait_for(done - 25, done + 5, request)
            if number + ahead < rounds:
                posted.append(trace[1].post(done + 7, 0))
        return trace

    def test_requests(self):
        self.check(self.pipeline())

    def test_notifications(self):
        """Each of two waits for the other in turn; counters are reset in between, and set anew."""
        trace = Trace(2)
        locks = [rank.lock(0, 1 - rank.number, 2, exclusive=False) for rank in trace.ranks]
        now = 20
        for number in range(12):
            one, other = number % 2, 1 - number % 2
            if number == 6:
                for rank, enter in zip(trace.ranks, (now + 100, now + 900)):
                    rank.call("set_num_notify", enter, now + 910)
                now += 920
            request = trace[other].threshold(now, 1)
            trace[one].notify(locks[one], now + 700, other)
            trace[other].wait_for(now + 20, now + 715, request)
            trace[other].reset(now + 720, 1)
            now += 730
        self.check(trace)

    def test_requests_of_notifications(self):
        """They are not of the operation that the thread has issued before, nor end with it; in
        traces that do not say what they wait for they count as computing."""
        trace = Trace(2)
        epoch = trace[0].lock(0, 1, 2)
        trace[0].put(epoch, 15, 1)
        request = trace[0].begin_request(20, of=1)
        trace[0].wait_for(30, 1000, request)
        trace[0].unlock(epoch, 1005, 1010, 1)
        self.assertEqual(trace.job().ranks[0].requests, [])
        self.check(trace)

    def test_requests_of_fences(self):
        trace = Trace(2)
        for rank in trace.ranks:
            rank.fence(10, 15)
        for rank, enter in zip(trace.ranks, (100, 900)):
            rank.call("fence", enter, enter + 4, nonblocking=True)
            request = rank.begin_request(enter + 3)
            rank.wait_for(enter + 300, 1205, request)
        self.check(trace)

    def test_a_trace_that_was_cut(self):
        """An exposure whose origin is not in the trace keeps nobody."""
        trace = Trace(2)
        exposure = trace[1].post(0, 0)
        trace[1].wait(exposure, 100, 500)
        self.check(trace)


class Changed(unittest.TestCase):
    def check(self, trace, change, expected):
        self.assertAlmostEqual(played(trace, change).total, expected * MICROSECOND, delta=AROUND)

    def late_post(self, work):
        """The origin waits for the post until 1,000, and works; the target waits for the data."""
        trace = Trace(2)
        late_post(trace, 0, 1, 1001)
        trace[0].free(1010 + work, 1020 + work)
        trace[1].free(1025, 1020 + work)
        return trace

    def test_complete_that_does_not_wait(self):
        """The work begins at 50; the post comes at 1,000."""
        self.check(self.late_post(3000), Change(wait_later=None), 3060)
        self.check(self.late_post(500), Change(wait_later=None), 1030)

    def test_who_performs_what_is_pending(self):
        """The origin, in its next call, which comes at 3,060; with progress nobody needs it."""
        trace = Trace(2)
        late_post(trace, 0, 1, 1001)
        trace[0].call("flush_all", 4010, 4015)
        for progress, expected in ((False, 3070), (True, 1020)):
            change = Change(wait_later=None, progress=progress)
            ends = played(trace, change).ends
            self.assertAlmostEqual(ends[1], expected * MICROSECOND, delta=AROUND)

    def test_only_the_calls_that_are_meant(self):
        self.check(self.late_post(3000), Change(wait_later=frozenset([("fence", None, 0)])), 4020)

    def test_who_is_notified_by_one_that_does_not_wait(self):
        """Rank 1 need not wait for the post of rank 2 until 1,000 before it notifies rank 0."""
        trace = Trace(3)
        late_post(trace, 1, 2, 1001)
        lock = trace[1].lock(1020, 0, 1025, exclusive=False)
        trace[1].notify(lock, 1040, 0)
        request = trace[0].threshold(20, 1)
        trace[0].wait_for(40, 1055, request)
        trace[0].call("flush_all", 3055, 3060)
        for change, expected in ((Change(), 3060), (Change(wait_later=None), 2110)):
            self.check(trace, change, expected)

    def late_complete(self):
        trace = Trace(2)
        exposure = trace[1].post(0, 0)
        epoch = trace[0].start(5, 1)
        trace[0].grant(epoch, 16, 1)
        trace[0].put(epoch, 20, 1)
        trace[0].complete(epoch, 2000, 2003)
        trace[1].wait(exposure, 20, 2005)
        trace[1].call("flush_all", 4000, 4001)
        return trace

    def test_complete_behind_the_last_operation(self):
        """The target goes on at 20 and works for 1,995; the origin works until 2,000."""
        self.check(self.late_complete(), Change(close_early=None), 2015)

    def test_fence_behind_the_last_operation(self):
        trace = Trace(2)
        for rank in trace.ranks:
            rank.fence(10, 15)
        trace[0].put(trace[0].fenced, 20, 1)
        trace[0].fence(2000, 2005)
        trace[1].fence(30, 2005)
        trace[1].call("flush_all", 4000, 4001)
        self.check(trace, Change(close_early=None), 2030)

    def test_unlock_behind_the_last_operation(self):
        trace = Trace(3)
        first = trace[0].lock(0, 2, 5)
        trace[0].put(first, 20, 2)
        trace[0].unlock(first, 2000, 2003, 2)
        second = trace[1].lock(10, 2, 2004)
        trace[1].put(second, 30, 2)
        trace[1].unlock(second, 40, 2010, 2)
        trace[1].call("flush_all", 4000, 4001)
        self.check(trace, Change(close_early=None), 2030)

    def test_ping_pong(self):
        """When neither waits for the other's work both work at the same time."""
        trace = ping_pong(rounds=40, work=5000)
        standard = played(trace).total
        ahead = played(trace, Change(wait_later=None, post_ahead=True, reorder=True)).total
        self.assertAlmostEqual(standard / ahead, 2, delta=0.1)

    def test_progress(self):
        """The target computes until 3,000, and only then serves the lock's epoch."""
        trace = Trace(2)
        epoch = trace[0].lock(0, 1, 5)
        trace[0].put(epoch, 20, 1)
        trace[0].unlock(epoch, 100, 3010, 1)
        trace[0].call("flush_all", 4000, 4010)
        trace[1].moved(3000)
        trace[1].call("flush_all", 3300, 3310)
        ends = played(trace, Change(progress=True)).ends
        self.assertAlmostEqual(ends[0], (4010 - 2900) * MICROSECOND, delta=AROUND)
        self.assertAlmostEqual(ends[1], 3310 * MICROSECOND, delta=AROUND)


    def test_a_lock_that_a_target_grants_late(self):
        """By messages, the target's engine must hear of it; here it computes until 3,000."""
        trace = Trace(2)
        epoch = trace[0].lock(0, 1, 3005)
        trace[0].put(epoch, 20, 1)
        trace[0].unlock(epoch, 100, 3010, 1)
        trace[0].call("flush_all", 4010, 4015)
        trace[1].moved(3000)
        trace[1].call("flush_all", 3300, 3310)
        ends = played(trace, Change(progress=True)).ends
        self.assertAlmostEqual(ends[0], (4015 - 2900) * MICROSECOND, delta=AROUND)


if __name__ == "__main__":
    support.main()
