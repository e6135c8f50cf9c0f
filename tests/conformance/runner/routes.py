# SPDX-License-Identifier: BSD-3-Clause
"""The ways that operations can take, as settings of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from typing import TYPE_CHECKING

from sidelight_lib.hosts import Host

if TYPE_CHECKING:
    from .suite import Entry


@dataclass(frozen=True)
class Route:
    """How a program is started: under Sidelight or not, with which settings, on how many nodes."""

    name: str
    meaning: str
    sidelight: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    spread: bool = False
    messages: bool = False  # with the library for progress of messages

    def nodes(self, entry: Entry) -> int:
        """How many nodes: two, or one for each rank where the ranks do not go into two."""
        if not self.spread:
            return 0
        return 2 if entry.ranks % 2 == 0 else entry.ranks

    def refusal(self, host: Host, entry: Entry) -> str:
        """Why this is not started at all; empty if it is."""
        if self.spread and host.name == "mpich4":
            return "over TCP, MPICH before 4.2 may not come out of MPI_Finalize, also alone"
        if self.spread and entry.ranks == 1:
            return "one rank has no other node to talk to"
        return entry.skip


ALONE = Route(
    "alone",
    "the host without Sidelight; Open MPI 5 without its UCX component (`OMPI_MCA_osc=^ucx`), which "
    "fails on each window and costs milliseconds",
    sidelight=False)
DEFAULT = Route("default", "one node: mapped memory, messages where memory cannot be mapped")
SMART = Route(
    "smart",
    "one node, with progress of epochs and of messages beside the program "
    "(`sidelight run --progress smart`)",
    environment={"SIDELIGHT_PROGRESS": "smart"}, messages=True)
ROUTES = (
    ALONE,
    DEFAULT,
    Route("emulated", "one node, everything by messages",
          environment={"SIDELIGHT_ROUTE": "emulated"}),
    Route("nodes", "two nodes made of network namespaces; three or seven ranks: a node each",
          spread=True),
    SMART,
)
NAMES = tuple(route.name for route in ROUTES)


def find(name: str) -> Route:
    return next(route for route in ROUTES if route.name == name)
