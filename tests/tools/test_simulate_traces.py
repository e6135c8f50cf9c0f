# SPDX-License-Identifier: BSD-3-Clause
"""Traces of simulated runs: where they are written, what is in them, and that a report of one says
what another run shows."""

import contextlib
import io
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import support
from simulate_options import parse
from sidelight_lib import simulate, simulate_lu, simulations
from sidelight_lib.hosts import HostError
from sidelight_lib.traces import files, findings, matching, patterns, perfetto, reader

_NETWORK = simulations.NETWORKS / "qdr-infiniband.txt"


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "traces"


class Options(Folder):
    """What the program is told."""

    def traced(self, measure, *words):
        told = []

        def run(options):
            told.extend(options[number + 1] for number, word in enumerate(options)
                        if word == "--trace")
            return json.dumps({"milliseconds": 1.0, "share": 1.0, "messages": 1, "rate": 1.0,
                               "pending": 1})

        measure(parse(*words, "--json"), run)
        return [str(Path(each).relative_to(self.folder)) for each in told]

    def test_each_run_has_a_folder(self):
        names = self.traced(simulate_lu.measure, "lu", "--ranks", "4,8", "--ways",
                            "standard,nonblocking", "--trace", self.folder)
        expected = ["4-standard", "4-nonblocking", "8-standard", "8-nonblocking"]
        self.assertEqual(sorted(names), sorted(expected))
        self.assertTrue(all((self.folder / name).is_dir() for name in expected))
        names = self.traced(simulate.measure, "transactions", "--ranks", "4", "--trace",
                            self.folder / "below")
        expected = [f"below/4-{way}" for way in ("standard", "nonblocking", "with-key")]
        self.assertEqual(names, expected)

    def test_matrices_of_several_sizes(self):
        names = self.traced(simulate_lu.measure, "lu", "--ranks", "4", "--rows", "16,32", "--ways",
                            "lazy", "--trace", self.folder)
        self.assertEqual(sorted(names), ["16-4-lazy", "32-4-lazy"])

    def test_nothing_is_traced_unasked(self):
        self.assertEqual(self.traced(simulate_lu.measure, "lu", "--ranks", "4"), [])
        self.assertEqual(self.traced(simulate.measure, "transactions", "--ranks", "4"), [])

    def test_a_folder_with_a_trace(self):
        """Is refused before anything is run, or another folder made."""
        (self.folder / "8-lazy").mkdir(parents=True)
        (self.folder / "8-lazy" / "rank-00000.trace").touch()
        with self.assertRaisesRegex(HostError, "8-lazy: there is a trace in it"):
            self.traced(simulate_lu.measure, "lu", "--ranks", "4,8", "--trace", self.folder)
        self.assertFalse((self.folder / "4-lazy").exists())

    def test_how_to_look_at_them(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            traced = parse("lu", "--trace", "dir")
            simulations.show_traces(traced, ["4-standard", "4-nonblocking"], "standard")
            simulations.show_traces(traced, ["8-lazy"], "standard")
        self.assertIn("4-standard, 4-nonblocking", said.getvalue())
        self.assertIn("sidelight report dir/4-standard", said.getvalue())
        self.assertIn("sidelight report dir/8-lazy", said.getvalue())


@unittest.skipUnless(simulations.program().exists(), "not built")
class Program(Folder):
    def run_lu(self, ranks, rows, way, *options):
        words = ["lu", "--ranks", ranks, "--rows", rows, "--way", way, *options, _NETWORK]
        return json.loads(simulations.run([str(word) for word in words]))

    def run_transactions(self, *options):
        words = ["--ranks", 16, "--transactions", 40, *options, _NETWORK]
        return json.loads(simulations.run([str(word) for word in words]))

    def lu(self, ranks, rows, way):
        """What its trace says."""
        self.run_lu(ranks, rows, way, "--trace", self.folder)
        return reader.load(self.folder)

    def check_whole(self, job, ranks):
        """Nothing is missing."""
        self.assertEqual(list(job.ranks), list(range(ranks)))
        self.assertEqual([rank.node for rank in job.ranks.values()],
                         [f"node{rank // 8}" for rank in range(ranks)])
        (window,) = job.windows
        self.assertEqual(window.members, {rank: rank for rank in range(ranks)})
        for rank in job.ranks.values():
            for epoch in rank.epochs:
                times = (epoch.opened, epoch.activated, epoch.closed, epoch.completed)
                self.assertNotIn(None, times)
                self.assertIsNotNone(epoch.opening)
                self.assertIsNotNone(epoch.closing)
            for call, following in zip(rank.calls, rank.calls[1:]):
                self.assertLessEqual(call.leave, following.enter)
            self.assertEqual(rank.calls[-1].name, "free")
            self.assertIsNotNone(rank.calls[-1].leave)

    def test_lu(self):
        for way in simulate_lu.WAYS:
            with self.subTest(way=way):
                job = self.lu(12, 50, way)
                self.check_whole(job, 12)
                self.check_rows(job, 12, 50, way)
                shutil.rmtree(self.folder)

    def check_rows(self, job, ranks, rows, way):
        """Each row has an epoch, and is read by all that own a later one."""
        readers = [min(rows - 1 - row, ranks - 1) for row in range(rows)]
        met = matching.meetings(job)
        self.assertEqual(sorted(len(each) for each in met.of_access.values()),
                         sorted(filter(None, readers)))
        self.assertEqual([len(each) for each in met.of_exposure.values()], [1] * sum(readers))
        nonblocking = way == simulate_lu.NONBLOCKING
        for epoch in met.of_access:
            self.assertEqual((epoch.opening.name, epoch.closing.name), ("start", "complete"))
            self.assertEqual(epoch.closing.nonblocking, nonblocking)
            self.assertEqual(nonblocking or epoch.completed <= epoch.closing.leave, True)
        for epoch in met.of_exposure:
            self.assertEqual((epoch.opening.name, epoch.closing.name), ("post", "wait"))
            self.assertEqual(epoch.closing.nonblocking, nonblocking)

    def test_transactions(self):
        for options in (("--pending", 1), ("--pending", 8), ("--key",)):
            with self.subTest(options=options):
                self.run_transactions(*options, "--trace", self.folder)
                job = reader.load(self.folder)
                self.check_whole(job, 16)
                for rank in job.ranks.values():
                    locks = [epoch for epoch in rank.epochs if epoch.kind == "lock"]
                    self.assertEqual(len(locks), 40)
                    self.assertTrue(all(epoch.exclusive for epoch in locks))
                    nonblocking = options != ("--pending", 1)
                    self.assertEqual({epoch.closing.nonblocking for epoch in locks}, {nonblocking})
                    self.assertEqual(len(rank.requests), 40 if nonblocking else 0)
                shutil.rmtree(self.folder)

    def test_a_trace_takes_no_virtual_time(self):
        trace = ("--trace", self.folder)
        for way in simulate_lu.WAYS:
            for ranks in (5, 24):
                self.assertEqual(self.run_lu(ranks, 100, way),
                                 self.run_lu(ranks, 100, way, *trace))
        for options in (("--pending", 1), ("--pending", 8), ("--key",)):
            self.assertEqual(self.run_transactions(*options),
                             self.run_transactions(*options, *trace))

    def test_the_same_seed_is_the_same_trace(self):
        def trace():
            self.run_lu(9, 60, "nonblocking", "--trace", self.folder)
            return [path.read_bytes() for path in sorted(self.folder.glob("*.trace"))]

        def without_addresses(data):
            return [record[:24] if record[8] in (4, 5) else record
                    for record in (data[at : at + 32] for at in range(4096, len(data), 32))]

        first, second = trace(), trace()
        self.assertEqual([without_addresses(each) for each in first],
                         [without_addresses(each) for each in second])

    def test_files_of_several_chunks(self):
        job = self.lu(2, 1200, "standard")
        sizes = [path.stat().st_size for path in self.folder.glob("*.trace")]
        self.assertGreater(min(sizes), files.HEADER_BYTES + files.CHUNK_BYTES)
        self.assertNotEqual((max(sizes) - files.HEADER_BYTES) % files.CHUNK_BYTES, 0)
        self.check_whole(job, 2)
        self.check_rows(job, 2, 1200, "standard")

    def test_the_report_of_standard_calls_predicts_what_nonblocking_ones_win(self):
        """Readers wait for who computes inside its epochs."""
        found = findings.analyse(self.lu(8, 256, "standard"))
        main = next(iter(found.by_pattern()))
        self.assertIn(main, (patterns.LATE_COMPLETE, patterns.LATE_POST))
        standard, nonblocking = (self.run_lu(8, 256, way)["milliseconds"] / 1e3
                                 for way in (simulate_lu.STANDARD, simulate_lu.NONBLOCKING))
        self.assertAlmostEqual(found.recorded / standard, 1, delta=0.01)
        self.assertAlmostEqual(found.replayed / standard, 1, delta=0.02)
        gain = standard - nonblocking
        self.assertAlmostEqual((found.recorded - found.everything) / gain, 1, delta=0.1)

    def test_the_report_of_locks_predicts_what_the_key_wins(self):
        """Which lets each rank have a lock pending at many others."""
        many = ("--ranks", 32, "--transactions", 60)
        standard, with_key = (self.run_transactions(*many, *way)["microseconds"] / 1e6
                              for way in (("--pending", 1), ("--key",)))
        self.run_transactions(*many, "--pending", 1, "--trace", self.folder)
        found = findings.analyse(reader.load(self.folder), ahead=60)
        row = found.rows[0]
        self.assertEqual(row.pattern, patterns.LOCK_CONTENTION)
        self.assertAlmostEqual(row.predictions[0].saved / (standard - with_key), 1, delta=0.3)

    def test_little_is_lost_where_epochs_are_nonblocking(self):
        """They are waited for by MPI_Wait, which the replay knows."""
        found = findings.analyse(self.lu(8, 256, "nonblocking"))
        self.assertLess(sum(found.by_pattern().values()), 0.1 * found.rank_time)
        self.assertEqual({row.call for row in found.rows}, {"request"})
        self.assertAlmostEqual(found.replayed / found.recorded, 1, delta=0.02)
        requests = [each for rank in found.job.ranks.values() for each in rank.requests]
        closing = [call for rank in found.job.ranks.values() for call in rank.calls
                   if call.nonblocking]
        self.assertEqual(len(requests), len(closing))
        self.assertEqual({each.call.name for each in requests}, {"complete", "wait"})

    @unittest.skipIf(shutil.which("addr2line") is None, "no addr2line")
    def test_lines_of_the_program(self):
        found = findings.analyse(self.lu(8, 128, "standard"))
        for line in (found.rows[0].line, found.rows[0].culprit_line):
            self.assertRegex(line, r"^lu\.cpp:\d+ \(.*Worker::")

    def test_other_formats(self):
        written = io.BytesIO()
        perfetto.write(self.lu(8, 64, "nonblocking"), written)
        self.assertGreater(len(written.getvalue()), 10_000)

    def test_a_folder_that_cannot_be_made(self):
        place = self.folder / "below"
        with self.assertRaisesRegex(HostError, re.escape(f"no trace: {place}: No such file")):
            self.run_lu(4, 8, "standard", "--trace", place)


if __name__ == "__main__":
    support.main()
