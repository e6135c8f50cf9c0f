# SPDX-License-Identifier: BSD-3-Clause
"""What `sidelight info` reads from libraries."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import support
from sidelight_lib import hosts, info, library, settings
from sidelight_lib.hosts import HostError

BUILT = [host.library for host in hosts.known() if host.library.exists()]


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

    def test_who_makes_progress(self):
        by = info.progress_by
        for hook in info.OF_EVERY_CALL:
            self.assertEqual(by(hook, "auto"), "every MPI call that waits")
            self.assertEqual(by(hook, "thread"), "a thread")
        self.assertIn("thread where messages", by("MPIX_Grequest_start", "auto"))
        self.assertEqual(by(None, "calls"), "one-sided calls alone")

    def test_they_are_found_where_no_readelf_is(self):
        with tempfile.TemporaryDirectory() as place:
            made = Path(place) / "libmpi.so"
            source = "void ucp_worker_progress(void);\nvoid wait(void) { ucp_worker_progress(); }\n"
            command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(made)]
            subprocess.run(command, input=source, text=True, check=True)
            host = hosts.own("mpich-4.2", "mpich-4.2", made, made, made)
            with (
                mock.patch.dict(os.environ, {"PATH": "/nowhere"}),
                mock.patch.object(hosts, "known", return_value=[host]),
                mock.patch.object(hosts, "built", return_value=[]),
            ):
                (row,) = info.collect()["hosts"]
        self.assertEqual(row["hook"], "ucp_worker_progress")


class Version(unittest.TestCase):
    def test_a_launcher_that_cannot_be_executed(self):
        nowhere = Path("/nowhere")
        for launcher in (Path(__file__).parent, nowhere):
            host = hosts.own("mpich-4.2", "mpich-4.2", launcher, nowhere, nowhere)
            self.assertIsNone(info.host_version(host))


class Network(unittest.TestCase):
    def test_one_that_is_there(self):
        found = library.parse_network('UCX WARN\n[41, "UCX 1.13.1"]\n', "something else\n")
        self.assertEqual(found, library.Network("UCX 1.13.1", 41, None))
        line = info.network_line(found.as_dict())
        self.assertIn("UCX 1.13.1", line)
        self.assertIn("41 B", line)

    def test_what_to_install(self):
        gone = "sidelight[7] error: cannot load UCX: libucp.so.0: cannot open shared object file\n"
        found = library.parse_network('[0, ""]', gone)
        self.assertIsNone(found.description)
        self.assertRegex(found.missing, "^cannot load UCX.*libucx0")
        self.assertRegex(info.network_line(found.as_dict()), "^none.*libucx0")
        bare = "sidelight[7] error: no network: this library was built without UCX's headers\n"
        self.assertIn("libucx-dev", library.parse_network('[0, ""]', bare).missing)

    def test_a_library_that_cannot_be_asked(self):
        self.assertIn("make", library.network(Path("/nowhere/libsidelight.so")).missing)


class OwnMemory(unittest.TestCase):
    @unittest.skipUnless(BUILT, "no library is built")
    def test_the_library_knows(self):
        self.assertGreaterEqual(library.allocated_private_from(BUILT[0]), 0)

    def test_in_a_sentence(self):
        self.assertIn("SHARE_MEMORY", info.own_memory_line("never", 0))
        self.assertIn("below 2.1 MB", info.own_memory_line("auto", 2 << 20))
        self.assertNotIn("below", info.own_memory_line("auto", 0))
        self.assertNotIn("below", info.own_memory_line("always", 2 << 20))
        self.assertIn("whole pages", info.own_memory_line("inplace", 2 << 20))


class Memory(unittest.TestCase):
    def test_bytes_in_words(self):
        said = [library.in_words(count) for count in (0, 999, 1000, 123_456, 56e6, 2.5e12)]
        self.assertEqual(said, ["0 B", "999 B", "1.0 KB", "123 KB", "56.0 MB", "2500 GB"])

    @unittest.skipUnless(BUILT, "no library is built")
    def test_what_windows_take(self):
        rows = library.memory(BUILT[0], address_bytes=100)
        self.assertEqual([row["members"] for row in rows], [2, 64, 4096, 1_000_000])
        for row in rows:
            self.assertEqual(row["node"], row["member_table"] + row["controls"] + row["barrier"])
            self.assertGreater(row["process"], 0)
        alone, node, some, many = rows
        self.assertEqual((alone["member_table"], node["member_table"]), (0, 0))
        self.assertGreaterEqual(many["member_table"], 1_000_000 * (100 + 32))
        # It pays for those that it meets, a page at most in each of three tables.
        self.assertLess(many["process"], node["process"] + (3 * 16 + 1) * 4096)
        self.assertLess(many["process"] - some["process"], 16 * 4096)
        self.assertGreater(many["lock_all"], 200 * some["lock_all"])
        self.assertGreater(many["process_addresses"], many["process"])

    @unittest.skipUnless(BUILT, "no library is built")
    def test_longer_addresses(self):
        short, long = (library.memory(BUILT[0], size)[3] for size in (100, 300))
        self.assertEqual(long["member_table"] - short["member_table"], 200 * 1_000_000)
        self.assertEqual(long["process"], short["process"])


if __name__ == "__main__":
    support.main()
