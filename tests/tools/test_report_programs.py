# SPDX-License-Identifier: BSD-3-Clause
"""Programs that make processes wait on purpose, traced and reported: the report names the pattern
that each was written for, and who caused it."""

import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support
from sidelight_lib import hosts
from sidelight_lib.traces import patterns, reader

_SIDELIGHT = support.ROOT / "tools" / "sidelight"
_DELAY = 0.1  # seconds, of --check
_DELAYED = 4  # repetitions with it, the first one to warm up
_ATTEMPTS = 3
_ROUNDS, _LATE = 5, 0.02  # of tests/mpi/late_notifications.c, the latter in seconds
_HOSTS = [
    name
    for name in ("mpich4", "openmpi4")
    if (hosts.build_directory() / name / "bench" / "patterns").exists()
    and (hosts.build_directory() / name / "libsidelight.so").exists()
]

# Line of the program: the pattern, in which call it is lost, by which rank.
LINES = {
    "late_post": (patterns.LATE_POST, "complete", 0),
    "late_complete_65536": (patterns.LATE_COMPLETE, "wait", 0),
    "wait_at_fence_65536": (patterns.WAIT_AT_FENCE, "fence", 0),
    "late_unlock": (patterns.LATE_UNLOCK, "unlock", 0),
    "late_unlock_shared": (patterns.LATE_UNLOCK, "unlock", 0),
}


def sidelight(*arguments):
    ended = subprocess.run(
        [sys.executable, str(_SIDELIGHT), *map(str, arguments)],
        capture_output=True, text=True, timeout=300, check=False,
    )
    if ended.returncode != 0:
        raise AssertionError(f"{arguments}: {ended.stderr[-2000:]}")


@contextlib.contextmanager
def traced(host, ranks, program, *arguments, progress="auto"):
    """`program`: where it is built."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        path = hosts.build_directory() / host / program
        trace = Path(name) / "trace"
        how = ("--host", host, "--trace", trace, "--progress", progress, "-n", ranks)
        sidelight("run", *how, path, *arguments)
        yield trace


def report(*what, **how):
    with traced(*what, **how) as trace:
        table = trace.parent / "table.json"
        sidelight("report", trace, "--json", table)
        return json.loads(table.read_text())


@unittest.skipUnless(_HOSTS, "the programs and the library are built for no host: run `make`")
class Programs(unittest.TestCase):
    def tried(self, program):
        """A test on one host, which has no part in what is reported. Where other processes take the
        cores, more is lost than the delay, or the program finds its own times wrong: then it is
        tried again, and said so."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                program(_HOSTS[0])
                break
            except (AssertionError, subprocess.TimeoutExpired) as error:
                if attempt == _ATTEMPTS:
                    raise
                print(f"{self.id()}, attempt {attempt}: {error}", file=sys.stderr)

    def delayed(self, line):
        def program(host):
            said = report(host, 4, "bench/patterns", "--check", line)
            self.check(said, *LINES[line])

        self.tried(program)

    def check(self, said, pattern, call, by):
        first = said["rows"][0]
        self.assertEqual(first["pattern"], pattern)
        self.assertEqual(first["call"], call)
        self.assertEqual(first["caused_by_ranks"][0]["rank"], by)
        # Who waits may come late itself, where other processes take the cores, and then waits less.
        self.assertGreater(first["lost_seconds"], 0.5 * _DELAY * _DELAYED)
        self.assertRegex(first["line"], r"^epochs\.c:\d+ ")

    def test_late_post(self):
        self.delayed("late_post")

    def test_late_complete(self):
        self.delayed("late_complete_65536")

    def test_wait_at_fence(self):
        self.delayed("wait_at_fence_65536")

    def test_late_unlock(self):
        self.delayed("late_unlock")

    def test_late_unlock_of_a_shared_lock(self):
        self.delayed("late_unlock_shared")

    def test_early_fence(self):
        """Nobody is late, so what is lost is a transfer."""

        def program(host):
            said = report(host, 4, "bench/patterns", "--quick", "early_fence_1048576")
            rows = [
                row
                for row in said["rows"]
                if row["pattern"] == patterns.EARLY_FENCE and row["times"] > 9
            ]
            self.assertTrue(rows)
            row = max(rows, key=lambda row: row["lost_seconds"])
            self.assertEqual(row["caused_by_ranks"][0]["rank"], 0)

        self.tried(program)

    def test_late_notifications(self):
        """Who notifies last of those that are waited for; also behind a reset, and by every way."""
        for host, (case, late) in itertools.product(
            _HOSTS, {"first": 1, "second": 2, "behind_a_reset": 2}.items()
        ):
            with self.subTest(host=host, case=case):
                self.tried(lambda _, those=(host, case, late): self.notified_late(*those))

    def notified_late(self, host, case, late):
        said = report(host, 3, "tests/late_notifications", case)
        first = said["rows"][0]
        self.assertEqual(first["pattern"], patterns.LATE_NOTIFICATION)
        self.assertEqual((first["call"], first["caused_by_call"]), ("request", "put_notify"))
        self.assertEqual([by["rank"] for by in first["caused_by_ranks"]], [late])
        self.assertRegex(first["line"], r"^late_notifications\.c:\d+ \(await\)")
        self.assertRegex(first["caused_at_line"], r"^late_notifications\.c:\d+ \(put_late\)")
        self.assertEqual(first["times"], _ROUNDS)
        late_for = first["lost_seconds"] / _ROUNDS
        self.assertTrue(0.4 * _LATE < late_for < 2 * _LATE, late_for)
        whole = said["seconds"]
        self.assertAlmostEqual(said["replayed_seconds"], whole, delta=0.01 * whole)

    def test_tests_that_end_nothing(self):
        """A program that polls would fill its trace with them."""

        def program(host):
            with traced(host, 3, "tests/gats") as trace:
                calls = [call for rank in reader.load(trace).ranks.values() for call in rank.calls]
            tests = [call for call in calls if call.name == "test"]
            self.assertTrue(tests)
            self.assertTrue(all(call.closes for call in tests))

        self.tried(program)

    def test_nonblocking_program(self):
        """Its waits are in MPI_Wait, for rows that the other rank has still to send. With smart
        progress that call comes by way of the library of messages."""
        for host, progress in itertools.product(_HOSTS, ("auto", "smart")):
            with self.subTest(host=host, progress=progress):
                program = ("examples/lu_nonblocking", "-r", 1, "dense:400")
                said = report(host, 2, *program, progress=progress)
                rows = [row for row in said["rows"] if row["call"] == "request"]
                self.assertIn(patterns.EARLY_WAIT, {row["pattern"] for row in rows})
                for row in rows:
                    self.assertRegex(row["line"], r"^lu_nonblocking\.c:\d+ ")


if __name__ == "__main__":
    support.main()
