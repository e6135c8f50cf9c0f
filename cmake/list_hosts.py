#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints `name=mpicc` for every host MPI that is present and has a compiler that works, for
cmake/Hosts.cmake; with compilers, for each of them. Writes what each is to BUILD/<name>/host.json.

    list_hosts.py BUILD [MPICC...]
"""

import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from sidelight_lib import hosts, records, versions  # noqa: E402


def of_compiler(mpicc):
    """The host of a compiler: one with a name of its own, if it is that one's."""
    for host in hosts.known():
        if host.mpicc.exists() and host.mpicc.resolve() == mpicc.resolve():
            return host
    version = versions.of_compiler(mpicc)
    mpiexec = mpicc.with_name(launcher_name(mpicc.name.removesuffix("_abi")))
    library = linked_library(mpicc, version.family)
    return hosts.own(version.line, version.line, mpiexec, mpicc, library)


def launcher_name(compiler_name):
    """Debian's have their family behind their names. Intel's compilers have others: mpiicx."""
    is_mpicc = "mpicc" in compiler_name
    return compiler_name.replace("mpicc", "mpiexec") if is_mpicc else "mpiexec"


def linked_library(mpicc, family):
    """The MPI library that programs of this compiler are linked to. One of another family may lie
    beside it."""
    names = {"openmpi": ["libmpi.so.40"], "mpi-abi": ["libmpi_abi.so.1"]}.get(
        family, ["libmpich.so.12", "libmpi.so.12"]
    )
    shown = subprocess.run([mpicc, "-show"], capture_output=True, text=True, check=True).stdout
    usual = ["/usr/lib", "/usr/lib64", "/lib", "/lib64"]
    for place in [*re.findall(r"-L\s*(\S+)", shown), str(mpicc.parent.parent / "lib"), *usual]:
        for name in names:
            if (path := pathlib.Path(place) / name).exists():
                return path
    sys.exit(f"no MPI library is where {mpicc} would look for one: {shown}")


def compiler(text):
    found = shutil.which(text)
    if found is None:
        sys.exit(f"there is no compiler {text}")
    return pathlib.Path(found).absolute()


def main():
    build, *compilers = sys.argv[1:]
    chosen = [of_compiler(compiler(text)) for text in compilers] if compilers else hosts.present()
    for host in chosen:
        # What other compilers were used for stays where it is, and is not built anew.
        if not compilers and host.origin == "own":
            continue
        try:
            version = versions.of_compiler(host.mpicc)
        except versions.CompilerError as error:
            if compilers:
                raise
            print(f"{host.name} is left out: {error}", file=sys.stderr)
            continue
        paths = map(str, (host.mpicc, host.mpiexec, host.libmpi))
        record = records.Record(host.name, version.line, *paths)
        records.write(record, pathlib.Path(build) / host.name)
        print(f"{host.name}={host.mpicc}")


if __name__ == "__main__":
    try:
        main()
    except versions.CompilerError as error:
        sys.exit(str(error))
