#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs mpi4py's own tests of one-sided communication on every host, alone and under Sidelight.

mpi4py is fetched from PyPI as source and built once for each host, in a virtual environment below
build/conformance. A test that fails under Sidelight and not on the host alone makes this fail."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]
from sidelight_lib import hosts  # noqa: E402
from sidelight_lib.console import rich  # noqa: E402

VERSION = "4.1.2"
SUITES = ("test_rma.py", "test_rma_nb.py", "test_win.py")
NO_END = 124  # of run_ranks.py

# Tests that crash in a host's own windows, as patterns, and why. Alone, Open MPI 4 makes no window
# of one process, so that mpi4py skips all of test_rma.py there and does not come to the crash.
LEFT_OUT = {
    "openmpi4": {"*.TestRMAWorld.testCompareAndSwap*": "crashes on windows of memory of one's own"},
}
USED = """
from mpi4py import MPI
window = MPI.Win.Allocate(64, comm=MPI.COMM_WORLD)
assert '/memfd:sidelight' in open('/proc/self/maps').read(), 'not under Sidelight'
window.Free()
"""


def fetch(folder):
    """The unpacked source of mpi4py."""
    source = folder / f"mpi4py-{VERSION}"
    if not source.exists():
        archive = folder / f"mpi4py-{VERSION}.tar.gz"
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--no-build-isolation", "--no-binary", "mpi4py", "--dest", folder,
                        f"mpi4py=={VERSION}"], check=True)
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
    return source


def interpreter(host, folder, source):
    """A Python that has mpi4py, built with the host's mpicc."""
    place = folder / host.name
    python = place / "bin" / "python"
    if not list(place.glob("lib/python3*/site-packages/mpi4py")):
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        shutil.rmtree(source / "build", ignore_errors=True)  # another host's objects
        # Unoptimised: one generated file is nearly all of it, and takes minutes otherwise. Python
        # names the system's libraries before mpicc adds its own: the host's have to come first.
        flags = {"MPICC": str(host.mpicc), "CFLAGS": "-O0 -g0",
                 "LDFLAGS": f"-L{host.libmpi.parent}"}
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        "--no-cache-dir", source], env={**os.environ, **flags}, check=True)
    return python


def run(host, argv, options, preload):
    """(exit status, output) of a Python program on the ranks."""
    command = [ROOT / "tests" / "run_ranks.py", "--host", host.name, "-n", str(options.n),
               "--timeout", str(options.timeout)]
    if preload:
        command += ["--preload", host.require_library()]
    done = subprocess.run([*command, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return done.returncode, done.stdout


def failures(status, output):
    """The names of tests that failed on any rank; one for the whole if it ended badly without."""
    found = set(re.findall(r"^(?:FAIL|ERROR): (\w+ \([\w.]+\))", output, re.MULTILINE))
    if status != 0 and not found:
        found.add("does not end" if status == NO_END else f"ends with status {status}")
    return found


def cell(failed, output):
    ran = re.search(r"^Ran (\d+) tests", output, re.MULTILINE)
    if ran is None:
        return ", ".join(sorted(failed))
    skipped = re.search(r"^(?:OK|FAILED) \(.*skipped=(\d+)", output, re.MULTILINE)
    text = f"{len(failed)} of {ran.group(1)} failed"
    return f"{text}, {skipped.group(1)} skipped" if skipped else text


def measure(host, suite, python, source, options):
    """A row of the table, and what fails under Sidelight alone."""
    left_out = [part for pattern in LEFT_OUT.get(host.name, {}) for part in ("-x", pattern)]
    argv = [python, source / "test" / suite, *left_out]
    alone_status, alone_output = run(host, argv, options, preload=False)
    under_status, under_output = run(host, argv, options, preload=True)
    alone, under = failures(alone_status, alone_output), failures(under_status, under_output)
    new = under - alone
    if new:
        print(f"--- {host.name}, {suite}, under Sidelight:", under_output, sep="\n")
    return (host.name, suite, cell(alone, alone_output), cell(under, under_output),
            "\n".join(sorted(new)) or "none"), new


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", default="", metavar="A,B", help="default: all that are built")
    parser.add_argument("-n", type=int, default=2, metavar="N", help="ranks (default 2)")
    parser.add_argument("--timeout", type=int, default=300, metavar="S", help="seconds per suite")
    options = parser.parse_args()
    folder = hosts.build_directory() / "conformance"
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [hosts.find(name) for name in filter(None, options.hosts.split(","))]
    source = fetch(folder)
    table = rich("table").Table("host", "suite", "alone", "under Sidelight", "only there")
    wrong = False
    chosen = chosen or [host for host in hosts.all() if host.library.exists()]
    for host in chosen:
        python = interpreter(host, folder, source)
        status, output = run(host, [python, "-c", USED], options, preload=True)
        if status != 0:
            print(f"--- {host.name}: mpi4py does not run under Sidelight:", output, sep="\n")
            wrong = True
            continue
        for suite in SUITES:
            row, new = measure(host, suite, python, source, options)
            table.add_row(*row)
            wrong = wrong or bool(new)
    rich("console").Console().print(table)
    for host in chosen:
        for pattern, reason in LEFT_OUT.get(host.name, {}).items():
            print(f"left out on {host.name}: {pattern}, which {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
