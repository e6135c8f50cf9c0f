# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration that searches reads: what it makes of runs that differ, and a small one."""

import importlib.util
import json
import subprocess
import sys
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import support
from sidelight_lib import hosts
from sidelight_lib.interleaved import Column, Measured, Sample

PATH = str(support.ROOT / "tools" / "demo_search")
spec = spec_from_loader("demo_search", SourceFileLoader("demo_search", PATH))
demo = sys.modules["demo_search"] = module_from_spec(spec)
spec.loader.exec_module(demo)

RIGHT = {"reads": 9, "found": 5, "matches": 6, "digest": "aa", "milliseconds": 1.5}


def measured(*samples):
    return Measured([], samples, ["what it said"], 1)


def sample(column="a", outcome="", **other):
    return Sample(0, column, "exact", RIGHT | other, outcome)


class Check(unittest.TestCase):
    def test_all_alike(self):
        found = demo.check([measured(sample()), measured(sample("b"), sample("c", milliseconds=9))])
        self.assertEqual(found["exact"], demo.Found(9, 5, 6, "aa"))

    def test_one_that_differs_fails(self):
        for other in ({"digest": "ab"}, {"matches": 7}, {"found": 4}, {"reads": 8}):
            with self.assertRaisesRegex(demo.DemoError, "b: exact: .*plain search finds 6 of 5"):
                demo.check([measured(sample()), measured(sample("b", **other))])

    def test_one_that_did_not_end_fails(self):
        with self.assertRaisesRegex(demo.DemoError, "b: exact: hangs\nwhat it said"):
            demo.check([measured(sample("b", "hangs"))])


class Data(unittest.TestCase):
    def test_what_is_missing_is_told(self):
        said = "no lambda_virus.fa.gz and no reads_1.fq.gz.*DATA=FOLDER"
        with self.assertRaisesRegex(demo.DemoError, said):
            demo.check_data(Path("/nowhere"))


class Sentences(unittest.TestCase):
    def test_each_host_and_line_has_one(self):
        host = hosts.own("mpich-9.9", "a", Path("mpiexec"), Path("mpicc"), Path("libmpi.so"))
        columns = [Column(host, way) for way in demo.WAYS]
        samples = [
            Sample(0, column.name, line, RIGHT | {"milliseconds": float(number)})
            for number, column in enumerate(columns, 2)
            for line in demo.LINES
        ]
        said = demo.sentences(Measured(columns, samples, [], 1), 2)
        self.assertEqual(len(said), len(demo.LINES))
        self.assertIn("on 2 nodes, exact: active messages are 1.50 times as fast as get", said[0])


def built():
    there = [host.name for host in hosts.all() if host.program("examples/search_active").exists()]
    return there[:1]


@unittest.skipUnless(built(), "not built")
@unittest.skipUnless((demo.DATA / demo.READS).exists(), f"no {demo.READS} in {demo.DATA}")
@unittest.skipIf(importlib.util.find_spec("rich") is None, "python3-rich is not installed")
class SmallRun(unittest.TestCase):
    def test_all_ways_find_the_same(self):
        words = ["--hosts", built()[0], "--nodes", "1", "--repeat", "1", "--reads", "300", "--json"]
        done = subprocess.run([PATH, *words], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertGreater(said["found"]["two"]["matches"], said["found"]["exact"]["matches"])
        self.assertEqual(len(said["rows"]), len(demo.WAYS) * len(demo.LINES))


if __name__ == "__main__":
    support.main()
