# SPDX-License-Identifier: BSD-3-Clause
"""The pages about settings and info keys list those of the library's tables, and no others."""

import re
import unittest

import support  # noqa: F401 - makes the tools importable
from sidelight_lib import hosts

SOURCE = hosts.ROOT / "src" / "base" / "settings.cpp"
PAGE = hosts.ROOT / "docs" / "reference" / "settings.md"
INFO_KEYS = hosts.ROOT / "src" / "runtime" / "window_info.cpp"
GUIDE = hosts.ROOT / "docs" / "guide" / "reorder-keys.md"


def rows_of_the_source() -> list[tuple[str, ...]]:
    """Variable, info key, default and meaning of every entry of the table."""
    table = SOURCE.read_text().split("constexpr std::array entries{")[1].split("\n};")[0]
    texts = r'((?:"[^"]*"\s*)+)'
    entry = rf'"(SIDELIGHT_\w+)",\s*(?:nullptr|"(\w+)"),\s*"([^"]*)",\s*{texts}'
    return [
        (variable, key, default, "".join(re.findall(r'"([^"]*)"', meaning)))
        for variable, key, default, meaning in re.findall(entry, table)
    ]


def rows_of_the_page() -> list[tuple[str, ...]]:
    """The same, from the table of the page."""
    rows = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith("`SIDELIGHT_"):
            rows.append((*(cell.strip("`") for cell in cells[:3]), cells[3]))
    return rows


def short_keys(text: str, between: str) -> list[tuple[str, str]]:
    """Pairs of a reorder key and its short name."""
    return re.findall(rf"\b(MPI_WIN_\w+_REORDER){between}(sidelight_\w+)", text)


class Page(unittest.TestCase):
    maxDiff = None

    def test_it_lists_what_the_library_has(self):
        self.assertEqual(rows_of_the_page(), rows_of_the_source())

    def test_every_entry_of_the_source_was_recognised(self):
        table = SOURCE.read_text().split("constexpr std::array entries{")[1].split("\n};")[0]
        self.assertEqual(len(rows_of_the_source()), len(re.findall(r'"SIDELIGHT_', table)))

    def test_short_info_keys(self):
        pairs = short_keys(INFO_KEYS.read_text(), r'",\s*"')
        self.assertEqual(len(pairs), 4)
        for page in (PAGE, GUIDE):
            self.assertEqual(short_keys(page.read_text(), r"` \| `"), pairs, page.name)


if __name__ == "__main__":
    support.main()
