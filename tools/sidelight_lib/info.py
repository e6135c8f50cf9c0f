# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight info`: the hosts, their progress hooks, UCX, and every setting."""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from . import hosts, settings
from .console import rich
from .hosts import Host, HostError

# How a host's own progress loop can call Sidelight, best first: a call that the host offers, or one
# that it makes of UCX. By the last, only waits for requests of Sidelight do.
HOOKS = (
    "MPIX_Async_start",
    "opal_progress_register",
    "ucp_worker_progress",
    "MPIX_Grequest_start",
)


def add(commands: argparse._SubParsersAction) -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "info",
        help="hosts, UCX, hooks and settings",
        description="Tell which host MPIs are there and whether Sidelight is built for them, how "
        "each lets Sidelight make progress, the UCX version, and all settings with their values.",
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
    rows, reason = _settings()
    return {
        "hosts": [_describe(host) for host in hosts.known()],
        "ucx": ucx_version(),
        "settings": rows,
        "settings_missing": reason,
    }


def _settings() -> tuple[list[dict[str, str]], str | None]:
    """The settings, the same in the library of any host; or why they are not known."""
    built = [host.library for host in hosts.known() if host.library.exists()]
    if not built:
        return [], "the library is not built for any host: run `make`"
    try:
        return [setting.as_dict() for setting in settings.read(built[0])], None
    except HostError as error:
        return [], str(error)


def _describe(host: Host) -> dict[str, Any]:
    installed = not host.missing()
    return {
        "name": host.name,
        "origin": host.origin,
        "installed": installed,
        "install": host.install,
        "version": host_version(host) if installed else None,
        "mpiexec": str(host.mpiexec),
        "libmpi": str(host.libmpi),
        "hook": progress_hook(dynamic_symbols(host.libmpi)) if installed else None,
        "library": str(host.library),
        "built": host.library.exists(),
    }


def host_version(host: Host) -> str | None:
    """The version that the host's mpiexec tells."""
    answer = subprocess.run(
        [str(host.mpiexec), "--version"], capture_output=True, text=True, check=False
    )
    match = re.search(r"\b(\d+\.\d+(?:\.\d+)?\w*)", answer.stdout)
    return match.group(1) if match else None


def dynamic_symbols(library: Path) -> set[str]:
    """The names that a library exports, or takes from those it is linked to."""
    try:
        table = subprocess.run(
            ["readelf", "--wide", "--dyn-syms", str(library)],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return set()
    rows = (line.split() for line in table.stdout.splitlines())
    return {fields[7].split("@")[0] for fields in rows if len(fields) >= 8}


def progress_hook(symbols: set[str]) -> str | None:
    """The best of the hooks that a host offers."""
    return next((hook for hook in HOOKS if hook in symbols), None)


def ucx_version() -> str | None:
    """The version of the UCX library that the loader finds."""
    try:
        ask = ctypes.CDLL("libucp.so.0").ucp_get_version_string
    except (OSError, AttributeError):
        return None
    ask.restype = ctypes.c_char_p
    return ask().decode()


def _print_tables(facts: dict[str, Any]) -> None:
    console = rich("console").Console()
    console.print(_hosts_table(facts["hosts"]))
    console.print(f"UCX: {facts['ucx'] or 'not found (package libucx0)'}\n")
    if facts["settings_missing"] is None:
        console.print(_settings_table(facts["settings"]))
    else:
        console.print(f"Settings: {facts['settings_missing']}", markup=False)


def _hosts_table(rows: list[dict[str, Any]]) -> Any:
    table = rich("table").Table(title="Host MPIs", title_justify="left")
    for heading in ("host", "from", "version", "progress hook", "Sidelight"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        if row["installed"]:
            library = row["library"] if row["built"] else "not built: run `make`"
            hook = row["hook"] or "none"
            table.add_row(row["name"], row["origin"], row["version"] or "?", hook, library)
        else:
            table.add_row(row["name"], row["origin"], "not installed", "", row["install"])
    return table


def _settings_table(rows: list[dict[str, str]]) -> Any:
    escape = rich("markup").escape
    table = rich("table").Table(title="Settings", title_justify="left")
    for heading in ("variable", "default", "value", "info key", "meaning"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        value = row["value"] if row["value"] == row["default"] else f"[bold]{escape(row['value'])}"
        cells = (escape(row[key]) for key in ("info_key", "meaning"))
        table.add_row(row["variable"], escape(row["default"]), value, *cells)
    return table
