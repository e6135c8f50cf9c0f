# SPDX-License-Identifier: BSD-3-Clause
"""The module for Python, as it is written: it takes mpi4py to load it, and tests/python does."""

import re
import unittest

import support

DECLARED = re.compile(r"^(?:int |void |const char \*)(MPIX_\w+|sidelight_\w+)\(", re.MULTILINE)
NOTIFIED = re.compile(r"SIDELIGHT_NOTIFICATION\((\w+)(?:##suffix)?,[\s\\]*\(")
IN_TABLE = re.compile(r'^    "(MPIX_\w+|sidelight_\w+)": ', re.MULTILINE)

NAME = re.compile(r'"(\w+)"(?!: ")')  # a name as an argument, not in the table

CONSTANT = re.compile(r"^#define MPIX?_(\w+) (0x\w+|\d+)\b", re.MULTILINE)
ASSIGNED = re.compile(r"^(\w+) = (0x\w+|\d+)$", re.MULTILINE)
METHOD = re.compile(r"^    (?:def )?([A-Z]\w+)(?:\(| = _notified)", re.MULTILINE)


class Names(unittest.TestCase):
    def test_every_call_of_the_headers_is_there(self):
        headers = [path.read_text() for path in (support.ROOT / "include").glob("*.h")]
        calls = {name for text in headers for name in DECLARED.findall(text)}
        calls |= {f"MPIX_{name}" for text in headers for name in NOTIFIED.findall(text)}
        self.assertIn("MPIX_Win_ifence", calls)
        self.assertIn("MPIX_Put_notify", calls)
        module = support.ROOT / "python" / "sidelight" / "library.py"
        there = set(IN_TABLE.findall(module.read_text()))
        # Of those with counts the module has the form with large ones.
        self.assertEqual({name for name in calls if not {name, f"{name}_c"} & there}, set())

    def test_every_call_of_the_table_is_made(self):
        folder = support.ROOT / "python" / "sidelight"
        there = set(IN_TABLE.findall((folder / "library.py").read_text()))
        made = set(NAME.findall("".join(path.read_text() for path in folder.glob("*.py"))))
        self.assertEqual(there - made, set())

    def test_constants_of_the_headers_are_there(self):
        headers = [path.read_text() for path in (support.ROOT / "include").glob("*.h")]
        constants = dict(pair for text in headers for pair in CONSTANT.findall(text))
        self.assertIn("MODE_CONCURRENT_AM", constants)
        self.assertIn("WIN_NOTIFICATION_NUM_SB", constants)
        module = "".join(path.read_text()
                         for path in (support.ROOT / "python" / "sidelight").glob("*.py"))
        there = {name: int(number, 0) for name, number in ASSIGNED.findall(module)}
        for name, number in constants.items():
            self.assertEqual(there.get(name), int(number, 0), name)

    def test_the_program_uses_every_name(self):
        folder = support.ROOT / "python" / "sidelight"
        program = (support.ROOT / "tests" / "python" / "windows.py").read_text()
        listed = (folder / "__init__.py").read_text().partition("__all__")[2]
        methods = METHOD.findall((folder / "window.py").read_text())
        self.assertIn("Put_notify", methods)
        names = [f"sidelight.{name}" for name in NAME.findall(listed)]
        names += [f".{name}" for name in methods]
        unused = [name for name in names if not re.search(re.escape(name) + r"\b", program)]
        self.assertEqual(unused, [])


if __name__ == "__main__":
    support.main()
