# SPDX-License-Identifier: BSD-3-Clause
"""The host MPIs that Sidelight is built for: where they are, what they need, how to start one.

Five hosts have names of their own (`mpich4`, `openmpi4`, `mpich5`, `openmpi5`, `impi`). The first
two are Debian's packages, the others PyPI wheels in a virtual environment each, below `.hosts` in
the project's root (`SIDELIGHT_HOSTS_DIR` names another place). Any other MPI is called after its
version line (`mpich-4.2`). The library and the MPI programs of the project are built once per host,
in `build/<host>` (`SIDELIGHT_BUILD_DIR` names another place for `build`).

`mpi-abi` is not one more MPI, but the MPI ABI of those that have it: one library for the programs
of all of them. It is built with MPICH 5's compiler for it.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import interpreters, parts, records, versions

ROOT = Path(__file__).resolve().parents[2]

ABI = "mpi-abi"
_ABI_LIBRARY = "libmpi_abi.so.1"

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
    return Path(os.environ.get("SIDELIGHT_HOSTS_DIR") or ROOT / ".hosts").absolute()


def build_directory() -> Path:
    """Where the project is built: `<here>/<host>` for each host. Absolute, as the library below it
    is preloaded into ranks, and they may run in another folder."""
    return Path(os.environ.get("SIDELIGHT_BUILD_DIR") or ROOT / "build").absolute()


@dataclass(frozen=True)
class Host:
    """One host MPI. The paths are where it should be; `missing()` says what is not there."""

    name: str
    origin: str  # "Debian", "PyPI", or "own": an MPI that the user has
    family: str  # "mpich" or "openmpi"
    mpiexec: Path
    mpicc: Path
    libmpi: Path  # the host's MPI library
    install: str  # the command that installs it
    settings: Mapping[str, str]  # environment variables without which it starts nothing
    # Others, without which its windows take long or cannot be had. They are set under Sidelight,
    # whose handles are windows of the host, and where hosts alone are compared with it.
    for_windows: Mapping[str, str] = field(default_factory=dict)
    # Its version line, where the name may be that of another one.
    line: str = ""
    # Nobody has said that the program loads this MPI: it may be another one.
    is_guess: bool = False

    @property
    def major(self) -> str:
        """The first number of its version; empty where the name has none."""
        return next(iter(re.findall(r"\d+", self.line or self.name)), "")

    @property
    def library(self) -> Path:
        """Sidelight, built for this host: in the build tree, or beside the installed tools."""
        built = build_directory() / self.name / "libsidelight.so"
        installed = ROOT / self.name / "libsidelight.so"
        return installed if os.path.exists(installed) and not os.path.exists(built) else built

    def program(self, path: str) -> Path:
        """A program of the project built for this host, such as `bench/latency`."""
        return self.library.parent / path

    def missing(self) -> list[Path]:
        """What it takes to run a program and is not on this machine, or not to be reached by this
        user."""
        return [part for part in (self.mpiexec, self.libmpi) if not os.path.exists(part)]

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
        above it. It reaches the program and, where the launcher lets it, those that MPI_Comm_spawn
        starts, but neither mpiexec nor the launchers on other nodes.
        """
        words = [str(word) for word in argv]
        variables = dict(extra_env or {})
        if preload is not None:
            _refuse_another_preload([*mpiexec_arguments, *parts.options(words)])
            existing = variables.get("LD_PRELOAD", os.environ.get("LD_PRELOAD"))
            libraries = [existing, *self.preloaded(preload)]
            variables["LD_PRELOAD"] = ":".join(filter(None, libraries))
        launcher = [str(self.mpiexec), "-n", str(ranks), *mpiexec_arguments]
        options = self._options_for_all(variables, mpiexec_arguments)
        if options is not None:
            return [*launcher, *options, *words]
        assignments = [f"{key}={value}" for key, value in variables.items()]
        return launcher + _with_variables(assignments, words)

    def _options_for_all(
        self, variables: Mapping[str, str], others: Sequence[str]
    ) -> list[str] | None:
        """Options of the launcher that give variables to each program, those that MPI_Comm_spawn
        starts too; None where it has none: Open MPI 5's -x is for one program and not for those."""
        real = self.mpiexec.resolve()
        if self.family == "mpich":
            proxy = real.with_name("hydra_pmi_proxy")
            is_hydra = real.name.startswith("mpi") and os.path.exists(proxy)
            pairs = [("-genv", name, value) for name, value in variables.items()]
            return [word for pair in pairs for word in pair] if is_hydra else None
        # Open MPI 4, which refuses -x beside its other way to say the same.
        other_way = "mca_base_env_list"
        is_free = other_way not in others and f"OMPI_MCA_{other_way}" not in os.environ
        pairs = [("-x", f"{name}={value}") for name, value in variables.items()]
        fits = real.name == "orterun" and is_free
        return [word for pair in pairs for word in pair] if fits else None

    def preloaded(self, library: str | Path) -> list[str]:
        """What is preloaded with Sidelight: host libraries that must be there as early, too.

        Open MPI's predefined handles are addresses in its library. The loader binds Sidelight's
        references to them when the program starts, to null where an interpreter loads MPI later.
        A program that loads MPICH would crash with it.
        """
        is_needed = self.family == "openmpi" and not self.is_guess
        return [str(library), *([str(self.libmpi)] if is_needed else [])]

    def require_library(self) -> Path:
        """The library for this host. Raises HostError if it is not built."""
        if not os.path.exists(self.library):
            make = f"make MPICC={self.mpicc}" if self.origin == "own" else "make"
            raise HostError(
                f"Sidelight is not built for {self.name} (no {self.library}): run `{make}`, or set "
                "SIDELIGHT_BUILD_DIR to the folder in which it is built"
            )
        return self.library


    def require_message_library(self) -> Path:
        """The library for progress of this host's messages. Raises HostError if it is not built."""
        library = self.require_library().with_name("libsidelight_messages.so")
        if not os.path.exists(library):
            raise HostError(f"there is no {library} beside {self.library}: run `make`")
        return library


def _with_variables(assignments: Sequence[str], argv: list[str]) -> list[str]:
    """The command that runs `argv`, each program of it where there are several, with further
    variables. `env` takes a program that has a `=` in its path for one more assignment, and a shell
    between them does not."""

    def with_them(part: list[str]) -> list[str]:
        shell = ["sh", "-c", 'exec "$0" "$@"'] if "=" in part[0] else []
        return ["env", *assignments, *shell, *part]

    try:
        return parts.each(argv, with_them) if assignments else argv
    except parts.PartError as error:
        raise HostError(str(error)) from error


def _refuse_another_preload(arguments: Sequence[str]) -> None:
    """A launcher has one value for a variable: this one would be lost, or Sidelight. What hands on
    that of the environment (`-x LD_PRELOAD`, `-genvlist`) does not matter, as it is in ours."""
    for before, word in zip(["", *arguments], arguments):
        is_of_hydra = word == "LD_PRELOAD" and before.endswith("env")  # and the value is to come
        if is_of_hydra or re.search(r"(?<!\w)LD_PRELOAD=", word):
            raise HostError(
                "the arguments for mpiexec set LD_PRELOAD, and so does `sidelight run`: set it in "
                "the environment of `sidelight run`, which goes behind what it finds there"
            )


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
    """The hosts with names of their own, installed or not: where they usually are, or else where
    the library was built for them. An installed command has no .hosts beside it."""
    recorded = {record.name: record for record in _records()}
    return [_found_again(host, recorded.get(host.name)) for host in _usual()]


def _found_again(host: Host, record: records.Record | None) -> Host:
    if record is None:
        return host
    # Debian's packages are of another version in a later Debian.
    host = replace(host, **_of_line(record.line))
    if not host.missing():
        return host
    mpiexec, mpicc, libmpi = map(Path, (record.mpiexec, record.mpicc, record.libmpi))
    there = replace(host, mpiexec=mpiexec, mpicc=mpicc, libmpi=libmpi)
    return host if there.missing() else there


def _usual() -> list[Host]:
    return [
        _debian("mpich4", "mpich", "libmpich.so.12", "mpich libmpich-dev", {}),
        _debian(
            "openmpi4",
            "openmpi",
            "libmpi.so.40",
            "openmpi-bin libopenmpi-dev",
            _SETTINGS["openmpi4"],
        ),
        _wheel("mpich5", "mpich", "libmpi.so.12", {}, {}),
        _wheel(
            "openmpi5",
            "openmpi",
            "libmpi.so.40",
            _SETTINGS["openmpi5"],
            _FOR_WINDOWS["openmpi5"],
        ),
        _wheel("impi", "mpich", "libmpi.so.12", {}, {}, "make impi"),
        _abi_of(_wheel("mpich5", "mpich", "libmpi.so.12", {}, {})),
    ]


def _abi_of(host: Host) -> Host:
    """The MPI ABI of a host that has it."""
    mpicc = host.mpicc.with_name(f"{host.mpicc.name}_abi")
    return replace(host, name=ABI, mpicc=mpicc, libmpi=host.libmpi.with_name(_ABI_LIBRARY))


# What every version line of a family and major number needs.
_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "openmpi4": {"OMPI_MCA_rmaps_base_oversubscribe": "1"},
    "openmpi5": {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"},
}
# The UCX component of 5.0.11 fails on each window and is tried again for the next: 3 ms each.
_FOR_WINDOWS: Mapping[str, Mapping[str, str]] = {"openmpi5": {"OMPI_MCA_osc": "^ucx"}}


def kin(name: str) -> str:
    """The known host that a host is like, as the user's own MPI of a version line: openmpi4 of
    openmpi-4.1. Of a known host itself its name."""
    family, _, number = name.partition("-")
    return family + number.split(".")[0]


def _of_line(line: str) -> dict[str, Any]:
    """What is the same for every MPI of a version line, as fields of a Host."""
    major = kin(line)
    return {
        "line": line,
        "settings": _SETTINGS.get(major, {}),
        "for_windows": _FOR_WINDOWS.get(major, {}),
    }


def own(line: str, name: str, mpiexec: Path, mpicc: Path, libmpi: Path) -> Host:
    """The host of an MPI that the user has."""
    return Host(
        name=name,
        origin="own",
        family="openmpi" if line.startswith("openmpi") else "mpich",
        mpiexec=mpiexec,
        mpicc=mpicc,
        libmpi=libmpi,
        install=f"make MPICC={mpicc}",
        **_of_line(line),
    )


def _records() -> list[records.Record]:
    return records.read(build_directory()) or records.read(ROOT)


def built() -> list[Host]:
    """The hosts without names of their own that there are libraries for."""
    names = {host.name for host in known()}
    return [
        own(record.line, record.name, *map(Path, (record.mpiexec, record.mpicc, record.libmpi)))
        for record in _records()
        if record.name not in names
    ]


def present() -> list[Host]:
    """What is installed on this machine: its hosts, and the MPI ABI."""
    return [host for host in known() + built() if not host.missing()]


def all() -> list[Host]:  # noqa: A001 - reads as hosts.all()
    """The hosts that are installed on this machine, each once."""
    return [host for host in present() if host.name != ABI]


def find(
    name: str | None, program: str | Path | None = None, mpiexec: str | Path | None = None
) -> Host:
    """The host called `name`; else that of the MPI which `program` will load; else that of the
    launcher. The launcher is `mpiexec`; else that of PATH or of an active environment, where it
    belongs to the host; else the host's own.

    Raises HostError when there is none, or when it is not installed whole.
    """
    given = _launcher(mpiexec) if mpiexec is not None else None
    if name is not None:
        host = _named(name)
    else:
        loaded = _loaded_library(program) if program is not None else None
        host = _default(given) if loaded is None else _owner_of(loaded, program)
    return _installed(host if given is None else replace(host, mpiexec=given))


def find_for(argv: Sequence[str], mpiexec: str | Path | None = None) -> Host:
    """The host of a command line: of the program in it that tells the MPI; where none does, of the
    launcher."""
    telling = program_in(argv)
    host = find(None, telling or argv[0], mpiexec)
    # Whatever a shell starts may be of any MPI, if not even the launcher is the user's choice.
    is_guess = telling is None and mpiexec is None and any(map(interpreters.is_shell, argv))
    return replace(host, is_guess=is_guess)


def refuse_other_mpi(host: Host, argv: Sequence[str]) -> None:
    """A program that is linked to another MPI than its host is, as far as that can be told: each
    rank would be a process of its own, or crash. Hosts of a family stand in for one another."""
    try:
        linked = next(filter(None, map(_linked_library, filter(shutil.which, argv))), None)
    except HostError:  # not found by the loader here: it may be with this host
        return
    owner = _host_of_library(linked) if linked is not None else None
    if owner is not None and owner.family != host.family:
        raise HostError(f"the program loads {linked} of {owner.name}: leave out --host {host.name}")


def programs_in(argv: Sequence[str]) -> list[str]:
    """Of each part of a job the program that loads MPI; where none tells, its first program."""
    each = parts.split(argv)
    found = (program_in(part) or next(filter(shutil.which, part), None) for part in each)
    return list(filter(None, found))


def program_in(argv: Sequence[str]) -> str | None:
    """The first program in a command line that tells which MPI it loads, be it one that is not
    found here: it may stand behind env, numactl or time, or in the words of a shell."""
    for word in argv:
        for part in (word, *word.split()):
            program = part.strip("\"'();&|")
            if program and shutil.which(program) and _loads_mpi(program):
                return program
    return None


def _loads_mpi(program: str) -> bool:
    try:
        return _loaded_library(program) is not None
    except HostError:  # not found by the loader here: it may be with its host
        return True


def _launcher(path: str | Path) -> Path:
    found = shutil.which(str(path))
    if found is None:
        raise HostError(f"there is no launcher {path}")
    return Path(found).absolute()


def _loaded_library(program: str | Path) -> Path | None:
    """The MPI library that a program loads: as the loader says, or as its interpreter does."""
    return _linked_library(program) or interpreters.mpi_library(program)


def _named(name: str) -> Host:
    hosts = known() + built()
    for host in hosts:
        if host.name == name:
            return host
    names = ", ".join(host.name for host in hosts)
    raise HostError(f"there is no host {name} in {build_directory()}; those known are {names}")


def _installed(host: Host) -> Host:
    missing = host.missing()
    if missing:
        parts = ", ".join(str(part) for part in missing)
        if host.origin == "own":
            raise HostError(f"{host.name} has no {parts}: name its launcher with --mpiexec")
        raise HostError(f"{host.name} is not installed (no {parts}); try `{host.install}`")
    return host


def ldd(program: str | Path) -> str:
    """What the loader tells about the libraries of a program; nothing about a script."""
    found = shutil.which(str(program))
    if found is None and os.path.isfile(program):
        if os.access(program, os.X_OK):
            raise HostError(f"{program} is not on PATH: say ./{program} for the one that is here")
        raise HostError(f"{program} is not executable")
    if found is None:
        raise HostError(f"there is no program {program}")
    return _loader_says(found)


@functools.cache  # asked for once for each host that may be meant
def _loader_says(found: str) -> str:
    return subprocess.run(["ldd", found], capture_output=True, text=True, check=False).stdout


def _linked_library(program: str | Path) -> Path | None:
    """The MPI library that the loader picks for a program; None for a script."""
    return mpi_library(ldd(program), Path(program))


def mpi_library(ldd_output: str, program: Path) -> Path | None:
    """The MPI library in what `ldd` printed about `program`."""
    pattern = rf"^\s*({versions.LIBRARY}\S*) => (not found|.+?)(?: \(0x|$)"
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
    return _host_of_library(library) or _refuse(library, program)


def _refuse(library: Path, program: str | Path | None) -> Host:
    raise HostError(
        f"{program} loads {library}, which does not say which MPI it is: if it is one that "
        "Sidelight is built for, name that with --host"
    )


def _host_of_library(library: Path) -> Host | None:
    """The host that has this library; else one of the user's own, with what lies beside it."""
    real = library.resolve()
    for host in known() + built():
        if os.path.exists(host.libmpi) and host.libmpi.resolve() == real:
            return _of_its_line(host)
    if library.name.startswith("libmpi_abi"):
        return _abi_at(library)
    version = versions.of_library(library)
    if version is None:
        return None
    programs = [parent / "bin" for parent in real.parents[1:3]]
    there = next((place for place in programs if os.path.exists(place / "mpiexec")), programs[0])
    mpiexec = next((path for path in _launchers_around() if _library_of(path) == real), None)
    line = version.line
    return own(line, _name_of(line), mpiexec or there / "mpiexec", there / "mpicc", library)


def _of_its_line(host: Host) -> Host:
    """This host, unless its library was built for another version line than the MPI has that is
    there now: the system was upgraded, or is another one with the same paths."""
    built_for = next((record.line for record in _records() if record.name == host.name), ABI)
    version = versions.of_library(host.libmpi) if built_for != ABI else None
    if version is None or version.line == built_for:
        return host
    return own(version.line, _name_of(version.line), host.mpiexec, host.mpicc, host.libmpi)


def _name_of(line: str) -> str:
    """The name of the host that a library was built for of that version line."""
    named = {record.line: record.name for record in reversed(_records())}
    return named.get(line, line)


def _abi_at(library: Path) -> Host:
    """The MPI ABI of another MPI than MPICH 5's wheel, with the launcher that lies beside it."""
    mpiexec = library.resolve().parent.parent / "bin/mpiexec"
    return replace(_named(ABI), origin="own", mpiexec=mpiexec, libmpi=library)


def _launchers_around() -> list[Path]:
    """The mpiexec of PATH, and that of an active environment."""
    found = [shutil.which("mpiexec")]
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if variable in os.environ:
            found.append(shutil.which("mpiexec", path=f"{os.environ[variable]}/bin"))
    return [Path(path) for path in found if path is not None]


def _library_of(mpiexec: Path) -> Path | None:
    """The MPI library that a launcher belongs to: of a known host, or beside it."""
    real = mpiexec.resolve()
    for host in known() + built():
        if host.mpiexec.resolve() == real and os.path.exists(host.libmpi):
            return host.libmpi.resolve()
    for prefix in (mpiexec.absolute().parent.parent, real.parent.parent):
        for name in ("libmpich.so.12", "libmpi.so.12", "libmpi.so.40"):
            for folder in ("lib*", "lib*/release"):  # the latter: Intel MPI before 2021.11
                for path in sorted(prefix.glob(f"{folder}/{name}")):
                    return path.resolve()
    return None


def _default(mpiexec: Path | None) -> Host:
    """The host of a launcher: of the one that is given, or the first around here that has one. Only
    where there is no launcher it is a host that nobody has chosen."""
    launchers = [mpiexec] if mpiexec is not None else _launchers_around()
    for launcher in launchers:
        library = _library_of(launcher)
        host = _host_of_library(library) if library is not None else None
        if host is not None:
            return host
    if launchers:
        raise HostError(
            f"no MPI library that Sidelight knows lies beside {launchers[0]}: name its host with "
            "--host, or another launcher with --mpiexec"
        )
    if all():
        return all()[0]
    raise HostError(f"no host MPI is installed; try `{known()[0].install}`")
