#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are killed in the middle of their epochs leave nothing behind: no file, no socket, and
once the launcher has ended no process. Killed are the first rank, the last one, and all at once.

With --surviving the launcher is told to let the others go on, and one rank is killed: the others
must get errors, in time, and work on or end. `surviving`: the last rank kills itself between two
calls; `holding`: while others have its memory handles and wait for its notifications; `creating`:
while windows are made; `naming`: in the middle of long puts into named memory; `active`: in the
middle of active messages, the seed says who; `offering`: who offers what it has recorded, or
performs that; `mixed`: any rank is killed at any moment, of a program that uses windows in every
way. --moments: so many times, each in a job of its own, with another --seed. Exit status 77 where
the machine cannot have nodes."""

import argparse
import contextlib
import functools
import os
import pathlib
import random
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
from sidelight_lib import hosts, namespaces  # noqa: E402

SECONDS_TO_START = 180
SECONDS_TO_END = 120
SECONDS_TO_SURVIVE = 300
SECONDS_OF_OTHERS = 60  # that a name of another test's may be there
OURS = "sidelight"
# What makes a launcher go on when a rank is dead: that of MPICH and what comes from it, and others.
GO_ON = {"mpich": ["-disable-auto-cleanup"],
         "openmpi4": ["--enable-recovery"],
         "openmpi5": ["--with-ft", "ulfm"]}


class Job:
    """A run of a program, its output in a file, its temporary files in a folder."""

    def __init__(self, host, program, options, nodes, folder, seed=None):
        self.run = uuid.uuid4().hex
        self.folder = folder
        self.ranks = options.n
        launch = functools.partial(nodes.launch, host) if nodes else host.command
        extra = {run_ranks.MARK: self.run, **dict(pair.split("=", 1) for pair in options.env)}
        if nodes and options.n > (os.cpu_count() or 1):
            extra |= run_ranks.UNSEEN_NEIGHBOURS
        argv = [program] if seed is None else [program, str(seed)]
        kin = "mpich" if host.family == "mpich" else hosts.kin(host.name)
        go_on = GO_ON[kin] if options.surviving else []
        command = launch(options.n, argv, preload=host.require_library(), extra_env=extra,
                         mpiexec_arguments=go_on)
        environment = nodes.environment(host) if nodes else host.environment()
        self.output = open(folder / "output", "w+", encoding="utf-8")  # noqa: SIM115
        self.launcher = subprocess.Popen(
            command, env={**os.environ, **environment, run_ranks.MARK: self.run},
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
            start_new_session=True)

    def text(self):
        return (self.folder / "output").read_text(encoding="utf-8", errors="replace")

    def wait_for_lines(self, pattern, count, seconds):
        """What is found of a pattern in the output, once it is there so often."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.launcher.poll() is None:
            found = re.findall(pattern, self.text())
            if len(found) == count:
                return found
            time.sleep(0.05)
        raise RuntimeError(f"not {count} times {pattern!r}:\n" + self.text())

    def wait_for_ranks(self):
        """{rank: process} once all of them sit. A node counts processes in its own way."""
        self.wait_for_lines(r"sitting: rank=\d+", self.ranks, SECONDS_TO_START)
        time.sleep(0.2)  # they print it just before they enter their epochs
        return self.processes()

    def processes(self):
        return {rank: pid for pid, env in run_ranks.processes_of(self.run).items()
                if (rank := run_ranks.rank_of(env)) is not None}

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


def names_left(nodes):
    """Files, and sockets with a name, that could be ours, here and on all nodes."""
    folders = {pathlib.Path(p) for p in ("/dev/shm", "/tmp", "/var/tmp", tempfile.gettempdir())}
    names = [str(p) for folder in folders if folder.is_dir() for p in folder.iterdir()]
    names += pathlib.Path("/proc/net/unix").read_text(encoding="utf-8").splitlines()
    for node in nodes.names if nodes else []:
        look = [*nodes.outside, str(nodes.remote_shell), node, "ls /dev/shm; cat /proc/net/unix"]
        names += subprocess.run(look, capture_output=True, text=True,
                                check=True).stdout.splitlines()
    return {name for name in names if OURS in pathlib.Path(name).name.lower()}


def new_names(nodes, before):
    """Those that stay: what others have made meanwhile they take away again."""
    found = names_left(nodes) - before
    deadline = time.monotonic() + SECONDS_OF_OTHERS
    while found and time.monotonic() < deadline:
        time.sleep(1)
        found &= names_left(nodes)
    return sorted(found)


def kill_and_look(host, program, options, nodes, victims):
    """What is wrong after the victims were killed, as lines of text."""
    with tempfile.TemporaryDirectory(prefix="killed_rank-") as folder:
        before = names_left(nodes)
        job = Job(host, program, options, nodes, pathlib.Path(folder))
        try:
            processes = job.wait_for_ranks()
            if sorted(processes) != list(range(options.n)):
                raise RuntimeError(f"ranks {sorted(processes)} are there")
            wrong = [f"rank {rank} has no memory of the library"
                     for rank, pid in processes.items() if mapped_by_us(pid) == 0]
            os.kill(processes[victims[0]], signal.SIGKILL)
            for rank in victims[1:]:
                with contextlib.suppress(ProcessLookupError):  # the launcher was faster
                    os.kill(processes[rank], signal.SIGKILL)
            by_itself = job.wait_for_launcher()
            left = run_ranks.left_behind(job.run)
            wrong += [f"process {pid} is left" for pid in left]
            wrong += [f"{name} is left" for name in new_names(nodes, before)]
        finally:
            job.close()
    ended = "ended by itself" if by_itself else "had to be ended"
    print(f"{host.name}: {options.n} ranks, killed {victims}: the launcher {ended};",
          "; ".join(wrong) or "nothing left", flush=True)
    return wrong


def kill_one(job, chance):
    """Kills any rank of a job at any moment of its first second."""
    job.wait_for_lines(r"running: rank=\d+", job.ranks, SECONDS_TO_START)
    processes = job.processes()
    time.sleep(chance.random())
    os.kill(processes[chance.randrange(job.ranks)], signal.SIGKILL)


def watch_survivors(host, options, nodes, seed):
    """What is wrong with the ranks that outlive another one, as lines of text."""
    program = host.program(f"killed_rank/{options.surviving}")
    with tempfile.TemporaryDirectory(prefix="killed_rank-") as folder:
        before = names_left(nodes)
        job = Job(host, program, options, nodes, pathlib.Path(folder), seed)
        try:
            if options.surviving == "mixed":
                kill_one(job, random.Random(seed))
            killed = time.monotonic()
            told = job.wait_for_lines(r"survived: rank=(\d+) failures=(\d+)", options.n - 1,
                                      SECONDS_TO_SURVIVE)
            needed = time.monotonic() - killed
            job.launcher.send_signal(signal.SIGTERM)
            job.wait_for_launcher()
            wrong = [f"process {pid} is left" for pid in run_ranks.left_behind(job.run)]
            wrong += [f"{name} is left" for name in new_names(nodes, before)]
            if any(failures != "0" for _, failures in told):
                wrong.append(job.text())
        except RuntimeError as error:
            print(f"{host.name}, seed {seed}: {error}", flush=True)
            run_ranks.print_stacks(job.run)
            return [f"seed {seed}"]
        finally:
            job.close()
    print(f"{host.name}, seed {seed}: {len(told)} of {options.n} ranks ended in {needed:.1f} s;",
          "; ".join(wrong) or "nothing wrong", flush=True)
    return wrong


def kill_at_moments(host, options, nodes):
    wrong = [line for seed in range(options.seed, options.seed + options.moments)
             for line in watch_survivors(host, options, nodes, seed)]
    return wrong


def kill_in_turn(host, options, nodes):
    program = host.program("killed_rank/sitting")
    runs = [[0], [options.n - 1], list(range(options.n))]
    return [line for victims in runs
            for line in kill_and_look(host, program, options, nodes, victims)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", required=True)
    parser.add_argument("--build", required=True, metavar="DIRECTORY")
    parser.add_argument("-n", type=int, default=4, metavar="N", help="ranks (default 4)")
    parser.add_argument("--nodes", type=int, default=0, metavar="K",
                        help="nodes made of namespaces")
    parser.add_argument("--surviving", choices=("surviving", "holding", "naming", "creating",
                                                  "active", "mixed", "offering"),
                        help="the launcher lets others go on in that program")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--moments", type=int, default=1, metavar="M")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the first moment")
    options = parser.parse_args()
    os.environ["SIDELIGHT_BUILD_DIR"] = options.build
    host = hosts.find(options.host)
    try:
        with contextlib.ExitStack() as stack:
            count = options.nodes
            nodes = stack.enter_context(namespaces.Nodes(count)) if count else None
            test = kill_at_moments if options.surviving else kill_in_turn
            return 1 if test(host, options, nodes) else 0
    except namespaces.NodesError as error:
        return run_ranks.refuse(error)


if __name__ == "__main__":
    sys.exit(main())
