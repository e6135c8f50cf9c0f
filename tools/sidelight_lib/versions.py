# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a library or a compiler is of: its family, and its version line, the first two numbers,
within which handles stay what they are."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# How the library of an MPI is called, as a pattern. libmpiseq.so and others begin alike.
LIBRARY = r"libmpi(?:ch|_abi)?\.so"

# What each family answers as the version of its library, and calls it in its <mpi.h>.
_WORDS = {
    "openmpi": r"Open MPI v([\d.]+)",
    "mpich": r"MPICH Version:\s*([\d.]+)",
    "impi": r"Intel\(R\) MPI Library ([\d.]+)",
}
_ABI_MACRO = r"^#define MPI_ABI_VERSION (\d+)"
_MACROS = {"impi": r'I_MPI_VERSION "([\d.]+)', "mpich": r'MPICH_VERSION "([\d.]+)'}
_OPEN_MPI_MACRO = r"^#define OMPI_{}_VERSION (\d+)"
_NAMES = {
    "openmpi": "Open MPI", "mpich": "MPICH", "impi": "Intel MPI", "mpi-abi": "the MPI ABI",
}

# In a process of its own: an MPI library may start what it likes when it is loaded. With -I it has
# the modules of Python, and not what lies in the working directory under their names.
_ASK = """
import ctypes, sys
text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace"))
"""


@dataclass(frozen=True)
class Version:
    """For example ("mpich", "4.2.3"), of the line "mpich-4.2"."""

    family: str
    number: str

    @property
    def line(self) -> str:
        if self.family == "mpi-abi":
            return self.family
        return f"{self.family}-{'.'.join(self.number.split('.')[:2])}"

    def __str__(self) -> str:
        return f"{_NAMES[self.family]} {self.number}"


def of_library(library: Path) -> Version | None:
    """Asks the library itself. None if it cannot be loaded, or is of another family."""
    command = [sys.executable, "-I", "-c", _ASK, str(library)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return in_text(answer.stdout)


def in_text(answer: str) -> Version | None:
    """Out of what MPI_Get_library_version answers."""
    for family, words in _WORDS.items():
        if found := re.search(words, answer):
            return Version(family, found.group(1))
    return None


class CompilerError(Exception):
    """A compiler that compiles no <mpi.h>. The text has what it says itself."""


def of_compiler(mpicc: Path) -> Version:
    """Out of the <mpi.h> that the compiler includes. Raises CompilerError if it includes none of an
    MPI that is known."""
    command = [str(mpicc), "-E", "-dM", "-x", "c", "-"]
    try:
        answer = subprocess.run(
            command, input="#include <mpi.h>\n", capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise CompilerError(f"{mpicc} cannot be run: {error.strerror}") from error
    version = in_header(answer.stdout)
    if version is None:
        raise CompilerError(
            f"{mpicc} does not compile an <mpi.h> of MPICH, Open MPI or Intel MPI (exit status "
            f"{answer.returncode}) {answer.stderr}".rstrip()
        )
    return version


def in_header(macros: str) -> Version | None:
    """Out of the macros of an <mpi.h>. Intel's has those of MPICH, too. One of the MPI ABI does not
    say whose it is, and need not."""
    parts = [
        re.search(_OPEN_MPI_MACRO.format(part), macros, re.MULTILINE)
        for part in ("MAJOR", "MINOR", "RELEASE")
    ]
    if found := re.search(_ABI_MACRO, macros, re.MULTILINE):
        return Version("mpi-abi", found.group(1))
    if all(parts):
        return Version("openmpi", ".".join(part.group(1) for part in parts))
    for family, words in _MACROS.items():
        if found := re.search(rf"^#define {words}", macros, re.MULTILINE):
            return Version(family, found.group(1))
    return None
