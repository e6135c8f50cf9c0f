# SPDX-License-Identifier: BSD-3-Clause
"""Measurements in series: what is run, medians and expectations, tables, and plots where matplotlib
is."""

import contextlib
import importlib.util
import io
import json
import sys
import tempfile
import unittest
import unittest.mock
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

import support
from sidelight_lib import console, hosts, interleaved, latency_runs, plots, series
from sidelight_lib.hosts import HostError
from sidelight_lib.interleaved import ALONE, STANDARD, Column, Measured, Program, Sample, Series
from sidelight_lib.series import Expectation, Shown

NONBLOCKING = Series("+nonblocking", "nonblocking", options=("--nonblocking",))
SHOWN = Shown(
    "A pattern",
    "us",
    {"put_8": "8 B", "put_1024": "1 KB"},
    {"epoch": "epoch", "both": ""},
    [Expectation("late by 1,000", "epoch", lambda figures: 1000 + figures["transfer"])],
)


def host(name):
    return hosts.own("mpich-9.9", name, Path("mpiexec"), Path("mpicc"), Path("libmpi.so"))


def measured():
    """Two rounds of two lines in three series of a host; in one the second line crashes."""
    columns = [Column(host("a"), each) for each in (ALONE, STANDARD, NONBLOCKING)]
    samples = [
        Sample(number, column.name, line, {"epoch": value + number, "transfer": 30.0, "both": 7.0})
        for number in range(2)
        for line in SHOWN.lines
        for value, column in zip((1300.0, 1200.0, 40.0), columns)
    ]
    samples[-1] = replace(samples[-1], figures={}, outcome="crashes")
    return Measured(columns, samples, [], 2)


class Runs(unittest.TestCase):
    """Which runs there are, and in which order."""

    def run_all(self, programs, chosen, repeat=2):
        started = []

        def measure(command_for, lines, environment, patience):
            command = command_for(lines)
            started.append(command)
            return latency_runs.Results({line: {"epoch": 1.0} for line in lines})

        parser = ArgumentParser()
        interleaved.add_options(parser, plot=True, nodes=True)
        arguments = parser.parse_args(["--json", "--repeat", str(repeat)])
        with (
            tempfile.TemporaryDirectory() as directory,
            unittest.mock.patch.dict("os.environ", {"SIDELIGHT_BUILD_DIR": directory}),
            unittest.mock.patch.object(interleaved, "require_programs"),
            unittest.mock.patch.object(interleaved, "choose_hosts", lambda _: [host("a")]),
            unittest.mock.patch.object(latency_runs, "measure", measure),
        ):
            place = Path(directory) / "a"
            (place / "bench").mkdir(parents=True)
            (place / "bench" / "program").touch()
            (place / "libsidelight.so").touch()
            return started, interleaved.run(programs, arguments, chosen)

    def test_every_round_runs_every_series_once(self):
        chosen = (ALONE, STANDARD, NONBLOCKING)
        started, found = self.run_all(Program("program", ["x"], 3, ["--quick"]), chosen)
        self.assertEqual(len(started), 6)
        preloaded = [any("LD_PRELOAD" in word for word in command) for command in started]
        self.assertEqual(preloaded, [False, True, True] * 2)
        self.assertEqual(started[2][-3:], ["--quick", "--nonblocking", "x"])
        self.assertEqual(
            [(sample.round, sample.column) for sample in found.samples],
            [(number, f"a{each.suffix}") for number in range(2) for each in chosen],
        )

    def test_every_program_in_turn(self):
        several = [Program("program", [f"ranks_{n}"], n) for n in (2, 4)]
        started, found = self.run_all(several, [ALONE])
        ranks = [command[command.index("-n") + 1] for command in started]
        self.assertEqual(ranks, ["2", "4", "2", "4"])
        self.assertEqual(
            [s.line for s in found.samples], ["ranks_2", "ranks_4", "ranks_2", "ranks_4"]
        )

    def test_who_does_not_bind_itself_is_bound_where_there_are_cores(self):
        for folder, ranks, wanted in (
            ("bench", 2, "none"),
            ("examples", 1, "core"),
            ("examples", 1 << 20, "none"),
        ):
            program = Program("program", ["x"], ranks, folder=folder)
            self.assertEqual(interleaved._binds_itself(program), wanted == "none")

    def test_a_host_that_is_named_must_have_the_program(self):
        with self.assertRaisesRegex(HostError, "not built: .*bench/other"):
            with (
                unittest.mock.patch.object(interleaved, "require_programs"),
                unittest.mock.patch.object(interleaved, "choose_hosts", lambda _: [host("a")]),
            ):
                interleaved.choose_columns(Program("other", [], 2), "a", [ALONE])

    def test_hosts_without_the_program_are_left_out_and_one_must_have_it(self):
        program, said = Program("lu", [], 2, folder="examples"), io.StringIO()
        with (
            tempfile.TemporaryDirectory() as directory,
            unittest.mock.patch.dict("os.environ", {"SIDELIGHT_BUILD_DIR": directory}),
            unittest.mock.patch.object(
                interleaved, "choose_hosts", lambda _: [host("a"), host("b")]
            ),
            contextlib.redirect_stderr(said),
        ):
            with self.assertRaisesRegex(HostError, "not built: .*a/examples/lu.*b/examples/lu"):
                interleaved.choose_columns(program, "all", [ALONE])
            path = Path(directory) / "b/examples/lu"
            path.parent.mkdir(parents=True)
            path.touch()
            columns = interleaved.choose_columns(program, "all", [ALONE])
        self.assertEqual([column.name for column in columns], ["b"])
        self.assertRegex(said.getvalue(), "a is left out: .*a/examples/lu is not built")


class Rows(unittest.TestCase):
    def test_medians_and_what_is_expected(self):
        found = series.rows(measured(), SHOWN)
        self.assertEqual([row.column for row in found[:3]], ["a", "a+sidelight", "a+nonblocking"])
        self.assertEqual(found[1].figures, {"epoch": 1200.5, "transfer": 30.0, "both": 7.0})
        self.assertEqual(found[1].expected, {"late by 1,000": 1030.0})
        self.assertEqual(found[-1].figures["epoch"], 40.0)  # the round that has not crashed

    def test_some_is_expected_of_some_series_alone(self):
        late = Expectation("late", "epoch", lambda _: 1000.0, [STANDARD])
        found = series.rows(measured(), replace(SHOWN, expectations=[late]))
        self.assertEqual([row.expected for row in found[:3]], [{}, {"late": 1000.0}, {}])

    def test_what_cannot_be_expected_is_left_out(self):
        samples = [Sample(0, "a", "put_8", {"epoch": 1.0})]
        columns = [Column(host("a"), ALONE)]
        (row,) = series.rows(Measured(columns, samples, [], 1), SHOWN)
        self.assertEqual(row.expected, {})

    def test_figures_that_a_round_lacks_have_no_median(self):
        samples = [Sample(0, "a", "x", {"p": 1.0, "q": 2.0}), Sample(1, "a", "x", {"p": 3.0})]
        self.assertEqual(interleaved.medians(samples), {("x", "a"): {"p": 2.0}})

    def test_json(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            arguments = Namespace(json=True, plot=None)
            series.show(arguments, measured(), SHOWN, ["not this"], notes=["a word"])
        said = json.loads(text.getvalue())
        self.assertEqual(said["notes"], ["a word"])
        self.assertEqual(said["rows"][0]["expected"], {"late by 1,000": 1030.0})
        self.assertEqual(len(said["samples"]), 12)


class Panels(unittest.TestCase):
    def test_bars_have_a_group_for_each_line_and_figure(self):
        (panel,) = series.panels(measured(), SHOWN)
        self.assertEqual(panel.groups, ["8 B\nepoch", "8 B", "1 KB\nepoch", "1 KB"])
        self.assertEqual(panel.series["nonblocking"], [40.5, 7.0, 40.0, 7.0])
        self.assertEqual(panel.expected, {"late by 1,000": [1030.0, None, 1030.0, None]})

    def test_curves_lie_over_the_axis(self):
        shown = replace(SHOWN, x={"put_8": 8, "put_1024": 1024}, x_label="bytes")
        epoch, both = series.panels(measured(), shown)
        self.assertEqual(epoch.series["alone"], [(8, 1300.5), (1024, 1300.5)])
        self.assertEqual(epoch.expected, {"late by 1,000": [(8, 1030.0), (1024, 1030.0)]})
        self.assertEqual((both.title, both.expected), ("a", {}))


class Plots(unittest.TestCase):
    def test_a_plot_that_could_not_be_written_is_refused_at_once(self):
        for name, reason in (("a.txt", "must end in"), ("no/such/folder/a.png", "no folder")):
            with self.assertRaisesRegex(HostError, reason):
                plots.require(Path(name))

    def test_without_matplotlib_one_sentence_says_what_to_do(self):
        with unittest.mock.patch.dict(sys.modules, {"matplotlib.figure": None}):
            with self.assertRaisesRegex(console.MissingPackage, "apt-get install python3-matpl"):
                plots.require(Path("a.png"))

    @unittest.skipIf(importlib.util.find_spec("matplotlib") is None, "no python3-matplotlib")
    def test_both_kinds_are_drawn_in_every_format(self):
        curved = replace(SHOWN, x={"put_8": 8, "put_1024": 1024}, logarithmic="x")
        drawn = series.panels(measured(), SHOWN) + series.panels(measured(), curved)
        with tempfile.TemporaryDirectory() as directory:
            for ending, begin in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
                path = Path(directory) / f"plot.{ending}"
                plots.require(path)
                plots.draw(path, drawn, "A pattern")
                self.assertEqual(path.read_bytes()[: len(begin)], begin)


@unittest.skipIf(importlib.util.find_spec("rich") is None, "python3-rich is not installed")
class Tables(unittest.TestCase):
    def test_figures_and_expectations_are_rows(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            series.print_tables(console.output(), measured(), SHOWN)
        said = text.getvalue()
        for word in ("8 B, epoch", "late by 1,000", "1,200", "1,030", "nonblocking", "crashes"):
            self.assertIn(word, said)
        self.assertLessEqual(max(map(len, said.splitlines())), 80)

    def test_what_is_to_be_said_comes_below(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            series.show(Namespace(json=False, plot=None), measured(), SHOWN, ["a word"])
        self.assertEqual(text.getvalue().splitlines()[-1], "a word")


if __name__ == "__main__":
    support.main()
