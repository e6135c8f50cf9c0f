# SPDX-License-Identifier: BSD-3-Clause
"""What CMake does without that which not every part needs."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support
from sidelight_lib import hosts, versions

DEBIAN = [host.name for host in hosts.all() if host.origin == "Debian"]
OPEN_MPI = next((host for host in hosts.all() if host.name == "openmpi4"), None)

# Open MPI's compiler where its headers are in a folder that every compiler searches.
WITHOUT_FOLDERS = """#!/bin/sh
case "$1" in
-show) {mpicc} -show | sed 's|-I[^ ]*||g; s|$| -L{libraries}|' ;;
*) exec gcc "$@" ;;
esac
"""


def configure(*options, file="compile_commands.json", **variables):
    """How it ended, and a file that it wrote: without another, the commands by which it would
    compile."""
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
        written = Path(place) / file
        return ended, written.read_text() if written.exists() else ""


class Optional(unittest.TestCase):
    @unittest.skipUnless(DEBIAN, "no host of Debian is installed")
    def test_openblas(self):
        chosen = ";".join(DEBIAN)
        ended, _ = configure(f"-DSIDELIGHT_HOSTS={chosen}", PKG_CONFIG_LIBDIR="/nowhere")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("so no examples/lu", ended.stdout)

    @unittest.skipUnless(DEBIAN, "no host of Debian is installed")
    def test_zlib(self):
        ended, commands = configure(
            f"-DSIDELIGHT_HOSTS={DEBIAN[0]}", "-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON",
            "-DBUILD_TESTING=ON",
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("zlib1g-dev", ended.stderr)
        self.assertIn("absolute_sums.c", commands)
        for program in ("lu/lu_blocking", "search/search_get", "bench/transactions"):
            self.assertNotIn(f"/{program}.c\"", commands)

    def test_googletest(self):
        ended, commands = configure(
            "-DSIDELIGHT_HOSTS=none", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DBUILD_TESTING=ON"
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("libgtest-dev", ended.stderr)
        self.assertNotIn("tests/unit", commands)

    def test_who_runs_make_is_told_what_is_missing(self):
        nothing = shutil.which("true")  # in the place of Python it finds no host
        for options, said in (
            (("-DSIDELIGHT_HOSTS=none", "-DSIDELIGHT_UCX_INCLUDE="), "libucx-dev"),
            ((f"-DSIDELIGHT_PYTHON={nothing}",), "MPICC=/path/to/mpicc"),
        ):
            ended, _ = configure("--log-level=WARNING", *options)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn(said, ended.stderr)


class Hosts(unittest.TestCase):
    def test_names_that_are_none_are_refused(self):
        for names, refused in (("mpich4,openmpi4",) * 2, ("lam", "lam"), ("all;lam", "all;lam")):
            ended, _ = configure(f"-DSIDELIGHT_HOSTS={names}")
            said = " ".join(ended.stderr.split())
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn(f"SIDELIGHT_HOSTS names {refused}", said)
            self.assertIn("separated by ;", said)

    @unittest.skipUnless(OPEN_MPI, "Debian's Open MPI is not installed")
    def test_a_header_in_a_folder_that_the_compiler_does_not_name(self):
        line = versions.of_compiler(OPEN_MPI.mpicc).line
        shown = subprocess.check_output([OPEN_MPI.mpicc, "-show"], text=True)
        folders = re.findall(r"-I(\S+)", shown)
        with tempfile.TemporaryDirectory() as place:
            mpicc = Path(place) / "mpicc"
            script = WITHOUT_FOLDERS.format(mpicc=OPEN_MPI.mpicc, libraries=OPEN_MPI.libmpi.parent)
            mpicc.write_text(script)
            mpicc.chmod(0o755)
            ended, weak = configure(
                f"-DSIDELIGHT_MPICC={mpicc}", file=f"{line}/weak_symbols.h", CPATH=":".join(folders)
            )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("#pragma weak ompi_mpi_comm_world\n", weak)

    @unittest.skipUnless(OPEN_MPI, "Debian's Open MPI is not installed")
    def test_a_compiler_that_is_named_without_its_folder_stays_the_same(self):
        with tempfile.TemporaryDirectory() as place:
            mpicc = Path(place) / "mpicc"
            libraries = OPEN_MPI.libmpi.parent
            mpicc.write_text(f'#!/bin/sh\nexec {OPEN_MPI.mpicc} "$@" -L{libraries}\n')
            mpicc.chmod(0o755)
            ended, cache = configure(
                "-DSIDELIGHT_MPICC=mpicc",
                file="CMakeCache.txt",
                PATH=f"{place}:{os.environ['PATH']}",
            )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn(f"SIDELIGHT_MPICC:STRING={mpicc}\n", cache)


class Tools(unittest.TestCase):
    """Those that are there, and do not do."""

    def said(self, script, option, *options):
        with tempfile.TemporaryDirectory() as place:
            program = Path(place) / "program"
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
            ended, _ = configure(f"-D{option}={program}", *options)
        self.assertNotEqual(ended.returncode, 0)
        return " ".join(ended.stderr.split())

    def test_an_old_python(self):
        said = self.said("exit 1", "SIDELIGHT_PYTHON")
        self.assertIn("program is no Python of version 3.10 or later", said)

    @unittest.skipUnless(DEBIAN, "no host of Debian is installed")
    def test_a_compiler_without_its_library_to_be_linked_into_another(self):
        said = self.said(
            'case "$*" in *-static-libstdc++*) exit 1 ;; esac; exec g++ "$@"',
            "CMAKE_CXX_COMPILER", f"-DSIDELIGHT_HOSTS={DEBIAN[0]}",
        )
        self.assertIn("the package libstdc++-static", said)


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
