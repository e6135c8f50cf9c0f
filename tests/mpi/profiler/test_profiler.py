#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A profiling tool above Sidelight sees every call of the program and none of the library's own,
and the library still gets every call, wherever the tool is: in LD_PRELOAD, in the program, in a
library that the program is linked to. Of a Fortran program it sees, with Sidelight or without,
what the host's binding calls by the name MPI_X; a tool that defines the bindings of mpif.h sees
their calls."""

import argparse
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
from sidelight_lib import hosts  # noqa: E402

RANKS = 2
SECONDS = 200
BUFFERS = {"Put": 10, "Get": 10, "Accumulate": 10, "Fetch_and_op": 10}
NOT_CALLED = {"Barrier": 0, "Allgather": 0, "Comm_split": 0}
ALL = BUFFERS | NOT_CALLED | {
    "Win_allocate": 1,
    "Win_free": 1,
    "Win_fence": 3,
    "Win_lock": 10,
    "Win_unlock": 10,
    "Win_flush": 10,
    "Finalize": 1,
}
OF_BINDINGS = {"mpi_put_": 10, "mpi_win_get_attr_": 1}
NOTHING = None  # not even a line
# The bindings of Open MPI call PMPI_X; of those of MPICH's mpi_f08 all do but those with buffers.
OF_FORTRAN = {
    "mpich": {"mpif_h": ALL, "mpi": ALL, "mpi_f08": dict.fromkeys(ALL, 0) | BUFFERS},
    "openmpi": {"mpif_h": NOTHING, "mpi": NOTHING, "mpi_f08": NOTHING},
}


def lines_of(output, start):
    """The lines `start: rank=R name=number ...` of all ranks: {rank: {name: number}}."""
    found = {}
    for fields in re.findall(rf"{start}:((?: \w+=\d+)+)", output):
        numbers = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", fields)}
        found[numbers.pop("rank")] = numbers
    return found


def problems(title, status, output, expected, under_sidelight):
    """What is wrong with a run, as lines of text."""
    tool, program = lines_of(output, "tool"), lines_of(output, "profiled")
    for rank in range(RANKS):
        if tool.get(rank) != expected:
            yield f"{title}: rank {rank}: the tool saw {tool.get(rank)}, not {expected}"
        if program.get(rank) != {"sidelight": int(under_sidelight)}:
            yield f"{title}: rank {rank}: {program.get(rank)}, not sidelight={int(under_sidelight)}"
    if status != 0:
        yield f"{title}: status {status}"


class Runs:
    """Runs of programs of one host, and whether all were as they should be."""

    def __init__(self, host):
        self.host = host
        self.tool = host.program("profiler/libcounting_tool.so")
        self.passed = True

    def mpiexec(self, title, program, preload=(), expected=ALL, under_sidelight=True):
        libraries = ":".join(map(str, preload))
        command = self.host.command(RANKS, [self.host.program(program)], preload=libraries or None)
        self.run(title, command, self.host.environment(), expected, under_sidelight)

    def sidelight_run(self, title, program, preload=(), expected=ALL):
        command = [sys.executable, ROOT / "tools" / "sidelight", "run", "--host", self.host.name,
                   "-n", str(RANKS), self.host.program(program)]
        environment = {"LD_PRELOAD": ":".join(map(str, preload))} if preload else {}
        self.run(title, command, environment, expected, under_sidelight=True)

    def run(self, title, command, environment, expected, under_sidelight):
        done = subprocess.run(command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=SECONDS, check=False)
        wrong = list(problems(title, done.returncode, done.stdout, expected, under_sidelight))
        print(*(wrong + [done.stdout] if wrong else [f"{title}: as it should be"]), sep="\n")
        self.passed = self.passed and not wrong


def programs_in_c(runs):
    tool, library = runs.tool, runs.host.require_library()
    runs.mpiexec("tool alone", "profiler/profiled", [tool], under_sidelight=False)
    runs.mpiexec("tool, then library", "profiler/profiled", [tool, library])
    runs.sidelight_run("sidelight run below the tool", "profiler/profiled", [tool])
    runs.mpiexec("tool in the program", "profiler/profiled_by_itself", [library])
    runs.sidelight_run("tool in the program, sidelight run", "profiler/profiled_by_itself")
    runs.mpiexec("linked to the tool, alone", "profiler/profiled_by_library", under_sidelight=False)
    runs.sidelight_run("linked to the tool, sidelight run", "profiler/profiled_by_library")
    runs.mpiexec("linked to tool and library", "profiler/profiled_linked")
    runs.sidelight_run("linked to tool and library, sidelight run", "profiler/profiled_linked")


def programs_in_fortran(runs):
    for flavour, expected in OF_FORTRAN[runs.host.family].items():
        program = f"tests/fortran/profiled_{flavour}"
        runs.mpiexec(f"{flavour}, tool alone", program, [runs.tool], expected,
                     under_sidelight=False)
        runs.sidelight_run(f"{flavour}, sidelight run", program, [runs.tool], expected)
        if flavour != "mpi_f08":
            tool = runs.host.program("profiler/libfortran_tool.so")
            runs.sidelight_run(f"{flavour}, tool of bindings", program, [tool], OF_BINDINGS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", required=True)
    parser.add_argument("--build", required=True, metavar="DIRECTORY")
    parser.add_argument("--fortran", action="store_true", help="the programs in Fortran")
    options = parser.parse_args()
    os.environ["SIDELIGHT_BUILD_DIR"] = options.build
    runs = Runs(hosts.find(options.host))
    programs = programs_in_fortran if options.fortran else programs_in_c
    programs(runs)
    return 0 if runs.passed else 1


if __name__ == "__main__":
    sys.exit(main())
