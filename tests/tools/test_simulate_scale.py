# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight simulate scale`: what is run, and what is made of it; the program itself where it is
built."""

import importlib.util
import json
import subprocess
import unittest
from functools import partial

import simulate_options
import support
from sidelight_lib import simulate_scale, simulations
from sidelight_lib.hosts import HostError

parse = partial(simulate_options.parse, "scale", "--json")


def run(options):
    epochs = int(options[options.index("--epochs") + 1])
    said = {"messages": 4.0 * epochs, "bytes": 1.0, "window_bytes": 100}
    return json.dumps(said | {"pending_bytes": 0 if "--lock-all" in options else 500 * epochs})


class Measure(unittest.TestCase):
    def test_every_number_and_lock_all_last(self):
        words = ("--members", "100,200", "--peers", "1,2", "--epochs", "8")
        found = simulate_scale.measure(parse(*words), run)
        self.assertEqual([each.members for each in found], [100] * 3 + [200] * 3)
        self.assertEqual([each.way for each in found[:3]], ["locks", "locks", "lock_all"])
        self.assertEqual(simulate_scale.memory(found[0]), 4100)
        messages, memory = simulate_scale.panels(found)
        self.assertEqual(messages.series["100 members, 2 peers"], [(8.0, 32.0)])
        self.assertEqual(len(memory.series), 4)

    def test_no_numbers_are_refused(self):
        with self.assertRaises(HostError):
            simulate_scale.measure(parse("--peers", "0"), run)

    @unittest.skipIf(importlib.util.find_spec("rich") is None, "python3-rich is not installed")
    def test_table(self):
        found = simulate_scale.measure(parse("--members", "9", "--peers", "1"), run)
        self.assertEqual(simulate_scale._table(found).row_count, 4)


@unittest.skipUnless(simulations.program().exists(), "not built")
class Program(unittest.TestCase):
    def simulate(self, *options):
        network = simulations.NETWORKS / "qdr-infiniband.txt"
        said = json.loads(simulations.run(["scale", *map(str, options), str(network)]))
        self.assertTrue(said["correct"])
        return said

    def test_messages_do_not_depend_on_members(self):
        for more in ((), ("--lock-all", "--epochs", 32), ("--node", 1)):
            few = self.simulate("--members", 1000, *more)
            many = self.simulate("--members", 100000, *more)
            for figure in ("messages", "bytes", "met"):
                self.assertEqual(few[figure], many[figure])
            # Every member that is met may have pages of its own in the tables, and no more.
            self.assertLess(many["window_bytes"], 16384 * (many["met"] + 1))

    def test_each_pending_epoch_costs_the_same(self):
        one, ten = (self.simulate("--epochs", n) for n in (1000, 10000))
        self.assertEqual((one["pending"], ten["pending"]), (1000, 10000))
        each = (ten["pending_bytes"] - one["pending_bytes"]) / 9000
        self.assertTrue(100 < each < 1000, each)
        self.assertAlmostEqual(ten["messages"] / one["messages"], 10, delta=0.5)
        self.assertEqual(one["window_bytes"], ten["window_bytes"])

    def test_usage(self):
        for words in (["--peers", "0", "a"], ["--members", "5", "--peers", "5", "a"], []):
            command = [simulations.program(), "scale", *words]
            done = subprocess.run(command, capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    support.main()
