# SPDX-License-Identifier: BSD-3-Clause
"""The judgement of `sidelight bench latency`, and that a crash or a hang costs one line alone."""

import sys
import unittest

import support
from sidelight_lib import latency_runs
from sidelight_lib.latency_lines import BARE, UNDER, Line, Sample, judge, medians, outcomes

LINE = Line("put", "", "", bare_limit=2.5, host_limit=0.75)

# A measuring program of three lines: the arguments are a fault, then the lines to measure.
PROGRAM = """
import json, os, sys, time
fault, *lines = sys.argv[1:]
for line in lines:
    print(json.dumps({"starts": line}), flush=True)
    if line == "second" and fault == "crash": os._exit(3)
    if line == "second" and fault == "hang": time.sleep(60)
    print(json.dumps({"line": line, "microseconds": 1.5}), flush=True)
    print("words of the host", flush=True)
"""


def sample(column, value=0.0, outcome="", number=0):
    return Sample(number, column, "put", {} if outcome else {"microseconds": value}, outcome)


class Medians(unittest.TestCase):
    def test_over_the_rounds_of_a_column(self):
        samples = [sample(BARE, value, number=i) for i, value in enumerate((3.0, 1.0, 2.0))]
        self.assertEqual(medians(samples), {"put": {BARE: 2.0}})

    def test_a_crash_is_no_figure(self):
        samples = [sample("mpich4", outcome="crashes"), sample(BARE, 1.0)]
        self.assertEqual(medians(samples), {"put": {BARE: 1.0}})
        self.assertEqual(outcomes(samples), {"put": {"mpich4": "crashes"}})


class Judgement(unittest.TestCase):
    figures = {BARE: 1.0, "a": 4.0, "b": 8.0, "a" + UNDER: 2.0, "b" + UNDER: 2.4}

    def test_slowest_host_against_bare_machine_and_best_host(self):
        judgement = judge(LINE, self.figures, {})
        self.assertEqual((judgement.bare_ratio, judgement.host_ratio), (2.4, 0.6))
        self.assertTrue(judgement.holds)

    def test_one_slow_host_is_enough_to_fall_short(self):
        self.assertFalse(judge(LINE, self.figures | {"b" + UNDER: 2.6}, {}).holds)
        self.assertFalse(judge(LINE, self.figures | {"a": 2.5}, {}).holds)

    def test_a_crash_under_sidelight_falls_short_and_one_alone_does_not(self):
        self.assertFalse(judge(LINE, self.figures, {"a" + UNDER: "crashes"}).holds)
        self.assertTrue(judge(LINE, self.figures, {"c": "crashes"}).holds)

    def test_nothing_is_judged_without_sidelight(self):
        judgement = judge(LINE, {BARE: 1.0, "a": 4.0}, {})
        self.assertEqual((judgement.bare_ratio, judgement.holds), (None, None))


class Isolation(unittest.TestCase):
    def run_with(self, fault, patience=5.0):
        def command_for(lines):
            return [sys.executable, "-c", PROGRAM, fault, *lines]

        return latency_runs.measure(command_for, ["first", "second", "third"], {}, patience)

    def test_all_lines(self):
        results = self.run_with("none")
        self.assertEqual(list(results.figures), ["first", "second", "third"])
        self.assertEqual((results.outcomes, results.errors), ({}, []))

    def test_crash(self):
        results = self.run_with("crash")
        self.assertEqual(list(results.figures), ["first", "third"])
        self.assertEqual(results.outcomes, {"second": "crashes"})
        self.assertEqual(len(results.errors), 1)

    def test_hang(self):
        results = self.run_with("hang", patience=1.0)
        self.assertEqual(list(results.figures), ["first", "third"])
        self.assertEqual(results.outcomes, {"second": "hangs"})

    def test_program_that_measures_nothing(self):
        results = latency_runs.measure(lambda lines: ["false"], ["first", "second"], {}, 5.0)
        self.assertEqual(results.outcomes, {"first": "does not run", "second": "does not run"})


if __name__ == "__main__":
    support.main()
