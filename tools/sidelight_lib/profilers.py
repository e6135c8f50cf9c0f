# SPDX-License-Identifier: BSD-3-Clause
"""Libraries that programs are linked to and that must stay ahead of Sidelight: profiling tools,
which are shared libraries that define MPI functions and call their PMPI twins, and the run-time
library of AddressSanitizer, which ends a program that has another one before it.

A tool sees calls only where the loader finds it before the MPI. What comes behind that, such as a
stand-in for MPI that a solver brings along, would see them for the first time if it was preloaded.

The loader looks into what is preloaded before it looks into what a program is linked to, so
Sidelight alone in LD_PRELOAD would hide them. `sidelight run` preloads them too, ahead of it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from . import hosts, versions
from .symbols import exported


def linked_to(programs: Sequence[str | Path], libraries: Sequence[Path]) -> list[Path]:
    """Those among the libraries of `programs`, each once: the sanitizer's, then the tools, which
    come before the MPI, define a function of it that one of `libraries` takes over, and are no MPI
    themselves."""
    names = set().union(*(exported(library) for library in libraries))
    taken_over = {name for name in names if name.startswith("MPI_")}
    linked = [hosts.ldd(program) for program in programs if shutil.which(str(program))]
    every = dict.fromkeys(path for each in linked for path in _libraries(each))
    before_mpi = dict.fromkeys(path for each in linked for path in _libraries(_before_mpi(each)))
    sanitizers = [path for path in every if "__asan_init" in exported(path)]
    return [*sanitizers, *(path for path in before_mpi if _is_tool(path, taken_over))]


def _before_mpi(ldd_output: str) -> str:
    """The lines come in the order in which the loader looks for a name. The MPI may be one that it
    does not find here."""
    return re.split(rf"^(?:\s*|.*/){versions.LIBRARY}", ldd_output, maxsplit=1, flags=re.M)[0]


def _libraries(ldd_output: str) -> list[Path]:
    """With the loader, which is one too. A library without a name has its path alone."""
    pattern = r"^\s*(?:\S+ => )?(/.+?) \(0x"
    return [Path(path) for path in re.findall(pattern, ldd_output, re.MULTILINE)]


def _is_tool(path: Path, taken_over: set[str]) -> bool:
    """An MPI, Sidelight too, defines the PMPI name of all that it defines."""
    names = exported(path)
    return any("P" + name not in names for name in names & taken_over)
