# SPDX-License-Identifier: BSD-3-Clause
"""What `sidelight run` refuses."""

import subprocess
import sys
import unittest

import support

_SIDELIGHT = support.ROOT / "tools" / "sidelight"


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(_SIDELIGHT), "run", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class Launchers(unittest.TestCase):
    def test_a_launcher_in_the_place_of_the_program(self):
        for launcher in ("mpiexec", "/usr/bin/mpirun.openmpi", "srun"):
            ended = run("-n", "2", launcher, "-n", "2", "./a")
            self.assertEqual(ended.returncode, 127, launcher)
            self.assertIn("sidelight run -n N", ended.stderr)
            self.assertIn("--dry-run", ended.stderr)


if __name__ == "__main__":
    support.main()
