# SPDX-License-Identifier: BSD-3-Clause
"""Which libraries of a program must stay ahead of Sidelight, out of libraries made here."""

import os
import subprocess
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
        program = self.place / "program"
        linked = [self.library(name) for name in libraries]
        self.compile(MAIN, "main", ["-o", program, "-Wl,--no-as-needed", *linked])
        return profilers.linked_to(program, [self.library("sidelight")])

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
            found = profilers.linked_to("true", [self.library("sidelight")])
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
        for program in (script, self.place / "missing"):
            self.assertEqual(profilers.linked_to(program, [self.library("sidelight")]), [])


if __name__ == "__main__":
    support.main()
