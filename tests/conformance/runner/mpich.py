# SPDX-License-Identifier: BSD-3-Clause
"""Lists of MPICH's own test suite, which Debian's source package of MPICH has.

The suite is fetched with apt and built once for each host, outside of the repository. A test passes
that prints " No Errors" and ends with 0."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sidelight_lib import info
from sidelight_lib.hosts import Host

from . import debian
from .suite import Ended, Entry, Suite, SuiteError, Verdict, once, run

VERSION = "4.0.2"  # of Debian 12
SUPPORT = ("dtpools", "util")
MEMORY = 2.0  # gigabytes that a program may take
CONFIGURE = ("--disable-fortran", "--disable-cxx", "--disable-spawn", "--disable-romio",
             "--disable-shared", "--disable-dependency-tracking",
             # Open MPI declares some names that MPI-3 removed, and that the suite's types use,
             # only when asked.
             "CPPFLAGS=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0")
# `random` draws from all kinds of memory, those of GPUs too, which the suite built without one
# then refuses.
ARGUMENTS = {"-memtype=random": "-memtype=host"}
# Nothing that changes the test.
KEYS_OF_ITS_SCRIPT = ("timeLimit", "mem", "lock", "mpiversion", "strict")


class MpichTests(Suite):
    """The programs of some of its lists."""

    version = VERSION
    source = "mpich"
    lists: Sequence[str]
    may_lack = False  # programs that the host has not all calls for

    def prepare(self, host: Host) -> None:
        source = once(self.folder / "source", VERSION, fetch)
        stamp = f"{host.mpicc} {info.host_version(host)} {' '.join(CONFIGURE)}"
        place = once(self.folder / host.name, stamp, lambda place: configure(place, source, host))
        for tests in self.lists:
            build(place, tests, host, ("--keep-going", "--ignore-errors") if self.may_lack else ())

    def entries(self, host: Host, alone: bool) -> list[Entry]:
        found = [entry for tests in self.lists for entry in read_list(self.folder, host, tests)]
        names = [entry.name for entry in found]
        # Arguments are part of a name where the name would not tell otherwise.
        return [longer(entry) if names.count(entry.name) > 1 else entry for entry in found]

    def judge(self, entry: Entry, ended: Ended) -> Verdict:
        passed = ended.status == 0 and re.search(r"^\s*No Errors\s*$", ended.text, re.MULTILINE)
        return Verdict(1, 0, () if passed else (entry.name,))


def longer(entry: Entry) -> Entry:
    words = [*entry.argv[1:], *(f"{name}={value}" for name, value in entry.environment.items())]
    return replace(entry, name=entry.name + "".join(f".{str(word).lstrip('-')}" for word in words))


def fetch(place: Path) -> None:
    """Unpacks the tests of Debian's source package."""
    archive = debian.Archive(place).source("mpich", place)
    if not archive.name.startswith(f"mpich_{VERSION}."):
        raise SuiteError(f"apt-get brought {archive.name}, and {VERSION} is wanted")
    run(["tar", "xf", archive, "--strip-components=1", "--wildcards", "*/test/mpi/*"],
        place / "log", cwd=place)


def configure(place: Path, source: Path, host: Host) -> None:
    """Runs the suite's own configure with the host's mpicc, and makes what all lists share."""
    script = source / "test" / "mpi" / "configure"
    environment = {**os.environ, **host.environment()}
    run([script, f"MPICC={host.mpicc}", *CONFIGURE], place / "log", cwd=place, env=environment)
    for folder in SUPPORT:
        make(place, folder, host)


def build(place: Path, tests: str, host: Host, options: Sequence[str]) -> None:
    """Makes the programs of a list, once."""
    made = place / tests / "made"
    if not made.exists():
        print(f"making {place / tests}", file=sys.stderr, flush=True)
        make(place, tests, host, *options)
        made.touch()


def make(place: Path, folder: str, host: Host, *options: str) -> None:
    jobs = f"-j{os.cpu_count() or 1}"
    run(["make", jobs, *options, "-C", folder], place / "log", cwd=place,
        env={**os.environ, **host.environment()})


def read_list(suite_folder: Path, host: Host, tests: str) -> Iterator[Entry]:
    """The entries of a `testlist`: a program, its ranks, and settings of the form key=value. It is
    made by configure, or lies in the source."""
    place = suite_folder / host.name / tests
    made = place / "testlist"
    text = made if made.exists() else suite_folder / "source" / "test" / "mpi" / tests / "testlist"
    for line in text.read_text().splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield read_entry(words, place, tests)


def read_entry(words: Sequence[str], place: Path, tests: str) -> Entry:
    program, ranks, *settings = words
    arguments: list[str] = []
    environment: dict[str, str] = {}
    skip = "" if (place / program).exists() else "it cannot be built for this host"
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            continue  # a line of the list has a name for its records there
        if key == "arg":
            arguments.append(ARGUMENTS.get(value, value))
        elif key == "env":
            name, _, text = value.partition("=")
            environment[name] = text
        elif key == "xfail":
            skip = "the suite itself expects it to fail"
        elif key == "mem" and float(value) > MEMORY:
            skip = f"it takes more than {MEMORY:g} GB"
        elif key not in KEYS_OF_ITS_SCRIPT:
            raise SuiteError(f"{tests}/testlist: {setting} has no meaning here")
    return Entry(f"{tests}/{program}.{ranks}", int(ranks), [place / program, *arguments],
                 environment, place, skip)
