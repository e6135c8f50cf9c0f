# SPDX-License-Identifier: BSD-3-Clause
"""ci/summary: what it makes of ctest's words for what became of a test."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import support  # noqa: F401
from test_structure import load

PASSED = '<testcase name="good" status="run"><system-out>fine</system-out></testcase>'
FAILED = '<testcase name="bad" status="fail"><failure message=""/></testcase>'


def skipped(reason, output=""):
    return (f'<testcase name="left" status="notrun"><skipped message="{reason}"/>'
            f"<system-out>{output}</system-out></testcase>")


class Summary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.summary = load("summary", "ci/summary")

    def sum_up(self, *cases, again=None):
        """The exit status and what is printed about a file of such cases."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "suite.xml")
            path.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
            if again:
                path.with_name("suite-again.xml").write_text(f"<testsuite>{again}</testsuite>")
            printed = io.StringIO()
            with (mock.patch.object(sys, "argv", ["summary", str(path)]),
                  contextlib.redirect_stdout(printed)):
                return self.summary.main(), printed.getvalue()

    def test_what_passed_and_what_failed(self):
        self.assertEqual(self.sum_up(PASSED), (0, "1 passed, 0 failed\n"))
        status, printed = self.sum_up(PASSED, FAILED)
        self.assertEqual(status, 1)
        self.assertIn("failed: bad", printed)
        self.assertIn("1 passed, 1 failed", printed)

    def test_what_passes_when_run_again(self):
        status, printed = self.sum_up(FAILED, again=PASSED.replace("good", "bad"))
        self.assertEqual(status, 0)
        self.assertIn("unstable: bad", printed)

    def test_what_was_to_be_left_out(self):
        for reason in ("SKIP_RETURN_CODE=77", "SKIP_REGULAR_EXPRESSION_MATCHED"):
            status, printed = self.sum_up(PASSED, skipped(reason))
            self.assertEqual(status, 0)
            self.assertIn("1 skipped", printed)
            self.assertNotIn("left", printed)
        disabled = '<testcase name="left" status="disabled"/>'
        self.assertEqual(self.sum_up(PASSED, disabled)[0], 0)

    def test_what_the_machine_lacks_is_named(self):
        for lacking in (
            "run_ranks: the user nobody cannot read it",
            "OK (skipped=1)\nnothing tested: no library is built",
            "check_skip: the kernel does not let processes copy here",
            "[  SKIPPED ] Mapping.PartsOfFilesOfHugePagesComeAndGo (0 ms)",
            "skipped: the host has no Fortran here",
        ):
            status, printed = self.sum_up(PASSED, skipped("SKIP_RETURN_CODE=77", lacking))
            self.assertEqual(status, 0)
            self.assertIn("skipped: left", printed)
            self.assertIn(lacking.splitlines()[-1], printed)

    def test_a_test_whose_program_is_missing_has_failed(self):
        status, printed = self.sum_up(PASSED, skipped("Unable to find executable"))
        self.assertEqual(status, 1)
        self.assertIn("failed: left", printed)

    def test_a_file_without_tests_has_failed(self):
        status, printed = self.sum_up()
        self.assertEqual(status, 1)
        self.assertIn("suite.xml: no tests", printed)


if __name__ == "__main__":
    unittest.main()
