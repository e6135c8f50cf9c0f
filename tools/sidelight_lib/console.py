# SPDX-License-Identifier: BSD-3-Clause
"""Tables and progress bars, from the package `rich`, asked for only when one is drawn."""

from __future__ import annotations

import importlib
from types import ModuleType


class MissingPackage(Exception):
    """A Python package that a command needs is not installed. The text says which."""


def rich(module: str) -> ModuleType:
    """The module `rich.<module>`."""
    try:
        return importlib.import_module(f"rich.{module}")
    except ImportError as error:
        raise MissingPackage(
            "tables need the Python package rich: run `apt-get install python3-rich`, "
            "or use --json where the command has it"
        ) from error
