# SPDX-License-Identifier: BSD-3-Clause
"""ci/check-model where SPIN is missing."""

import subprocess
import tempfile
import unittest
from pathlib import Path
from shutil import which

import support


class WithoutSpin(unittest.TestCase):
    def status(self, **environment):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("dirname", "sh"):
                (Path(folder) / name).symlink_to(which(name))
            command = [which("sh"), str(support.ROOT / "ci" / "check-model")]
            done = subprocess.run(
                command, env={"PATH": folder, **environment}, capture_output=True, text=True,
                timeout=60, check=False,
            )
        self.assertIn("not verified", done.stdout)
        return done.returncode

    def test_a_user_is_told(self):
        self.assertEqual(self.status(), 0)

    def test_ci_fails(self):
        self.assertNotEqual(self.status(CI="true"), 0)


if __name__ == "__main__":
    support.main()
