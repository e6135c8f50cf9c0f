# SPDX-License-Identifier: BSD-3-Clause
"""What is read from the table of dynamic symbols of a library made here."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import support
from sidelight_lib import symbols

SOURCE = "int PMPI_Put(void);\nint MPI_Put(void) { return PMPI_Put(); }\n"


class Symbols(unittest.TestCase):
    def test_what_a_library_defines_and_what_it_takes(self):
        with tempfile.TemporaryDirectory() as place:
            source, made = Path(place) / "tool.c", Path(place) / "libtool.so"
            source.write_text(SOURCE)
            subprocess.run(["cc", "-shared", "-fPIC", source, "-o", made], check=True)
            exported, dynamic = symbols.exported(made), symbols.dynamic(made)
            for no_library in (source, Path(place), Path(place) / "missing.so"):
                self.assertEqual(symbols.dynamic(no_library), set())
        self.assertIn("MPI_Put", exported)
        self.assertNotIn("PMPI_Put", exported)
        self.assertLessEqual({"MPI_Put", "PMPI_Put"}, dynamic)


if __name__ == "__main__":
    support.main()
