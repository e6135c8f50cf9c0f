# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight report`: where a traced program waited, and what wins that back."""

from __future__ import annotations

import argparse
import gc
import json
import sys
from pathlib import Path

from . import outputs
from .console import MissingPackage, progress
from .traces import findings, folders, page, picture, reader, words

_DESCRIPTION = """\
Reads a trace (`sidelight run --trace DIR`) and writes one HTML page, which needs nothing else: a
timeline of all ranks, with their epochs and waits, and a table of the inefficiency patterns: which
line lost how much time to which rank, and which call or setting would win it back. How much is
found out by playing the trace again under the rules of the other call. With --json FILE the table
is written for scripts; with --png FILE a picture of the page, drawn by chromium.
"""


def add(commands: argparse._SubParsersAction) -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "report", help="tell where a traced program waited, and for whom", description=_DESCRIPTION
    )
    parser.add_argument("trace", type=Path, metavar="DIR", help="the folder of the trace")
    parser.add_argument(
        "-o",
        dest="output",
        type=Path,
        metavar="FILE",
        help="the page (default report.html, unless --json or --png asks for something else)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="the table for scripts")
    parser.add_argument("--png", type=Path, metavar="FILE", help="a picture of the page")
    parser.add_argument(
        "--ahead",
        type=_positive,
        default=4,
        metavar="N",
        help="how many epochs of one line a remedy may leave pending (default 4)",
    )
    parser.set_defaults(action=main)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def main(arguments: argparse.Namespace) -> int:
    # Before minutes pass.
    files = {"-o": arguments.output, "--json": arguments.json, "--png": arguments.png}
    for option, path in files.items():
        if path is not None:
            outputs.require_folder(option, path)
    if arguments.png is not None:
        picture.browser()
    output = arguments.output
    if output is None and arguments.json is None and arguments.png is None:
        output = Path("report.html")
    beyond = folders.beyond_memory(arguments.trace)
    if beyond is not None:
        print(f"sidelight report: {beyond}", file=sys.stderr)
    gc.disable()  # millions of objects, none of which ends before the command does
    found = _analyse(arguments.trace, arguments.ahead)
    html = page.render(found, str(arguments.trace)) if output or arguments.png else ""
    if output is not None:
        _write(output, html)
    if arguments.json is not None:
        _write(arguments.json, json.dumps(findings.as_dict(found), indent=1) + "\n")
    if arguments.png is not None:
        picture.draw(html, arguments.png, page.height(found))
    print(words.summary(found))
    for path in (output, arguments.json, arguments.png):
        if path is not None:
            print(f"written: {path}")
    return 0


def _analyse(folder: Path, ahead: int) -> findings.Findings:
    try:
        with progress(20, quiet=True) as advance:
            advance("reading the trace")
            return findings.analyse(reader.load(folder), ahead, advance)
    except MissingPackage:  # nobody needs a progress bar
        return findings.analyse(reader.load(folder), ahead)


def _write(path: Path, text: str) -> None:
    with outputs.writing(path):
        path.write_text(text)
