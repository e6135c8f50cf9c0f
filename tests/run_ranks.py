#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one MPI program on N ranks within a time limit.

When the time is up it prints where each rank was (a stack of every thread), ends them all and
fails. It also fails when the program ends but leaves a process behind. Exit status: that of
mpiexec, 124 after the limit, 125 for a process left behind."""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import uuid

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from sidelight_lib import hosts  # noqa: E402

TIMED_OUT = 124
LEFT_BEHIND = 125
GRACE = 3.0  # seconds that launchers get to end after mpiexec has
STACKS_SHOWN = 8
RANK_VARIABLES = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")
MARK = "SIDELIGHT_TEST_RUN"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", help="host MPI; default: the one of the program")
    parser.add_argument("-n", type=int, required=True, metavar="N", help="number of ranks")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="seconds")
    parser.add_argument("--preload", metavar="LIB", help="library to preload into the ranks")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("program")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    return parser.parse_args()


def environment_of(pid):
    """The environment a process was started with; empty if it is gone or not ours."""
    try:
        entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    pairs = (entry.decode(errors="replace").split("=", 1) for entry in entries if b"=" in entry)
    return dict(pairs)


def processes_of(run):
    """{pid: environment} of everything that this run has started and that still lives. They are
    found by a mark in their environment: launchers make process groups and orphans of their own."""
    numbers = (int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit())
    found = {pid: environment_of(pid) for pid in numbers if pid != os.getpid()}
    return {pid: env for pid, env in found.items() if env.get(MARK) == run}


def rank_of(environment):
    for variable in RANK_VARIABLES:
        if variable in environment:
            return int(environment[variable])
    return None


def print_stacks(run):
    ranks = sorted((rank, pid) for pid, env in processes_of(run).items()
                   if (rank := rank_of(env)) is not None)
    if not shutil.which("gdb"):
        print("no stacks: gdb is not installed", flush=True)
        return
    for rank, pid in ranks[:STACKS_SHOWN]:
        print(f"--- rank {rank}, process {pid}", flush=True)
        command = ["gdb", "-nx", "-batch", "-p", str(pid), "-ex", "thread apply all bt 12"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           timeout=30, check=False)
    if len(ranks) > STACKS_SHOWN:
        print(f"--- and {len(ranks) - STACKS_SHOWN} more ranks", flush=True)


def kill_all(run):
    while found := processes_of(run):
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def left_behind(run):
    """What outlives the job by more than the launchers' grace."""
    deadline = time.monotonic() + GRACE
    while (found := processes_of(run)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def start(options, run):
    host = hosts.find(options.host, options.program)
    extra = dict(setting.split("=", 1) for setting in options.env) | {MARK: run}
    command = host.command(options.n, [options.program, *options.args],
                           preload=options.preload, extra_env=extra)
    environment = {**os.environ, **host.environment(), MARK: run}
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                            start_new_session=True)


def wait(job, options, run):
    try:
        status = job.wait(options.timeout)
    except subprocess.TimeoutExpired:
        print(f"*** no end after {options.timeout:g} s; where the ranks were:", flush=True)
        print_stacks(run)
        return TIMED_OUT
    for pid, env in left_behind(run).items():
        print(f"*** process {pid} (rank {rank_of(env)}) outlived the job", flush=True)
        status = status or LEFT_BEHIND
    return status


def main():
    options = arguments()
    run = uuid.uuid4().hex
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TIMED_OUT))
    try:
        job = start(options, run)
        status = wait(job, options, run)
    except hosts.HostError as error:
        sys.exit(f"run_ranks: {error}")
    finally:
        kill_all(run)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
