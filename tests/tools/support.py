# SPDX-License-Identifier: BSD-3-Clause
"""Makes the modules of tools/ importable by the tests beside it, and runs these."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

NOTHING_TESTED = 77  # the exit status that tells ctest


def main():
    """Runs the tests of the file. If all of them are skipped, that is no success: it says why."""
    result = unittest.main(exit=False).result
    skipped = {getattr(test, "test_case", test): why for test, why in result.skipped}
    if result.wasSuccessful() and 0 < len(skipped) >= result.testsRun:
        print(f"nothing tested: {'; '.join(dict.fromkeys(skipped.values()))}")
        sys.exit(NOTHING_TESTED)
    sys.exit(not result.wasSuccessful())
