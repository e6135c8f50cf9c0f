#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A profiling tool above Sidelight sees every call of the program and none of the library's own,
and the library still gets every call: by LD_PRELOAD of both, and with `sidelight run`."""

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
SECONDS = 60
EXPECTED = {
    "Win_allocate": 1,
    "Win_free": 1,
    "Put": 10,
    "Accumulate": 10,
    "Fetch_and_op": 10,
    "Win_fence": 3,
    "Win_lock": 10,
    "Win_unlock": 10,
    "Win_flush": 10,
    "Barrier": 0,
    "Allgather": 0,
    "Comm_split": 0,
}


def lines_of(output, start):
    """The lines `start: rank=R name=number ...` of all ranks: {rank: {name: number}}."""
    found = {}
    for fields in re.findall(rf"{start}:((?: \w+=\d+)+)", output):
        numbers = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", fields)}
        found[numbers.pop("rank")] = numbers
    return found


def problems(title, status, output, under_sidelight):
    """What is wrong with a run, as lines of text."""
    tool, program = lines_of(output, "tool"), lines_of(output, "profiled")
    for rank in range(RANKS):
        if tool.get(rank) != EXPECTED:
            yield f"{title}: rank {rank}: the tool saw {tool.get(rank)}, not {EXPECTED}"
        if program.get(rank) != {"sidelight": int(under_sidelight)}:
            yield f"{title}: rank {rank}: {program.get(rank)}, not sidelight={int(under_sidelight)}"
    if status != 0:
        yield f"{title}: status {status}"


def run(title, command, environment, under_sidelight=True):
    done = subprocess.run(command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=SECONDS, check=False)
    wrong = list(problems(title, done.returncode, done.stdout, under_sidelight))
    if wrong:
        print(*wrong, done.stdout, sep="\n")
    else:
        print(f"{title}: as it should be")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", required=True)
    parser.add_argument("--build", required=True, metavar="DIRECTORY")
    options = parser.parse_args()
    os.environ["SIDELIGHT_BUILD_DIR"] = options.build
    host = hosts.find(options.host)
    directory = host.program("profiler")
    tool, program = directory / "libcounting_tool.so", directory / "profiled"

    def preload(libraries):
        return host.command(RANKS, [program], preload=":".join(map(str, libraries)))

    command = [ROOT / "tools" / "sidelight", "run", "--host", host.name, "-n", str(RANKS), program]
    library = host.require_library()
    results = [
        run("tool alone", preload([tool]), host.environment(), under_sidelight=False),
        run("tool, then library", preload([tool, library]), host.environment()),
        run("sidelight run", command, {"LD_PRELOAD": str(tool)}),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
