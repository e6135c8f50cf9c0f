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


def setup_with(**programs):
    """Where there are no others but dirname."""
    with tempfile.TemporaryDirectory() as place:
        for name, program in {"dirname": "dirname", **programs}.items():
            (Path(place) / name.replace("_", "-")).symlink_to(shutil.which(program))
        return setup(PATH=place)


class OrdinaryUsers(unittest.TestCase):
    DEBIAN = {"dpkg_query": "true", "apt_get": "false", "id": "echo"}  # where `id -u` is not 0
    NEEDED = {"cmake": "true", "ninja": "true", "g++": "true", "python3": "true"}

    def test_they_do_without_packages_that_only_root_can_install(self):
        ended = setup_with(**self.DEBIAN, **self.NEEDED)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stderr, "apt-get install .*valgrind")

    def test_but_not_without_a_compiler(self):
        for name in self.NEEDED:
            others = {other: program for other, program in self.NEEDED.items() if other != name}
            ended = setup_with(**self.DEBIAN, **others)
            self.assertEqual(ended.returncode, 1)
            self.assertIn(f"without {name}", ended.stderr)


class OtherSystems(unittest.TestCase):
    def check(self, **programs):
        ended = setup_with(**programs)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("on Debian alone", ended.stderr)

    def test_a_note_and_no_failure(self):
        self.check()

    def test_dpkg_is_not_enough(self):
        """It is a package of other systems, too, which have no apt-get."""
        self.check(dpkg_query="true")


if __name__ == "__main__":
    support.main()
