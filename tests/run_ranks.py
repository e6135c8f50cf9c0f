#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one MPI program on N ranks within a time limit, on one node or several.

When the time is up it prints where each rank was (a stack of every thread), ends them all and
fails. It also fails when the program ends but leaves a process behind, when a library that is to be
preloaded is not loaded, with --prints when it does not print what matches, and with --trace when a
rank leaves no trace. Exit status: that of mpiexec, 124 after the limit, 125 for a process left
behind, 1 where the library, a trace or what it prints is missing, 77 where the machine cannot have
several nodes (1 if the environment variable CI is set: there they must be had) or an ordinary user
cannot reach the program."""

import argparse
import contextlib
import functools
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from sidelight_lib import hosts, namespaces  # noqa: E402

SKIPPED = 77
TIMED_OUT = 124
LEFT_BEHIND = 125
GRACE = 60.0  # seconds that launchers get to end after mpiexec has
STACKS_SHOWN = 8
RANK_VARIABLES = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")
MARK = "SIDELIGHT_TEST_RUN"
WATCHDOG = "SIDELIGHT_TEST_SECONDS"  # of tests/mpi/check.h
SECONDS_TO_SAY = 20
RANK_IS_EVEN = 'test $((${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}} % 2)) = 0'
# Runs its arguments, on odd ranks with one variable more: "sh -c ... NAME=VALUE program ...".
ON_ODD_RANKS = f'{RANK_IS_EVEN} || export "$0"; exec "$@"'
# The same with another program there: "sh -c ... other program ...".
OTHER_ON_ODD_RANKS = f'{RANK_IS_EVEN} && exec "$@"; shift; exec "$0" "$@"'
# Ends with its parent, however that ends.
COMPUTING = "import os; p = os.getppid()\nwhile os.getppid() == p: sum(range(10000))"
# What the dynamic linker says before it goes on without a library of LD_PRELOAD.
NOT_LOADED = b"cannot be preloaded"
TRACE_HEADER = 4096  # bytes of a trace in which nothing is noted
# What Open MPI 4's launcher says of a rank that has ended without MPI_Finalize and, seldom, of one
# that has called it (github.com/open-mpi/ompi/issues/7833, left as it is in that version).
WITHOUT_FINALIZE = b"exiting improperly"
# Ranks of several nodes share this machine's cores, which their host cannot know: without this it
# would spin while others have to run.
UNSEEN_NEIGHBOURS = {"OMPI_MCA_mpi_yield_when_idle": "1"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", help="host MPI; default: the one of the program")
    parser.add_argument("-n", type=int, required=True, metavar="N", help="number of ranks")
    parser.add_argument("--nodes", type=int, default=0, metavar="K",
                        help="K nodes made of namespaces, with N/K ranks each")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="seconds")
    parser.add_argument("--preload", metavar="LIB[:LIB...]",
                        help="libraries to preload into the ranks")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--odd", metavar="NAME=VALUE",
                        help="a variable for ranks with odd numbers alone")
    parser.add_argument("--odd-program", metavar="PROGRAM",
                        help="what ranks with odd numbers run, with the same arguments")
    parser.add_argument("--computing", type=int, default=0, metavar="N",
                        help="N other processes compute meanwhile")
    parser.add_argument("--build", metavar="DIRECTORY",
                        help="where hosts are built for that have no names of their own")
    parser.add_argument("--ordinary-user", action="store_true",
                        help="where this is root: without its rights, as the user nobody")
    parser.add_argument("--prints", metavar="REGEX",
                        help="it has to print what matches, beside an exit status of 0")
    parser.add_argument("--trace", metavar="DIRECTORY",
                        help="each rank has to leave a trace there, and nobody else has one")
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


class Unreachable(Exception):
    """An ordinary user cannot run the program."""


def as_ordinary_user(options, stack):
    """What subprocess takes to run the job without root's rights, from a folder of its own."""
    if not options.ordinary_user or os.geteuid() != 0:
        return {}, {}
    try:
        user = pwd.getpwnam("nobody")
    except KeyError as error:
        raise Unreachable("there is no user nobody") from error
    home = stack.enter_context(tempfile.TemporaryDirectory(prefix="ordinary-user-"))
    os.chown(home, user.pw_uid, user.pw_gid)
    rights = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": home}
    for path in filter(None, [options.program, options.preload]):
        if subprocess.run(["test", "-r", path], check=False, **rights).returncode != 0:
            raise Unreachable(f"the user nobody cannot read {path}")
    return rights, {"HOME": home, "TMPDIR": home, "USER": "nobody", "LOGNAME": "nobody"}


def watchdog_seconds(limit):
    """When ranks say what they do: before they are stopped, and it is shown where they are."""
    return int(max(limit - SECONDS_TO_SAY, limit / 2, 1))


def start(options, run, nodes, stack):
    """mpiexec, and all it starts, with the mark of the run."""
    host = hosts.find(options.host, options.program)
    extra = {WATCHDOG: str(watchdog_seconds(options.timeout))}
    extra |= dict(setting.split("=", 1) for setting in options.env) | {MARK: run}
    if options.trace:
        shutil.rmtree(options.trace, ignore_errors=True)  # what others have left is not of this run
        extra["SIDELIGHT_TRACE"] = options.trace
    if options.nodes > 1 and options.n > (os.cpu_count() or 1):
        extra = UNSEEN_NEIGHBOURS | extra
    launch = functools.partial(nodes.launch, host) if nodes else host.command
    program = [options.program, *options.args]
    if options.odd_program:
        program = ["/bin/sh", "-c", OTHER_ON_ODD_RANKS, options.odd_program, *program]
    if options.odd:
        program = ["/bin/sh", "-c", ON_ODD_RANKS, options.odd, *program]
    command = launch(options.n, program, preload=options.preload, extra_env=extra)
    added = nodes.environment(host) if nodes else host.environment()
    rights, home = as_ordinary_user(options, stack)
    environment = {**os.environ, **added, **home, MARK: run}
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            start_new_session=True, **rights)


class Output(threading.Thread):
    """Shows what a job prints, while it does. Remembers what its launcher and the dynamic linker
    say, and whether a rank says that there is nothing to be tested (check_skip); all of it if it is
    asked for."""

    def __init__(self, job, wanted):
        super().__init__(daemon=True)
        self.pipe = job.stdout
        self.wanted = wanted
        self.lines = []
        self.without_finalize = False
        self.not_loaded = False
        self.skips = False
        self.start()

    def run(self):
        for line in self.pipe:
            self.without_finalize |= WITHOUT_FINALIZE in line
            self.not_loaded |= NOT_LOADED in line
            self.skips |= line.startswith(b"check_skip: ")
            if self.wanted is not None:
                self.lines.append(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()

    def finish(self):
        """All processes that write to it are gone."""
        self.join(GRACE)

    def lacks(self):
        """Whether what was asked for has not been printed, on one line or several."""
        return self.wanted is not None and not re.search(
            self.wanted, b"".join(self.lines).decode(errors="replace"), re.DOTALL)


def untraced(options):
    """Ranks that have noted nothing, though they should have."""
    if not options.trace:
        return []
    traces = [pathlib.Path(options.trace, f"rank-{rank:05}.trace") for rank in range(options.n)]
    return [rank for rank, trace in enumerate(traces)
            if not trace.exists() or trace.stat().st_size <= TRACE_HEADER]


def wait(job, options, run):
    try:
        status = job.wait(options.timeout)
    except subprocess.TimeoutExpired:
        print(f"*** no end after {options.timeout:.0f} s; where the ranks were:", flush=True)
        print_stacks(run)
        return TIMED_OUT
    for pid, env in left_behind(run).items():
        print(f"*** process {pid} (rank {rank_of(env)}) outlived the job", flush=True)
        status = LEFT_BEHIND
    return status


def compute(count, stack):
    """Until the stack is left so many processes compute that belong to no run."""
    for _ in range(count):
        stack.callback(subprocess.Popen([sys.executable, "-c", COMPUTING]).kill)


def run_job(options, nodes, stack):
    """Runs the program, and leaves nothing of it. Returns the exit status, and whether the launcher
    missed a rank's MPI_Finalize."""
    run = uuid.uuid4().hex
    output = None
    try:
        job = start(options, run, nodes, stack)
        output = Output(job, options.prints)
        status = wait(job, options, run)
    finally:
        kill_all(run)
        if output is not None:
            output.finish()
    if status == 0 and options.preload and output.not_loaded:
        print("*** it has run without what was to be preloaded", flush=True)
        status = 1
    elif status == 0 and output.skips:
        status = SKIPPED
    elif status == 0 and output.lacks():
        print(f"*** it has not printed: {options.prints}", flush=True)
        status = 1
    elif status == 0 and untraced(options):
        print(f"*** no trace of ranks {untraced(options)}", flush=True)
        status = 1
    return status if status >= 0 else 128 - status, output.without_finalize


def run_again_where_launcher_errs(options, nodes, stack):
    """Open MPI 4's. A program that always ends without MPI_Finalize does so twice; within the time
    that is left of the limit."""
    end = time.monotonic() + options.timeout
    status, without_finalize = run_job(options, nodes, stack)
    if (status not in (0, TIMED_OUT, LEFT_BEHIND) and without_finalize
            and hosts.find(options.host, options.program).name == "openmpi4"):
        print("*** once more: this launcher says so of ranks that end as they should, too",
              flush=True)
        options.timeout = max(end - time.monotonic(), 1)
        status, _ = run_job(options, nodes, stack)
    return status


def refuse(error):
    """A machine without namespaces is no failure of the test, but CI must have run it."""
    print(f"run_ranks: {error}", flush=True)
    return 1 if os.environ.get("CI") else SKIPPED


def lacking(preload):
    """Those of the libraries that are not there; one without a path is the linker's to find."""
    paths = (preload or "").split(":")
    return [path for path in paths if "/" in path and not os.path.isfile(path)]


def main():
    options = arguments()
    for path in lacking(options.preload):
        sys.exit(f"run_ranks: there is no {path} to be preloaded")
    if options.build:
        os.environ["SIDELIGHT_BUILD_DIR"] = options.build
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TIMED_OUT))
    try:
        with contextlib.ExitStack() as stack:
            count = options.nodes
            nodes = stack.enter_context(namespaces.Nodes(count)) if count else None
            compute(options.computing, stack)
            return run_again_where_launcher_errs(options, nodes, stack)
    except namespaces.NodesError as error:
        return refuse(error)
    except Unreachable as error:
        print(f"run_ranks: {error}", flush=True)
        return SKIPPED
    except hosts.HostError as error:
        sys.exit(f"run_ranks: {error}")


if __name__ == "__main__":
    sys.exit(main())
