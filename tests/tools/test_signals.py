# SPDX-License-Identifier: BSD-3-Clause
"""A measurement that is told to end leaves nothing running."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import support

# Measures by a program that prints more than goes into a pipe, so that the measurement has begun to
# read then, writes its number into a file and hangs.
MEASURING = """
import sys
sys.path.insert(0, sys.argv[1])
from sidelight_lib import latency_runs, signals
signals.end_in_order()
steps = 'head -c 200000 /dev/zero && echo $$ >"$0.new" && mv "$0.new" "$0" && exec sleep 1000'
hanging = ["sh", "-c", steps, sys.argv[2]]
latency_runs.measure(lambda lines: hanging, ["line"], {}, 1000)
"""


class Ending(unittest.TestCase):
    def end(self, *signals, before=()):
        """The status of a measurement that gets these signals, when its program has begun."""
        with tempfile.TemporaryDirectory() as place:
            number = Path(place) / "number"
            command = [sys.executable, "-c", MEASURING, str(support.ROOT / "tools"), str(number)]
            process = subprocess.Popen([*before, *command], stderr=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            until = time.monotonic() + 60
            while not number.exists() and time.monotonic() < until:
                time.sleep(0.01)
            measured = int(number.read_text())
            for each in signals:
                process.send_signal(each)
            status = process.wait(60)
        with contextlib.suppress(ProcessLookupError):
            os.kill(measured, signal.SIGKILL)
            self.fail("the program outlives the measurement")
        return status

    def test_the_program_ends_with_the_measurement(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            self.assertEqual(self.end(number), 128 + number)

    def test_several_at_once(self):
        ended = self.end(signal.SIGTERM, signal.SIGTERM, signal.SIGTERM)
        self.assertEqual(ended, 128 + signal.SIGTERM)

    def test_what_is_ignored_stays_so(self):
        ended = self.end(signal.SIGHUP, signal.SIGTERM, before=["nohup"])
        self.assertEqual(ended, 128 + signal.SIGTERM)


if __name__ == "__main__":
    support.main()
