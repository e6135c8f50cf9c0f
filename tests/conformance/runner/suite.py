# SPDX-License-Identifier: BSD-3-Clause
"""What a test suite has to say about itself, and the folder where such suites are kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sidelight_lib.hosts import Host

from . import routes


class SuiteError(Exception):
    """A suite cannot be had, or not be built. The text says why."""


@dataclass(frozen=True)
class Entry:
    """One program that is started on so many ranks. It may hold many tests."""

    name: str
    ranks: int
    argv: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: Path | None = None
    skip: str = ""  # why it is not started at all


@dataclass(frozen=True)
class Verdict:
    """What the output of a program says: how many tests ran, how many of them the suite itself
    left out, and which failed."""

    ran: int
    skipped: int
    failed: tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """How a program ended: with which exit status, and what it and its launcher printed."""

    status: int
    printed: str  # on its standard output
    errors: str  # on the other one

    @property
    def text(self) -> str:
        return "\n".join(filter(None, (self.printed, self.errors)))


class Suite(ABC):
    """A suite, unpacked in a folder of its own, and built once for each host."""

    name: str
    version: str
    source: str = ""  # the suite whose folder it shares, where that is another's
    hosts: Sequence[str] = ()  # those that it can be built for; none named: all
    routes: Sequence[str] = routes.NAMES
    alone_decides: bool = False  # what fails on the host alone may fail under Sidelight

    @abstractmethod
    def prepare(self, host: Host) -> None:
        """Fetches and builds what is missing. Raises SuiteError."""

    @abstractmethod
    def entries(self, host: Host, alone: bool) -> list[Entry]:
        """What to start; `alone` is on the host without Sidelight."""

    @abstractmethod
    def judge(self, entry: Entry, ended: Ended) -> Verdict:
        """Reads what a program left."""

    @property
    def folder(self) -> Path:
        """Where the suite is kept, outside of the repository."""
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        place = os.environ.get("SIDELIGHT_CONFORMANCE_DIR") or cache / "sidelight" / "conformance"
        return Path(place) / f"{self.source or self.name}-{self.version}"


def run(command: Sequence[str | Path], log: Path, **options: object) -> None:
    """Runs a step of fetching or building. What it prints goes to the end of `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as output:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                              stdout=output, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode != 0:
        last = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise SuiteError(f"`{' '.join(map(str, command))}` failed ({log}):\n{last}")


def once(place: Path, stamp: str, make: Callable[[Path], None]) -> Path:
    """Has `make` fill the folder, unless it was filled before under the same stamp."""
    mark = place / "made-for"
    if not mark.exists() or mark.read_text() != stamp:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        print(f"making {place}", file=sys.stderr, flush=True)
        make(place)
        mark.write_text(stamp)
    return place
