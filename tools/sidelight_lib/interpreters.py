# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI library a program in Python will load: the one that mpi4py opens there. And which
programs are shells, of which nobody can tell."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import versions

# With the letters of those without the interpreter's lock, and for debugging.
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?d?(?:-(?:dbg|debug))?$")
_SHELL = re.compile(r"(?:a|ba|c|da|fi|k|tc|z)?sh$")
_ASK_SECONDS = 60

# Without MPI_Init: nothing is started.
_ASK_MPI4PY = """
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
lines = [line.split(maxsplit=5) for line in open("/proc/self/maps") if "/libmpi" in line]
print(*{fields[5] for fields in lines}, sep="")
"""


@functools.cache
def mpi_library(program: str | Path) -> Path | None:
    """None of a program that is not in Python, or has no mpi4py."""
    found = shutil.which(str(program))
    python = python_of(Path(found)) if found is not None else None
    if python is None:
        return None
    try:
        answer = subprocess.run(
            [*python, "-c", _ASK_MPI4PY],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_ASK_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    loaded = [Path(line) for line in answer.stdout.splitlines()]
    found = [path for path in loaded if re.match(versions.LIBRARY, path.name)]
    # That of the MPI ABI may have loaded another one, to which it hands everything on.
    return max(found, key=lambda path: path.name.startswith("libmpi_abi"), default=None)


def python_of(program: Path) -> list[str] | None:
    """The command of the Python that a program is, or whose script it is."""
    return _interpreter(program, _PYTHON)


def is_python(program: str | Path) -> bool:
    """Whether a program is a Python, or a script for one."""
    found = shutil.which(str(program))
    return found is not None and python_of(Path(found)) is not None


def is_shell(program: str | Path) -> bool:
    """Whether a program is a shell, or a script for one."""
    found = shutil.which(str(program))
    return found is not None and _interpreter(Path(found), _SHELL) is not None


def _interpreter(program: Path, name: re.Pattern[str]) -> list[str] | None:
    if name.match(program.name):
        return [str(program)]
    try:
        with program.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return None
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    return words if any(name.match(os.path.basename(word)) for word in words) else None
