# SPDX-License-Identifier: BSD-3-Clause
"""What was found, as a file: one record for each program, host and route. A new run replaces the
records of what it ran again, and leaves the others."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Result:
    suite: str
    suite_version: str
    host: str
    host_version: str
    route: str
    entry: str
    date: str
    seconds: float
    limit: float  # seconds that it was given
    ran: int
    skipped: int
    failed: tuple[str, ...]
    hung: bool = False
    reason: str = ""  # why it was skipped

    @property
    def key(self) -> tuple[str, ...]:
        return self.suite, self.host, self.route, self.entry

    @property
    def passed(self) -> int:
        return self.ran - self.skipped - len(self.failed)


def load(path: Path) -> list[Result]:
    if not path.exists():
        return []
    records = json.loads(path.read_text())
    return [Result(**record | {"failed": tuple(record["failed"])}) for record in records]


def save(path: Path, new: Iterable[Result]) -> None:
    """Adds to what the file has. Several runs may do so at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        merged = {result.key: result for result in load(path)} | {one.key: one for one in new}
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps([asdict(one) for one in merged.values()], indent=1) + "\n")
        beside.replace(path)
