# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight bench overlap-messages` and `overlap-epochs`: how far communication overlaps with work
(P4, figures 4.6 to 4.13 and 5.6 to 5.13)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from . import interleaved, paper_applications, series, simulations, sizes
from .interleaved import ALONE, Program, Series
from .series import Expectation, Row, Shown

_MESSAGES = """\
Half of the ranks send to the other half, whose ranks work meanwhile; or all ranks work beside a
nonblocking collective, the host's or one made of single messages. Three figures over the size: the
latency without work; the overlap in percent, by the longest work with which all ranks are done in
1.1 times the latency; and the time until the data are there while work of 1.5 to 3 times the
latency is done, each column's own, which stands beside it: other than in the thesis they do not all
do the same work. With the host alone, with the host's own asynchronous progress, under Sidelight
without progress of messages, and with it (`sidelight run --progress smart`), in turns, round after
round; medians.
"""

_EPOCHS = """\
An origin issues an operation that its target is not ready for, works, and closes its epoch. Shown
is how long the epoch of the target takes, over the size of the operation, with work as long as an
epoch of the largest size: where communication overlaps with it, no longer than that; and the
latency without work or delays. Fence and post-start epochs, each origin with one target (`pairs`)
or with all of them (`many`); and locks that another origin holds first (`held`), of 4 ranks or
more, where the epoch is the origin's. In turns, round after round; medians.
"""

KINDS = {"pairs": "pairs", "alltoall": "Ialltoall", "gather": "Igather", "scatter": "Iscatter"}
KINDS |= {"naive_gather": "gather by messages", "naive_scatter": "scatter by messages"}
MESSAGE_SIZES = (16 << 10, 32 << 10, 64 << 10, 256 << 10, 512 << 10, 1 << 20)
EPOCH_SIZES = (16 << 10, 64 << 10, 256 << 10, 512 << 10, 1 << 20)
AFTER = ("after_15", "after_20", "after_25", "after_30")
SCHEMES = {
    "pairs": ("fence_put", "fence_get", "gats_put", "gats_get"),
    "many": ("fence_put", "fence_get", "gats_put", "gats_get"),
    "held": ("exclusive_put", "exclusive_get", "shared_put", "shared_get"),
}
# What hosts have of their own, by family.
ASYNCHRONOUS: Mapping[str, Mapping[str, str]] = {
    "mpich": {"MPIR_CVAR_ASYNC_PROGRESS": "1", "I_MPI_ASYNC_PROGRESS": "1"},
    "openmpi": {"OMPI_MCA_btl_tcp_progress_thread": "1"},
}
CALLS = Series("-calls", "calls", settings={"SIDELIGHT_PROGRESS": "calls"})
OWN = Series("-async", "the host's own", under=False, by_family=ASYNCHRONOUS)
MESSAGE_SERIES = (
    ALONE,
    OWN,
    CALLS,
    Series("-smart", "smart", settings={"SIDELIGHT_PROGRESS": "smart"}, messages=True),
)
EPOCH_SERIES = (
    ALONE,
    OWN,
    CALLS,
    Series("-thread", "thread", settings={"SIDELIGHT_PROGRESS": "thread"}),
    Series("-smart", "smart", settings={"SIDELIGHT_PROGRESS": "smart"}),
)


def add(kinds: Any) -> None:
    """Adds the measurements to `sidelight bench`."""
    parser = kinds.add_parser(
        "overlap-messages",
        help="P4, 4.6 to 4.13: messages beside work",
        description=_MESSAGES,
    )
    _add_options(parser, "--kinds", "pairs", ", ".join(KINDS))
    parser.set_defaults(action=messages)
    parser = kinds.add_parser(
        "overlap-epochs", help="P4, 5.6 to 5.13: epochs beside work", description=_EPOCHS
    )
    _add_options(parser, "--schemes", "pairs", ", ".join(SCHEMES))
    parser.set_defaults(action=epochs)


def _add_options(parser: argparse.ArgumentParser, option: str, first: str, known: str) -> None:
    interleaved.add_options(parser, plot=True, nodes=True)
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="ranks (default 2)")
    parser.add_argument(option, default=first, metavar="A,B", help=f"of {known} (default {first})")
    parser.add_argument(
        "--sleep",
        action="store_true",
        help="work is slept, as if each rank had a core to spare for its communication",
    )


def _options(arguments: argparse.Namespace) -> list[str]:
    quick = ["--quick"] if arguments.quick else []
    return quick + (["--sleep"] if arguments.sleep else [])


def messages(arguments: argparse.Namespace) -> int:
    kinds = simulations.chosen("kind", arguments.kinds, KINDS)
    paper_applications.read_ranks(str(arguments.ranks), arguments.nodes)
    shown = [part for kind in kinds for part in message_parts(kind)]
    lines = [f"{kind}_{size}" for kind in kinds for size in MESSAGE_SIZES]
    program = Program("overlap_messages", lines, arguments.ranks, _options(arguments))
    measured = interleaved.run(program, arguments, MESSAGE_SERIES)
    series.show_with_notes(arguments, measured, shown, message_notes)
    return 0


def message_parts(kind: str) -> list[Shown]:
    """Latency and overlap over the size, and over it the time until the data are there."""
    prefix = f"{kind}_"
    lines = sizes.titles(prefix, MESSAGE_SIZES)
    x = sizes.places(prefix, MESSAGE_SIZES)
    after = {"late": "own latency, receivers first"}
    after |= {name: f"data there, work of {int(name[-2:]) / 10:g} of these" for name in AFTER}

    def part(title: str, unit: str, figures: Mapping[str, str], logarithmic: str) -> Shown:
        return Shown(
            f"{KINDS[kind]}: {title}", unit, lines, figures, (), x, "bytes", logarithmic
        )

    return [
        part("latency", "us", {"latency": "latency"}, "xy"),
        part("overlap", "%", {"overlap": "overlap"}, "x"),
        part("progress", "us", after, "xy"),
    ]


def message_notes(found: Sequence[Row]) -> list[str]:
    """How much later the data are there with twice the work, for each size from 256 KB on."""
    said = []
    for row in found:
        size = int(row.line.rpartition("_")[2])
        first, last = row.figures["after_15"], row.figures["after_30"]
        sentence = (
            f"{row.column}, {row.line}: with twice the work data are there {last / first:.2f} times"
            " as late"
        )
        if size >= 256 << 10 and sentence not in said:
            said.append(sentence)
    return said


def epochs(arguments: argparse.Namespace) -> int:
    schemes = simulations.chosen("scheme", arguments.schemes, SCHEMES)
    paper_applications.read_ranks(str(arguments.ranks), arguments.nodes)
    names = [f"{scheme}_{epoch}" for scheme in schemes for epoch in SCHEMES[scheme]]
    lines = [f"{name}_{size}" for name in names for size in EPOCH_SIZES]
    program = Program("overlap_epochs", lines, arguments.ranks, _options(arguments))
    measured = interleaved.run(program, arguments, EPOCH_SERIES)
    series.show_with_notes(arguments, measured, [epoch_part(name) for name in names], epoch_notes)
    return 0


def epoch_part(name: str) -> Shown:
    prefix = f"{name}_"
    return Shown(
        name.replace("_", ", "),
        "us",
        sizes.titles(prefix, EPOCH_SIZES),
        {"latency": "no work", "epoch": "late, with work"},
        (Expectation("work alone", "epoch", lambda figures: figures["work"]),),
        sizes.places(prefix, EPOCH_SIZES),
        "bytes",
        "x",
    )


def epoch_notes(found: Sequence[Row]) -> list[str]:
    """How long the epoch of the largest size takes, of work and of work and latency."""
    said = []
    for row in found:
        if row.line.endswith(f"_{EPOCH_SIZES[-1]}"):
            epoch, work, latency = (row.figures[name] for name in ("epoch", "work", "latency"))
            said.append(
                f"{row.column}, {row.line}: of work {epoch / work:.2f}, of work and latency"
                f" {epoch / (work + latency):.2f}"
            )
    return said
