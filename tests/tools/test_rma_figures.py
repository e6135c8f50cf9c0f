# SPDX-License-Identifier: BSD-3-Clause
"""The papers' figures of dynamic windows, progress, local completion and pipelines: what the
programs print is what is shown, and what is said of it."""

import contextlib
import importlib.util
import io
import re
import tempfile
import unittest
import unittest.mock
from argparse import Namespace
from pathlib import Path

import support
from sidelight_lib import (
    by_size,
    flush_local,
    get_compute_put,
    hosts,
    interleaved,
    late_target,
    memhandle,
    notify,
    one_sided_progress,
    ordered_put,
    routes,
    series,
    sizes,
    thread_flush,
    undelayed,
    window_kinds,
)
from sidelight_lib.interleaved import ALONE, STANDARD, Column, Measured, Sample
from sidelight_lib.latency_lines import UNDER
from sidelight_lib.series import Row


def source(program):
    return (support.ROOT / "bench" / f"{program}.c").read_text()


def names(text, array):
    """The strings of an array of the program."""
    (listed,) = re.findall(rf"\b{array}\[\w*\] = \{{(.*?)\}}", text, re.S)
    return re.findall(r'"(\w+)"', listed)


def row(line, under=True, **figures):
    return Row(line, "a" + (UNDER if under else ""), figures, {})


def measured(lines, figures):
    """One round of the lines on a host alone and under Sidelight."""
    host = hosts.own("mpich-9.9", "a", Path("mpiexec"), Path("mpicc"), Path("libmpi.so"))
    columns = [Column(host, each) for each in (ALONE, STANDARD)]
    samples = [Sample(0, column.name, line, figures) for line in lines for column in columns]
    return Measured(columns, samples, [], 1)


class Sizes(unittest.TestCase):
    def test_titles(self):
        found = [sizes.title(size) for size in (8, 512, 4096, 65536, 1 << 20, 4 << 20)]
        self.assertEqual(found, ["8 B", "512 B", "4 KB", "64 KB", "1 MB", "4 MB"])
        self.assertEqual(sizes.titles("put_", [8]), {"put_8": "8 B"})
        self.assertEqual(sizes.places("put_", [8]), {"put_8": 8.0})


class Programs(unittest.TestCase):
    """The lines and figures of the C programs and of the tables are the same."""

    def test_window_kinds(self):
        text = source("window_kinds")
        self.assertEqual(names(text, "figures"), list(window_kinds.KINDS))
        self.assertEqual(names(text, "whats"), list(window_kinds.WHATS))
        self.assertIn("bytes = 8; bytes <= LARGEST; bytes *= 8", text)
        self.assertIn("LARGEST = 4 << 20", text)
        expected = [8 * 8**k for k in range(7)] + [4 << 20]
        self.assertEqual(list(window_kinds.SIZES), expected)

    def test_flush_local(self):
        text = source("flush_local")
        self.assertEqual(names(text, "figures"), list(flush_local.HOWS))
        (listed,) = re.findall(r"sizes\[\] = \{(.*?)\}", text)
        terms = [
            [int(term) for term in size.replace("LARGEST", "1 << 20").split("<<")]
            for size in listed.split(",")
        ]
        self.assertEqual([term[0] << sum(term[1:]) for term in terms], list(flush_local.SIZES))

    def test_get_compute_put(self):
        text = source("get_compute_put")
        self.assertEqual(
            names(text, "figures"), [*get_compute_put.SHOWN.figures, "computing", "copying"]
        )
        self.assertIn("bytes = 16 << 10; bytes <= LARGEST; bytes *= 4", text)
        self.assertEqual(list(get_compute_put.SIZES), [16384 * 4**k for k in range(5)])

    def test_late_target(self):
        text = source("progress")
        self.assertEqual(names(text, "figures"), list(late_target.SHOWN.figures))
        self.assertEqual(names(text, "lines"), list(late_target.MILLISECONDS))

    def test_undelayed(self):
        text = source("undelayed")
        self.assertEqual(names(text, "figures"), list(undelayed.SHOWN.figures))
        (listed,) = re.findall(r"sizes\[\] = \{(.*?)\}", text)
        terms = [[int(term) for term in size.split("<<")] for size in listed.split(",")]
        self.assertEqual([term[0] << sum(term[1:]) for term in terms], list(undelayed.SIZES))
        places = [f"{op}_{size}" for op in names(text, "operations") for size in undelayed.SIZES]
        self.assertEqual(places, list(undelayed.LINES))

    def test_one_sided_progress(self):
        text = source("one_sided_progress")
        self.assertEqual(names(text, "figures"), list(one_sided_progress.SHOWN.figures))
        self.assertIn('dynamic ? "dynamic" : "allocated"', text)
        self.assertIn(f"MICROSECONDS_FOR_EACH = {one_sided_progress.NO_PROGRESS:.0f}", text)


class Notes(unittest.TestCase):
    def test_dynamic_windows_that_are_slower_are_named(self):
        good = row("put_latency_8", allocated=1.0, dynamic=1.09)
        slow = row("get_latency_4096", allocated=1.0, dynamic=1.5)
        alone = row("put_latency_8", under=False, allocated=1.0, dynamic=3.0)
        bandwidth = row("put_bandwidth_8", allocated=1.0, dynamic=3.0)
        (said,) = window_kinds.notes([good, slow, alone, bandwidth])
        self.assertIn("get of 4 KB takes 1.50", said)

    def test_local_completion_with_and_without_the_calls(self):
        figures = {"unlock": 2.0, "flush": 1.0, "flush_local": 0.3, "nothing": 0.2}
        (said,) = flush_local.notes([row("put_8", **figures), row("put_64", **figures)])
        self.assertIn("takes 0.30 of flush", said)
        self.assertIn("without it 0.12", said)
        self.assertIn("0.50 of lock and unlock", said)

    def test_what_is_waited_for_is_a_slope(self):
        waits = [row("1", put=1500.0, get=520.0), row("5", put=5500.0, get=524.0)]
        (said,) = late_target.notes(waits)
        self.assertIn("put 100.0%", said)
        self.assertIn("get 0.1%", said)

    def test_what_takes_longer_than_on_the_host_is_named(self):
        host = {"gats": 2.0, "fence": 2.0, "lock": 2.0}
        ours = {"gats": 1.0, "fence": 2.05, "lock": 2.2}
        found = [row("put_8", under=False, **host), row("put_8", **ours)]
        (said,) = undelayed.notes(found)
        self.assertEqual(said, "a: put, 8 B, lock: 1.10 of the host alone")

    def test_no_progress_is_said(self):
        good = row("allocated", waits=1.0, computes=1.1)
        stuck = row("dynamic", under=False, waits=1.0, computes=31.0)
        (said,) = one_sided_progress.notes([good, stuck])
        self.assertEqual(
            said, "a, alone: no progress on the dynamic window while the target computes"
        )

    def test_pipelines_are_held_against_the_longer_part_and_locks(self):
        largest = str(get_compute_put.SIZES[-1])
        figures = {"none": 200.0, "lock": 150.0, "requests": 105.0}
        found = [
            row(largest, **figures, computing=100.0, copying=90.0),
            row(largest, **figures, computing=50.0, copying=84.0),
            row("16384", **figures, computing=100.0, copying=90.0),
        ]
        with unittest.mock.patch.dict("os.environ", {"SIDELIGHT_ROUTE": "emulated"}):
            route, first, second = get_compute_put.notes_for(1)(found)
        self.assertIn("messages", route)
        self.assertIn("1.05 of the longer", first)
        self.assertIn("0.70 of lock-unlock", first)
        self.assertIn("1.25 of the longer", second)

    def test_routes(self):
        self.assertIn("mapped", routes.describe(1, {}))
        self.assertIn("messages", routes.describe(2, {}))
        self.assertIn("UCX", routes.describe(2, {"SIDELIGHT_ROUTE": "native"}))


class Panels(unittest.TestCase):
    def test_figures_are_the_curves_of_each_series(self):
        shown = flush_local.shown("put")
        found = measured(shown.lines, {"unlock": 4.0, "flush": 2.0, "flush_local": 1.0})
        alone, under = series.panels(found, shown)
        self.assertEqual((alone.title, under.title), ("a, alone", "a, sidelight"))
        self.assertEqual(under.series["flush"][0], (8.0, 2.0))
        self.assertEqual(under.series["nothing"], [])

    def test_what_is_optimal_is_drawn(self):
        shown = get_compute_put.SHOWN
        figures = {"none": 9.0, "lock": 8.0, "requests": 7.0, "computing": 6.0, "copying": 5.0}
        panel = series.panels(measured(shown.lines, figures), shown)[1]
        self.assertEqual(panel.expected["optimal"][0], (16384.0, 6.0))

    def test_of_threads_and_of_order(self):
        found = measured(thread_flush.LINES, {"cpu": 1.0, "wall": 2.0})
        panel = thread_flush.panels(found)[1]
        self.assertEqual(panel.title, "a, sidelight")
        self.assertEqual(panel.series["thread scope"][3], (8.0, 1.0))
        self.assertEqual(panel.series["ordered"][5], (32.0, 1.0))
        lines = [f"{how}_{size}" for how in ordered_put.HOWS for size in by_size.SIZES]
        panel = ordered_put.panels(measured(lines, {"microseconds": 3.0}))[0]
        self.assertEqual(panel.series["ordered"][0], (8.0, 3.0))

    def test_of_memory_handles_and_notifications_with_what_a_column_has(self):
        lines = [f"{how}_{size}" for how in memhandle.HOWS for size in by_size.SIZES]
        (under,) = memhandle.panels(measured(lines, {"microseconds": 3.0}))
        self.assertEqual(set(under.series), set(memhandle.HOWS))
        self.assertEqual(under.series["opened"][1], (1024.0, 3.0))
        lines = [f"ring_{how}_{size}" for how in notify.HOWS for size in notify.SIZES]
        samples = measured(lines, {"microseconds": 2.0}).samples
        panel = notify.panels(notify.rows(notify.PAIR, samples))[-1]
        self.assertEqual(panel.series["waited"][-1], (65536.0, 2.0))

    @unittest.skipIf(importlib.util.find_spec("matplotlib") is None, "no python3-matplotlib")
    @unittest.skipIf(importlib.util.find_spec("rich") is None, "python3-rich is not installed")
    def test_all_parts_are_drawn_into_one_file(self):
        parts = [window_kinds.shown("put", what) for what in window_kinds.WHATS]
        lines = [line for part in parts for line in part.lines]
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "all.svg"
            arguments = Namespace(json=False, plot=path)
            with contextlib.redirect_stdout(io.StringIO()) as said:
                found = measured(lines, {"allocated": 2.0, "dynamic": 2.0})
                series.show_with_notes(arguments, found, parts, window_kinds.notes)
            self.assertGreater(path.stat().st_size, 1000)
        self.assertIn("MB/s", said.getvalue())


class Runs(unittest.TestCase):
    """Each command runs its program once, with all of its lines."""

    def programs_of(self, action):
        ran = []
        arguments = Namespace(quick=True, json=True, plot=None, nodes=1)
        with (
            unittest.mock.patch.object(
                interleaved, "run", lambda program, *_: ran.append(program) or measured([], {})
            ),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            self.assertEqual(action(arguments), 0)
        return ran

    def test_programs_and_lines(self):
        for action, name, lines in (
            (window_kinds.main, "window_kinds", 8),
            (window_kinds.main_of_all, "window_kinds", 48),
            (flush_local.main, "flush_local", 14),
            (one_sided_progress.main, "one_sided_progress", 2),
            (get_compute_put.main, "get_compute_put", 5),
        ):
            (program,) = self.programs_of(action)
            self.assertEqual((program.name, len(program.lines)), (name, lines))
            self.assertEqual((program.ranks, list(program.options)), (2, ["--quick"]))


if __name__ == "__main__":
    support.main()
