# SPDX-License-Identifier: BSD-3-Clause
"""What `make install` puts in its place, used from an empty project."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import made_traces
import support
from sidelight_lib import hosts, records

BUILD = hosts.build_directory()
BUILT = [host for host in hosts.all() if host.library.exists()]

PROGRAM = """
#include <sidelight.h>
int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Request request;
    void *base;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPIX_Win_ilock_all(0, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPIX_Win_iunlock_all(win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
"""

PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(empty C)
find_package(sidelight REQUIRED)
if(NOT "{host}" IN_LIST sidelight_HOSTS)
    message(FATAL_ERROR "{host} is not among ${{sidelight_HOSTS}}")
endif()
add_executable(program program.c)
target_link_libraries(program PRIVATE sidelight::{host})
"""


def run(*command, **options):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, **options
    )
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


@unittest.skipUnless(BUILT, "no library is built")
class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.here = Path(cls.folder.name)
        cls.prefix = cls.here / "prefix"
        run("cmake", "--install", BUILD, "--strip", "--prefix", cls.prefix)
        (cls.here / "program.c").write_text(PROGRAM)
        cls.host = BUILT[0]

    def check_runs(self, program):
        run(
            self.prefix / "bin" / "sidelight", "run", "--host", self.host.name, "-n", "2", program,
            env={k: v for k, v in os.environ.items() if k != "SIDELIGHT_BUILD_DIR"},
        )

    def test_libraries_are_stripped_and_say_what_they_are_for(self):
        place = next(self.prefix.glob("lib*/sidelight"))
        self.assertIn(self.host.name, [record.name for record in records.read(place)])
        library = next(self.prefix.glob(f"lib*/sidelight/{self.host.name}/libsidelight.so"))
        self.assertNotIn(".debug_info", run("readelf", "--sections", "--wide", library))

    def test_command_runs_with_the_python_of_the_build(self):
        cache = (BUILD / "CMakeCache.txt").read_text()
        (python,) = re.findall(r"^SIDELIGHT_PYTHON:\w+=(.*)$", cache, re.MULTILINE)
        command = (self.prefix / "bin" / "sidelight").read_text()
        self.assertEqual(command.splitlines()[0], f"#!{python}")
        source = (support.ROOT / "tools" / "sidelight").read_text()
        self.assertEqual(command.splitlines()[1:], source.splitlines()[1:])

    def test_programs_in_python_find_the_module(self):
        shown = run(
            self.prefix / "bin" / "sidelight", "run", "--host", self.host.name, "--dry-run",
            "python3", "program.py",
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        )
        (place,) = re.findall(r"PYTHONPATH[= ]([^ ]+)", shown)
        self.assertTrue((Path(place) / "sidelight" / "window.py").exists(), place)
        self.assertIn(str(self.prefix.resolve()), str(Path(place).resolve()))

    def test_report(self):
        """The page is made of files beside the Python modules."""
        trace, page = self.here / "trace", self.here / "page.html"
        trace.mkdir()
        made_traces.ring(2, 3).write(trace)
        run(self.prefix / "bin" / "sidelight", "report", trace, "-o", page)
        self.assertIn("const DATA = {", page.read_text())

    def test_pkg_config(self):
        place = next(self.prefix.glob("lib*/pkgconfig"))
        flags = run(
            "pkg-config", "--cflags", "--libs", f"sidelight-{self.host.name}",
            env=os.environ | {"PKG_CONFIG_PATH": str(place)},
        )
        program = self.here / "by-pkg-config"
        run(self.host.mpicc, self.here / "program.c", "-o", program, *flags.split())
        self.assertIn(str(self.prefix.resolve()), run("ldd", program))
        self.check_runs(program)

    def test_cmake_package(self):
        source = self.here / "project"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(PROJECT.format(host=self.host.name))
        (source / "program.c").write_text(PROGRAM)
        build = self.here / "build"
        run(
            "cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_C_COMPILER={self.host.mpicc}",
        )
        run("cmake", "--build", build)
        self.check_runs(build / "program")


class Make(unittest.TestCase):
    def made(self, *words, target="install"):
        """What make would run where the build is for an MPI and with a Python of the user's own."""
        with tempfile.TemporaryDirectory() as place:
            cache = Path(place) / "build" / "CMakeCache.txt"
            cache.parent.mkdir()
            cache.write_text(
                "SIDELIGHT_MPICC:STRING=/own/mpicc\nSIDELIGHT_PYTHON:FILEPATH=/own/python3\n"
            )
            return run(
                "make", "-n", "-C", place, "-f", support.ROOT / "Makefile", target, *words,
                env={name: value for name, value in os.environ.items()
                     if name not in ("MPICC", "SIDELIGHT_PYTHON", "MAKEFLAGS")},
            )

    def test_it_stays_with_the_mpi_that_make_was_told_of(self):
        self.assertIn('-DSIDELIGHT_MPICC="/own/mpicc"', self.made())
        self.assertIn("setup --own-mpi", self.made())
        self.assertIn('-DSIDELIGHT_MPICC="/another/mpicc"', self.made("MPICC=/another/mpicc"))

    def test_until_it_is_told_of_none(self):
        self.assertIn('-DSIDELIGHT_MPICC=""', self.made("MPICC="))
        self.assertNotIn("--own-mpi", self.made("MPICC="))

    def test_what_it_runs_has_the_python_of_the_build(self):
        for target, script in (
            ("demo", "tools/demo "),
            ("demo-search", "tools/demo_search "),
            ("demo-nwchem", "tools/demo_nwchem "),
            ("bench", "tools/sidelight "),
            ("by-case", "tests/by_case/limits "),
            ("conformance", "tests/conformance/page "),
        ):
            self.assertIn(f"/own/python3 {script}", self.made(target=target))
            named = self.made("SIDELIGHT_PYTHON=/another/python3", target=target)
            self.assertIn(f"/another/python3 {script}", named)


class Places(unittest.TestCase):
    """Other folders than usual, without any library: nothing has to be built."""

    def configure(self, here, libraries):
        return subprocess.run(
            ["cmake", "-S", support.ROOT, "-B", here / "build", "-DBUILD_TESTING=OFF",
             "-DSIDELIGHT_HOSTS=none", f"-DCMAKE_INSTALL_PREFIX={here}/prefix",
             f"-DCMAKE_INSTALL_LIBDIR={libraries}", "-DCMAKE_INSTALL_BINDIR=mpi/bin"],
            capture_output=True, text=True, check=False,
        )

    def test_folders_that_are_named_in_full(self):
        with tempfile.TemporaryDirectory() as place:
            here = Path(place)
            ended = self.configure(here, here / "prefix/lib/deep")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            run("cmake", "--install", here / "build")
            command = here / "prefix/mpi/bin/sidelight"
            self.assertIn(str(command), (here / "build/install_manifest.txt").read_text().split())
            (here / "prefix").rename(here / "moved")
            run(here / "moved/mpi/bin/sidelight", "--version")
            path = here / "moved/lib/deep/pkgconfig"
            flags = run("pkg-config", "--cflags", "sidelight",
                        env=os.environ | {"PKG_CONFIG_PATH": str(path)})
            self.assertTrue(Path(flags.strip().removeprefix("-I"), "sidelight.h").exists(), flags)

    def test_folders_elsewhere_are_refused(self):
        with tempfile.TemporaryDirectory() as place:
            ended = self.configure(Path(place), "/elsewhere/lib")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("CMAKE_INSTALL_LIBDIR is /elsewhere/lib", " ".join(ended.stderr.split()))


if __name__ == "__main__":
    support.main()
