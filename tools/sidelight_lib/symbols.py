# SPDX-License-Identifier: BSD-3-Clause
"""The names in a library's table of dynamic symbols, out of the ELF format: where programs run,
there may be no readelf."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

_ELF_64_LITTLE = b"\x7fELF\x02\x01"
_DYNSYM = 11  # the section type of the table
_UNDEFINED = 0  # the section of a name that another library defines


def exported(path: str | Path) -> set[str]:
    """The names that a library or program defines for others; none if it is not of this machine."""
    return {name for name, section in _symbols(path) if section != _UNDEFINED}


def dynamic(path: str | Path) -> set[str]:
    """Those, and the names that it takes from the libraries it is linked to."""
    return {name for name, _ in _symbols(path)}


def _symbols(path: str | Path) -> Iterator[tuple[str, int]]:
    """Each name, and the number of its section."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return
    if not data.startswith(_ELF_64_LITTLE):
        return
    sections = _sections(data)
    for _, kind, offset, size, link in sections:
        if kind != _DYNSYM:
            continue
        text = sections[link][2]
        for entry in range(offset, offset + size, 24):
            name, _, _, section = struct.unpack_from("<IBBH", data, entry)
            start = text + name
            yield data[start : data.index(b"\0", start)].decode(errors="replace"), section


def _sections(data: bytes) -> list[tuple[int, int, int, int, int]]:
    """Of each section: its name, type, place in the file, size, and the section it refers to."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    entry_size, count = struct.unpack_from("<HH", data, 0x3A)
    found = []
    for index in range(count):
        start = table + index * entry_size
        name, kind = struct.unpack_from("<II", data, start)
        offset, size, link = struct.unpack_from("<QQI", data, start + 0x18)
        found.append((name, kind, offset, size, link))
    return found
