# SPDX-License-Identifier: BSD-3-Clause
"""Where calls come from: addresses as places in files, and these as lines of source, by addr2line.

A place is the same in all processes, wherever the system has put the file. It is known without
symbols; a line is not, and then the place is what is shown.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_PATIENCE_SECONDS = 60
_PT_LOAD = 1


class Place(NamedTuple):
    """An address in a file, as its symbols have it."""

    file: str  # empty where no file is known
    address: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}+{self.address:#x}" if self.file else f"{self.address:#x}"


class _Mapping(NamedTuple):
    begin: int
    end: int
    offset: int
    file: str


class Maps:
    """Where code lies in one process: the lines of its /proc/self/maps."""

    def __init__(self, text: str) -> None:
        self._mappings = sorted(_mappings(text))
        self._begins = [mapping.begin for mapping in self._mappings]

    @classmethod
    def read(cls, path: Path) -> Maps:
        try:
            return cls(path.read_text(errors="replace"))
        except OSError:
            return cls("")

    def place(self, returns_to: int) -> Place:
        """Of the call that returns to this address."""
        address = returns_to - 1
        number = bisect_right(self._begins, address) - 1
        if number < 0 or address >= self._mappings[number].end:
            return Place("", returns_to)
        mapping = self._mappings[number]
        return Place(mapping.file, _in_file(mapping.file, address - mapping.begin + mapping.offset))


def _mappings(text: str) -> Iterable[_Mapping]:
    for line in text.splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6:
            begin, _, end = words[0].partition("-")
            yield _Mapping(int(begin, 16), int(end, 16), int(words[2], 16), words[5])


_segments: dict[str, list[tuple[int, int, int]]] = {}


def _in_file(file: str, offset: int) -> int:
    """The address that symbols have for an offset in a file: that of its loaded segment."""
    if file not in _segments:
        try:
            with open(file, "rb") as opened:
                _segments[file] = _load_segments(opened.read(4096))
        except (OSError, struct.error):
            _segments[file] = []
    for begin, size, address in _segments[file]:
        if begin <= offset < begin + size:
            return address + offset - begin
    return offset


def _load_segments(head: bytes) -> list[tuple[int, int, int]]:
    """Offset, size and address of each, of a 64-bit ELF file of this machine's byte order."""
    if head[:5] != b"\x7fELF\x02":
        return []
    (table,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    found = []
    for place in range(table, table + count * size, size):
        kind, _, offset, address, _, in_file = struct.unpack_from("<IIQQQQ", head, place)
        if kind == _PT_LOAD:
            found.append((offset, in_file, address))
    return found


def lines(places: Iterable[Place]) -> dict[Place, str]:
    """`file.c:12 (function)` of each, or the place where there are no symbols."""
    found = {place: str(place) for place in places}
    by_file: dict[str, list[Place]] = {}
    for place in found:
        if place.file and os.path.isfile(place.file):
            by_file.setdefault(place.file, []).append(place)
    for file, those in by_file.items():
        found.update(zip(those, _ask(file, those)))
    return found


def _ask(file: str, places: list[Place]) -> list[str]:
    tool = shutil.which("addr2line")
    unknown = [str(place) for place in places]
    if tool is None:
        return unknown
    asked = "".join(f"{place.address:#x}\n" for place in places)
    try:
        done = subprocess.run(
            [tool, "-e", file, "-f", "-C"],
            input=asked,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return unknown
    said = done.stdout.splitlines()
    if len(said) != 2 * len(places):
        return unknown
    return [
        _line(function, line, place)
        for function, line, place in zip(said[::2], said[1::2], unknown)
    ]


def _line(function: str, line: str, place: str) -> str:
    path, _, number = line.partition(" ")[0].rpartition(":")
    if number.isdigit() and number != "0":
        return f"{Path(path).name}:{number} ({function})"
    return place if function == "??" else f"{place} ({function})"
