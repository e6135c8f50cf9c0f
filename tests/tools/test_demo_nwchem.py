# SPDX-License-Identifier: BSD-3-Clause
"""What the demonstration with NWChem makes of the ways in which a run may end."""

import subprocess
import sys
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import support

PATH = str(support.ROOT / "tools" / "demo_nwchem")
spec = spec_from_loader("demo_nwchem", SourceFileLoader("demo_nwchem", PATH))
demo = sys.modules["demo_nwchem"] = module_from_spec(spec)
spec.loader.exec_module(demo)
WATER, METHANOL = demo.TASKS


def ended(code, printed):
    return subprocess.CompletedProcess([], code, printed, "")


class Failures(unittest.TestCase):
    def test_the_known_energies_are_right(self):
        water = ended(0, "     Total SCF energy =    -76.010481566229\n")
        methanol = ended(0, " Total CCSD energy:           -115.535796161705392\n")
        self.assertEqual(demo.failure_of(WATER, water), "")
        self.assertEqual(demo.failure_of(METHANOL, methanol), "")

    def test_another_energy_is_wrong(self):
        said = demo.failure_of(WATER, ended(0, "Total SCF energy =    -76.010481600000\n"))
        self.assertIn("off by", said)

    def test_a_code_that_is_not_0_is_wrong_whatever_was_printed(self):
        said = demo.failure_of(WATER, ended(1, "Total SCF energy =    -76.010481566229\n"))
        self.assertIn("code 1", said)

    def test_the_complaint_is_told(self):
        said = demo.failure_of(WATER, ended(0, "[0] ARMCI Error: 0:sym_movecs_adapt:\n"))
        self.assertIn("sym_movecs_adapt", said)


if __name__ == "__main__":
    support.main()
