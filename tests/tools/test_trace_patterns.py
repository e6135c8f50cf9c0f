# SPDX-License-Identifier: BSD-3-Clause
"""The patterns in traces that are made by hand, where the loss is known; also where none is."""

import unittest

import support
from made_traces import CALLS, Trace
from sidelight_lib.traces import losses, patterns
from sidelight_lib.traces.files import Event
from sidelight_lib.traces.patterns import Holding
from sidelight_lib.traces.spans import Span, joined, without

# Microseconds that a hand-made call takes around what it waits for.
ROUND = 8


def found(trace):
    """Time by pattern, rank and cause, of what is more than the rounding of the traces."""
    total = {}
    for loss in losses.find(trace.job()):
        key = (loss.pattern, loss.rank, loss.by)
        total[key] = total.get(key, 0) + loss.span.length
    return {key: length / 1000 for key, length in total.items() if length > 10_000 * ROUND}


class Found(unittest.TestCase):
    def check(self, trace, expected):
        losses_found = found(trace)
        self.assertEqual(set(losses_found), set(expected))
        for key, length in expected.items():
            self.assertAlmostEqual(losses_found[key], length, delta=ROUND, msg=str(key))


def access(trace, origin, target, start, put, granted, complete, leave, size=8):
    epoch = trace[origin].start(start, target)
    trace[origin].put(epoch, put, target, size)
    trace[origin].grant(epoch, granted, target)
    trace[origin].complete(epoch, complete, leave)
    return epoch


def access_without_grant(trace):
    """Of rank 0, with nothing for rank 1, which posts long after it."""
    epoch = trace[0].start(0, 1)
    trace[0].miss(epoch, 48, 1)
    trace[0].complete(epoch, 20, 50)
    exposure = trace[1].post(500, 0)
    trace[1].wait(exposure, 511, 520)


class PostStartCompleteWait(Found):
    def test_nobody_waits(self):
        trace = Trace(2)
        exposure = trace[1].post(0, 0)
        access(trace, 0, 1, 100, 120, 110, 130, 140)
        trace[1].wait(exposure, 200, 210)
        self.check(trace, {})

    def test_late_post(self):
        trace = Trace(2)
        access(trace, 0, 1, 0, 20, 1005, 50, 1010)
        exposure = trace[1].post(1000, 0)
        trace[1].wait(exposure, 1011, 1020)
        self.check(trace, {(patterns.LATE_POST, 0, 1): 950})

    def test_late_post_behind_an_epoch_that_needed_no_grant(self):
        """It has an exposure of its own, and the epoch behind it the next one."""
        trace = Trace(2)
        access_without_grant(trace)
        access(trace, 0, 1, 1000, 1020, 3005, 1050, 3010)
        exposure = trace[1].post(3000, 0)
        trace[1].wait(exposure, 3011, 3020)
        self.check(trace, {(patterns.LATE_POST, 0, 1): 1950})

    def test_late_post_is_of_the_last_target(self):
        trace = Trace(3)
        epoch = trace[0].start(0, 1, 2)
        for target, granted in ((1, 805), (2, 505)):
            trace[0].put(epoch, 20, target)
            trace[0].grant(epoch, granted, target)
            trace[target].post(granted - 5, 0)
        trace[0].complete(epoch, 100, 810)
        self.check(trace, {(patterns.LATE_POST, 0, 1): 700})

    def test_early_wait(self):
        """The origin starts late: the target waits for data."""
        trace = Trace(2)
        exposure = trace[1].post(0, 0)
        access(trace, 0, 1, 900, 1000, 910, 1001, 1003)
        trace[1].wait(exposure, 100, 1005)
        self.check(trace, {(patterns.EARLY_WAIT, 1, 0): 900})

    def test_late_complete(self):
        trace = Trace(2)
        exposure = trace[1].post(0, 0)
        access(trace, 0, 1, 100, 200, 110, 5000, 5003)
        trace[1].wait(exposure, 50, 5005)
        self.check(trace, {(patterns.EARLY_WAIT, 1, 0): 150, (patterns.LATE_COMPLETE, 1, 0): 4800})

    def test_late_complete_that_wakes_the_target(self):
        """Which takes longer than the transfer, and shows nothing of it."""
        trace = Trace(2)
        exposure = trace[1].post(0, 0)
        access(trace, 0, 1, 100, 200, 110, 5000, 5032)
        trace[1].wait(exposure, 50, 5035)
        self.check(trace, {
            (patterns.EARLY_WAIT, 1, 0): 150,
            (patterns.LATE_COMPLETE, 1, 0): 4800,
        })

    def test_late_complete_at_one_of_several_targets(self):
        """Its data need not wait for the target that posts last."""
        trace = Trace(3)
        early, late = trace[1].post(0, 0), trace[2].post(4000, 0)
        epoch = trace[0].start(100, 1, 2)
        for target, granted in ((1, 110), (2, 4005)):
            trace[0].put(epoch, 200, target)
            trace[0].grant(epoch, granted, target)
        trace[0].complete(epoch, 5000, 5003)
        trace[1].wait(early, 50, 5005)
        trace[2].wait(late, 4011, 5005)
        self.check(trace, {
            (patterns.EARLY_WAIT, 1, 0): 150,
            (patterns.LATE_COMPLETE, 1, 0): 4800,
            (patterns.LATE_COMPLETE, 2, 0): 989,
        })

    def test_a_transfer_is_no_late_complete(self):
        """Another epoch, closed at once, shows that such a transfer takes 800."""
        trace = Trace(2)
        first = trace[1].post(0, 0)
        access(trace, 0, 1, 100, 200, 110, 201, 1000, 4096)
        trace[1].wait(first, 990, 1001)
        second = trace[1].post(2000, 0)
        access(trace, 0, 1, 2100, 2200, 2110, 5000, 5003, 4096)
        trace[1].wait(second, 2050, 5005)
        self.check(
            trace, {(patterns.EARLY_WAIT, 1, 0): 950, (patterns.LATE_COMPLETE, 1, 0): 2000}
        )

    def test_the_culprits(self):
        trace = Trace(2)
        access(trace, 0, 1, 0, 20, 1005, 50, 1010)
        trace[1].post(1000, 0)
        (loss,) = [each for each in losses.find(trace.job()) if each.span.length > 1e5]
        self.assertEqual((loss.call.name, loss.culprit.name), ("complete", "post"))

    def test_nonblocking_calls_lose_nothing(self):
        trace = Trace(2)
        epoch = trace[0].start(0, 1)
        trace[0].put(epoch, 20, 1)
        trace[0].grant(epoch, 1005, 1)
        trace[0].complete(epoch, 50, 60, nonblocking=True, completed=1010)
        exposure = trace[1].post(1000, 0)
        trace[1].wait(exposure, 1011, 1020)
        self.check(trace, {})

    def test_who_waits_for_a_request_loses(self):
        """What the nonblocking call has begun, and of two requests the one that comes later."""
        trace = Trace(3)
        requests = []
        for target, granted in ((1, 1005), (2, 105)):
            epoch = trace[0].start(0, target)
            trace[0].put(epoch, 20, target)
            trace[0].grant(epoch, granted, target)
            trace[target].post(granted - 5, 0)
            requests.append(
                trace[0].complete(epoch, 50, 60, nonblocking=True, completed=granted + 2)
            )
        trace[0].wait_for(300, 1010, *requests)
        self.check(trace, {(patterns.LATE_POST, 0, 1): 700})

    def test_one_call_loses_its_time_once(self):
        """It ends the request of a fence as well, which was over before the other one."""
        trace = Trace(2)
        for rank in trace.ranks:
            rank.fence(10, 15)
        trace[0].call("fence", 100, 104, nonblocking=True)
        trace[0].close(trace[0].fenced, 101, 900)
        fence = trace[0].begin_request(103)
        epoch = trace[0].start(110, 1)
        trace[0].put(epoch, 125, 1)
        trace[0].grant(epoch, 1005, 1)
        access = trace[0].complete(epoch, 130, 140, nonblocking=True, completed=1007)
        trace[1].fence(890, 905)
        trace[1].post(1000, 0)
        trace[0].wait_for(300, 1010, fence, access)
        self.check(trace, {(patterns.LATE_POST, 0, 1): 700})

    def test_a_request_that_is_waited_for_late(self):
        trace = Trace(2)
        exposure = trace[1].post(0, 0)
        access(trace, 0, 1, 900, 1000, 910, 1001, 1003)
        request = trace[1].wait(exposure, 11, 20, nonblocking=True, completed=1004)
        trace[1].wait_for(1100, 1102, request)
        self.check(trace, {})

    def test_a_deferred_exposure(self):
        """Posted in time, but behind an epoch that is closed and not complete."""
        trace = Trace(2)
        access(trace, 0, 1, 0, 20, 1005, 50, 1010)
        trace[1].post(10, 0, activated=1000)
        self.check(trace, {(patterns.DEFERRED_EPOCH, 0, 1): 950})

    def test_a_deferred_access(self):
        trace = Trace(2)
        trace[1].post(0, 0)
        epoch = trace[0].start(20, 1, activated=800)
        trace[0].grant(epoch, 801, 1)
        trace[0].complete(epoch, 100, 810)
        self.check(trace, {(patterns.DEFERRED_EPOCH, 0, 0): 700})

    def test_early_transfer(self):
        """An operation that sleeps until its target posts, which this library's never do."""
        trace = Trace(2)
        epoch = trace[0].start(0, 1)
        trace[0].put(epoch, 20, 1)
        trace[0].sleep(30, 1000)
        trace[0].grant(epoch, 1005, 1)
        trace[0].complete(epoch, 1100, 1105)
        trace[1].post(999, 0)
        self.check(trace, {(patterns.EARLY_TRANSFER, 0, 1): 975})


class Fences(Found):
    def two(self, entered, left, put=None, size=8):
        trace = Trace(2)
        for rank in trace.ranks:
            rank.fence(10, 20)
        if put is not None:
            trace[0].put(trace[0].fenced, put, 1, size)
        for rank, enter, leave in zip(trace.ranks, entered, left):
            rank.fence(enter, leave)
        return trace

    def test_nobody_waits(self):
        self.check(self.two((100, 101), (110, 110)), {})

    def test_wait_at_fence(self):
        self.check(
            self.two((5000, 100), (5005, 5005), put=110),
            {(patterns.WAIT_AT_FENCE, 1, 0): 4890},
        )

    def test_a_refused_fence_is_no_round(self):
        trace = self.two((5000, 100), (5005, 5005))
        trace[1].note(1, Event.CALL_ENTERED, CALLS["fence"])
        trace[1].note(2, Event.CALL_LEFT, CALLS["fence"], value=50)
        self.check(trace, {(patterns.WAIT_AT_FENCE, 1, 0): 4900})

    def test_wait_at_fence_without_operations(self):
        self.check(self.two((5000, 100), (5005, 5005)), {(patterns.WAIT_AT_FENCE, 1, 0): 4900})

    def test_early_fence(self):
        """The transfer is over when the put is, as on mapped memory."""
        self.check(
            self.two((4001, 100), (4005, 4005), put=4000, size=1 << 20),
            {(patterns.EARLY_FENCE, 1, 0): 3900},
        )

    def test_early_fence_by_messages(self):
        """The put is issued at once; who closes its epoch waits for it, too."""
        self.check(
            self.two((120, 100), (1200, 1200), put=110, size=1 << 20),
            {(patterns.EARLY_FENCE, 0, 0): 1080, (patterns.EARLY_FENCE, 1, 0): 1100},
        )

    def test_a_fence_that_does_not_wait(self):
        """By its assertion: it has left before the other comes."""
        self.check(self.two((100, 5000), (110, 5010)), {})


class Locks(Found):
    def hold(self, trace, rank, asked, granted, put, unlock, leave, exclusive=True):
        epoch = trace[rank].lock(asked, 2, granted, exclusive)
        trace[rank].put(epoch, put, 2)
        trace[rank].unlock(epoch, unlock, leave, 2)

    def test_nobody_waits(self):
        trace = Trace(3)
        self.hold(trace, 0, 0, 5, 20, 30, 35)
        self.hold(trace, 1, 100, 105, 120, 130, 135)
        self.check(trace, {})

    def test_late_unlock(self):
        trace = Trace(3)
        self.hold(trace, 0, 0, 5, 100, 5000, 5003)
        self.hold(trace, 1, 50, 5004, 70, 80, 5010)
        self.check(
            trace,
            {(patterns.LATE_UNLOCK, 1, 0): 4895},
        )

    def test_a_request_of_an_operation(self):
        """Who waits for it waits for the lock."""
        trace = Trace(3)
        self.hold(trace, 0, 0, 5, 100, 5000, 5003)
        epoch = trace[1].lock(50, 2, 5004, exclusive=False)
        trace[1].put(epoch, 70, 2)
        request = trace[1].begin_request(72)
        trace[1].wait_for(80, 5010, request)
        trace[1].unlock(epoch, 5020, 5022, 2)
        self.check(trace, {(patterns.LATE_UNLOCK, 1, 0): 4895})

    def test_late_unlock_that_wakes_who_waits(self):
        trace = Trace(3)
        self.hold(trace, 0, 0, 5, 100, 5000, 5042)
        self.hold(trace, 1, 50, 5004, 70, 80, 5010)
        self.check(trace, {(patterns.LATE_UNLOCK, 1, 0): 4895})

    def test_shared_locks_do_not_wait_for_each_other(self):
        trace = Trace(3)
        self.hold(trace, 0, 0, 5, 100, 5000, 5003, exclusive=False)
        self.hold(trace, 1, 50, 55, 70, 80, 85, exclusive=False)
        self.check(trace, {})

    def test_late_unlock_of_a_shared_lock(self):
        trace = Trace(3)
        self.hold(trace, 0, 0, 5, 100, 5000, 5003, exclusive=False)
        self.hold(trace, 1, 50, 5004, 70, 75, 5010, exclusive=True)
        self.check(trace, {(patterns.LATE_UNLOCK, 1, 0): 4900})

    def test_contention(self):
        """The one who holds it is at it all the time."""
        trace = Trace(3)
        self.hold(trace, 0, 0, 5, 4990, 5000, 5003)
        self.hold(trace, 1, 50, 5004, 70, 80, 5010)
        self.check(trace, {(patterns.LOCK_CONTENTION, 1, 0): 4923})

    def test_contention_from_the_moment_of_the_lock_on(self):
        """In virtual time the calls before the one that waits may take none."""
        trace = Trace(3)
        self.hold(trace, 0, 0, 5, 4990, 5000, 5003)
        trace[1].call("lock", 80, 80, 2)
        epoch = trace[1].open("lock", 80, [2], exclusive=True)
        trace[1].put(epoch, 80, 2)
        trace[1].grant(epoch, 5004, 2)
        trace[1].note(80, Event.CALL_ENTERED, CALLS["unlock"], 2)
        trace[1].close(epoch, 80, 5009)
        trace[1].note(5010, Event.CALL_LEFT, CALLS["unlock"], 2)
        self.check(trace, {(patterns.LOCK_CONTENTION, 1, 0): 4923})

    def test_holders_in_turns(self):
        trace = Trace(4)
        self.hold(trace, 0, 0, 5, 1000, 1500, 1502)
        self.hold(trace, 1, 10, 1503, 3000, 3500, 3502)
        self.hold(trace, 3, 20, 3503, 40, 100, 3510)
        third = {
            (patterns.LATE_UNLOCK, 3, 0): 500,
            (patterns.LATE_UNLOCK, 3, 1): 500,
            (patterns.LOCK_CONTENTION, 3, 0): 902,
            (patterns.LOCK_CONTENTION, 3, 1): 1501,
        }
        # The second asks for it and works before its unlock: it waits in no call.
        self.check(trace, third)


class Progress(Found):
    def unlock_at(self, flavor="allocate", hosts=None, moved=3000):
        """The target computes until 3000; then its engine moves."""
        trace = Trace(2, hosts, flavor)
        epoch = trace[0].lock(0, 1, 5)
        trace[0].put(epoch, 20, 1)
        trace[0].unlock(epoch, 100, 3010, 1)
        trace[1].moved(moved)
        trace[1].free(6000, 6010)
        trace[0].free(6000, 6010)
        return trace

    def test_a_target_that_computes(self):
        self.check(self.unlock_at(), {(patterns.WAIT_FOR_PROGRESS, 0, 1): 2900})

    def test_who_copies_waits_for_nobody(self):
        """On mapped memory, while the target computes and then does something else."""
        trace = self.unlock_at()
        trace[0].sleep(4000, 4100)
        self.check(trace, {})

    def test_naps_of_who_waits(self):
        trace = self.unlock_at()
        for nap in range(110, 3000, 500):
            trace[0].sleep(nap, nap + 450)
        self.check(trace, {(patterns.WAIT_FOR_PROGRESS, 0, 1): 2890})

    def request_under_a_lock_of_all(self):
        """Its target computes until 3000; another one was asked later. Its wait is in the host's
        loop, which does not sleep."""
        trace = Trace(3)
        epoch = trace[0].open("lock_all", 1, [-1])
        trace[0].sleep(4000, 4100)
        trace[0].grant(epoch, 10, 1)
        trace[0].put(epoch, 11, 1)
        trace[0].grant(epoch, 20, 2)
        trace[0].put(epoch, 21, 2)
        trace[0].put(epoch, 30, 1)
        request = trace[0].begin_request(32)
        trace[1].moved(3000)
        for rank in range(3):
            trace[rank].free(6000, 6010)
        return trace, request

    def test_the_target_of_a_request(self):
        trace, request = self.request_under_a_lock_of_all()
        trace[0].wait_for(100, 3010, request)
        self.check(trace, {(patterns.WAIT_FOR_PROGRESS, 0, 1): 2900})

    def test_the_target_of_a_flush(self):
        trace, _ = self.request_under_a_lock_of_all()
        trace[0].call("flush", 100, 3010, 1)
        trace[0].sleep(101, 3009)
        self.check(trace, {(patterns.WAIT_FOR_PROGRESS, 0, 1): 2899})

    def test_private_memory(self):
        self.check(self.unlock_at("create"), {(patterns.PRIVATE_MEMORY, 0, 1): 2900})

    def test_on_another_machine_no_memory_is_shared(self):
        self.check(
            self.unlock_at("create", ["one", "two"]), {(patterns.WAIT_FOR_PROGRESS, 0, 1): 2900}
        )

    def test_a_target_that_has_nothing_to_do_with_it(self):
        self.check(self.unlock_at(moved=4000), {})

    def test_a_target_that_is_in_a_call(self):
        trace = self.unlock_at()
        trace[1].call("flush_all", 50, 3500)
        self.check(trace, {})


class Notifications(Found):
    """Rank 0 has counters, the others put and notify it."""

    def setUp(self):
        self.trace = Trace(3)
        origins = self.trace.ranks[1:]
        self.epochs = [None] + [rank.lock(0, 0, 2, exclusive=False) for rank in origins]

    def notify(self, origin, enter, **how):
        self.trace[origin].notify(self.epochs[origin], enter, 0, **how)

    def wait(self, enter, leave, value, counter=0):
        request = self.trace[0].threshold(enter - 20, value, counter)
        self.trace[0].wait_for(enter, leave, request)

    def test_late_notification(self):
        self.notify(1, 1000)
        self.wait(100, 1015, 1)
        self.check(self.trace, {(patterns.LATE_NOTIFICATION, 0, 1): 900})

    def test_nobody_waits(self):
        self.notify(1, 50)
        self.wait(100, 105, 1)
        self.check(self.trace, {})

    def test_who_makes_it_reach_the_value(self):
        self.notify(1, 500)
        self.notify(2, 1000)
        self.notify(1, 2000)
        self.wait(100, 1015, 2)
        self.check(self.trace, {(patterns.LATE_NOTIFICATION, 0, 2): 900})

    def test_each_counter_by_itself(self):
        self.notify(1, 500, counter=7)
        self.notify(2, 1000, counter=3)
        self.wait(100, 1015, 1, counter=3)
        self.wait(1100, 1105, 1, counter=7)
        self.check(self.trace, {(patterns.LATE_NOTIFICATION, 0, 2): 900})

    def test_what_was_reset_counts_no_more(self):
        self.notify(1, 20)
        self.notify(2, 30)
        self.trace[0].reset(50, 2)
        self.notify(2, 1000)
        self.wait(100, 1015, 1)
        self.check(self.trace, {(patterns.LATE_NOTIFICATION, 0, 2): 900})

    def test_what_was_set_anew_counts_from_zero(self):
        """And who comes late to that is waited for, too."""
        self.notify(1, 20)
        for rank, enter in zip(self.trace.ranks, (100, 600, 110)):
            rank.call("set_num_notify", enter, 610)
        self.notify(2, 2000)
        self.wait(700, 2015, 1)
        self.check(self.trace, {
            (patterns.WAIT_AT_FENCE, 0, 1): 500,
            (patterns.WAIT_AT_FENCE, 2, 1): 490,
            (patterns.LATE_NOTIFICATION, 0, 2): 1300,
        })

    def test_the_last_of_several(self):
        self.notify(1, 1000)
        self.notify(2, 500, counter=1)
        requests = [self.trace[0].threshold(50 + 20 * number, 1, number) for number in (0, 1)]
        self.trace[0].wait_for(100, 1015, *requests)
        self.check(self.trace, {(patterns.LATE_NOTIFICATION, 0, 1): 900})

    def test_the_rest_is_for_the_engine_of_who_notifies(self):
        """It has issued a get, which must come back before it may tell."""
        self.notify(1, 1000)
        self.trace[1].moved(1500)
        self.trace[1].call("flush_all", 1500, 1510)
        self.wait(100, 1510, 1)
        self.check(self.trace, {
            (patterns.LATE_NOTIFICATION, 0, 1): 900,
            (patterns.WAIT_FOR_PROGRESS, 0, 1): 490,
        })

    def test_a_value_that_nobody_reaches(self):
        self.notify(1, 500)
        self.wait(100, 1000, 2)
        self.check(self.trace, {})

    def test_names(self):
        self.notify(1, 1000)
        self.wait(100, 1015, 1)
        (loss,) = losses.find(self.trace.job())
        self.assertEqual(loss.call.label, "MPI_Wait")
        self.assertEqual(loss.culprit.label, "MPI_Put_notify")
        labels = {call.label for call in self.trace.job().ranks[0].calls}
        self.assertIn("MPIX_Win_notify_ithreshold", labels)

    def test_request_of_a_notified_operation(self):
        """It is the operation's."""
        self.notify(1, 1000)
        request = self.trace[1].begin_request(1009)
        self.trace[1].wait_for(1020, 1030, request)
        (made,) = self.trace.job().ranks[1].requests
        self.assertIsNone(made.call)
        self.assertEqual(made.epoch.kind, "lock")


class Formulas(unittest.TestCase):
    def test_spans(self):
        self.assertFalse(Span(3, 3))
        self.assertEqual(Span(5, 3).length, 0)
        self.assertEqual(without(Span(0, 10), [Span(2, 3), Span(9, 12), Span(-5, -1)]),
                         [Span(0, 2), Span(3, 9)])
        self.assertEqual(joined([Span(4, 6), Span(1, 2), Span(5, 9), Span(3, 3)]),
                         [Span(1, 2), Span(4, 9)])

    def test_all_holders_of_a_shared_lock_must_be_through(self):
        first = Holding(0, 100, 900, 900)
        second = Holding(50, 300, 400, 400)
        self.assertEqual(patterns.late_unlock(Span(200, 1000), [first, second]), [Span(300, 900)])

    def test_the_parts_of_a_wait_do_not_overlap(self):
        call = Span(100, 1000)
        parts = [patterns.early_wait(call, 300), patterns.late_complete(call, 300, 800)]
        self.assertEqual(parts, [Span(100, 300), Span(300, 800)])
        parts = [patterns.early_fence(call, 300), patterns.wait_at_fence(call, 300, 800)]
        self.assertEqual(parts, [Span(100, 300), Span(300, 800)])


if __name__ == "__main__":
    support.main()
