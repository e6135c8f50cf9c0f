# SPDX-License-Identifier: BSD-3-Clause
"""Libraries that a program is linked to and that must stay ahead of Sidelight: profiling tools,
which are shared libraries that define MPI functions and call their PMPI twins, and the run-time
library of AddressSanitizer, which ends a program that has another one before it.

The loader looks into what is preloaded before it looks into what a program is linked to, so
Sidelight alone in LD_PRELOAD would hide them. `sidelight run` preloads them too, ahead of it.
"""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import hosts

_ELF_64_LITTLE = b"\x7fELF\x02\x01"
_DYNSYM = 11  # the section type of a library's table of dynamic symbols


def linked_to(program: str | Path, libraries: Sequence[Path]) -> list[Path]:
    """Those among the libraries of `program`: the sanitizer's, then the tools, which define a
    function of MPI that one of `libraries` takes over, and are no MPI themselves."""
    if shutil.which(str(program)) is None:
        return []
    names = set().union(*(exported(library) for library in libraries))
    taken_over = {name for name in names if name.startswith("MPI_")}
    linked = _libraries(hosts.ldd(program))
    sanitizers = [path for path in linked if "__asan_init" in exported(path)]
    return [*sanitizers, *(path for path in linked if _is_tool(path, taken_over))]


def _libraries(ldd_output: str) -> list[Path]:
    """With the loader, which is one too. A library without a name has its path alone."""
    pattern = r"^\s*(?:\S+ => )?(/.+?) \(0x"
    return [Path(path) for path in re.findall(pattern, ldd_output, re.MULTILINE)]


def _is_tool(path: Path, taken_over: set[str]) -> bool:
    """An MPI, Sidelight too, defines the PMPI name of all that it defines."""
    names = exported(path)
    return any("P" + name not in names for name in names & taken_over)


def exported(path: str | Path) -> set[str]:
    """The names that a library or program defines for others; none if it is not of this machine."""
    data = Path(path).read_bytes()
    return set(_names(data)) if data.startswith(_ELF_64_LITTLE) else set()


def _names(data: bytes) -> Iterator[str]:
    """The dynamic symbols that have a section, out of the tables of the ELF format."""
    sections = _sections(data)
    for _, kind, offset, size, link in sections:
        if kind != _DYNSYM:
            continue
        text = sections[link][2]
        for entry in range(offset, offset + size, 24):
            name, _, _, section = struct.unpack_from("<IBBH", data, entry)
            if section != 0:
                start = text + name
                yield data[start : data.index(b"\0", start)].decode(errors="replace")


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
