# SPDX-License-Identifier: BSD-3-Clause
"""Figures 2 to 11 of the paper: what the program measures is what is shown, and the verdicts."""

import importlib.util
import re
import unittest
from pathlib import Path

import support
from sidelight_lib import hosts, paper_figures, series
from sidelight_lib.interleaved import ALONE, STANDARD, Column, Measured, Sample
from sidelight_lib.paper_figures import KEY, NONBLOCKING, PATTERNS, judge

BY_NAME = {pattern.name: pattern for pattern in PATTERNS}
SOURCES = [support.ROOT / "bench" / "patterns" / f"{n}.c" for n in ("inefficiencies", "reordered")]
HOST = hosts.own("mpich-9.9", "a", Path("mpiexec"), Path("mpicc"), Path("libmpi.so"))


def measured(pattern, line, *figures):
    """One round of one line: the figures of each series in turn."""
    columns = [Column(HOST, each) for each in pattern.series]
    samples = [
        Sample(0, column.name, line, each) for column, each in zip(columns, figures, strict=True)
    ]
    return Measured(columns, samples, [], 1)


class Table(unittest.TestCase):
    def test_lines_and_keys_are_those_of_the_program(self):
        source = "".join(path.read_text() for path in SOURCES)
        named = set(re.findall(r'^    \{"(\w+)"', source, re.MULTILINE))
        for macro, size in re.findall(r"^    ([A-Z_]+)\((\d+)\)", source, re.MULTILINE):
            named.add(f"{macro.lower()}_{size}")
        shown = {line: pattern for pattern in PATTERNS for line in pattern.shown.lines}
        self.assertEqual(set(shown), named)
        keyed = set(re.findall(r'"(\w+)",\n     MEGABYTE,\n.*\n     SECOND,\n     "side', source))
        self.assertEqual({line for line, pattern in shown.items() if pattern.key}, keyed)

    def test_figures_two_to_eleven(self):
        self.assertEqual([pattern.number for pattern in PATTERNS], list(range(2, 12)))

    def test_victims_are_among_what_is_shown(self):
        for pattern in PATTERNS:
            self.assertIn(pattern.victim, pattern.figures)
            self.assertLessEqual(set(pattern.lazy), set(pattern.figures))


class Expectations(unittest.TestCase):
    def test_equations_of_late_post(self):
        figures = {"activity_prompt": 200.0, "activity_alone": 90.0}
        pattern = BY_NAME["late-post"]
        of_all = measured(pattern, "late_post", figures, figures, figures)
        found = series.rows(of_all, pattern.shown)
        self.assertEqual(
            [row.expected for row in found],
            [{"equation (1)": 1200.0}, {"equation (1)": 1200.0}, {"equation (2)": 90.0}],
        )

    def test_without_its_key_a_pattern_is_delayed(self):
        figures = {"second_prompt": 70.0}
        pattern = BY_NAME["eaer"]
        found = series.rows(measured(pattern, "eaer", *([figures] * 4)), pattern.shown)
        delayed = {"1,000 us + transfer": 1070.0}
        columns = [row.column for row in found]
        self.assertEqual(columns, ["a", "a+sidelight", "a+nonblocking", "a+key"])
        self.assertEqual(
            [row.expected for row in found], [delayed] * 3 + [{"transfer alone": 70.0}]
        )

    def test_of_two_locks_the_key_spares_the_second_transfer(self):
        figures = {"second_prompt": 680.0, "both_prompt": 680.0}
        pattern = BY_NAME["aaar-lock"]
        self.assertEqual(next(iter(pattern.figures)), "both")  # what the paper shows
        found = series.rows(measured(pattern, "aaar_lock", *([figures] * 4)), pattern.shown)
        without = [row.expected["1,000 us + both"] for row in found[:3]]
        self.assertEqual(without, [1680.0] * 3)
        self.assertEqual(found[3].expected["1,000 us + half of both"], 1340.0)


class Verdicts(unittest.TestCase):
    def verdict(self, name, *figures, line=None):
        pattern = BY_NAME[name]
        line = line or next(iter(pattern.shown.lines))
        return next(v for v in judge(measured(pattern, line, *figures), pattern) if v.line == line)

    def test_late_post_in_the_numbers_of_the_paper(self):
        blocking = {"epoch": 1340, "activity": 1680, "both": 1680}
        blocking |= {"activity_prompt": 680, "activity_alone": 340}
        nonblocking = {"epoch": 1340, "activity": 347, "both": 1340, "activity_alone": 340}
        found = self.verdict("late-post", blocking, blocking, nonblocking)
        self.assertEqual((found.paid, found.slower), (1.0, 1.0))
        self.assertAlmostEqual(found.spared, 347 / 340)
        self.assertTrue(found.holds)

    def test_what_falls_short(self):
        slow, fast = {"epoch": 900.0, "epoch_prompt": 50.0}, {"epoch": 56.0, "epoch_prompt": 50.0}
        paying = {"epoch": 1050.0, "epoch_prompt": 50.0}
        cases = (
            ((paying, slow, fast), False),  # pays too little
            ((paying, paying, fast), False),  # spared too little
            ((slow, paying, {**fast, "epoch": 54.0}), False),  # slower than alone
            ((paying, paying, {**fast, "epoch": 54.0}), True),
        )
        for figures, holds in cases:
            self.assertEqual(self.verdict("late-complete", *figures).holds, holds)

    def test_early_fence_pays_for_the_transfer(self):
        blocking = {"both": 1320.0, "activity_alone": 1000.0, "both_prompt": 340.0}
        nonblocking = {**blocking, "both": 1010.0}
        found = self.verdict("early-fence", blocking, blocking, nonblocking)
        self.assertAlmostEqual(found.paid, 320 / 340)
        self.assertAlmostEqual(found.spared, 1.01)

    def test_a_lazy_host_may_win_the_second_lock(self):
        lazy = {"first": 1340.0, "second": 340.0, "second_prompt": 340.0}
        eager = {"first": 1000.0, "second": 1340.0, "second_prompt": 340.0}
        found = self.verdict("late-unlock", lazy, eager, {**eager, "second": 345.0})
        self.assertAlmostEqual(found.slower, 1000 / 1340)
        self.assertTrue(found.holds)

    def test_the_key_spares_and_its_absence_pays(self):
        late = {"second": 1350.0, "second_prompt": 350.0, "both": 1700.0}
        found = self.verdict("aaar-gats", late, late, late, {**late, "second": 360.0})
        self.assertEqual(found.paid, 1.0)
        self.assertTrue(found.holds)
        self.assertFalse(self.verdict("aaar-gats", late, late, late, late).holds)

    def test_a_crash_leaves_its_place_empty(self):
        pattern = BY_NAME["aaer"]
        columns = [Column(HOST, each) for each in (ALONE, STANDARD, NONBLOCKING, KEY)]
        late = {"second": 1050.0, "second_prompt": 50.0, "both": 1100.0}
        samples = [Sample(0, "a+nonblocking", "aaer", late)]
        samples.append(Sample(0, "a+key", "aaer", {}, "hangs"))
        (found,) = judge(Measured(columns, samples, [], 1), pattern)
        self.assertEqual((found.paid, found.spared, found.slower), (1.0, None, None))

    @unittest.skipIf(importlib.util.find_spec("rich") is None, "python3-rich is not installed")
    def test_every_verdict_is_a_row_of_the_table(self):
        late = {"second": 1050.0, "second_prompt": 50.0, "both": 1100.0}
        pattern = BY_NAME["aaer"]
        verdicts = judge(measured(pattern, "aaer", late, late, late, late), pattern)
        self.assertEqual(paper_figures._table(verdicts, pattern).row_count, len(verdicts))


if __name__ == "__main__":
    support.main()
