# SPDX-License-Identifier: BSD-3-Clause
"""What tools/setup asks for, and what it does where there are no Debian packages."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support


def setup(*options, **variables):
    return subprocess.run(
        [support.ROOT / "tools" / "setup", *options],
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class Packages(unittest.TestCase):
    def test_hosts_of_debian_are_not_for_an_mpi_of_the_users_own(self):
        usual = set(setup("--list").stdout.split())
        hosts = {"mpich", "libmpich-dev", "openmpi-bin", "libopenmpi-dev", "python3-mpi4py"}
        self.assertLess(hosts, usual)
        self.assertEqual(set(setup("--own-mpi", "--list").stdout.split()), usual - hosts)


class OtherSystems(unittest.TestCase):
    def check(self, **programs):
        """Where there are no others but dirname."""
        with tempfile.TemporaryDirectory() as place:
            for name, program in {"dirname": "dirname", **programs}.items():
                (Path(place) / name.replace("_", "-")).symlink_to(shutil.which(program))
            ended = setup(PATH=place)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("on Debian alone", ended.stderr)

    def test_a_note_and_no_failure(self):
        self.check()

    def test_dpkg_is_not_enough(self):
        """It is a package of other systems, too, which have no apt-get."""
        self.check(dpkg_query="true")


if __name__ == "__main__":
    support.main()
