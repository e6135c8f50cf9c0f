# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight info`: the hosts and who makes progress on each, the network, what windows take of the
memory, and every setting."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from . import hosts, library, settings, symbols
from .console import output, rich
from .hosts import Host, HostError

# How a host's own progress loop can call Sidelight, best first: a call that the host offers, or one
# that it makes of UCX. By the last, only waits for requests of Sidelight do.
HOOKS = (
    "MPIX_Async_start",
    "opal_progress_register",
    "ucp_worker_progress",
    "MPIX_Grequest_start",
)
OF_EVERY_CALL = HOOKS[:3]


def add(commands: argparse._SubParsersAction) -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "info",
        help="hosts, progress, network, memory and settings",
        description="Tell which host MPIs are there and whether Sidelight is built for them, how "
        "each lets Sidelight make progress, the UCX that would carry messages between nodes, the "
        "memory that windows take, and all settings with their values.",
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(action=main)


def main(arguments: argparse.Namespace) -> int:
    facts = collect()
    if arguments.json:
        print(json.dumps(facts, indent=2))
    else:
        _print_tables(facts)
    return 0


def collect() -> dict[str, Any]:
    """Everything that `info` tells."""
    known = hosts.known() + hosts.built()
    built = [host.library for host in known if os.path.exists(host.library)]
    facts: dict[str, Any] = {
        "network": None,
        "memory": [],
        "allocated_private_from": None,
        "settings": [],
    }
    missing = "the library is not built for any host: run `make`"
    if built:
        try:
            facts["settings"] = [setting.as_dict() for setting in settings.read(built[0])]
            network = library.network(built[0])
            facts["network"] = network.as_dict()
            facts["memory"] = library.memory(built[0], network.address_bytes)
            facts["allocated_private_from"] = library.allocated_private_from(built[0])
            missing = None
        except HostError as error:
            missing = str(error)
    wanted = {row["variable"]: row["value"] for row in facts["settings"]}
    progress = wanted.get("SIDELIGHT_PROGRESS", "auto")
    described = [_describe(host, progress) for host in known]
    return {"hosts": described} | facts | {"settings_missing": missing}


def _describe(host: Host, progress: str) -> dict[str, Any]:
    installed = not host.missing()
    hook = progress_hook(symbols.dynamic(host.libmpi)) if installed else None
    return {
        "name": host.name,
        "origin": host.origin,
        "installed": installed,
        "install": host.install,
        "version": host_version(host) if installed else None,
        "mpiexec": str(host.mpiexec),
        "libmpi": str(host.libmpi),
        "hook": hook,
        "progress": progress_by(hook, progress) if installed else None,
        "library": str(host.library),
        "built": os.path.exists(host.library),
    }


def host_version(host: Host) -> str | None:
    """The version that the host's mpiexec tells, if it can be asked."""
    try:
        answer = subprocess.run(
            [str(host.mpiexec), "--version"], capture_output=True, text=True, check=False
        )
    except OSError:  # not executable, or not for this machine
        return None
    match = re.search(r"\b(\d+\.\d+(?:\.\d+)?\w*)", answer.stdout)
    return match.group(1) if match else None


def progress_hook(names: set[str]) -> str | None:
    """The best of the hooks that a host offers."""
    return next((hook for hook in HOOKS if hook in names), None)


def progress_by(hook: str | None, setting: str) -> str:
    """Who moves operations on, on a host with that hook, under that value of SIDELIGHT_PROGRESS."""
    if setting == "thread":
        return "a thread"
    if setting == "smart":
        return "an interrupt thread, for what is recorded"
    if hook in OF_EVERY_CALL:
        return "every MPI call that waits"
    if setting == "calls":
        return "one-sided calls alone"
    return "one-sided calls; a thread where messages or nonblocking calls need it"


def _print_tables(facts: dict[str, Any]) -> None:
    console = output()
    console.print(_hosts_table(facts["hosts"]))
    if facts["settings_missing"] is not None:
        console.print(f"Settings: {facts['settings_missing']}", markup=False)
        return
    console.print(f"Network: {network_line(facts['network'])}", markup=False)
    policy = next(
        row["value"] for row in facts["settings"] if row["variable"] == "SIDELIGHT_SHARE_MEMORY"
    )
    line = own_memory_line(policy, facts["allocated_private_from"])
    console.print(f"Memory of MPI_Win_create and MPI_Win_attach: {line}\n", markup=False)
    console.print(_memory_table(facts["memory"]))
    _print_settings(console, facts["settings"])


def network_line(network: dict[str, Any]) -> str:
    """One sentence of what carries messages between nodes."""
    if network["missing"] is not None:
        return f"none. {network['missing']}"
    return f"{network['description']}; addresses of {network['address_bytes']} B"


def own_memory_line(policy: str, private_from: int) -> str:
    """What becomes of a program's own memory under that value of SIDELIGHT_SHARE_MEMORY."""
    private = "by messages and copies of the kernel (docs/guide/user-memory.md)"
    if policy == "never":
        return f"reached {private}, as SIDELIGHT_SHARE_MEMORY says"
    limit = ""
    if policy == "auto" and private_from:
        limit = f" below {library.in_words(private_from)} (above it would lose huge pages)"
    line = f"mapped by others where MPI_Alloc_mem has allocated it{limit}; "
    if policy == "inplace":
        return line + f"whole pages of other memory, too, with one thread; the rest {private}"
    return line + f"memory of malloc is reached {private}, or mapped with inplace"


def _memory_table(rows: list[dict[str, int]]) -> Any:
    words = library.in_words
    table = rich("table").Table(title="Memory that a window takes", title_justify="left")
    for heading in ("ranks", "per node", "others met", "per process", "with lock_all open", "node"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            f"{row['members']:,}",
            str(row["on_node"]),
            str(row["elsewhere"]),
            words(row["process"]),
            words(row["process"] + row["lock_all"]),
            words(row["node"]),
        )
    return table


def _hosts_table(rows: list[dict[str, Any]]) -> Any:
    escape = rich("markup").escape
    table = rich("table").Table(title="Host MPIs", title_justify="left", show_lines=True)
    table.add_column("host", no_wrap=True)
    table.add_column("progress", no_wrap=True)
    table.add_column("Sidelight", overflow="fold")
    for row in rows:
        if row["installed"]:
            hook = f"by {row['hook']}" if row["hook"] else "no hook"
            built = _near(row["library"]) if row["built"] else "not built: run `make`"
            host, progress = f"{row['name']} {row['version'] or '?'}", f"{row['progress']}\n{hook}"
        else:
            host, progress, built = row["name"], "not installed", row["install"]
        table.add_row(f"{host}\nfrom {row['origin']}", progress, escape(built))
    return table


def _near(path: str) -> str:
    """A path as it is typed here: relative where it lies below the working directory."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _print_settings(console: Any, rows: list[dict[str, str]]) -> None:
    """A list, since the names would leave a column of meanings no room in 80 columns."""
    text, padding = rich("text").Text, rich("padding").Padding
    console.print("Settings", style="italic")
    for row in rows:
        changed = row["value"] != row["default"]
        value = f"{row['value']} (default {row['default']})" if changed else row["value"]
        console.print(text(f"{row['variable']}={value}", style="bold" if changed else ""))
        key = f" Info key: {row['info_key']}." if row["info_key"] else ""
        console.print(padding(text(f"{row['meaning']}.{key}"), (0, 0, 0, 4)))
