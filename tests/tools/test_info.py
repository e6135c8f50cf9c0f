# SPDX-License-Identifier: BSD-3-Clause
"""What `sidelight info` reads from libraries."""

import unittest
from pathlib import Path

import support
from sidelight_lib import info, settings
from sidelight_lib.hosts import HostError


class Settings(unittest.TestCase):
    def test_rows_of_the_table(self):
        text = (
            '[{"variable": "SIDELIGHT_SPIN", "default": "100", "value": "7", '
            '"info_key": "sidelight_spin", "meaning": "looks before it sleeps"}]'
        )
        (row,) = settings.parse(text)
        self.assertEqual((row.variable, row.default, row.value), ("SIDELIGHT_SPIN", "100", "7"))
        self.assertEqual(row.info_key, "sidelight_spin")

    def test_what_a_row_does_not_have_is_empty(self):
        text = '[{"variable": "A", "default": 1, "info_key": null, "more": "ignored"}]'
        self.assertEqual(settings.parse(text), [settings.Setting("A", "1", "", "", "")])

    def test_a_library_that_tells_nothing(self):
        with self.assertRaisesRegex(HostError, "make"):
            settings.read(Path("/nowhere/libsidelight.so"))


class Hooks(unittest.TestCase):
    def test_the_best_hook_counts(self):
        every = {"MPIX_Grequest_start", "MPIX_Async_start", "MPI_Put"}
        self.assertEqual(info.progress_hook(every), "MPIX_Async_start")
        self.assertEqual(info.progress_hook({"opal_progress_register"}), "opal_progress_register")
        old = {"MPIX_Grequest_start", "ucp_worker_progress"}
        self.assertEqual(info.progress_hook(old), "ucp_worker_progress")
        self.assertIsNone(info.progress_hook({"MPI_Put"}))

    def test_symbols_of_a_library(self):
        self.assertEqual(info.dynamic_symbols(Path("/nowhere.so")), set())


if __name__ == "__main__":
    support.main()
