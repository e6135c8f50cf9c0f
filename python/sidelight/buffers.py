# SPDX-License-Identifier: BSD-3-Clause
"""Buffers as mpi4py's calls take them: an object with memory, or a list of it, a count, a type.

    array                                   all of it; the type is that of its elements
    [array, MPI.DOUBLE]                     as many as it has
    [array, 3, MPI.DOUBLE]                  the first three
    [array, (3, 2), MPI.DOUBLE]             three, from the one with number 2 on
    [MPI.BOTTOM, 1, datatype]               by addresses
    None                                    none

Memory that only DLPack tells of, such as that of tensors, needs the type. Places at a target are a
displacement, or a list of it, a count and a type."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from mpi4py import MPI

from .library import handle


class Buffer(NamedTuple):
    """Memory of this process. What is in `kept` has to live as long as the address is used."""

    address: int
    count: int
    datatype: MPI.Datatype
    kept: Any

    @property
    def arguments(self) -> tuple[int, int, Any]:
        return self.address, self.count, handle(self.datatype)


class Place(NamedTuple):
    """Memory of a target."""

    rank: int
    displacement: int
    count: int
    datatype: MPI.Datatype

    @property
    def arguments(self) -> tuple[int, int, int, Any]:
        return self.rank, self.displacement, self.count, handle(self.datatype)


def buffer(given: Any, written: bool = False) -> Buffer:
    """What a call is given as origin or result; `written`: the memory must not be read-only."""
    if given is None:
        return Buffer(0, 0, MPI.BYTE, None)
    thing, *rest = given if isinstance(given, (list, tuple)) else [given]
    datatype = rest.pop() if rest and isinstance(rest[-1], (MPI.Datatype, str)) else None
    count, first = _count_and_first(rest)
    if thing is None:
        if count:
            raise ValueError(f"{count} elements of no buffer; memory by addresses is MPI.BOTTOM")
        count = 0
    if thing is None or thing is MPI.BOTTOM:
        if count is None or not isinstance(datatype, MPI.Datatype):
            raise ValueError("memory without a buffer needs a count and a datatype")
        return Buffer(0, count, datatype, datatype)
    memory = MPI.memory.frombuffer(thing, readonly=not written)
    datatype = _datatype(datatype or _format(thing))
    extent = datatype.extent
    if count is None:
        count = max(memory.nbytes - first * extent, 0) // extent if extent > 0 else 0
    elif extent > 0 and (first + count) * extent > memory.nbytes and datatype.is_predefined:
        raise ValueError(f"{first + count} elements in a buffer of {memory.nbytes} bytes")
    return Buffer(memory.address + first * extent, count, datatype, (memory, thing))


def place(rank: int, given: Any, origin: Buffer) -> Place:
    """Where an operation goes; what is not said is as at the origin."""
    displacement, *rest = given if isinstance(given, (list, tuple)) else [given or 0]
    if len(rest) > 2:
        raise ValueError("a target is a displacement, or [displacement, count, datatype]")
    count = rest[0] if rest else origin.count
    datatype = _datatype(rest[1]) if len(rest) == 2 else origin.datatype
    return Place(rank, displacement, count, datatype)


def _count_and_first(rest: list[Any]) -> tuple[int | None, int]:
    if not rest or rest == [None]:
        return None, 0
    if len(rest) == 1 and isinstance(rest[0], (list, tuple)):
        rest = list(rest[0])
    if len(rest) == 1:
        return rest[0], 0
    count, first = rest
    return count, first


def _format(thing: Any) -> str:
    try:
        return memoryview(thing).format
    except TypeError:
        raise TypeError(
            f"{type(thing).__name__} does not say the type of its elements as memoryview asks for "
            "it: give a list of it and the datatype, as in [tensor, MPI.DOUBLE]"
        ) from None


def _datatype(given: MPI.Datatype | str) -> MPI.Datatype:
    if isinstance(given, MPI.Datatype):
        return given
    code = given.lstrip("@=" + ("<" if sys.byteorder == "little" else ">"))
    if code not in MPI._typedict:
        raise ValueError(f"no datatype of MPI is '{given}'")
    return MPI._typedict[code]
