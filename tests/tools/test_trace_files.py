# SPDX-License-Identifier: BSD-3-Clause
"""Traces are read as they were written, on one clock, also those of processes that were killed."""

import tempfile
import unittest
from pathlib import Path

import made_traces
import support
from made_traces import REAL, Trace
from sidelight_lib.hosts import HostError
from sidelight_lib.traces import files, findings, folders, model, reader
from sidelight_lib.traces.files import Clocks, Event, Process, Record, recorded


def process(rank=0, begin=Clocks(0, 0, REAL), end=Clocks(100, 100, REAL + 100), node="one",
            records=(), own=()):
    threads = [recorded(1, False, records)]
    if own:
        threads.append(recorded(2, True, own))
    return Process(rank, 2, 17, False, begin, end, node, "/bin/program", threads, Path())


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def times(self):
        """Of the first record of each process."""
        return [next(iter(each.threads[0].records)).time for each in files.read(self.folder)]

    def test_what_was_written(self):
        many = [Record(i, Event.MOVED) for i in range(files._MOST_RECORDS + 3)]
        call = Record(7, Event.CALL_ENTERED, 0x84, -1, 2, 0, 0xFFFFFFFFFFFFFFF0)
        files.write(self.folder, process(records=[*many, call], own=[Record(5, Event.MOVED)]))
        (found,) = files.read(self.folder)
        self.assertEqual((found.rank, found.ranks, found.process, found.node), (0, 2, 17, "one"))
        self.assertEqual(found.program, "/bin/program")
        self.assertEqual(found.maps, self.folder / "rank-00000.maps")
        self.assertEqual([thread.own for thread in found.threads], [False, True])
        self.assertEqual(list(found.threads[0].records), [*many, call])
        self.assertEqual(len(found.threads[0].records), len(many) + 1)

    def test_a_file_that_was_cut(self):
        records = [Record(i, Event.MOVED) for i in range(10)]
        path = files.write(self.folder, process(records=records))
        with path.open("r+b") as file:
            file.truncate(files.HEADER_BYTES + 32 + 4 * 32 + 5)
        self.assertEqual(list(files.read(self.folder)[0].threads[0].records), records[:4])

    def test_a_chunk_that_is_filled_again(self):
        """It lies before those that were full earlier; one of them was copied when the process was
        killed."""
        most = files._MOST_RECORDS
        later = [Record(most + i, Event.MOVED) for i in range(5)]
        earlier = [Record(i, Event.MOVED) for i in range(most)]
        path = files.write(self.folder, process(records=[*later, *earlier[: most - 5]]))
        data = bytearray(path.read_bytes())
        head = files._CHUNK.pack(5, 1, 0)
        data[files.HEADER_BYTES : files.HEADER_BYTES + len(head)] = head
        full = files.write(self.folder, process(records=earlier)).read_bytes()[files.HEADER_BYTES :]
        path.write_bytes(data + full + full)
        self.assertEqual(list(files.read(self.folder)[0].threads[0].records), [*earlier, *later])

    def test_a_copy_that_is_not_whole(self):
        records = [Record(i, Event.MOVED) for i in range(files._MOST_RECORDS)]
        path = files.write(self.folder, process(records=records))
        whole = path.read_bytes()
        part = whole[files.HEADER_BYTES :][: files.CHUNK_BYTES // 2]
        path.write_bytes(whole + part.ljust(files.CHUNK_BYTES, b"\0"))
        self.assertEqual(list(files.read(self.folder)[0].threads[0].records), records)

    def test_ticks_become_nanoseconds(self):
        ends = {"begin": Clocks(1000, 50, REAL), "end": Clocks(3000, 1050, REAL + 1000)}
        files.write(self.folder, process(records=[Record(2000, Event.MOVED)], **ends))
        self.assertEqual(self.times(), [500])

    def test_processes_of_one_machine_have_one_clock(self):
        """The second was started later, and read its clocks 3 ns late."""
        first = process(0, Clocks(0, 0, REAL), Clocks(9000, 9000, 0), records=[Record(80, 12)])
        begin, end = Clocks(50, 53, REAL + 53), Clocks(100, 103, 0)
        second = process(1, begin, end, records=[Record(80, 12)])
        for each in (first, second):
            files.write(self.folder, each)
        self.assertEqual(self.times(), [80, 80])

    def test_machines_are_compared_by_the_time_of_day(self):
        first = process(0, Clocks(0, 0, REAL), records=[Record(10, 12)])
        second = process(1, Clocks(5000, 77, REAL + 30), Clocks(5100, 177, REAL + 130), "two",
                         [Record(5010, 12)])
        for each in (first, second):
            files.write(self.folder, each)
        self.assertEqual(self.times(), [10, 40])

    def test_files_in_which_nothing_is(self):
        """A full disk, or the end of their processes, left them so."""
        files.write(self.folder, process())
        (self.folder / "rank-00001.trace").write_bytes(b"")
        (self.folder / "rank-00002.trace").write_bytes(bytes(files.HEADER_BYTES))
        self.assertEqual([each.rank for each in files.read(self.folder)], [0])
        (note,) = [
            note for note in findings.analyse(reader.load(self.folder)).notes if "files" in note
        ]
        self.assertEqual(note, "In 2 files there is nothing (rank-00001.trace first).")

    def test_files_of_several_runs(self):
        """A rank of an earlier program is left, of more ranks, or of as many."""
        now, before = Clocks(0, 0, REAL), Clocks(0, 0, REAL - 500)
        end, end_before = Clocks(100, 100, REAL + 100), Clocks(100, 100, REAL - 400)
        for ranks, begin, until, mixed in (
            (2, now, end, False), (3, now, end, True), (2, before, end_before, True)
        ):
            other = process(1, begin, until)
            other.ranks = ranks
            files.write(self.folder, process())
            files.write(self.folder, other)
            notes = findings.analyse(reader.load(self.folder)).notes
            self.assertEqual(any("several runs" in note for note in notes), mixed)

    def test_a_trace_that_is_too_large_to_report(self):
        files.write(self.folder, process(records=[Record(1, Event.MOVED)]))
        memory = self.folder / "meminfo"
        for available, said in ((1000, True), (100_000, False)):  # kilobytes; it needs 3 MB
            memory.write_text(f"MemTotal: 9 kB\nMemAvailable:   {available} kB\n")
            self.assertEqual(folders.beyond_memory(self.folder, memory) is not None, said)
        self.assertIsNone(folders.beyond_memory(self.folder, self.folder / "none"))

    def test_refusals(self):
        with self.assertRaisesRegex(HostError, "has no trace"):
            files.read(self.folder)
        path = self.folder / "rank-00000.trace"
        path.write_bytes(b"nothing")
        with self.assertRaisesRegex(HostError, "not the file of a trace"):
            files.read(self.folder)
        files.write(self.folder, process())
        data = bytearray(path.read_bytes())
        data[8] = 2
        path.write_bytes(data)
        with self.assertRaisesRegex(HostError, "version 2"):
            files.read(self.folder)
        path.unlink()
        path.mkdir()
        with self.assertRaisesRegex(HostError, f"{path}: Is a directory"):
            files.read(self.folder)


class Model(unittest.TestCase):
    def test_an_epoch_and_its_calls(self):
        trace = Trace(2)
        access = trace[0].start(100, 1)
        trace[0].put(access, 120, 1, 64)
        trace[0].grant(access, 250, 1)
        trace[0].complete(access, 200, 300)
        job = trace.job()
        (epoch,) = job.ranks[0].epochs
        self.assertEqual((epoch.kind, epoch.peers, epoch.bytes), ("access", [1], 64))
        times = (epoch.opened, epoch.all_granted, epoch.closed, epoch.completed)
        self.assertEqual(times, (101e3, 250e3, 201e3, 299e3))
        self.assertEqual((epoch.opening.name, epoch.closing.name), ("start", "complete"))
        self.assertEqual((epoch.closing.enter, epoch.closing.leave), (200e3, 300e3))
        self.assertEqual(job.windows[0].members, {0: 0, 1: 1})

    def test_a_test_that_has_ended_an_exposure(self):
        """It is noted behind that."""
        trace = Trace(2)
        exposure = trace[1].post(0, 0)
        trace[1].close(exposure, 400, 401)
        trace[1].call("test", 402, 403)
        rank = trace.job().ranks[1]
        call = rank.calls[-1]
        self.assertEqual((call.label, call.enter, call.leave), ("MPI_Win_test", 400e3, 403e3))
        self.assertEqual(call.closes, rank.epochs)
        self.assertIs(rank.epochs[0].closing, call)

    def test_ranks_are_those_of_the_job(self):
        """Rank 0 of the window is rank 1 of the job, and the other way round."""
        trace = Trace(2)
        for rank in trace.ranks:
            made = rank.records[0]
            rank.records = [made._replace(peer=1 - rank.number)]
        epoch = trace[0].start(100, 0)
        trace[0].grant(epoch, 110, 0)
        self.assertEqual(trace.job().ranks[0].epochs[0].peers, [1])

    def test_processes_without_a_rank(self):
        """Two that others have spawned are no ranks of the job."""
        trace = Trace(4)
        parents, children = trace.processes()[:2], trace.processes()[2:]
        for each in children:
            each.rank, each.ranks = -1, 0
        for each in parents:
            each.ranks = 2
        with tempfile.TemporaryDirectory() as folder:
            written = [files.write(Path(folder), each).name for each in parents + children]
            self.assertEqual(written[2:], ["process-one-4002.trace", "process-one-4003.trace"])
            job = reader.load(Path(folder))
        self.assertEqual(list(job.ranks), [0, 1, 2, 3])
        self.assertEqual(job.windows[0].members, {0: 0, 1: 1, 2: 2, 3: 3})

    def test_members_that_wrote_nothing(self):
        trace = Trace(3)
        trace.ranks.pop()
        self.assertEqual(trace.job().windows[0].members, {0: 0, 1: 1, 2: 2})

    def test_a_name_that_is_used_again(self):
        trace = Trace(2)
        for rank in trace.ranks:
            rank.note(500, Event.WINDOW_MADE, 0, rank.number, 2, made_traces.NAME, window=2)
        job = trace.job()
        self.assertEqual([window.flavor for window in job.windows], ["allocate", "create"])
        self.assertEqual(job.windows[1].members, {0: 0, 1: 1})

    def test_sleep_in_other_calls(self):
        trace = Trace(1)
        trace[0].sleep(100, 900)
        trace[0].sleep(950, 2000)
        trace[0].call("fence", 1500, 1600)
        trace[0].sleep(4000, 4100)
        spans = trace.job().ranks[0].asleep_elsewhere()
        expected = [(100e3, 1500e3), (1600e3, 2000e3), (4000e3, 4100e3)]
        self.assertEqual([tuple(span) for span in spans], expected)

    def test_what_had_not_ended(self):
        trace = Trace(1)
        trace[0].note(10, Event.CALL_ENTERED, made_traces.CALLS["fence"])
        trace[0].sleep(20, 30)
        trace[0].note(40, Event.SLEPT, window=0)
        rank = trace.job().ranks[0]
        self.assertIsNone(rank.calls[0].leave)
        self.assertEqual(rank.sleeps, [model.Sleep(20e3, 30e3, 100, False)])
        self.assertEqual(rank.wakes, 1)


if __name__ == "__main__":
    support.main()
