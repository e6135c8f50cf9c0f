# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight simulate`: what is run, and what is made of it; the program itself where it is
built."""

import importlib.util
import json
import re
import subprocess
import tempfile
import unittest
from functools import partial
from pathlib import Path

import simulate_options
import support
from sidelight_lib import simulate, simulations
from sidelight_lib.hosts import HostError

RATES = {"1": 100.0, "64": 101.0, "--key": 139.0}

parse = partial(simulate_options.parse, "transactions", "--json")


def run(options):
    key = "--key" if "--key" in options else options[options.index("--pending") + 1]
    return json.dumps({"rate": RATES[key], "messages": 4.0, "pending": 3})


class Measure(unittest.TestCase):
    def test_every_way_at_every_number_of_ranks(self):
        found = simulate.measure(parse("--ranks", "4,8"), run)
        self.assertEqual([each.ranks for each in found], [4, 4, 4, 8, 8, 8])
        self.assertEqual([each.way for each in found[:3]], list(simulate.WAYS))
        gains = [round(simulate.gain(found, each), 2) for each in found[:3]]
        self.assertEqual(gains, [0.0, 0.01, 0.39])
        panel = simulate.panel(found)
        self.assertEqual(panel.series["with key"], [(4.0, 139.0), (8.0, 139.0)])

    @unittest.skipIf(importlib.util.find_spec("rich") is None, "python3-rich is not installed")
    def test_table(self):
        found = simulate.measure(parse("--ranks", "4"), run)
        self.assertEqual(simulate._table(found, Path("a/qdr.txt")).row_count, 3)


@unittest.skipUnless(simulations.program().exists(), "not built")
class Program(unittest.TestCase):
    def simulate(self, *options):
        network = simulations.NETWORKS / "qdr-infiniband.txt"
        return json.loads(simulations.run(["--transactions", "20", *options, str(network)]))

    def test_the_same_seed_is_the_same_run(self):
        first, second, other = (
            self.simulate("--ranks", "16", "--key", "--seed", seed) for seed in ("3", "3", "4")
        )
        self.assertEqual(first, second)
        self.assertNotEqual(first["rate"], other["rate"])
        self.assertTrue(first["correct"])

    def test_one_epoch_ahead_is_what_standard_calls_do(self):
        self.assertEqual(self.simulate("--ranks", "16", "--pending", "1")["pending"], 1)

    def test_the_key_gains_and_its_absence_does_not(self):
        many = ("--ranks", "64", "--transactions", "100")
        standard = self.simulate(*many, "--pending", "1")["rate"]
        without = self.simulate(*many)["rate"]
        self.assertGreater(self.simulate(*many, "--key")["rate"], 1.2 * standard)
        self.assertLess(without, 1.2 * standard)

    def test_a_slow_network_is_slow(self):
        slow = simulations.NETWORKS / "tcp-10g.txt"
        said = json.loads(simulations.run(["--ranks", "64", "--transactions", "20", str(slow)]))
        self.assertLess(said["rate"], self.simulate("--ranks", "64")["rate"] / 4)

    def test_every_network_can_be_read(self):
        networks = list(simulations.NETWORKS.glob("*.txt"))
        self.assertTrue(networks)
        for path in networks:
            simulations.run(["--ranks", "4", "--transactions", "2", str(path)])

    def test_parameters_that_it_does_not_know_are_refused(self):
        for text in ("latency_ns\n", "weight 3\n", "latency_ns 3 4\n", "node 0\n"):
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                file.write(f"# a comment\n{text}")
                file.flush()
                with self.assertRaisesRegex(HostError, re.escape(f"{file.name}:2: not a")):
                    simulations.run(["--ranks", "4", file.name])

    def test_usage(self):
        command = [simulations.program(), "--ranks", "1"]
        done = subprocess.run(command, capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    support.main()
