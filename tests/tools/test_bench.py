# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench`: its columns and verdicts, and that a crash or a hang costs one line alone."""

import argparse
import contextlib
import io
import os
import re
import sys
import tempfile
import unittest
import unittest.mock
from dataclasses import replace
from pathlib import Path

import support
from sidelight_lib import (
    bench,
    by_size,
    figures_page,
    hosts,
    latency_columns,
    latency_runs,
    latency_table,
    interleaved,
    memhandle,
    notify,
    ordered_put,
    own_accesses,
    thread_flush,
    window_times,
)
from sidelight_lib.hosts import HostError
from sidelight_lib.latency_lines import (
    ALLOCATED,
    BARE,
    SHARING,
    UNDER,
    Line,
    Sample,
    judge,
    lines_for,
    medians,
    outcomes,
)

LIBRARY = "libsidelight.so"
LINE = Line("put", "", "", bare_limit=2.5, host_limit=0.75)

# A measuring program of three lines: the arguments are a fault, then the lines to measure.
PROGRAM = """
import json, os, sys, time
fault, *lines = sys.argv[1:]
for line in lines:
    print(json.dumps({"starts": line}), flush=True)
    if line == "second" and fault == "crash": os._exit(3)
    if line == "second" and fault == "hang": time.sleep(3600)
    print(json.dumps({"line": line, "microseconds": 1.5}), flush=True)
    print("words of the host", flush=True)
"""


def sample(column, value=0.0, outcome="", number=0):
    return Sample(number, column, "put", {} if outcome else {"microseconds": value}, outcome)


class Medians(unittest.TestCase):
    def test_over_the_rounds_of_a_column(self):
        samples = [sample(BARE, value, number=i) for i, value in enumerate((3.0, 1.0, 2.0))]
        self.assertEqual(medians(samples), {"put": {BARE: 2.0}})

    def test_a_crash_is_no_figure(self):
        samples = [sample("mpich4", outcome="crashes"), sample(BARE, 1.0)]
        self.assertEqual(medians(samples), {"put": {BARE: 1.0}})
        self.assertEqual(outcomes(samples), {"put": {"mpich4": "crashes"}})


class Judgement(unittest.TestCase):
    figures = {BARE: 1.0, "a": 4.0, "b": 8.0, "a" + UNDER: 2.0, "b" + UNDER: 2.4}

    def test_slowest_host_against_bare_machine_and_best_host(self):
        judgement = judge(LINE, self.figures, {})
        self.assertEqual((judgement.bare_ratio, judgement.host_ratio), (2.4, 0.6))
        self.assertTrue(judgement.holds)

    def test_one_slow_host_is_enough_to_fall_short(self):
        self.assertFalse(judge(LINE, self.figures | {"b" + UNDER: 2.6}, {}).holds)
        self.assertFalse(judge(LINE, self.figures | {"a": 2.5}, {}).holds)

    def test_a_crash_under_sidelight_falls_short_and_one_alone_does_not(self):
        self.assertFalse(judge(LINE, self.figures, {"a" + UNDER: "crashes"}).holds)
        self.assertTrue(judge(LINE, self.figures, {"c": "crashes"}).holds)

    def test_nothing_is_judged_without_sidelight(self):
        judgement = judge(LINE, {BARE: 1.0, "a": 4.0}, {})
        self.assertEqual((judgement.bare_ratio, judgement.holds), (None, None))

    def test_against_another_line_in_the_same_column(self):
        many = Line("puts", "", "", other="put", other_limit=0.05)
        single = {"a": 4.0, "a" + UNDER: 100.0, "b" + UNDER: 40.0}
        judgement = judge(many, {"a": 4.0, "a" + UNDER: 1.0, "b" + UNDER: 2.0}, {}, single)
        self.assertEqual((judgement.other_ratio, judgement.holds), (0.05, True))
        self.assertFalse(judge(many, {"b" + UNDER: 2.1}, {}, single).holds)

    def test_against_an_allocated_window_of_the_same_host(self):
        line = Line("put", "", "", allocated_limit=1.1)
        own = {"a" + UNDER: 1.0, "b" + UNDER: 2.0}
        allocated = {"a" + UNDER + ALLOCATED: 1.0, "b" + UNDER + ALLOCATED: 2.0}
        judgement = judge(line, own | allocated, {})
        self.assertEqual((judgement.allocated_ratio, judgement.holds), (1.0, True))
        slower = judge(line, own | allocated | {"b" + UNDER: 2.3}, {})
        self.assertEqual((slower.allocated_ratio, slower.holds), (1.15, False))
        self.assertIsNone(judge(line, own, {}).holds)

    def test_an_allocated_window_counts_only_for_that(self):
        beside = {"a" + UNDER + ALLOCATED: 99.0}
        judgement = judge(LINE, self.figures | beside, {})
        self.assertEqual((judgement.bare_ratio, judgement.host_ratio), (2.4, 0.6))
        self.assertTrue(judgement.holds)
        self.assertFalse(judge(LINE, self.figures, {"a" + UNDER + ALLOCATED: "crashes"}).holds)


class Tables(unittest.TestCase):
    def refusal(self, *words):
        parser = argparse.ArgumentParser()
        bench.add(parser.add_subparsers())
        arguments = parser.parse_args(["bench", "latency", *words])
        with self.assertRaises(HostError) as refused:
            bench.main(arguments)
        return str(refused.exception)

    def test_a_number_is_no_host(self):
        self.assertIn("2", self.refusal("--hosts", "2"))

    def test_a_page_in_no_folder(self):
        self.assertIn("no folder /nowhere", self.refusal("--write", "/nowhere/page.md"))

    def test_latency_is_measured_on_one_node_or_two(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            self.refusal("--nodes", "3")

    def test_across_nodes_the_bare_machine_is_the_network(self):
        lines = {line.name: line for line in lines_for("allocate", 2)}
        keys = {line.bare_key or line.key for line in lines.values() if line.bare}
        self.assertEqual(keys, {"am_8", "am_8_both", "am_1m", "am_8_100", "am_1m_stream"})
        for name in ("put_8", "get_8", "fetch_and_op", "accumulate_8"):
            line = lines[name]
            self.assertEqual((line.bare_key, line.bare_limit, line.host_limit), ("am_8", 2.5, 0.1))
        self.assertEqual((lines["put_1m"].bare_key, lines["put_1m"].bare_limit), ("am_1m", 1.25))
        self.assertIsNone(lines["fence"].bare_limit)

    def test_private_memory_has_limits_of_its_own(self):
        def limits(settings):
            lines = {line.name: line for line in lines_for("create", 1, settings)}
            return {
                name: (lines[name].bare_limit, lines[name].host_limit)
                for name in ("put_8", "put_1m", "fence")
            }

        shared = {"put_8": (2.5, 0.1), "put_1m": (1.1, 0.75), "fence": (3.0, 0.75)}
        self.assertEqual(limits({}), shared)
        self.assertEqual(limits({SHARING: "auto"}), shared)
        private = {"put_8": (None, 1.1), "put_1m": (None, None), "fence": (None, None)}
        self.assertEqual(limits({SHARING: "never"}), private)

    def test_dynamic_windows_are_held_against_allocated_ones(self):
        for window, limit in (("allocate", None), ("create", None), ("dynamic", 1.1)):
            lines = {line.name: line for line in lines_for(window, 1)}
            self.assertEqual(lines["put_8"].allocated_limit, limit)
            self.assertIsNone(lines["fence"].allocated_limit)

    def test_settings_are_those_of_the_environment_and_what_is_set(self):
        environment = {"SIDELIGHT_LOG": "warn", "SIDELIGHT_SPIN": "1", "HOME": "/"}
        settings = bench.read_settings(["SIDELIGHT_LOG=a=b"], environment)
        self.assertEqual(settings, {"SIDELIGHT_LOG": "a=b", "SIDELIGHT_SPIN": "1"})
        for wrong in ("SIDELIGHT_LOG", "LOG=info"):
            with self.assertRaises(HostError):
                bench.read_settings([wrong], {})

    def test_lines_that_others_are_held_against_are_there(self):
        for nodes in (1, 2):
            lines = {line.name: line for line in lines_for("dynamic", nodes)}
            self.assertTrue({line.other for line in lines.values() if line.other} <= lines.keys())


class Lines(unittest.TestCase):
    def test_accumulates_that_the_table_does_not_have_are_lines_too(self):
        table = lines_for("allocate", 1)
        chosen = bench.choose_lines("max_uint16_256,put_8,sum_int64_4096", table)
        self.assertEqual(
            [line.name for line in chosen], ["put_8", "sum_int64_4096", "max_uint16_256"]
        )
        self.assertEqual(chosen[1].title, "sum of int64, 4 KB + flush")
        for wrong in ("max_uint16", "max_uint16_0", "xor_int8_8", "sum_int8_8x"):
            with self.assertRaisesRegex(HostError, wrong):
                bench.choose_lines(wrong, table)


class Columns(unittest.TestCase):
    """With a build tree that has the programs of one host, or lacks some."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.tree = Path(place.name)
        patched = unittest.mock.patch.dict(os.environ, {"SIDELIGHT_BUILD_DIR": place.name})
        patched.start()
        self.addCleanup(patched.stop)
        self.host = hosts.known()[0]
        for path in ("bench/bare", "bench/network", *self.of_host("bench/latency", LIBRARY)):
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / path).touch()

    def of_host(self, *paths):
        return [f"{self.host.name}/{path}" for path in paths]

    def choose(self, window, nodes, settings=None):
        chosen = latency_columns.choose_columns([self.host], window, nodes, settings or {})
        return [column.name for column in chosen[0]], chosen[1]

    def test_of_each_table(self):
        under = self.host.name + UNDER
        usual = ([BARE, self.host.name, under], [])
        self.assertEqual(self.choose("create", 1), usual)
        self.assertEqual(self.choose("dynamic", 2), usual)
        self.assertEqual(self.choose("dynamic", 1, {SHARING: "never"}), usual)
        self.assertEqual(self.choose("dynamic", 1), usual)

    def test_without_the_program_of_the_network(self):
        (self.tree / "bench/network").unlink()
        names, notes = self.choose("create", 2)
        self.assertEqual(names, [self.host.name, self.host.name + UNDER])
        self.assertEqual(len(notes), 1)
        self.assertIn("libucx-dev", notes[0])
        self.assertEqual(self.choose("create", 1)[1], [])

    def test_without_the_library(self):
        (self.tree / self.of_host(LIBRARY)[0]).unlink()
        names, notes = self.choose("create", 1)
        self.assertEqual((names, len(notes)), ([BARE, self.host.name], 1))

    def test_what_a_host_needs_for_its_windows_is_told(self):
        told = latency_columns.workaround_notes(hosts.known(), nodes=1)
        self.assertEqual([note.partition(" ")[0] for note in told], ["openmpi5"])
        told = latency_columns.workaround_notes(hosts.known(), nodes=2)
        self.assertEqual({note.partition(" ")[0] for note in told}, {"openmpi4", "openmpi5"})
        self.assertIn("OMPI_MCA_osc=^ucx", told[0])

    def test_settings_are_for_sidelight(self):
        chosen, _ = latency_columns.choose_columns([self.host], "create", 1, {SHARING: "never"})
        alone, under = (column.command(2, ["put_8"], None) for column in chosen[1:])
        self.assertRegex(" ".join(under), f"{SHARING}[= ]never")
        self.assertNotIn(SHARING, " ".join(alone))

    def test_an_allocated_window_is_measured_beside_a_dynamic_one(self):
        def command(window, nodes, settings):
            chosen, _ = latency_columns.choose_columns([self.host], window, nodes, settings)
            self.assertNotIn("--beside", chosen[-2].command(2, [], None))
            return chosen[-1].command(2, [], None)

        self.assertIn("--window=dynamic", command("dynamic", 1, {}))
        self.assertIn("--beside", command("dynamic", 1, {}))
        self.assertNotIn("--beside", command("create", 1, {}))
        self.assertNotIn("--beside", command("dynamic", 1, {SHARING: "never"}))


class Reports(unittest.TestCase):
    def test_verdicts_of_a_table_across_nodes(self):
        figures = {
            ("put_8", BARE): 10.0,
            ("put_8", "a"): 300.0,
            ("put_8", "a" + UNDER): 24.0,
            ("puts_100", "a" + UNDER): 1.1,
            ("put_1m", BARE): 200.0,
            ("put_1m", "a" + UNDER): 260.0,
        }
        samples = [
            Sample(0, column, line, {"microseconds": value})
            for (line, column), value in figures.items()
        ]
        columns = [BARE, "a", "a" + UNDER]
        report = latency_table.Report("allocate", columns, 1, nodes=2, samples=samples)
        holds = {judgement.line: judgement.holds for judgement in report.judgements()}
        self.assertEqual(holds, {"put_8": True, "puts_100": True, "put_1m": False})


    def test_lines_that_the_table_lacks_are_judged_too(self):
        name = "max_uint16_256"
        samples = [
            Sample(0, column, name, {"microseconds": value})
            for column, value in (("a", 2.0), ("a" + UNDER, 3.0))
        ]
        (line,) = bench.choose_lines(name, lines_for("allocate", 1))
        report = latency_table.Report(
            "allocate", ["a", "a" + UNDER], 1, further=[line], samples=samples
        )
        self.assertEqual({each.line: each.holds for each in report.judgements()}, {name: False})
        self.assertIn(name, report.as_dict()["limits"])


class FiguresPage(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.page = Path(place.name) / "figures.md"
        self.page.write_text("# Figures\n\nBy hand.\n")

    def write(self, microseconds, nodes=1):
        columns = [BARE, "a", "b", "a" + UNDER, "b" + UNDER]
        values = dict.fromkeys(columns, 2.0) | {"b" + UNDER: microseconds}
        samples = [
            Sample(0, column, "put_8", {"microseconds": value}) for column, value in values.items()
        ]
        samples[2] = Sample(0, "b", "put_8", {}, "crashes")
        notes = ["b runs with A=1, also alone"]
        report = latency_table.Report("allocate", columns, 1, nodes, samples=samples, notes=notes)
        figures_page.write(self.page, report)
        return self.page.read_text()

    def test_hosts_alone_and_the_range_under_sidelight(self):
        text = self.write(3.0)
        self.assertTrue(text.startswith("# Figures\n\nBy hand.\n"))
        self.assertIn("| microseconds | bare machine | a | b | Sidelight on these |", text)
        self.assertIn("| put 8 B + flush | 2.00 | 2.00 | crashes | 2.00 - 3.00 |", text)
        self.assertNotIn("fence", text.split("state")[0])

    def test_what_a_host_was_given_stands_below(self):
        self.assertIn("b runs with A=1, also alone.", " ".join(self.write(3.0).split()))

    def test_a_section_is_replaced_and_another_one_added(self):
        self.write(3.0)
        with self.page.open("a") as page:
            page.write("\nBehind it.\n")
        text = self.write(2.0)
        self.assertIn("| 2.00 |\n", text)
        self.assertNotIn("3.00", text)
        self.assertTrue(text.endswith("\nBehind it.\n"))
        both = self.write(4.0, nodes=2)
        self.assertTrue(both.startswith(text.rstrip()))
        self.assertEqual(both.count("## MPI_Win_allocate"), 2)


class OwnAccesses(unittest.TestCase):
    def sample(self, number, **figures):
        both = {f"{name}_control": 10.0 for name in ("before", "during", "after")}
        return own_accesses.Sample(number, "a" + UNDER, "loads", both | figures)

    def test_ratios_are_to_the_other_array_and_to_before(self):
        samples = [
            self.sample(0, before=20.0, during=22.0, after=20.0, shared=1),
            self.sample(1, before=10.0, during=10.0, after=20.0, shared=1),
            self.sample(2, before=10.0, during=10.4, after=10.0, shared=0),
            own_accesses.Sample(3, "a" + UNDER, "loads", {}, "crashes"),
        ]
        (row,) = own_accesses.rows(samples)
        self.assertEqual((row.before, row.during, row.after), (10.0, 1.04, 1.0))
        self.assertEqual((row.shared, row.holds), (False, True))

    def test_slower_falls_short(self):
        (row,) = own_accesses.rows([self.sample(0, before=10, during=11, after=10, shared=1)])
        self.assertEqual((row.shared, row.holds), (True, False))


    def test_memory_of_a_window_is_compared_with_the_host_s(self):
        alone = own_accesses.Row("loads", "a", 10, 1.2, 1.5, True)
        found = [alone, replace(alone, column="a" + UNDER, during=1.22)]
        self.assertTrue(own_accesses.against_alone(found)[1].holds)
        slower = [alone, replace(alone, column="a" + UNDER, during=1.23)]
        self.assertFalse(own_accesses.against_alone(slower)[1].holds)


class ThreadFlush(unittest.TestCase):
    def test_rows_are_medians_by_kind_and_number(self):
        samples = [
            thread_flush.Sample(number, "a" + UNDER, "thread_8", {"cpu": cpu, "wall": 10 * cpu})
            for number, cpu in enumerate((1.0, 5.0, 2.0))
        ]
        samples.append(thread_flush.Sample(3, "a" + UNDER, "thread_8", {}, "crashes"))
        (row,) = thread_flush.rows(samples)
        self.assertEqual((row.kind, row.threads, row.cpu, row.wall), ("thread", 8, 2.0, 20.0))

    def test_every_kind_has_every_number(self):
        self.assertEqual(len(set(thread_flush.LINES)), 3 * len(thread_flush.THREADS))


class WindowTimes(unittest.TestCase):
    def test_rows_are_medians_of_what_was_measured(self):
        def sample(number, make, outcome=""):
            figures = {"make": make, "first_put": 2.0, "free": 1.0, "make_first": 50.0}
            return window_times.Sample(number, "a" + UNDER, "dynamic", figures, outcome)

        samples = [sample(0, 7.0), sample(1, 30.0), sample(2, 5.0), sample(3, 1.0, "crashes")]
        (row,) = window_times.rows(samples)
        self.assertEqual((row.make, row.free, row.both, row.make_first), (7.0, 1.0, 8.0, 50.0))

    def test_every_line_of_the_program_has_a_title(self):
        source = (support.ROOT / "bench" / "windows.c").read_text()
        found = re.findall(r'\{"(\w+)", [A-Z_]+, ', source)
        self.assertEqual(found, list(window_times.TITLES))


class MemHandle(unittest.TestCase):
    def test_rows_have_what_there_is_in_their_column(self):
        def sample(line, microseconds, column="a" + UNDER):
            return memhandle.Sample(0, column, line, {"microseconds": microseconds}, "")

        samples = [sample("allocated_8", 1.0), sample("dynamic_8", 2.0), sample("opened_8", 4.0)]
        samples += [sample("memhandle_8", value) for value in (1.0, 9.0, 3.0)]
        samples += [sample("allocated_1024", 1.0), sample("dynamic_1024", 2.0)]
        samples += [sample("allocated_8", 5.0, "a"), sample("dynamic_8", 6.0, "a")]
        alone, under = memhandle.rows(samples)
        self.assertEqual((alone.allocated, alone.dynamic, alone.memhandle), (5.0, 6.0, None))
        self.assertEqual((under.bytes, under.memhandle, under.opened), (8, 3.0, 4.0))

    def test_every_way_of_the_program_is_known(self):
        source = (support.ROOT / "bench" / "memhandle.c").read_text()
        (names,) = re.findall(r"names\[HOWS\] = \{(.*?)\}", source)
        self.assertEqual(re.findall(r'"(\w+)"', names), list(memhandle.HOWS))


class OrderedPut(unittest.TestCase):
    def test_rows_are_medians_of_sizes_with_all_three_figures(self):
        def sample(line, microseconds, outcome=""):
            figures = {"microseconds": microseconds}
            return ordered_put.Sample(0, "a" + UNDER, line, figures, outcome)

        samples = [sample("flushed_8", 4.0), sample("ordered_8", 2.0), sample("unordered_8", 1.0)]
        samples += [sample("flushed_1024", 4.0), sample("ordered_1024", 2.0)]
        samples += [sample("flushed_8", 8.0), sample("flushed_8", 5.0)]
        samples += [sample("unordered_1024", 1.0, "crashes")]
        (row,) = ordered_put.rows(samples)
        self.assertEqual((row.bytes, row.flushed, row.ordered, row.unordered), (8, 5.0, 2.0, 1.0))

    def test_every_way_of_the_program_is_known(self):
        source = (support.ROOT / "bench" / "ordered_put.c").read_text()
        (names,) = re.findall(r"names\[HOWS\] = \{(.*?)\}", source)
        self.assertEqual(re.findall(r'"(\w+)"', names), list(ordered_put.HOWS))


class BySize(unittest.TestCase):
    def test_every_size_of_the_programs_has_a_title(self):
        source = (support.ROOT / "bench" / "ways.c").read_text()
        (listed,) = re.findall(r"sizes\[\] = \{(.*?)\}", source)
        terms = [[int(term) for term in size.split("<<")] for size in listed.split(",")]
        found = [term[0] << sum(term[1:]) for term in terms]
        self.assertEqual(found, list(by_size.SIZES))


class Notify(unittest.TestCase):
    def test_rows_are_medians_and_lack_what_a_host_lacks(self):
        def sample(line, microseconds, outcome=""):
            figures = {} if outcome else {"microseconds": microseconds}
            return notify.Sample(0, "a", line, figures, outcome)

        samples = [sample("ring_message_8", 4.0), sample("ring_polled_8", 1.0)]
        samples += [sample("ring_message_8", 8.0), sample("ring_message_8", 5.0)]
        samples += [sample("many_message_8", 3.0)]
        samples += [sample("many_waited_8", 0.0, interleaved.NOT_THERE)]
        many, ring = notify.rows(4, samples)
        self.assertEqual((ring.pattern, ring.bytes), ("a ring of 4", 8))
        self.assertEqual(ring.figures, {"message": 5.0, "polled": 1.0})
        self.assertEqual(ring.ratio("polled", "message"), 0.2)
        self.assertIsNone(ring.ratio("polled", "flag"))
        self.assertEqual(many.figures, {"message": 3.0})

    def test_every_line_of_the_program_is_known(self):
        source = (support.ROOT / "bench" / "notify.c").read_text()
        (listed,) = re.findall(r"sizes\[\] = \{(.*?)\}", source)
        terms = [[int(term) for term in size.split("<<")] for size in listed.split(",")]
        self.assertEqual([term[0] << sum(term[1:]) for term in terms], list(notify.SIZES))
        (names,) = re.findall(r"names\[HOWS\] = \{(.*?)\}", source)
        self.assertEqual(re.findall(r'"(\w+)"', names), list(notify.HOWS))


class Isolation(unittest.TestCase):
    def run_with(self, fault, patience=120.0):
        def command_for(lines):
            return [sys.executable, "-c", PROGRAM, fault, *lines]

        return latency_runs.measure(command_for, ["first", "second", "third"], {}, patience)

    def test_all_lines(self):
        results = self.run_with("none")
        self.assertEqual(list(results.figures), ["first", "second", "third"])
        self.assertEqual((results.outcomes, results.errors), ({}, []))

    def test_crash(self):
        results = self.run_with("crash")
        self.assertEqual(list(results.figures), ["first", "third"])
        self.assertEqual(results.outcomes, {"second": "crashes"})
        self.assertEqual(len(results.errors), 1)

    def test_hang(self):
        results = self.run_with("hang", patience=20.0)
        self.assertEqual(list(results.figures), ["first", "third"])
        self.assertEqual(results.outcomes, {"second": "hangs"})

    def test_program_that_measures_nothing(self):
        results = latency_runs.measure(lambda lines: ["false"], ["first", "second"], {}, 120.0)
        self.assertEqual(results.outcomes, {"first": "does not run", "second": "does not run"})


if __name__ == "__main__":
    support.main()
