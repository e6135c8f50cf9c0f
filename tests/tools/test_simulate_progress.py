# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight simulate progress`: what is run, and what is made of it; the program itself where it
is built."""

import importlib.util
import json
import subprocess
import unittest
from functools import partial
from pathlib import Path

import simulate_options
import support  # noqa: F401 - finds sidelight_lib
from sidelight_lib import simulate_progress, simulations
from sidelight_lib.hosts import HostError

LATENCY = 300.0

parse = partial(simulate_options.parse, "progress", "--json")


def option(options, name):
    return options[options.index(f"--{name}") + 1]


def run(options):
    """Whoever is not interrupted takes work and transfer one after the other."""
    work = float(option(options, "work-ns")) / 1000
    hidden = option(options, "mover") == "interrupts"
    epoch = max(work, LATENCY) if hidden else work + LATENCY
    wakes = 80 if hidden and work else 0
    return json.dumps({"epoch": epoch, "origin": epoch, "wakes": wakes, "messages": 5})


class Measure(unittest.TestCase):
    def test_the_work_is_as_long_as_the_largest_epoch(self):
        found = simulate_progress.measure(parse("--ranks", "2", "--epochs", "10"), run)
        self.assertEqual(len(found), 3 * len(simulate_progress.SIZES))
        by_mover = {each.mover: each for each in found}
        self.assertEqual(by_mover["nobody"].work, LATENCY)
        self.assertEqual(by_mover["nobody"].epoch, 2 * LATENCY)
        self.assertEqual(by_mover["interrupts"].epoch, LATENCY)
        self.assertEqual(by_mover["interrupts"].wakes, 2.0)
        panel = simulate_progress.panel(found)
        self.assertEqual(set(panel.series), set(simulate_progress.MOVERS.values()))
        self.assertIn("work alone", panel.expected)

    def test_a_kind_is_options_of_the_program(self):
        self.assertEqual(
            simulate_progress.KINDS["many-fence-get"], ["--many", "--fence", "--get"]
        )
        self.assertEqual(simulate_progress.KINDS["pairs-gats-put"], [])

    def test_what_there_is_not_is_refused(self):
        for words in (["--kinds", "all"], ["--ranks", "0"], ["--ranks", "1000"]):
            with self.assertRaises(HostError):
                simulate_progress.measure(parse(*words), run)

    @unittest.skipIf(importlib.util.find_spec("rich") is None, "python3-rich is not installed")
    def test_table(self):
        found = simulate_progress.measure(parse("--ranks", "2"), run)
        rows = simulate_progress._table(found, Path("a/qdr.txt")).row_count
        self.assertEqual(rows, len(found))


@unittest.skipUnless(simulations.program().exists(), "not built")
class Program(unittest.TestCase):
    def simulate(self, *options, ranks=16):
        path = simulations.NETWORKS / "qdr-infiniband.txt"
        words = ["progress", "--ranks", str(ranks), "--epochs", "3", *options, str(path)]
        done = subprocess.run(
            [simulations.program(), *words], capture_output=True, text=True, check=False, timeout=60
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_an_interrupted_origin_hides_the_transfer(self):
        for kind, options in simulate_progress.KINDS.items():
            with self.subTest(kind=kind):
                latency = self.simulate(*options)["epoch"]
                late = ["--work-ns", str(round(1000 * latency)), "--late-ns", "20000", *options]
                alone = self.simulate("--mover", "nobody", *late)["epoch"]
                hidden = self.simulate("--mover", "interrupts", *late)["epoch"]
                self.assertGreater(alone, 1.5 * latency)
                self.assertLess(hidden, 1.4 * latency)
                self.assertLess(hidden, 0.8 * alone)

    def test_polling_threads_need_processors_of_their_own(self):
        late = ["--work-ns", "400000", "--late-ns", "20000", "--mover", "polling"]
        packed = self.simulate(*late)
        spare = self.simulate(*late, "--processors", "16")
        self.assertGreater(packed["epoch"], 1.8 * spare["epoch"])
        self.assertEqual(spare["wakes"], 0)

    def test_nobody_is_woken_where_nobody_is_late(self):
        self.assertEqual(self.simulate("--mover", "nobody")["wakes"], 0)
        one = self.simulate("--mover", "interrupts", "--seed", "3")
        self.assertEqual(one, self.simulate("--mover", "interrupts", "--seed", "3"))

    def test_what_it_does_not_know_is_refused(self):
        for words in (["--mover", "somebody"], ["--ranks", "3"]):
            done = subprocess.run(
                [simulations.program(), "progress", *words, "a"], capture_output=True, check=False
            )
            self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
