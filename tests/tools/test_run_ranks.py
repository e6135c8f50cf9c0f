# SPDX-License-Identifier: BSD-3-Clause
"""What tests/run_ranks.py takes for a success."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support
from sidelight_lib import hosts

TIMED_OUT = 124


class Verdict(unittest.TestCase):
    def run_script(self, script, *options):
        """What comes of a shell script under a launcher."""
        if not hosts.all():
            self.skipTest("no host is installed")
        runner = [sys.executable, str(support.ROOT / "tests" / "run_ranks.py")]
        command = [*runner, "--host", hosts.all()[0].name, "-n", "1", *options]
        return subprocess.run(
            [*command, "/bin/sh", "-c", script],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def test_a_program_has_to_print_what_is_asked_for(self):
        found = self.run_script("echo one; echo two", "--prints", "on[e].*two")
        self.assertEqual(found.returncode, 0, found.stdout)
        missing = self.run_script("echo one", "--prints", "two")
        self.assertEqual(missing.returncode, 1, missing.stdout)
        self.assertIn("has not printed: two", missing.stdout)

    def test_a_program_that_prints_it_and_crashes(self):
        ended = self.run_script("echo one; kill -s SEGV $$", "--prints", "one")
        self.assertNotIn(ended.returncode, (0, support.NOTHING_TESTED), ended.stdout)

    def test_a_program_that_prints_it_and_does_not_end(self):
        ended = self.run_script("echo one; exec sleep 1000", "--prints", "one", "--timeout", "2")
        self.assertEqual(ended.returncode, TIMED_OUT, ended.stdout)

    def test_what_the_watchdog_of_the_ranks_is_told(self):
        for limit, seconds in (("180", "160"), ("20", "10")):
            ended = self.run_script("echo $SIDELIGHT_TEST_SECONDS", "--timeout", limit)
            self.assertEqual(ended.stdout.split(), [seconds])

    def test_a_rank_without_a_trace(self):
        noted = 'mkdir "$SIDELIGHT_TRACE"; truncate -s 5000 "$SIDELIGHT_TRACE/rank-00000.trace"'
        with tempfile.TemporaryDirectory() as place:
            option = "--trace", str(Path(place) / "trace")
            self.assertEqual(self.run_script(noted, *option).returncode, 0)
            for nothing in ("true", noted.replace("5000", "4096")):  # nor is the last run's one
                ended = self.run_script(nothing, *option)
                self.assertEqual(ended.returncode, 1, ended.stdout)
                self.assertIn("no trace of ranks [0]", ended.stdout)

    def test_a_library_that_is_not_loaded(self):
        absent = self.run_script("true", "--preload", "/nonexistent/libsidelight.so")
        self.assertEqual(absent.returncode, 1, absent.stdout)
        self.assertIn("no /nonexistent/libsidelight.so", absent.stderr)
        with tempfile.TemporaryDirectory() as place:
            library = Path(place) / "library.so"
            library.write_text("none")
            ended = self.run_script("echo check_skip: it", "--preload", str(library))
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("without what was to be preloaded", ended.stdout)


if __name__ == "__main__":
    support.main()
