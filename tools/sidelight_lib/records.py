# SPDX-License-Identifier: BSD-3-Clause
"""What a library was built for: `host.json` beside each libsidelight.so, which the build writes."""

from __future__ import annotations

import glob
import json
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "host.json"


@dataclass(frozen=True)
class Record:
    """The MPI of one library. Its paths are those of the machine that built it."""

    name: str  # of the host, and of the library's folder
    line: str  # the version line, such as "mpich-4.2"
    mpicc: str
    mpiexec: str
    libmpi: str


def write(record: Record, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(record), indent=2) + "\n"
    path = folder / FILE
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def read(place: Path) -> list[Record]:
    """Those of the libraries that are in folders of `place`."""
    found = []
    for path in [place / name for name in sorted(glob.glob(f"*/{FILE}", root_dir=place))]:
        try:
            record = Record(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            continue
        if (path.parent / "libsidelight.so").exists():
            found.append(record)
    return found
