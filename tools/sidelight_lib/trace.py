# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight trace`: a trace in the formats of other tools."""

from __future__ import annotations

import argparse
from pathlib import Path

from .hosts import HostError
from .traces import otf2_archive, perfetto, reader

_DESCRIPTION = """\
Writes a trace (`sidelight run --trace DIR`) in formats that other tools read: Perfetto's TrackEvent
protobuf, for https://ui.perfetto.dev, and OTF2 with its records of one-sided communication, for
Vampir, Scalasca and otf2-print.
"""


def add(commands: argparse._SubParsersAction) -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "trace", help="write a trace in the formats of other tools", description=_DESCRIPTION
    )
    parser.add_argument("trace", type=Path, metavar="DIR", help="the folder of the trace")
    parser.add_argument("--perfetto", type=Path, metavar="FILE", help="TrackEvent protobuf")
    parser.add_argument(
        "--otf2", type=Path, metavar="FOLDER", help="an OTF2 archive, in a folder that is not there"
    )
    parser.set_defaults(action=main)


def main(arguments: argparse.Namespace) -> int:
    if arguments.perfetto is None and arguments.otf2 is None:
        raise HostError("sidelight trace: in which format? --perfetto FILE, --otf2 FOLDER")
    if arguments.otf2 is not None:
        otf2_archive.require(arguments.otf2)
    job = reader.load(arguments.trace)
    try:
        if arguments.perfetto is not None:
            with arguments.perfetto.open("wb") as file:
                perfetto.write(job, file)
            print(f"written: {arguments.perfetto}")
        if arguments.otf2 is not None:
            otf2_archive.write(job, arguments.otf2)
            print(f"written: {arguments.otf2}/traces.otf2")
    except OSError as error:
        raise HostError(f"{error.filename}: {error.strerror}") from error
    return 0
