# SPDX-License-Identifier: BSD-3-Clause
"""docs/reference/command.md has each command with just the options that it takes, and each line of
`bench latency`."""

import argparse
import importlib.machinery
import importlib.util
import re
import unittest

import support
from sidelight_lib.latency_lines import accumulate_line, lines_for

_PAGE = (support.ROOT / "docs" / "reference" / "command.md").read_text(encoding="utf-8")
_COMMAND = re.compile(r"^    sidelight (?P<usage>.*(?:\n {8,}.*)*)", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z0-9-]*")
_HELP = {"-h", "--help"}


def the_parser():
    path = str(support.ROOT / "tools" / "sidelight")
    loader = importlib.machinery.SourceFileLoader("sidelight_command", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module.parser(None)


def commands(parser, words=()):
    """The words of each command, and its parser."""
    below = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    if not below:
        yield " ".join(words), parser
    for name, inner in (item for action in below for item in action.choices.items()):
        yield from commands(inner, (*words, name))


def written():
    """The options that the page gives to each command. `a|b` stands for two with the same."""
    found = {}
    for usage in (match["usage"] for match in _COMMAND.finditer(_PAGE)):
        words = re.match(r"[^\[A-Z]*", usage)[0].split()
        for last in words[-1].split("|"):
            found[" ".join((*words[:-1], last))] = set(_OPTION.findall(usage))
    return found


class Page(unittest.TestCase):
    def test_each_command_with_just_its_options(self):
        page, known = written(), dict(commands(the_parser()))
        self.assertGreater(len(known), 30)
        self.assertEqual(set(page), set(known))
        for name, parser in known.items():
            with self.subTest(name):
                actions = [set(each.option_strings) for each in parser._actions]
                options = [names for names in actions if names and not names & _HELP]
                self.assertEqual(page[name] - set().union(*options), set(), "no such options")
                missing = [names for names in options if not names & page[name]]
                self.assertEqual(missing, [])

    def test_each_line_of_latency(self):
        section = _PAGE.partition("## sidelight bench latency")[2].partition("\n## ")[0]
        for nodes in (1, 2):
            for line in lines_for("allocate", nodes):
                if accumulate_line(line.name) is None:  # these are named by their ends
                    self.assertIn(f"`{line.name}`", section)


if __name__ == "__main__":
    support.main()
