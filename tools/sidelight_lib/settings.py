# SPDX-License-Identifier: BSD-3-Clause
"""The settings of the library, as the library itself tells them."""

from __future__ import annotations

import ctypes
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from .hosts import HostError


@dataclass(frozen=True)
class Setting:
    """One row of the library's table of settings."""

    variable: str
    default: str
    value: str  # what a program started now would use
    info_key: str  # the info key of the same meaning; empty where there is none
    meaning: str

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def parse(text: str) -> list[Setting]:
    """The rows from the JSON that the library gives. A key that is not there is empty."""
    rows = json.loads(text)
    keys = Setting.__dataclass_fields__
    return [Setting(**{key: str(row.get(key) or "") for key in keys}) for row in rows]


def read(library: Path) -> list[Setting]:
    """Asks the library. It can be loaded without an MPI; the values are those of this process's
    environment."""
    try:
        ask = ctypes.CDLL(str(library)).sidelight_settings_json
    except (OSError, AttributeError) as error:
        raise HostError(f"{library} does not tell its settings ({error}): run `make`") from error
    ask.restype = ctypes.c_char_p
    ask.argtypes = []
    return parse((ask() or b"[]").decode())
