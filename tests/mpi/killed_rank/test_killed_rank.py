#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are killed in the middle of their epochs leave nothing behind: no file, no socket, and
once the launcher has ended no process. Killed are the first rank, the last one, and all at once."""

import argparse
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]
import run_ranks  # noqa: E402
from sidelight_lib import hosts  # noqa: E402

SECONDS_TO_START = 60
SECONDS_TO_END = 20
OURS = "sidelight"


class Job:
    """A run of the sitting program, its output in a file, its temporary files in a folder."""

    def __init__(self, host, program, ranks, folder):
        self.run = uuid.uuid4().hex
        self.folder = folder
        self.ranks = ranks
        command = host.command(ranks, [program], preload=host.require_library(),
                               extra_env={run_ranks.MARK: self.run})
        self.output = open(folder / "output", "w+", encoding="utf-8")  # noqa: SIM115
        self.launcher = subprocess.Popen(
            command, env={**os.environ, **host.environment(), run_ranks.MARK: self.run},
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
            start_new_session=True)

    def text(self):
        return (self.folder / "output").read_text(encoding="utf-8", errors="replace")

    def wait_for_ranks(self):
        """{rank: process} once all of them sit."""
        deadline = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < deadline and self.launcher.poll() is None:
            found = re.findall(r"sitting: rank=(\d+) pid=(\d+)", self.text())
            if len(found) == self.ranks:
                time.sleep(0.2)  # they print it just before they enter their epochs
                return {int(rank): int(pid) for rank, pid in found}
            time.sleep(0.05)
        raise RuntimeError("the ranks did not start:\n" + self.text())

    def wait_for_launcher(self):
        """Whether it ended by itself. Hosts may go on without a rank; then they are told to end."""
        for end in (None, signal.SIGTERM, signal.SIGKILL):
            if end is not None:
                self.launcher.send_signal(end)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.launcher.wait(SECONDS_TO_END)
                return end is None
        return False

    def close(self):
        run_ranks.kill_all(self.run)
        self.launcher.wait()
        self.output.close()


def mapped_by_us(pid):
    """How many mappings of a process are memory of the library."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    return maps.count("/memfd:" + OURS)


def names_left():
    """Files, and sockets with a name, that could be ours."""
    folders = {pathlib.Path(p) for p in ("/dev/shm", "/tmp", "/var/tmp", tempfile.gettempdir())}
    files = {str(p) for folder in folders if folder.is_dir() for p in folder.iterdir()
             if OURS in p.name.lower()}
    sockets = pathlib.Path("/proc/net/unix").read_text(encoding="utf-8").splitlines()
    return files | {line for line in sockets if OURS in line.lower()}


def kill_and_look(host, program, ranks, victims):
    """What is wrong after the victims were killed, as lines of text."""
    with tempfile.TemporaryDirectory(prefix="killed_rank-") as folder:
        before = names_left()
        job = Job(host, program, ranks, pathlib.Path(folder))
        try:
            processes = job.wait_for_ranks()
            wrong = [f"rank {rank} has no memory of the library"
                     for rank, pid in processes.items() if mapped_by_us(pid) == 0]
            for rank in victims:
                os.kill(processes[rank], signal.SIGKILL)
            by_itself = job.wait_for_launcher()
            left = run_ranks.left_behind(job.run)
            wrong += [f"process {pid} is left" for pid in left]
            wrong += [f"{name} is left" for name in sorted(names_left() - before)]
        finally:
            job.close()
    ended = "ended by itself" if by_itself else "had to be ended"
    print(f"{host.name}: {ranks} ranks, killed {victims}: the launcher {ended};",
          "; ".join(wrong) or "nothing left", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", required=True)
    parser.add_argument("--build", required=True, metavar="DIRECTORY")
    parser.add_argument("-n", type=int, default=4, metavar="N", help="ranks (default 4)")
    options = parser.parse_args()
    os.environ["SIDELIGHT_BUILD_DIR"] = options.build
    host = hosts.find(options.host)
    program = host.program("killed_rank/sitting")
    everyone = list(range(options.n))
    runs = [[0], [options.n - 1], everyone]
    wrong = [line for victims in runs
             for line in kill_and_look(host, program, options.n, victims)]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
