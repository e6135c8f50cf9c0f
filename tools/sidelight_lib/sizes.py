# SPDX-License-Identifier: BSD-3-Clause
"""Sizes in lines of programs, such as put_8: their titles, and where they lie on an axis."""

from __future__ import annotations

from collections.abc import Iterable


def title(size: int) -> str:
    for unit, name in ((1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def titles(prefix: str, sizes: Iterable[int]) -> dict[str, str]:
    """The lines that begin so, and what tables call them."""
    return {f"{prefix}{size}": title(size) for size in sizes}


def places(prefix: str, sizes: Iterable[int]) -> dict[str, float]:
    return {f"{prefix}{size}": float(size) for size in sizes}
