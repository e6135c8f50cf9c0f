# SPDX-License-Identifier: BSD-3-Clause
"""Makes the modules of tools/ importable by the tests beside it."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

main = unittest.main
