# SPDX-License-Identifier: BSD-3-Clause
"""Files of mpi4py's own tests.

mpi4py is fetched from PyPI as source and built once for each host, in a virtual environment outside
of the repository."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from sidelight_lib import info
from sidelight_lib.hosts import Host

from .suite import Ended, Entry, Suite, Verdict, once, run

VERSION = "4.1.2"
RANKS = (2, 4)

# Tests that end the whole program on a host without Sidelight, as patterns.
CRASHES_ALONE = {
    # Its windows on memory of one's own have no compare and swap.
    "openmpi4": ("*.TestRMAWorld.testCompareAndSwap*",),
}


class Mpi4pyTests(Suite):
    """Some of its files."""

    version = VERSION
    source = "mpi4py"
    files: Sequence[str]

    def prepare(self, host: Host) -> None:
        source = once(self.folder / "source", VERSION, fetch)
        stamp = f"{host.mpicc} {info.host_version(host)} {sys.version}"
        once(self.folder / host.name, stamp, lambda place: build(place, source, host))

    def entries(self, host: Host, alone: bool) -> list[Entry]:
        python = self.folder / host.name / "bin" / "python"
        tests = self.folder / "source" / f"mpi4py-{VERSION}" / "test"
        without = CRASHES_ALONE.get(host.name, ()) if alone else ()
        options = [word for pattern in without for word in ("-x", pattern)]
        return [Entry(f"{file}.{ranks}", ranks, [python, tests / f"{file}.py", *options])
                for file in self.files for ranks in RANKS]

    def judge(self, entry: Entry, ended: Ended) -> Verdict:
        """Every rank counts its tests. A program that ends without a count has crashed."""
        output = ended.text
        cases = set(re.findall(r"^(?:FAIL|ERROR): \w+ \([\w.]*?(\w+\.\w+)\)", output, re.MULTILINE))
        failed = {f"{entry.name}:{case}" for case in cases}
        counts = [int(count) for count in re.findall(r"Ran (\d+) tests? in", output)]
        if len(counts) < entry.ranks or (ended.status != 0 and not failed):
            failed.add(f"{entry.name}:crash")
        skips = [int(count) for count in re.findall(r"^(?:OK|FAILED) \(.*skipped=(\d+)", output,
                                                    re.MULTILINE)]
        return Verdict(max(counts, default=len(failed)), max(skips, default=0),
                       tuple(sorted(failed)))


def fetch(place: Path) -> None:
    log = place / "log"
    run([sys.executable, "-m", "pip", "download", "--no-deps", "--no-build-isolation",
         "--no-binary", "mpi4py", "--dest", place, f"mpi4py=={VERSION}"], log)
    with tarfile.open(place / f"mpi4py-{VERSION}.tar.gz") as tar:
        tar.extractall(place)


def build(place: Path, source: Path, host: Host) -> None:
    """A virtual environment with mpi4py, built with the host's mpicc."""
    log = place / "log"
    run([sys.executable, "-m", "venv", place], log)
    unpacked = source / f"mpi4py-{VERSION}"
    shutil.rmtree(unpacked / "build", ignore_errors=True)  # another host's objects
    # Unoptimised: one generated file is nearly all of it, and takes minutes otherwise. Python
    # names the system's libraries before mpicc adds its own: the host's have to come first.
    flags = {"MPICC": str(host.mpicc), "CFLAGS": "-O0 -g0", "LDFLAGS": f"-L{host.libmpi.parent}"}
    run([place / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check",
         "--no-cache-dir", unpacked], log, env={**os.environ, **flags})
