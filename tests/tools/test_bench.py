# SPDX-License-Identifier: BSD-3-Clause
"""The judgement of `sidelight bench latency`, and that a crash or a hang costs one line alone."""

import sys
import unittest

import support
from sidelight_lib import bench, latency_runs
from sidelight_lib.hosts import HostError
from sidelight_lib.latency_lines import (
    BARE,
    UNDER,
    Line,
    Sample,
    judge,
    lines_for,
    medians,
    outcomes,
)

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


    def test_against_another_line_in_the_same_column(self):
        many = Line("puts", "", "", other="put", other_limit=0.05)
        single = {"a": 4.0, "a" + UNDER: 100.0, "b" + UNDER: 40.0}
        judgement = judge(many, {"a": 4.0, "a" + UNDER: 1.0, "b" + UNDER: 2.0}, {}, single)
        self.assertEqual((judgement.other_ratio, judgement.holds), (0.05, True))
        self.assertFalse(judge(many, {"b" + UNDER: 2.1}, {}, single).holds)


class Tables(unittest.TestCase):
    def test_a_number_among_the_hosts_is_that_of_nodes(self):
        self.assertEqual(bench.nodes_and_hosts("all"), (1, []))
        self.assertEqual(bench.nodes_and_hosts("2"), (2, []))
        self.assertEqual(bench.nodes_and_hosts("2,mpich4"), (2, ["mpich4"]))
        self.assertEqual(bench.nodes_and_hosts("mpich4,mpich5"), (1, ["mpich4", "mpich5"]))
        with self.assertRaises(HostError):
            bench.nodes_and_hosts("3")

    def test_the_bare_machine_is_one_node(self):
        self.assertTrue(any(line.bare for line in lines_for("allocate", 1)))
        self.assertFalse(any(line.bare or line.bare_limit for line in lines_for("allocate", 2)))

    def test_lines_that_others_are_held_against_are_there(self):
        for nodes in (1, 2):
            lines = {line.name: line for line in lines_for("dynamic", nodes)}
            self.assertTrue({line.other for line in lines.values() if line.other} <= lines.keys())


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
