# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight simulate am`: what is run, and what is made of it; the program itself where it is
built, and the shapes of the paper's figures."""

import importlib.util
import json
import subprocess
import unittest
from functools import partial
from pathlib import Path

import simulate_options
import support
from sidelight_lib import simulate_am, simulations
from sidelight_lib.hosts import HostError

TCP = simulations.NETWORKS / "tcp-10g.txt"
NETWORK = str(simulations.NETWORKS / "qdr-infiniband.txt")

parse = partial(simulate_options.parse, "am", "--json")


def run(options):
    ranks = float(options[options.index("--ranks") + 1]) if "--ranks" in options else 2.0
    return json.dumps({"rate": 10 * ranks, "microseconds": ranks, "correct": True})


class Measure(unittest.TestCase):
    def test_every_figure_has_its_curves(self):
        found = simulate_am.measure(parse("--origins", "1,4"), run)
        self.assertEqual({each.figure for each in found}, set(simulate_am.FIGURES))
        panel = simulate_am.panel("origins", found)
        self.assertEqual(list(panel.series.values()), 3 * [[(1, 2.0), (4, 5.0)]])
        panel = simulate_am.panel("concurrent", found)
        self.assertEqual(panel.series["concurrent"], [(1, 20.0), (4, 50.0)])

    def test_what_there_is_not_is_refused(self):
        with self.assertRaisesRegex(HostError, "no figure rates"):
            simulate_am.measure(parse("--figures", "rates"), run)
        with self.assertRaisesRegex(HostError, "--origins"):
            simulate_am.measure(parse("--origins", "0"), run)

    @unittest.skipIf(importlib.util.find_spec("rich") is None, "python3-rich is not installed")
    def test_table(self):
        found = simulate_am.measure(parse("--figures", "room"), run)
        table = simulate_am._table("room", found, Path("a/qdr.txt"))
        self.assertEqual(table.row_count, len(simulate_am.ROOMS))


@unittest.skipUnless(simulations.program().exists(), "not built")
class Program(unittest.TestCase):
    def simulate(self, *options, network=NETWORK):
        said = json.loads(simulations.run(["am", "--node", "1", *options, network]))
        self.assertTrue(said["correct"])
        return said

    def test_the_same_seed_is_the_same_run(self):
        first, second, other = (
            self.simulate("--ranks", "9", "--messages", "50", "--seed", seed) for seed in "334"
        )
        self.assertEqual(first, second)
        self.assertNotEqual(first["microseconds"], other["microseconds"])

    def test_larger_pieces_take_fewer_calls_and_less_time(self):
        small, large = (self.simulate("--messages", "1", "--unit", unit) for unit in ("10", "100"))
        self.assertEqual((small["calls"], large["calls"]), (10.0, 1.0))
        self.assertLess(large["microseconds"], small["microseconds"])

    def test_an_internal_buffer_pays_once(self):
        none, some, much = (self.simulate("--internal", size) for size in ("0", "8192", "65536"))
        self.assertEqual(none["user"], 100.0)
        self.assertGreater(some["rate"], 1.3 * none["rate"])
        self.assertLess(much["rate"], 1.1 * some["rate"])

    def test_concurrent_handlers_use_the_cores_of_all_origins(self):
        many = ("--ranks", "17", "--node", "64", "--messages", "50")
        serial, together = self.simulate(*many), self.simulate(*many, "--concurrent")
        self.assertGreater(together["rate"], 9 * serial["rate"])
        self.assertEqual(together["messages"], 0.0)

    def test_messages_without_order_are_all_run(self):
        options = ("--ranks", "5", "--mixed", "--unordered", "--attached", "16384")
        self.assertGreater(self.simulate(*options)["user"], 0)

    def test_without_room_many_origins_pay_more_than_few(self):
        def paid(ranks):
            busy = ("--ranks", ranks, "--between-ns", "100000")
            none, some = (
                self.simulate(*busy, "--internal", size, network=str(TCP)) for size in ("0", "8192")
            )
            return none["microseconds"] / some["microseconds"]

        self.assertLess(paid("2"), 1.5)
        self.assertGreater(paid("9"), 1.7)

    def test_order_costs_little_and_waiting_for_each_much(self):
        for attached in ("16384", "65536", "262144"):
            mixed = ("--mixed", "--messages", "200", "--attached", attached)
            ordered = self.simulate(*mixed)["rate"]
            self.assertLess(1.1 * self.simulate(*mixed, "--one-at-a-time")["rate"], ordered)
            self.assertAlmostEqual(self.simulate(*mixed, "--unordered")["rate"] / ordered, 1, 1)

    def test_usage(self):
        for wrong in (["--ranks", "1"], ["--unit", "0"], ["--weight", "3"], []):
            file = [NETWORK] if wrong else []
            command = [simulations.program(), "am", *wrong, *file]
            done = subprocess.run(command, capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, wrong)


if __name__ == "__main__":
    support.main()
