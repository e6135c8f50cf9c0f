# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench am`: what is run for which figure, and what is made of it."""

import re
import unittest
from argparse import ArgumentParser
from pathlib import Path

import support
from sidelight_lib import am, hosts, series
from sidelight_lib.hosts import HostError
from sidelight_lib.interleaved import Column, Measured, Sample

HOST = hosts.own("mpich-9.9", "a", Path("mpiexec"), Path("mpicc"), Path("libmpi.so"))
SOURCE = (support.ROOT / "bench" / "am" / "am.c").read_text()


def parse(*words):
    parser = ArgumentParser()
    am.add(parser.add_subparsers(required=True))
    return parser.parse_args(["am", *words])


def measured(figure, **figures):
    """One round of all lines in all series, with the same figures."""
    columns = [Column(HOST, each) for each in figure.series]
    samples = [
        Sample(0, column.name, line, figures)
        for program in figure.programs
        for line in program.lines
        for column in columns
    ]
    return Measured(columns, samples, [], 1)


class Figures(unittest.TestCase):
    def test_lines_are_those_of_the_program(self):
        known = re.findall(r'\{"(\w+)", [A-Z]+, [A-Z_]+\}', SOURCE)
        self.assertEqual(len(known), 6)
        used = set()
        for figure in am.chosen(parse()).values():
            for program in figure.programs:
                for line in program.lines:
                    begins = [name for name in known if line.startswith(name)]
                    self.assertEqual(len(begins), 1, line)
                    used.update(begins)
        self.assertEqual(used, set(known))

    def test_figures_are_those_of_the_program(self):
        printed = set(re.findall(r'\\"(\w+)\\":', SOURCE))
        for figure in am.chosen(parse()).values():
            for part in figure.parts:
                self.assertLessEqual(set(part.figures), printed)

    def test_every_part_shows_lines_that_are_run(self):
        for figure in am.chosen(parse()).values():
            run = {line for program in figure.programs for line in program.lines}
            for part in figure.parts:
                self.assertLessEqual(set(part.lines), run)
                self.assertTrue(not part.x or set(part.x) == set(part.lines))

    def test_on_one_node_by_messages_and_on_two_as_they_come(self):
        on_one, on_two = (am.chosen(parse("--nodes", number)) for number in "12")
        self.assertEqual(on_one["room"].programs[0].settings[am.ROUTE], "emulated")
        self.assertNotIn(am.ROUTE, on_two["room"].programs[0].settings)
        self.assertNotIn("concurrent", on_two)
        self.assertEqual([len(each["empty"].series) for each in (on_one, on_two)], [2, 1])

    def test_each_size_is_a_setting(self):
        figures = am.chosen(parse())
        units = [program.settings[am.UNIT] for program in figures["unit"].programs]
        self.assertEqual(units, [str(number) for number in am.UNITS])
        rooms = [each.settings[am.ROOM] for each in figures["origins"].series]
        self.assertEqual(rooms, ["0", "1024", "8192"])

    def test_what_there_is_not_is_refused(self):
        with self.assertRaisesRegex(HostError, "no figure units"):
            am.chosen(parse("--figures", "units"))
        with self.assertRaisesRegex(HostError, "--ranks"):
            am.chosen(parse("--ranks", "1"))


class Shown(unittest.TestCase):
    def test_panels_say_what_they_are(self):
        figure = am.chosen(parse("--figures", "origins", "--ranks", "2,3"))["origins"]
        found = series.panels(measured(figure, milliseconds=4.0), figure.parts[0])
        (panel,) = am.titled(figure.parts[0], found)
        self.assertIn("Figure 5", panel.title)
        self.assertEqual(list(panel.series.values()), 3 * [[(1.0, 4.0), (2.0, 4.0)]])

    def test_the_empty_handler_is_compared(self):
        figure = am.chosen(parse("--figures", "empty", "--nodes", "2"))["empty"]
        said = am.sentences(measured(figure, microseconds=12.0, ratio=1.5), 8.0)
        self.assertIn("1.50 times a fetch_and_op", said[0])
        self.assertIn("1.50 times a round trip of UCX's active messages, 8.0 us", said[1])


if __name__ == "__main__":
    support.main()
