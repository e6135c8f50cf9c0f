# SPDX-License-Identifier: BSD-3-Clause
"""The figures of P4 on overlap: what programs print is what is shown, and what is said of it."""

import re
import unittest

import support
from sidelight_lib import overlap, progress_programs
from sidelight_lib.series import Row


def source(program):
    return (support.ROOT / "bench" / f"{program}.c").read_text()


def names(text, array):
    """The strings of an array of the program."""
    (listed,) = re.findall(rf"\b{array}\[\w*\] = \{{(.*?)\}};", text, re.S)
    return re.findall(r'"(\w+)"', listed)


def size_list(text):
    """The sizes of the program, which are written as shifts, or as the largest one."""
    (listed,) = re.findall(r"\bsizes\[\] = \{(.*?)\};", text, re.S)
    found = [re.fullmatch(r"(\d+) << (\d+)", word.strip()) for word in listed.split(",")]
    return [int(m[1]) << int(m[2]) if m else 1 << 20 for m in found]


class OverlapOfMessages(unittest.TestCase):
    def test_the_program_has_the_lines_and_figures(self):
        text = source("overlap_messages")
        self.assertEqual(names(text, "kinds"), list(overlap.KINDS))
        self.assertEqual(size_list(text), list(overlap.MESSAGE_SIZES))
        self.assertEqual(names(text, "figures"), ["latency", "overlap", "late", *overlap.AFTER])
        shown = [name for part in overlap.message_parts("pairs") for name in part.figures]
        self.assertEqual(shown, names(text, "figures"))

    def test_it_is_said_how_much_later_data_come_with_twice_the_work(self):
        figures = {"latency": 1.0, "overlap": 2.0, "after_15": 100.0, "after_20": 1.0}
        figures |= {"after_25": 1.0, "after_30": 150.0}
        rows = [Row(f"pairs_{size}", "a", figures, {}) for size in (1 << 16, 1 << 20)]
        (said,) = overlap.message_notes(rows + rows)
        self.assertIn("pairs_1048576: with twice the work data are there 1.50 times as late", said)

    def test_each_family_has_its_own_progress(self):
        text = "".join(str(each) for each in overlap.ASYNCHRONOUS.values())
        self.assertIn("MPIR_CVAR_ASYNC_PROGRESS", text)
        self.assertIn("btl_tcp_progress_thread", text)
        self.assertFalse(overlap.OWN.under)


class OverlapOfEpochs(unittest.TestCase):
    def test_the_program_has_the_lines_and_figures(self):
        text = source("overlap_epochs")
        epochs, operations = names(text, "epochs"), names(text, "operations")
        known = [f"{epoch}_{operation}" for epoch in epochs for operation in operations]
        self.assertEqual(
            known, [*overlap.SCHEMES["pairs"], *overlap.SCHEMES["held"]]
        )
        self.assertEqual(overlap.SCHEMES["pairs"], overlap.SCHEMES["many"])
        self.assertEqual(size_list(text), list(overlap.EPOCH_SIZES))
        for scheme in overlap.SCHEMES:
            self.assertIn(f'"{scheme}"', text)
        figures = [*overlap.epoch_part("pairs_fence_put").figures, "work"]
        self.assertEqual(figures, names(text, "figures"))

    def test_an_epoch_is_compared_with_the_work_in_it(self):
        figures = {"latency": 50.0, "epoch": 110.0, "work": 100.0}
        rows = [Row(f"pairs_gats_put_{size}", "a", figures, {}) for size in overlap.EPOCH_SIZES]
        (said,) = overlap.epoch_notes(rows)
        self.assertIn("of work 1.10, of work and latency 0.73", said)
        (expectation,) = overlap.epoch_part("pairs_gats_put").expectations
        self.assertEqual(expectation.value(figures), 100.0)


class Programs(unittest.TestCase):
    def test_the_solver_has_the_edges(self):
        text = source("solver")
        self.assertEqual(names(text, "edges"), list(progress_programs.EDGES))
        self.assertEqual(names(text, "figures"), ["milliseconds", "bytes", "error"])

    def test_the_solver_under_smart_is_compared_with_calls(self):
        def row(column, milliseconds):
            figures = {"milliseconds": milliseconds, "bytes": 2048.0, "error": 1e-15}
            return Row("16", column, figures, {})

        (said,) = progress_programs.solver_notes([row("a-calls", 4.0), row("a-smart", 3.0)])
        self.assertIn("a, 16: messages of 2 KB: smart takes 0.75 of the time of calls", said)

    def test_calls_have_the_lines_and_figures(self):
        text = source("call_times")
        self.assertEqual(names(text, "lines"), list(progress_programs.CALL_LINES))
        (listed,) = re.findall(r"figures\[2 \* CALLS\] = \{(.*?)\};", text, re.S)
        self.assertEqual(re.findall(r'"(\w+)"', listed), list(progress_programs.CALL_FIGURES))

    def test_memory_is_what_smart_takes_beyond_calls(self):
        text = source("progress_memory")
        self.assertEqual(names(text, "figures"), ["own", "all"])
        rows = [
            Row("memory_4", column, {"own": own, "all": own + 10}, {})
            for column, own in (("a", 1.0), ("a-calls", 100.0), ("a-windows", 164.0))
        ]
        (said,) = progress_programs.memory_notes(rows)
        self.assertIn("a-windows, 4 ranks: +64 KB of its own, +64 KB in all", said)


if __name__ == "__main__":
    unittest.main()
