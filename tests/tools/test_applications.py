# SPDX-License-Identifier: BSD-3-Clause
"""Figures 12 and 13 of the paper, and one-sided against two-sided: what is compared with what."""

import contextlib
import io
import json
import re
import unittest
import unittest.mock
from argparse import ArgumentParser
from pathlib import Path

import support
from sidelight_lib import hosts, interleaved, paper_applications, progress_programs, two_sided
from sidelight_lib.hosts import HostError
from sidelight_lib.interleaved import Column, Measured, Sample

HOST = hosts.own("mpich-9.9", "a", Path("mpiexec"), Path("mpicc"), Path("libmpi.so"))


def parse(module, *words):
    parser = ArgumentParser()
    module.add(parser.add_subparsers(required=True))
    return parser.parse_args(words)


def run(module, words, figures):
    """What --json prints of a measurement whose series, in turn, all have these figures. Returns
    the programs too."""
    arguments = parse(module, *words, "--json")
    started = []

    def measure(programs, _, chosen):
        several = [programs] if isinstance(programs, interleaved.Program) else programs
        started.extend(several)
        columns = [Column(HOST, each) for each in chosen]
        samples = [
            Sample(0, column.name, line, each)
            for program in several
            for line in program.lines
            for column, each in zip(columns, figures, strict=True)
        ]
        return Measured(columns, samples, [], 1)

    text = io.StringIO()
    with (
        unittest.mock.patch.object(interleaved, "run", measure),
        contextlib.redirect_stdout(text),
    ):
        arguments.action(arguments)
    return json.loads(text.getvalue()), started


def solve(seconds, inside):
    return {"program": "lu", "seconds": seconds, "seconds_in_mpi_mean": inside}


class Transactions(unittest.TestCase):
    def test_gains_are_over_standard_calls_under_sidelight(self):
        rates = [{"rate": rate} for rate in (1.0, 100.0, 101.0, 139.0)]
        said, programs = run(paper_applications, ["transactions", "--ranks", "2,8"], rates)
        self.assertEqual([program.ranks for program in programs], [2, 8])
        self.assertEqual([row["line"] for row in said["gains"]], ["random_2", "random_8"])
        gained = {name: round(gain, 2) for name, gain in said["gains"][0]["gains"].items()}
        self.assertEqual(gained, {"nonblocking": 0.01, "with key": 0.39})

    def test_updates_over_a_graph_need_one(self):
        arguments = parse(paper_applications, "transactions", "--update", "links")
        with self.assertRaisesRegex(HostError, "--graph FILE"):
            arguments.action(arguments)

    def test_the_graph_goes_to_the_program(self):
        words = ["transactions", "--update", "ranks", "--graph", "g.mtx", "--ranks", "4"]
        _, (program,) = run(paper_applications, words, [{"rate": 1.0}] * 4)
        self.assertEqual(program.lines, ["ranks_4"])
        self.assertEqual(program.options[-2:], ["--graph", "g.mtx"])

    def test_ranks_are_numbers_in_equal_parts(self):
        for wanted, nodes in (("1", 1), ("2,x", 1), ("4,5", 2)):
            with self.assertRaises(HostError):
                paper_applications.read_ranks(wanted, nodes)

    def test_updates_are_those_of_the_program(self):
        source = (support.ROOT / "bench" / "transactions.c").read_text()
        (names,) = re.findall(r"what_names\[WHATS\] = \{(.*?)\}", source)
        self.assertEqual(re.findall(r'"(\w+)"', names), list(paper_applications.UPDATES))


class Lu(unittest.TestCase):
    def test_time_share_and_gain(self):
        figures = [solve(0.4, 0.3), solve(0.2, 0.1), solve(0.1, 0.02)]
        said, (program,) = run(paper_applications, ["lu", "--ranks", "2", "--size", "64"], figures)
        self.assertEqual((program.operands, program.folder), (["dense:64"], "examples"))
        last = said["rows"][-1]["figures"]
        self.assertEqual((last["milliseconds"], round(last["share"])), (100.0, 20))
        self.assertEqual(said["gains"][0]["gains"], {"nonblocking": 0.5})

    def test_programs_are_built(self):
        built = (support.ROOT / "examples" / "lu" / "programs.cmake").read_text()
        for series in (*paper_applications.LU_SERIES, *two_sided.LU_SERIES):
            self.assertIn(f" {series.program}", built)


class Memory(unittest.TestCase):
    def test_numbers_of_ranks_are_lines_of_one_table(self):
        figures = [{"own": float(own), "all": float(own)} for own in range(5)]
        said, programs = run(progress_programs, ["progress-memory", "--ranks", "2,4"], figures)
        self.assertEqual([program.ranks for program in programs], [2, 4])
        lines = dict.fromkeys(row["line"] for row in said["rows"])
        self.assertEqual(list(lines), ["memory_2", "memory_4"])
        self.assertEqual(len(said["rows"]), 2 * 5)
        self.assertIn(", 4 ranks: +3 KB", said["notes"][-1])


class TwoSided(unittest.TestCase):
    def test_the_best_of_each_kind_are_compared(self):
        figures = [{"microseconds": time} for time in (5.0, 6.0, 4.0, 1.0, 3.0, 2.5, 2.0, 2.8)]
        said, _ = run(two_sided, ["two-sided"], figures)
        self.assertEqual({row["ratio"] for row in said["ratios"]}, {0.5})
        self.assertEqual(len(said["ratios"]), len(two_sided.HALO_SIZES))

    def test_the_title_says_how_many_nodes(self):
        arguments = parse(two_sided, "two-sided", "--ranks", "4", "--nodes", "4", "--json")
        with (
            unittest.mock.patch.object(interleaved, "run", return_value=Measured([], [], [], 1)),
            unittest.mock.patch.object(two_sided.series, "show") as show,
        ):
            arguments.action(arguments)
        self.assertEqual(show.call_args.args[2].title, "Halo exchange, 4 ranks, 4 nodes")

    def test_lu_has_a_program_for_each_size(self):
        figures = [solve(0.4, 0.3), solve(0.9, 0.1), solve(0.6, 0.1), solve(0.3, 0.1)]
        said, programs = run(two_sided, ["two-sided", "--program", "lu"], figures)
        sizes = [f"dense:{size}" for size in two_sided.LU_SIZES]
        self.assertEqual([program.operands[0] for program in programs], sizes)
        self.assertEqual({round(row["ratio"], 2) for row in said["ratios"]}, {0.75})

    def test_ways_and_sizes_are_those_of_the_program(self):
        folder = support.ROOT / "bench" / "halo"
        (table,) = re.findall(
            r"ways\[WAYS\] = \{(.*?)\n\};", (folder / "exchanges.c").read_text(), re.DOTALL
        )
        wanted = [s.options[0].partition("=")[2] for s in two_sided.HALO_SERIES]
        self.assertEqual(list(dict.fromkeys(wanted)), re.findall(r'\{"(\w+)"', table))
        (listed,) = re.findall(r"sizes\[\] = \{(.*?)\}", (folder / "halo.c").read_text())
        terms = [[int(term) for term in size.split("<<")] for size in listed.split(",")]
        self.assertEqual([t[0] << sum(t[1:]) for t in terms], list(two_sided.HALO_SIZES))


if __name__ == "__main__":
    support.main()
