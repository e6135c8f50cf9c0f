# SPDX-License-Identifier: BSD-3-Clause
"""What `sidelight bench latency` measures in turns: the bare machine or network, each host alone,
and each host under Sidelight."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import hosts, launchers
from .hosts import Host, HostError
from .latency_lines import BARE, SHARING, UNDER, Line
from .namespaces import Nodes

# One process of the network's program on each of two nodes. If the first fails, the other waits for
# one that is gone: the whole group is ended.
_PAIR = """
shell=$1 first=$2 second=$3 program=$4
shift 4
"$shell" "$second" "$program" --rank 1 "$@" &
"$shell" "$first" "$program" --rank 0 "$@" && wait $! && exit
trap '' TERM
kill -TERM 0
exit 1
"""


@dataclass(frozen=True)
class Column:
    """One of them, on one kind of window. The bare machine and the network have none."""

    name: str
    window: str = ""
    host: Host | None = None
    preload: Path | None = None
    settings: Mapping[str, str] | None = None  # of Sidelight
    beside_allocated: bool = False  # measured in turn with an allocated window, in one program

    def measures(self, line: Line) -> bool:
        if self.host is None:
            return bool(line.bare)
        return not line.information

    def key(self, line: Line) -> str:
        """The name of the line in this column's program."""
        return line.bare_key or line.key if self.host is None else line.key

    def environment(self, nodes: Nodes | None) -> Mapping[str, str]:
        if self.host is None:
            return self.settings or {}
        return nodes.environment(self.host) if nodes else self.host.environment()

    def command(self, ranks: int, options: Sequence[str], nodes: Nodes | None) -> list[str]:
        """The programs bind themselves, all alike, so launchers must not."""
        if self.host is None:
            return _network(options, nodes) if nodes else _bare(ranks, options)
        program = [self.host.program("bench/latency"), f"--window={self.window}"]
        argv = [*program, *(["--beside"] if self.beside_allocated else []), *options]
        where = {"preload": self.preload, "extra_env": self.settings}
        if nodes:
            return nodes.launch(self.host, ranks, argv, **where)
        return self.host.command(ranks, argv, **where, mpiexec_arguments=["--bind-to", "none"])


def bare_program() -> Path:
    """The program that measures the bare machine: built once, with no host."""
    return hosts.build_directory() / "bench" / "bare"


def network_program() -> Path:
    """The program that measures the network alone; not built where UCX has no headers."""
    return hosts.build_directory() / "bench" / "network"


def _bare(ranks: int, options: Sequence[str]) -> list[str]:
    return [str(bare_program()), f"--ranks={ranks}", *options]


def _network(options: Sequence[str], nodes: Nodes) -> list[str]:
    """Addresses are exchanged in a folder that is gone with the nodes: a new one for each start."""
    exchange = tempfile.mkdtemp(prefix="network-", dir=nodes.remote_shell.parent)
    flags = [option for option in options if option.startswith("-")]
    lines = [option for option in options if not option.startswith("-")]
    program = [str(network_program()), *flags, exchange, *lines]
    pair = ["sh", "-c", _PAIR, "sh", str(nodes.remote_shell), *nodes.names]
    return [*nodes.outside, *pair, *program]


def choose_hosts(names: Sequence[str]) -> list[Host]:
    """The hosts named, or all that are installed."""
    if names:
        return [hosts.find(name) for name in names]
    installed = hosts.all()
    if not installed:
        raise HostError(f"no host MPI is installed; try `{hosts.known()[0].install}`")
    return installed


def choose_columns(
    chosen: Sequence[Host], window: str, nodes: int, settings: Mapping[str, str]
) -> tuple[list[Column], list[str]]:
    """All columns, in the order of the table; and notes on what cannot be measured."""
    require_programs()
    columns, notes = [], []
    if nodes == 1:
        columns.append(Column(BARE))
    elif network_program().exists():
        columns.append(Column(BARE, settings=settings))
    else:
        notes.append(
            f"the network alone is left out: {network_program()} is not built, which takes UCX's "
            "headers (package libucx-dev)"
        )
    beside_allocated = window == "dynamic" and nodes == 1 and settings.get(SHARING) != "never"
    under = []
    for host in chosen:
        if not host.program("bench/latency").exists():
            notes.append(f"{host.name} is left out: {host.program('bench/latency')} is not built")
            continue
        columns.append(Column(host.name, window, host))
        notes += workaround_notes([host], nodes)
        if not host.library.exists():
            notes.append(f"{host.name} is measured alone: {host.library} is not built")
            continue
        name = host.name + UNDER
        under.append(Column(name, window, host, host.library, settings, beside_allocated))
    return columns + under, notes


def workaround_notes(chosen: Sequence[Host], nodes: int = 1) -> list[str]:
    """What is set for hosts that have no windows, or slow ones, as they come."""
    return [
        f"{host.name} runs with {name}={value}, also alone: as it comes, its windows "
        f"{'cannot be made' if name not in host.for_windows else 'take milliseconds to make'}"
        for host in chosen
        for name, value in launchers.workarounds(host, nodes).items()
    ]


def require_programs() -> None:
    """The measuring programs are in the build tree alone."""
    if not bare_program().exists():
        raise HostError(
            f"the measuring programs are not there (no {bare_program()}): run `make` in the source "
            "tree and use its tools/sidelight; they are not installed"
        )
