# SPDX-License-Identifier: BSD-3-Clause
"""Folders that traces are written into."""

from __future__ import annotations

from pathlib import Path

from ..hosts import HostError


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
