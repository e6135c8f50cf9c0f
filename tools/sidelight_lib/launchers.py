# SPDX-License-Identifier: BSD-3-Clause
"""What each host's launcher is told to start ranks on several nodes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .hosts import Host


def arguments(
    host: Host, nodes: Sequence[str], each: int, remote_shell: Path, here: str
) -> list[str]:
    """Options of mpiexec for `each` ranks on each of the nodes, the first ones on the first.

    The launcher starts its daemons with `remote_shell` in the place of ssh. `here` is the address
    at which they reach it.
    """
    places = ",".join(f"{node}:{each}" for node in nodes)
    shell = str(remote_shell)
    if host.family == "mpich":
        launcher = ["-launcher", "ssh", "-launcher-exec", shell]
        # Intel's fills the first node with two ranks where there is to be one on each, unless told.
        each_node = ["-ppn", str(each)] if host.name.startswith("impi") else []
        return ["-localhost", here, *launcher, *each_node, "-hosts", places]
    agent = _REMOTE_SHELL.get(host.major, _REMOTE_SHELL["5"])
    # Each node would bind its first rank to the first core, and they are the same cores. Open MPI 5
    # fills the first node with more ranks than it has slots for, unless told how many.
    placing = ["--map-by", f"ppr:{each}:node:oversubscribe", "--bind-to", "none"]
    return [*agent, shell, "--host", places, *placing]


_REMOTE_SHELL = {
    "4": ("--mca", "plm_rsh_agent"),
    "5": ("--prtemca", "plm_ssh_agent"),
}

# Debian switches off every component of Open MPI 4 that has windows across nodes.
_FOR_WINDOWS = {"openmpi4": {"OMPI_MCA_osc": "^ucx"}}


def environment(host: Host, untouched: bool = False) -> dict[str, str]:
    """What to add to the environment, as Host.environment. The launcher is root of wherever it
    runs."""
    wanted = {} if untouched else _FOR_WINDOWS.get(host.name, {})
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    return host.environment(as_root=True, untouched=untouched) | added


def workarounds(host: Host, nodes: int) -> dict[str, str]:
    """The settings that comparisons give to a host for its windows: on one node, or several."""
    return {**host.for_windows, **(_FOR_WINDOWS.get(host.name, {}) if nodes > 1 else {})}
