# SPDX-License-Identifier: BSD-3-Clause
"""Which libraries of a program must stay ahead of Sidelight, out of libraries made here."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import support
from sidelight_lib import hosts, profilers

PUT = "int MPI_Put(void) { return PMPI_Put(); }\n"
SEND = "int MPI_Send(void) { return PMPI_Send(); }\n"
SOURCES = {
    "mpi": "int PMPI_Put(void) { return 0; } int PMPI_Send(void) { return 0; }\n"
    "int MPI_Put(void) { return 0; } int MPI_Send(void) { return 0; }\n",
    "sidelight": "int PMPI_Put(void) { return 0; }\nint MPI_Put(void) { return 0; }\n",
    "tool": "int PMPI_Put(void);\n" + PUT,
    "other_tool": "int PMPI_Send(void);\n" + SEND,
    "sanitizer": "void __asan_init(void) {}\n",
    "mpiseq": "int MPI_Put(void) { return 1; }\n",
    "user": "int MPI_Put(void);\nint user(void) { return MPI_Put(); }\n",
}
MAIN = "int MPI_Put(void); int MPI_Send(void); int user(void);\n"
MAIN += "int main(void) { return MPI_Put() + MPI_Send() + user(); }\n"


class Linked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        for name, text in SOURCES.items():
            self.compile(text, name, ["-shared", "-fPIC", "-o", self.library(name)])

    def library(self, name):
        return self.place / f"lib{name}.so"

    def compile(self, text, name, arguments):
        source = self.place / f"{name}.c"
        source.write_text(text)
        subprocess.run(["cc", source, *arguments], check=True)

    def tools(self, *libraries):
        return profilers.linked_to([self.program(*libraries)], [self.library("sidelight")])

    def program(self, *libraries):
        program = self.place / "-".join(libraries)
        linked = [self.library(name) for name in libraries]
        self.compile(MAIN, "main", ["-o", program, "-Wl,--no-as-needed", *linked])
        return program

    def test_a_program_without_tools(self):
        self.assertEqual(self.tools("user", "mpi"), [])

    def test_a_tool_is_found(self):
        self.assertEqual(self.tools("user", "tool", "mpi"), [self.library("tool")])

    def test_a_tool_for_other_calls_is_not_hidden(self):
        self.assertEqual(self.tools("user", "other_tool", "mpi"), [])

    def test_what_stands_in_for_mpi_behind_it_is_no_tool(self):
        self.assertEqual(self.tools("user", "tool", "mpi", "mpiseq"), [self.library("tool")])
        self.assertEqual(self.tools("user", "mpiseq", "mpi"), [self.library("mpiseq")])

    def test_behind_an_mpi_that_the_loader_does_not_find(self):
        listing = (
            f"\tlibtool.so => {self.library('tool')} (0x1)\n\tlibmpi.so.40 => not found\n"
            f"\tlibmpiseq.so => {self.library('mpiseq')} (0x2)\n"
        )
        with mock.patch.object(hosts, "ldd", return_value=listing):
            found = profilers.linked_to(["true"], [self.library("sidelight")])
        self.assertEqual(found, [self.library("tool")])

    def test_the_library_itself_is_no_tool(self):
        found = self.tools("user", "tool", "sidelight", "mpi")
        self.assertEqual(found, [self.library("tool")])

    def test_a_sanitizer_comes_first(self):
        found = self.tools("user", "tool", "sanitizer", "mpi")
        self.assertEqual(found, [self.library("sanitizer"), self.library("tool")])

    def test_scripts_and_missing_programs_have_none(self):
        script = self.place / "script"
        script.write_text("#!/bin/sh\n")
        os.chmod(script, 0o755)
        programs = [script, self.place / "missing"]
        self.assertEqual(profilers.linked_to(programs, [self.library("sidelight")]), [])

    def test_each_program_of_a_job(self):
        programs = [
            self.program("user", "mpi"),
            self.program("user", "tool", "mpi"),
            self.program("user", "tool", "sanitizer", "mpi"),
        ]
        found = profilers.linked_to(programs, [self.library("sidelight")])
        self.assertEqual(found, [self.library("sanitizer"), self.library("tool")])

    def test_sidelight_run_finds_them_with_and_without_the_name_of_the_host(self):
        """The library of a host that is installed is any library here: nothing is run."""
        host = next(iter(hosts.all()), None)
        if host is None:
            self.skipTest("no host is installed")
        program = self.linked_to_the_host(host)
        build = self.place / "build"
        (build / host.name).mkdir(parents=True)
        shutil.copy(self.library("sidelight"), build / host.name / "libsidelight.so")
        variables = {"SIDELIGHT_BUILD_DIR": str(build)}
        for named in ([], ["--host", host.name]):
            for words in (["env", program], ["true", ":", "-n", "1", program, ":", program]):
                with self.subTest(named=named, words=words):
                    command = [sys.executable, support.ROOT / "tools/sidelight", "run",
                               "--dry-run", *named, *words]
                    ended = subprocess.run(command, env=os.environ | variables, text=True,
                                           capture_output=True, check=False)
                    self.assertEqual(ended.returncode, 0, ended.stderr)
                    (preloaded,) = set(re.findall(r"LD_PRELOAD[= ](\S+)", ended.stdout))
                    self.assertEqual(preloaded.split(":")[0], str(self.library("tool")))
                    self.assertEqual(preloaded.count("libtool.so"), 1)

    def linked_to_the_host(self, host):
        """By the name that the loader looks for, as compilers of MPI link."""
        program = self.place / "of-the-host"
        main = "int MPI_Put(void); int main(void) { return MPI_Put(); }\n"
        options = "-Wl,--no-as-needed,--allow-shlib-undefined"
        self.compile(main, "main", ["-o", program, options, self.library("tool"), host.libmpi,
                                    f"-Wl,-rpath,{host.libmpi.parent}"])
        return program


if __name__ == "__main__":
    support.main()
