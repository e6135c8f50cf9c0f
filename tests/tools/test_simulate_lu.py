# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight simulate lu`: what is run, and what is made of it; the program itself where it is
built."""

import importlib.util
import json
import subprocess
import unittest
from functools import partial
from pathlib import Path

import simulate_options
import support
from sidelight_lib import simulate_lu, simulations
from sidelight_lib.hosts import HostError

TIMES = {"lazy": 210.0, "standard": 200.0, "nonblocking": 100.0}

parse = partial(simulate_options.parse, "lu", "--json")


def run(options):
    time = TIMES[options[options.index("--way") + 1]]
    return json.dumps({"milliseconds": time, "share": 40.0, "messages": 5})


class Measure(unittest.TestCase):
    def test_every_way_at_every_size(self):
        found = simulate_lu.measure(parse("--ranks", "4,8", "--rows", "64,128"), run)
        self.assertEqual([each.rows for each in found], [64] * 6 + [128] * 6)
        self.assertEqual([each.ranks for each in found[:6]], [4, 4, 4, 8, 8, 8])
        self.assertEqual([each.way for each in found[:3]], list(simulate_lu.WAYS))
        self.assertAlmostEqual(simulate_lu.less(found, found[2]), 0.5)
        self.assertAlmostEqual(simulate_lu.less(found, found[0]), -0.05)
        panels = simulate_lu.panels(found)
        self.assertEqual(len(panels), 4)
        self.assertEqual(panels[0].series["nonblocking"], [(4.0, 100.0), (8.0, 100.0)])

    def test_without_standard_calls_there_is_nothing_to_compare_with(self):
        found = simulate_lu.measure(parse("--ranks", "4", "--ways", "nonblocking"), run)
        self.assertIsNone(simulate_lu.less(found, found[0]))

    def test_what_there_is_not_is_refused(self):
        for words in (["--ways", "eager"], ["--rows", "1"], ["--ranks", "one"]):
            with self.assertRaises(HostError):
                simulate_lu.measure(parse(*words), run)

    @unittest.skipIf(importlib.util.find_spec("rich") is None, "python3-rich is not installed")
    def test_table(self):
        found = simulate_lu.measure(parse("--ranks", "4"), run)
        self.assertEqual(simulate_lu._table(found, Path("a/qdr.txt")).row_count, 3)


@unittest.skipUnless(simulations.program().exists(), "not built")
class Program(unittest.TestCase):
    def simulate(self, *options, network="qdr-infiniband"):
        path = simulations.NETWORKS / f"{network}.txt"
        said = json.loads(simulations.run(["lu", *map(str, options), str(path)]))
        self.assertTrue(said["correct"])
        return said

    def test_every_way_delivers_every_row_whatever_the_shape(self):
        for way in simulate_lu.WAYS:
            for ranks, rows in ((2, 2), (2, 33), (7, 5), (16, 16), (17, 100), (24, 65)):
                self.simulate("--ranks", ranks, "--rows", rows, "--way", way)
            self.simulate("--ranks", 5, "--rows", 40, "--way", way, "--slots", 1)

    def test_the_same_seed_is_the_same_run(self):
        options = ("--ranks", 24, "--rows", 256, "--way", "nonblocking", "--seed", 3)
        self.assertEqual(self.simulate(*options), self.simulate(*options))

    def test_nonblocking_epochs_take_half_the_time_where_computing_dominates(self):
        shape = ("--ranks", 32, "--rows", 2048, "--way")
        standard, nonblocking = (self.simulate(*shape, way) for way in WAYS_COMPARED)
        self.assertLess(nonblocking["milliseconds"], 0.6 * standard["milliseconds"])
        self.assertGreater(standard["share"], 40)
        self.assertLess(nonblocking["share"], 20)

    def test_computing_takes_the_time_of_its_operations(self):
        """Two ranks share 2/3 m^3 operations, and hardly anything is sent."""
        said = self.simulate("--ranks", 2, "--rows", 512, "--way", "nonblocking", "--mflops", 10)
        ideal = 2 / 3 * 512**3 / 2 / 10e6 * 1e3
        self.assertAlmostEqual(said["milliseconds"] / ideal, 1, delta=0.05)

    def test_a_faster_network_wins_where_sending_dominates(self):
        shape = ("--ranks", 48, "--rows", 512, "--mflops", 100000)
        slow = self.simulate(*shape, network="tcp-10g")["milliseconds"]
        self.assertLess(self.simulate(*shape, network="ndr-infiniband")["milliseconds"], slow / 4)

    def test_usage(self):
        for words in (["--way", "eager", "a"], ["--ranks", "1", "a"], ["--slots", "0", "a"], []):
            command = [simulations.program(), "lu", *words]
            done = subprocess.run(command, capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)


WAYS_COMPARED = (simulate_lu.STANDARD, simulate_lu.NONBLOCKING)

if __name__ == "__main__":
    support.main()
