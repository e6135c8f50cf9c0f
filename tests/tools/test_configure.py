# SPDX-License-Identifier: BSD-3-Clause
"""What CMake does without that which not every part needs."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import support
from sidelight_lib import hosts

DEBIAN = [host.name for host in hosts.all() if host.origin == "Debian"]


def configure(*options, **variables):
    """How it ended, and the commands by which it would compile."""
    with tempfile.TemporaryDirectory() as place:
        command = ["cmake", "-S", support.ROOT, "-B", place, "-DBUILD_TESTING=OFF", *options]
        ended = subprocess.run(
            command,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        commands = Path(place) / "compile_commands.json"
        return ended, commands.read_text() if commands.exists() else ""


class Optional(unittest.TestCase):
    @unittest.skipUnless(DEBIAN, "no host of Debian is installed")
    def test_openblas(self):
        chosen = ";".join(DEBIAN)
        ended, _ = configure(f"-DSIDELIGHT_HOSTS={chosen}", PKG_CONFIG_LIBDIR="/nowhere")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("so no examples/lu", ended.stdout)


class Hosts(unittest.TestCase):
    def test_names_that_are_none_are_refused(self):
        for names, refused in (("mpich4,openmpi4",) * 2, ("lam", "lam"), ("all;lam", "all;lam")):
            ended, _ = configure(f"-DSIDELIGHT_HOSTS={names}")
            said = " ".join(ended.stderr.split())
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn(f"SIDELIGHT_HOSTS names {refused}", said)
            self.assertIn("separated by ;", said)


class Warnings(unittest.TestCase):
    def test_they_are_errors_for_who_works_on_it(self):
        ended, commands = configure("-DSIDELIGHT_HOSTS=none")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("-Wshadow", commands)
        self.assertNotIn("-Werror", commands)
        _, commands = configure("--preset", "default", "-DSIDELIGHT_HOSTS=none")
        self.assertIn("-Werror", commands)


if __name__ == "__main__":
    support.main()
