# SPDX-License-Identifier: BSD-3-Clause
"""A trace in the formats of other tools, read back: Perfetto's by a reader of its wire format, and
by Perfetto's own package where that is installed; OTF2 by otf2-print."""

import importlib.util
import io
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import made_traces
import support
from sidelight_lib.traces import files, lanes, perfetto

_SIDELIGHT = support.ROOT / "tools" / "sidelight"
_NEEDS_OTF2 = unittest.skipIf(
    importlib.util.find_spec("otf2") is None,
    "python3-otf2 is not installed: no archive can be written",
)
_NEEDS_OTF2_PRINT = unittest.skipIf(
    shutil.which("otf2-print") is None,
    "otf2-print (otf2-tools) is not installed: no archive can be read",
)


def fields(data):
    """(number, value) of a message: numbers, or bytes."""
    place = 0

    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(data):
        key = varint()
        number, kind = key >> 3, key & 7
        if kind == 0:
            yield number, varint()
        elif kind == 1:
            yield number, struct.unpack_from("<Q", data, place)[0]
            place += 8
        else:
            assert kind == 2, kind
            size = varint()
            yield number, data[place : place + size]
            place += size


def one(message, number, default=None):
    return next((value for field, value in fields(message) if field == number), default)


def every(message, number):
    return [value for field, value in fields(message) if field == number]


class Perfetto(unittest.TestCase):
    def setUp(self):
        file = io.BytesIO()
        perfetto.write(made_traces.ring(8, 12).job(), file)
        self.data = file.getvalue()
        packets = every(self.data, 1)
        self.tracks = {one(each, 1): each for each in (one(p, 60) for p in packets) if each}
        self.events = [
            (one(packet, 8), one(packet, 11)) for packet in packets if one(packet, 11) is not None
        ]

    def test_tracks(self):
        names = {one(one(track, 3), 6) for track in self.tracks.values() if one(track, 3)}
        self.assertEqual(names, {f"rank {rank}".encode() for rank in range(8)})
        parents = [one(track, 5) for track in self.tracks.values() if one(track, 5)]
        self.assertTrue(parents)
        self.assertLessEqual(set(parents), set(self.tracks))

    def test_slices_are_closed_where_they_were_opened_and_in_order(self):
        depth, last = Counter(), 0
        for time, event in self.events:
            self.assertGreaterEqual(time, last)
            last = time
            kind, track = one(event, 9), one(event, 11)
            self.assertIn(track, self.tracks)
            depth[track] += {1: 1, 2: -1, 3: 0}[kind]
            self.assertIn(depth[track], (0, 1, 2))
        self.assertEqual(set(depth.values()), {0})

    def test_each_grant_has_its_exposure(self):
        begun = [flow for _, event in self.events for flow in every(event, 47)]
        ended = [flow for _, event in self.events for flow in every(event, 48)]
        self.assertEqual(len(begun), 8 * 12)
        self.assertEqual(Counter(begun), Counter(ended))

    def test_operations(self):
        names = Counter(one(event, 23) for _, event in self.events)
        self.assertEqual(names[b"put to 1"], 12)
        self.assertEqual(names[b"MPI_Win_fence"], 8 * 3)

    @unittest.skipIf(
        importlib.util.find_spec("perfetto") is None,
        "the Python package perfetto, which would read the file with its own code, is not "
        "installed; the other tests read it with theirs",
    )
    def test_with_the_code_of_perfetto(self):
        from google.protobuf.unknown_fields import UnknownFieldSet
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2

        trace = perfetto_trace_pb2.Trace()
        trace.ParseFromString(self.data)
        events = [packet for packet in trace.packet if packet.HasField("track_event")]
        self.assertEqual(len(events), len(self.events))
        for message in [*trace.packet, *(packet.track_event for packet in events)]:
            self.assertEqual(len(UnknownFieldSet(message)), 0)
        self.assertIn("exposure 7", {packet.track_event.name for packet in events})


class Lanes(unittest.TestCase):
    def test_epochs_in_one_lane_do_not_overlap(self):
        rank = made_traces.ring(8, 12).job().ranks[3]
        ends = {}
        placed = lanes.assign(rank.epochs, rank.end)
        self.assertEqual(len(placed), len(rank.epochs))
        for epoch, lane in placed:
            self.assertGreaterEqual(epoch.opened, ends.get(lane, 0))
            ends[lane] = epoch.completed or rank.end
        self.assertLessEqual(len(ends), 4)


def sidelight(*arguments):
    return subprocess.run(
        [sys.executable, str(_SIDELIGHT), "trace", *map(str, arguments)],
        capture_output=True, text=True, timeout=300, check=False,
    )


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.trace = self.folder / "trace"
        self.trace.mkdir()
        made_traces.ring(4, 8).write(self.trace)

    def test_no_format(self):
        ended = sidelight(self.trace)
        self.assertEqual(ended.returncode, 127)
        self.assertIn("--perfetto FILE, --otf2 FOLDER", ended.stderr)

    def test_perfetto(self):
        ended = sidelight(self.trace, "--perfetto", self.folder / "out.pftrace")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertTrue(every((self.folder / "out.pftrace").read_bytes(), 1))

    def test_a_file_that_cannot_be_written(self):
        ended = sidelight(self.trace, "--perfetto", self.folder / "none" / "out")
        self.assertEqual(ended.returncode, 127)
        self.assertIn("No such file", ended.stderr)

    def printed(self, archive):
        ended = sidelight(self.trace, "--otf2", archive)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        read = subprocess.run(
            ["otf2-print", str(archive / "traces.otf2")],
            capture_output=True, text=True, timeout=300, check=False,
        )
        self.assertEqual((read.returncode, read.stderr), (0, ""))
        return read.stdout

    @_NEEDS_OTF2
    @_NEEDS_OTF2_PRINT
    def test_otf2_of_members_without_a_file(self):
        """Ranks are those among the members that the archive has."""
        for old in self.trace.iterdir():
            old.unlink()
        trace = made_traces.Trace(3)
        epoch = trace[1].lock(100, 2, 102)
        trace[1].put(epoch, 115, 2)
        trace[1].put(epoch, 116, 0)
        trace[1].unlock(epoch, 120, 125, 2)
        trace[2].free(200, 210)
        for process in trace.processes()[1:]:
            files.write(self.trace, process)
        found = re.findall(r"^RMA_PUT .*Remote: (\w+)", self.printed(self.folder / "archive"), re.M)
        self.assertEqual(found, ["1", "UNDEFINED"])

    @_NEEDS_OTF2
    @_NEEDS_OTF2_PRINT
    def test_otf2(self):
        archive = self.folder / "archive"
        counts = Counter(re.findall(r"^[A-Z_0-9]+(?= )", self.printed(archive), re.MULTILINE))
        locks = counts["RMA_REQUEST_LOCK"]
        self.assertEqual(counts["RMA_PUT"], 4 * 8 + locks)
        self.assertEqual(counts["RMA_OP_COMPLETE_REMOTE"], counts["RMA_PUT"])
        self.assertEqual(counts["RMA_WIN_CREATE"], 4)
        self.assertEqual(counts["RMA_WIN_DESTROY"], 4)
        self.assertEqual(counts["RMA_GROUP_SYNC"], 4 * 8 * 4)
        self.assertEqual(counts["RMA_COLLECTIVE_END"], 4 * 2)
        self.assertEqual(counts["ENTER"], counts["LEAVE"])
        self.assertEqual(counts["RMA_ACQUIRE_LOCK"], locks)
        self.assertEqual(counts["RMA_RELEASE_LOCK"], locks)
        self.assertEqual(sidelight(self.trace, "--otf2", archive).returncode, 127)


if __name__ == "__main__":
    support.main()
