# SPDX-License-Identifier: BSD-3-Clause
"""The program of simulations, build/bench/simulate: where it is, how it is run, and what all
commands have in common that run it."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import hosts, plots
from .console import output
from .hosts import HostError
from .traces import folders

NETWORKS = hosts.ROOT / "bench" / "networks"
PATIENCE_SECONDS = 4 * 3600  # LU on 2,048 ranks takes 20 minutes a run, with more rows hours

Runner = Callable[[Sequence[str]], str]  # what the program prints, with these options


def program() -> Path:
    """Built once, with no host."""
    return hosts.build_directory() / "bench" / "simulate"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, and how the figures are shown."""
    parser.add_argument(
        "--network",
        type=Path,
        default=NETWORKS / "qdr-infiniband.txt",
        metavar="FILE",
        help="parameters (default that of the paper: bench/networks/qdr-infiniband.txt)",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="also draw it")


def add_trace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trace",
        type=Path,
        metavar="DIR",
        help="write a trace of each run into a folder of its own in this one, for `sidelight "
        "report` and `sidelight trace`",
    )


def words(named: Mapping[str, object]) -> list[str]:
    """The program's options of these names."""
    return [word for name, value in named.items() for word in (f"--{name}", str(value))]


def traced(arguments: argparse.Namespace, names: Iterable[str]) -> Callable[[str], list[str]]:
    """Makes the folders for the traces of runs with these names, where traces are asked for. Who is
    answered gives the program's options for the run of a name."""
    if arguments.trace is None:
        return lambda name: []
    folder: Path = arguments.trace
    names = list(names)
    for name in names:
        folders.check(folder / name)
    for name in names:
        folders.make(folder / name)
    return lambda name: ["--trace", str(folder / name)]


def require(arguments: argparse.Namespace) -> None:
    """Raises unless the program, the file of the network and what draws are there."""
    if not program().exists():
        raise HostError(f"not built: {program()}; run `make`")
    if not arguments.network.exists():
        raise HostError(f"--network {arguments.network}: there is no such file")
    if arguments.plot:
        plots.require(arguments.plot)


def show(
    arguments: argparse.Namespace,
    rows: Sequence[Mapping[str, Any]],
    tables: Callable[[], Iterable[Any]],
    panels: Callable[[], Sequence[plots.Panel]],
    title: str,
) -> None:
    """As tables or as JSON, and drawn where that is asked for."""
    if arguments.json:
        print(json.dumps({"network": str(arguments.network), "rows": rows}, indent=2))
    else:
        for table in tables():
            output().print(table)
    if arguments.plot:
        plots.draw(arguments.plot, panels(), title)


def show_traces(arguments: argparse.Namespace, names: Sequence[str], shown: str) -> None:
    """Where they are, and how one is looked at: the last that has `shown` in its name, if any."""
    if arguments.trace is not None and not arguments.json:
        example = next((name for name in reversed(names) if shown in name), names[-1])
        print(f"traces in {arguments.trace}: {', '.join(names)}; where one waits is said by")
        print(f"    sidelight report {arguments.trace / example}")


def numbers(option: str, wanted: str, least: int, below: int | None = None) -> list[int]:
    """A list of them, as an option has it."""
    words = wanted.split(",")
    if not all(w.isdigit() and least <= int(w) < (below or int(w) + 1) for w in words):
        end = f", less than {below}" if below is not None else ""
        raise HostError(f"--{option} takes numbers from {least} on{end}, not {wanted}")
    return [int(word) for word in words]


def chosen(kind: str, wanted: str, known: Iterable[str]) -> list[str]:
    """A list of names, of those that are known."""
    names, all_names = wanted.split(","), list(known)
    unknown = [name for name in names if name not in all_names]
    if unknown:
        raise HostError(f"no {kind} {', '.join(unknown)}; there are {', '.join(all_names)}")
    return names


def run(options: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            [program(), *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise HostError(f"{program()} takes more than {PATIENCE_SECONDS} s") from error
    if done.returncode != 0:
        raise HostError(f"{' '.join(map(str, done.args))}: {done.stderr.strip() or done.stdout}")
    return done.stdout
