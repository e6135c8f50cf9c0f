# SPDX-License-Identifier: BSD-3-Clause
"""Tables and progress bars, from the package `rich`, asked for only when one is drawn."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any


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


@contextlib.contextmanager
def progress(steps: int, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A progress bar on the error stream, where there is someone to look at it."""
    try:
        bars = rich("progress")
    except MissingPackage:
        if not quiet:
            raise
        yield lambda description: None
        return
    console = rich("console").Console(stderr=True)
    with bars.Progress(console=console, transient=True) as bar:
        task: Any = bar.add_task("starting", total=steps)
        started = 0

        def advance(description: str) -> None:
            nonlocal started
            bar.update(task, completed=started, description=description)
            started += 1

        yield advance
