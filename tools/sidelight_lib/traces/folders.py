# SPDX-License-Identifier: BSD-3-Clause
"""Folders that traces are written into."""

from __future__ import annotations

from pathlib import Path

from ..hosts import HostError

_MEMORY_OF_BYTE = 12  # bytes that a report takes for one of a trace


def check(folder: Path) -> None:
    """Refuses one that has a trace: the ranks of both would be mixed, and nobody's trace is
    overwritten unasked."""
    if any(folder.glob("*.trace")):
        raise HostError(
            f"--trace {folder}: there is a trace in it; name another folder, or remove this one"
        )


def make(folder: Path) -> None:
    """If it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"--trace {folder}: {error.strerror}") from error


def beyond_memory(folder: Path, memory: Path = Path("/proc/meminfo")) -> str | None:
    """What to say of a trace whose report takes more memory than there is; None: it fits."""
    needed = _MEMORY_OF_BYTE * sum(path.stat().st_size for path in folder.glob("*.trace"))
    for line in memory.read_text().splitlines() if memory.exists() else ():
        name, _, size = line.partition(":")
        if name == "MemAvailable":
            available = 1024 * int(size.split()[0])
            if needed > available:
                return (
                    f"{folder}: may take {needed / 1e9:.1f} GB of memory, of which "
                    f"{available / 1e9:.1f} are available"
                )
    return None
