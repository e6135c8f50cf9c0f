#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what a library of ours gives to and takes from the programs it is loaded into.

It exports MPI_*, PMPI_*, MPIX_*, PMPIX_* and sidelight_* names alone (for Fortran also mpix_*_ and
mpi_*notify*_ with their second names, and of Fortran's the calls that src/api/fortran.cpp and
src/messages/callbacks.cpp explain;
of MPICH's own the one of src/api/attributes.cpp; of UCX's the one of src/host/mpi/worker_hook.hpp,
where the host has no other hook), and is not linked to any MPI: it needs no MPI library, calls no
MPI function by name, and the host's predefined handles are weak.
Each MPI_X has its PMPI_X, each MPIX_X that is not MPICH's its PMPIX_X, and each mpix_x_ its
pmpix_x_, so that a profiling tool above it ends up in the library. Whatever src/api/front.def lists
is exported: a name that cmake/exports.map lacks goes past the library."""

import argparse
import pathlib
import re
import subprocess
import sys

EXPORTED = re.compile(r"((MPIX?|PMPIX?|sidelight)_\w+|ucp_worker_progress|MPII_Keyval_set_proxy|"
                      r"p?mpix_\w+_|p?mpi_\w*notify\w*_|"
                      r"(pmpir?|mpi)_win_[gs]et_attr(_f08)?_{0,2}|"
                      r"p?mpi_type_create_keyval(_f08)?_{0,2})$")
PROFILED = re.compile(r"MPIX?_(?!Grequest_|Async_)")
OF_THE_HOST = re.compile(r"P?MPIX?_|ompi_|opal_")

LISTED = re.compile(
    r"^SIDELIGHT_(?:TRACED_|(FORTRAN_))?FRONT\((?:\w+, )??(\w+), \d+\)", re.MULTILINE
)
FOR_SOME_HOSTS = re.compile(r"^#if.*?^#endif$", re.MULTILINE | re.DOTALL)


def dynamic_symbols(library):
    """Pairs (type letter of nm, name without version)."""
    listing = subprocess.run(["nm", "--dynamic", library], check=True,
                             capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        kind, name = line.split()[-2:]
        yield kind, name.split("@")[0]


def complaint(kind, name):
    if kind in ("U", "w", "v"):
        strong = kind == "U"
        return "needed from the host" if strong and OF_THE_HOST.match(name) else None
    return None if EXPORTED.match(name) else "exported"


def listed_names(front):
    """What that front.def exports on every host."""
    for of_fortran, name in LISTED.findall(FOR_SOME_HOSTS.sub("", front.read_text())):
        yield from [name] if of_fortran else [f"MPI_{name}", f"PMPI_{name}"]


def needed_libraries(library):
    listing = subprocess.run(["readelf", "-d", library], check=True,
                             capture_output=True, text=True)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", listing.stdout)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--calls", default="MPI_Put", help="a call that it takes over")
    options.add_argument("--front", type=pathlib.Path, help="a list of names that it exports")
    options.add_argument("library")
    chosen = options.parse_args()
    library = chosen.library
    symbols = list(dynamic_symbols(library))
    wrong = [f"{name}: {why}" for kind, name in symbols if (why := complaint(kind, name))]
    wrong += [f"{name}: linked" for name in needed_libraries(library) if "mpi" in name]
    functions = {name for kind, name in symbols if kind == "T"}
    wrong += [f"{name}: no P{name}" for name in sorted(functions)
              if PROFILED.match(name) and "P" + name not in functions]
    wrong += [f"{name}: no p{name}" for name in sorted(functions)
              if name.startswith("mpix_") and "p" + name not in functions]
    wanted = [chosen.calls, *(listed_names(chosen.front) if chosen.front else [])]
    wrong += [f"{name}: not exported" for name in wanted if name not in functions]
    print("\n".join(wrong) or f"{library}: {len(symbols)} symbols, all as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
