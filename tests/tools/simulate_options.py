# SPDX-License-Identifier: BSD-3-Clause
"""The options of `sidelight simulate`, as its own parser reads them."""

from argparse import ArgumentParser

import support  # noqa: F401 - finds sidelight_lib
from sidelight_lib import simulate


def parse(*words):
    parser = ArgumentParser()
    simulate.add(parser.add_subparsers(required=True))
    return parser.parse_args(["simulate", *map(str, words)])
