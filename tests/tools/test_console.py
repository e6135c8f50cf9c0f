# SPDX-License-Identifier: BSD-3-Clause
"""What `sidelight info` and `sidelight bench` print fits 80 columns where there is no terminal, and
nothing that one would copy is cut in the middle. Skipped without the package rich."""

import contextlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import support
from sidelight_lib import info, latency_table, own_accesses, thread_flush
from sidelight_lib.console import Column, output, tables
from sidelight_lib.interleaved import Measured
from sidelight_lib.latency_lines import ALLOCATED, BARE, UNDER, Sample, lines_for

HOSTS = ("mpich4", "openmpi4", "mpich5", "openmpi5", "impi")
LIBRARY = "/home/somebody/projects/sidelight/build/openmpi4/libsidelight.so"
SETTING = {
    "variable": "SIDELIGHT_EXPOSURE_AFTER_EXPOSURE_REORDER",
    "default": "0",
    "value": "1",
    "info_key": "MPI_WIN_EXPOSURE_AFTER_EXPOSURE_REORDER",
    "meaning": "whether exposure epochs may be active while earlier ones are not complete",
}
FACTS = {
    "hosts": [
        {
            "name": name,
            "origin": "Debian",
            "installed": name != "impi",
            "install": "make impi",
            "version": "4.1.4",
            "hook": "opal_progress_register",
            "progress": info.progress_by("MPIX_Grequest_start", "auto"),
            "library": LIBRARY,
            "built": True,
        }
        for name in HOSTS
    ],
    "network": {"missing": None, "description": "UCX 1.13.1, " + LIBRARY, "address_bytes": 215},
    "memory": [
        {"members": 1_000_000, "on_node": 64, "elsewhere": 16}
        | {"process": 99_999, "lock_all": 376 << 20, "node": 276 << 20}
    ],
    "allocated_private_from": None,
    "settings": [SETTING, SETTING | {"variable": "SIDELIGHT_SHARE_MEMORY", "value": "auto"}],
    "settings_missing": None,
}


def printed(function, *arguments):
    text = io.StringIO()
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    with (
        unittest.mock.patch.dict(os.environ, environment, clear=True),
        contextlib.redirect_stdout(text),
    ):
        function(*arguments)
    return text.getvalue()


def report(window, nodes=1):
    """One in which every line has a figure in every column."""
    columns = [BARE, *HOSTS, *(host + UNDER for host in HOSTS)]
    beside = [host + UNDER + ALLOCATED for host in HOSTS] if window == "dynamic" else []
    samples = [
        Sample(0, column, line.name, {"microseconds": 12345.678})
        for line in lines_for(window, nodes)
        for column in [*columns, *beside]
    ]
    return latency_table.Report(window, columns, 5, nodes, samples=samples)


@unittest.skipIf(importlib.util.find_spec("rich") is None, "python3-rich is not installed")
class Widths(unittest.TestCase):
    def fits(self, text):
        wide = [line for line in text.splitlines() if len(line.rstrip()) > 80]
        self.assertEqual(wide, [])

    def test_info(self):
        text = printed(info._print_tables, FACTS)
        self.fits(text)
        for word in (SETTING["variable"], SETTING["info_key"], "opal_progress_register"):
            self.assertIn(word, text)

    def test_latency_of_every_window(self):
        for window, nodes in (("allocate", 1), ("create", 1), ("dynamic", 1), ("allocate", 2)):
            text = printed(latency_table.print_report, report(window, nodes))
            self.fits(text)
            self.assertNotIn("…", text)
            for host in HOSTS:
                self.assertGreaterEqual(text.count(host), 2)

    def test_own_accesses(self):
        both = {f"{name}_control": 10.0 for name in ("before", "during", "after")}
        figures = both | {"before": 123456.0, "during": 10.0, "after": 10.0, "shared": 1}
        samples = [
            own_accesses.Sample(0, host + UNDER, line, figures)
            for host in HOSTS
            for line in own_accesses.TITLES
        ]
        rows = own_accesses.rows(samples)
        text = printed(own_accesses._print_table, rows, Measured([], samples, [], 5))
        self.fits(text)
        self.assertNotIn("…", text)

    def test_thread_flush(self):
        samples = [
            thread_flush.Sample(0, host + under, line, {"cpu": 12.345, "wall": 1234.567})
            for host in HOSTS
            for under in ("", UNDER)
            for line in thread_flush.LINES
        ]
        text = printed(thread_flush._print_table, Measured([], samples, [], 5), 1048576)
        self.fits(text)
        self.assertNotIn("…", text)

    def test_a_table_is_cut_only_where_it_must_be(self):
        console = output()
        columns = [Column(f"column {number}", ["1", "2"]) for number in range(12)]
        console.width = 200
        self.assertEqual(len(tables(console, "", ["a", "b"], columns)), 1)
        console.width = 40
        self.assertEqual(len(tables(console, "", ["a", "b"], columns)), 4)


class WithoutRich(unittest.TestCase):
    def test_the_demonstration_says_what_to_install(self):
        with tempfile.TemporaryDirectory() as place:
            for file in ("rich.py", "mpich5/bin/mpiexec", "mpich5/lib/libmpi.so.12"):
                path = Path(place) / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            variables = {"PYTHONPATH": place, "SIDELIGHT_HOSTS_DIR": place}
            ended = subprocess.run(
                [sys.executable, str(support.ROOT / "tools/demo"), "--hosts", "mpich5"],
                env=os.environ | variables, capture_output=True, text=True, check=False,
            )
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, "^demo: .*python3-rich")


if __name__ == "__main__":
    support.main()
