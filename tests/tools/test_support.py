# SPDX-License-Identifier: BSD-3-Clause
"""How these files tell ctest what came of them."""

import subprocess
import sys
import unittest
from pathlib import Path

import support

FILE = """
import sys, unittest
sys.path.insert(0, sys.argv.pop())
import support

class First(unittest.TestCase):
    def test(self):
        {}

@unittest.skip("none of Debian")
class Second(unittest.TestCase):
    def test(self):
        pass

support.main()
"""


class Status(unittest.TestCase):
    def run_file(self, first):
        command = [sys.executable, "-c", FILE.format(first), str(Path(__file__).parent)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_of_a_file_whose_tests_are_all_skipped(self):
        ended = self.run_file("self.skipTest('no host')")
        self.assertEqual(ended.returncode, support.NOTHING_TESTED)
        self.assertEqual(ended.stdout, "nothing tested: no host; none of Debian\n")

    def test_of_the_others(self):
        self.assertEqual(self.run_file("pass").returncode, 0)
        self.assertEqual(self.run_file("self.fail()").returncode, 1)


if __name__ == "__main__":
    support.main()
