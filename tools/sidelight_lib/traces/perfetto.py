# SPDX-License-Identifier: BSD-3-Clause
"""A trace as Perfetto's TrackEvent protobuf, which can draw epochs that overlap.

Each rank is a process. Its threads have the calls, and in them when they slept; its epochs have
tracks of their own, as many as are pending at once, with an instant for each operation. A flow
leads from an exposure to the epochs that it grants.

The few messages that this takes are written here field by field, as protobuf has them on the wire:
the numbers are those of perfetto's protos/perfetto/trace/*.proto, and do not change.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from . import lanes
from .matching import Meeting, Meetings, meetings
from .model import Epoch, Job, Rank

_SEQUENCE = 1
_BEGIN, _END, _INSTANT = 1, 2, 3
_CLEARED = 1  # of sequence_flags: nothing was said before


def write(job: Job, file: BinaryIO) -> None:
    for packet in packets(job):
        file.write(_bytes_field(1, packet))


def packets(job: Job) -> Iterator[bytes]:
    tracks = _Tracks()
    met = meetings(job)
    flows = {
        meeting: number
        for number, meeting in enumerate(
            (each for those in met.of_access.values() for each in those), start=1
        )
    }
    events: list[tuple[float, int, bytes]] = []
    for rank in job.ranks.values():
        yield from _describe_rank(rank, tracks, job)
        for time, event in _events(rank, tracks, met, flows):
            events.append((time, len(events), event))
    yield from tracks.described
    events.sort()
    for time, _, body in events:
        yield _packet(_bytes_field(11, body), time - job.begin)


# What becomes of a rank.


class _Tracks:
    """Numbers of tracks; those of epochs are described when they are first used."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self.described: list[bytes] = []

    def number(self, *name: object) -> int:
        return self._numbers.setdefault(name, len(self._numbers) + 1)

    def of_epochs(self, rank: Rank, epoch: Epoch, lane: int) -> int:
        name = (rank.rank, epoch.window.number, lane)
        known = name in self._numbers
        number = self.number(*name)
        if not known:
            body = _varint_field(1, number) + _text_field(2, f"epochs of {epoch.window.label}")
            body += _varint_field(5, self.number("rank", rank.rank))
            self.described.append(_packet(_bytes_field(60, body)))
        return number


def _process(rank: Rank) -> int:
    """Its number in Perfetto, where 0 has a meaning of its own."""
    return rank.rank + 1 if rank.rank >= 0 else 1_000_000 - rank.rank


def _describe_rank(rank: Rank, tracks: _Tracks, job: Job) -> Iterator[bytes]:
    process = _varint_field(1, _process(rank)) + _text_field(6, f"rank {rank.rank}")
    process += _text_field(2, f"{rank.program} on {rank.node}")
    body = _varint_field(1, tracks.number("rank", rank.rank)) + _bytes_field(3, process)
    yield _packet(_bytes_field(60, body), cleared=rank is next(iter(job.ranks.values())))
    numbers = {call.thread for call in rank.calls} | {sleep.thread for sleep in rank.sleeps}
    for place, thread in enumerate(sorted(numbers)):
        described = _varint_field(1, _process(rank)) + _varint_field(2, thread)
        described += _text_field(5, "calls" if place == 0 else f"calls, thread {place}")
        body = _varint_field(1, tracks.number("thread", rank.rank, thread))
        yield _packet(_bytes_field(60, body + _bytes_field(4, described)))


def _events(
    rank: Rank, tracks: _Tracks, met: Meetings, flows: Mapping[Meeting, int]
) -> Iterator[tuple[float, bytes]]:
    yield from _thread_events(rank, tracks)
    for epoch, lane in lanes.assign(rank.epochs, rank.end):
        yield from _epoch_events(rank, epoch, tracks.of_epochs(rank, epoch, lane), met, flows)
    for time, own in rank.moves:
        name = "sweep by the progress thread" if own else "sweep"
        yield time, _event(_INSTANT, tracks.number("rank", rank.rank), name)


def _thread_events(rank: Rank, tracks: _Tracks) -> Iterator[tuple[float, bytes]]:
    for call in rank.calls:
        track = tracks.number("thread", rank.rank, call.thread)
        name = call.label
        notes: dict[str, int | str] = {"window": call.window.number, "from": str(call.place)}
        if call.peer >= 0:
            notes["rank"] = call.peer
        yield call.enter, _event(_BEGIN, track, name, notes)
        yield (rank.end if call.leave is None else call.leave), _event(_END, track)
    for sleep in rank.sleeps:
        track = tracks.number("thread", rank.rank, sleep.thread)
        yield sleep.begin, _event(_BEGIN, track, "asleep")
        yield sleep.end, _event(_END, track)


def _epoch_events(
    rank: Rank, epoch: Epoch, track: int, met: Meetings, flows: Mapping[Meeting, int]
) -> Iterator[tuple[float, bytes]]:
    opened = epoch.opened or 0.0
    notes = {"window": epoch.window.number, "number": epoch.number, "bytes": epoch.bytes}
    peers = ", ".join(map(str, epoch.peers[:8])) + (" and others" if len(epoch.peers) > 8 else "")
    kind = ("exclusive " if epoch.exclusive else "") + epoch.kind.replace("_", " ")
    yield opened, _event(_BEGIN, track, f"{kind} {peers}".strip(), notes)
    for meeting in met.of_exposure.get(epoch, ()):
        flow = flows[meeting]
        name = f"exposed to {meeting.access.rank}"
        yield epoch.activated or opened, _event(_INSTANT, track, name, flow=flow)
    known = {meeting.exposure.rank: flows[meeting] for meeting in met.of_access.get(epoch, ())}
    for peer, time in epoch.granted.items() if epoch.kind != "exposure" else ():
        name = f"granted by {peer}" if peer >= 0 else "granted"
        yield time, _event(_INSTANT, track, name, ends=known.get(peer))
    for operation in epoch.operations:
        name = f"{operation.kind} to {operation.target}"
        yield operation.time, _event(_INSTANT, track, name, {"bytes": operation.bytes})
    if epoch.closed is not None:
        yield epoch.closed, _event(_INSTANT, track, "closed")
    yield (rank.end if epoch.completed is None else epoch.completed), _event(_END, track)


# Messages.


def _event(
    kind: int,
    track: int,
    name: str = "",
    notes: Mapping[str, int | str] | None = None,
    flow: int | None = None,
    ends: int | None = None,
) -> bytes:
    body = _varint_field(9, kind) + _varint_field(11, track)
    if name:
        body += _text_field(23, name)
    for key, value in (notes or {}).items():
        note = _text_field(10, key)
        note += _text_field(6, value) if isinstance(value, str) else _varint_field(3, value)
        body += _bytes_field(4, note)
    if flow is not None:
        body += _fixed_field(47, flow)
    if ends is not None:
        body += _fixed_field(48, ends)
    return body


def _packet(body: bytes, time: float | None = None, cleared: bool = False) -> bytes:
    head = _varint_field(8, round(time)) if time is not None else b""
    flags = _varint_field(13, _CLEARED) if cleared else b""
    return head + _varint_field(10, _SEQUENCE) + flags + body


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _varint_field(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _fixed_field(number: int, value: int) -> bytes:
    return _varint(number << 3 | 1) + struct.pack("<Q", value)


def _bytes_field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _text_field(number: int, value: str) -> bytes:
    return _bytes_field(number, value.encode())
