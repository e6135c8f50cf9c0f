# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight run`: an MPI program under Sidelight."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import hosts, interpreters, profilers, signals, versions
from .namespaces import Nodes
from .traces import folders

_DESCRIPTION = """\
Run an MPI program with Sidelight between it and its host MPI. The program needs no recompiling.
The host is the MPI that the program will load: the one that it is linked to, or, in Python, that of
mpi4py; it may stand behind env or numactl, or in a command for a shell. Where nothing tells (a
shell script), it is that of the launcher: of --mpiexec, PATH, or an active virtual or conda
environment. SIDELIGHT_LOG=info says what was found. A profiler stays
above Sidelight, whether LD_PRELOAD names it already or the program is linked to it. All SIDELIGHT_*
variables reach every rank. With --nodes the ranks run as if on several machines, which is for
tests: the nodes are made of Linux namespaces, and gone afterwards.
"""


def add(commands: argparse._SubParsersAction) -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "run",
        help="run an MPI program under Sidelight",
        description=_DESCRIPTION,
        allow_abbrev=False,  # an option of the program would be one of two that begin so
    )
    parser.add_argument("--host", metavar="NAME", help="host MPI, of those `sidelight info` lists")
    parser.add_argument("--mpiexec", metavar="PATH", help="launcher, instead of the host's")
    parser.add_argument(
        "-n", "-np", dest="ranks", type=_positive, default=1, metavar="N", help="ranks (default 1)"
    )
    parser.add_argument(
        "--nodes", type=_positive, metavar="K", help="K nodes on this machine, with N/K ranks each"
    )
    parser.add_argument(
        "--mpiexec-args",
        type=shlex.split,
        default=[],
        metavar='"ARGS"',
        help="further arguments for mpiexec, as one string; with a leading dash: "
        '--mpiexec-args="--bind-to none"',
    )
    parser.add_argument(
        "--without", action="store_true", help="run on the host alone, as it comes"
    )
    parser.add_argument(
        "--progress",
        choices=("auto", "calls", "thread", "smart"),
        help="who moves operations on while ranks compute, as SIDELIGHT_PROGRESS; smart: the MPI's "
        "own messages and collectives, too",
    )
    parser.add_argument(
        "--trace",
        type=Path,
        metavar="DIR",
        help="write a trace into this folder, for `sidelight report` and `sidelight trace`",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the command, do not run it")
    # Two arguments would lose a `--` between them.
    parser.add_argument("program", metavar="PROGRAM", nargs=argparse.PARSER, action=_Program)
    parser.set_defaults(action=main)


class _Program(argparse.Action):
    """A program and its arguments, which are its own whatever they look like."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        words = values[1:] if values[0] == "--" else values
        if not words:
            parser.error("a program is missing behind --")
        namespace.program, namespace.arguments = words[0], words[1:]


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


_LAUNCHERS = ("mpiexec", "mpirun", "orterun", "prterun", "prun", "srun", "aprun", "jsrun")


def _refuse_launcher(program: str) -> None:
    """A launcher in a rank of another waits for ever, or fails without a word of why."""
    name = os.path.basename(program)
    if name.split(".")[0] in _LAUNCHERS:
        raise hosts.HostError(
            f"{name} starts ranks, and so does `sidelight run`. Either leave it out:\n"
            f"    sidelight run -n N [--mpiexec-args=\"ARGS OF {name}\"] PROGRAM ...\n"
            f"or keep it and preload the library into the ranks: `sidelight run --dry-run PROGRAM` "
            f"prints what that takes."
        )


def main(arguments: argparse.Namespace) -> int:
    """Becomes mpiexec: its exit status is the command's, and signals reach it as they are."""
    _refuse_launcher(arguments.program)
    host = _host(arguments)
    if arguments.trace is not None:
        os.environ["SIDELIGHT_TRACE"] = str(_folder_for_trace(arguments))
    if arguments.progress is not None:
        os.environ["SIDELIGHT_PROGRESS"] = arguments.progress
    if os.environ.get("SIDELIGHT_LOG") in ("info", "debug"):
        _say_host(host, arguments.without)
    if arguments.nodes is not None:
        return _on_nodes(host, arguments)
    command = host.command(**_what_to_run(host, arguments))
    added = host.environment(untouched=arguments.without)
    if arguments.dry_run:
        return _show(command, added)
    sys.stdout.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and exec hands on
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, os.environ | added)
    except OSError as error:
        raise hosts.HostError(f"cannot run {command[0]}: {error.strerror}") from error


def _host(arguments: argparse.Namespace) -> hosts.Host:
    argv = [arguments.program, *arguments.arguments]
    if arguments.host is None:
        return hosts.find_for(argv, arguments.mpiexec)
    host = hosts.find(arguments.host, None, arguments.mpiexec)
    hosts.refuse_other_mpi(host, argv)
    return host


def _folder_for_trace(arguments: argparse.Namespace) -> Path:
    """Made, if it is not there."""
    if arguments.without:
        raise hosts.HostError("--trace: the host alone, with --without, writes no trace")
    folders.check(arguments.trace)
    if not arguments.dry_run:
        folders.make(arguments.trace)
    folder: Path = arguments.trace.absolute()
    return folder


def _show(command: Sequence[str], added: Mapping[str, str]) -> int:
    variables = [f"{key}={shlex.quote(value)}" for key, value in added.items()]
    print(" ".join([*variables, shlex.join(command)]))
    return 0


def _say_host(host: hosts.Host, without: bool) -> None:
    version = versions.of_library(host.libmpi)
    library = "no library" if without else host.require_library()
    print(
        f"sidelight info: host {host.name}, {version or 'of unknown version'} ({host.libmpi}), "
        f"started by {host.mpiexec}, with {library}",
        file=sys.stderr,
    )


def _what_to_run(host: hosts.Host, arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of Host.command and of Nodes.launch."""
    return {
        "ranks": arguments.ranks,
        "argv": [arguments.program, *arguments.arguments],
        "preload": None if arguments.without else _preload(host, arguments),
        "extra_env": _variables([arguments.program, *arguments.arguments]),
        "mpiexec_arguments": arguments.mpiexec_args,
    }


def _variables(argv: Sequence[str]) -> dict[str, str]:
    """All of Sidelight's, and where a program in Python finds the module `sidelight`: behind what
    it has."""
    found = {name: text for name, text in os.environ.items() if name.startswith("SIDELIGHT_")}
    if any(map(interpreters.is_python, hosts.programs_in(argv))):
        places = (os.environ.get("PYTHONPATH"), str(hosts.ROOT / "python"))
        found["PYTHONPATH"] = ":".join(filter(None, places))
    return found


def _preload(host: hosts.Host, arguments: argparse.Namespace) -> str:
    """The library, where it is asked for that of messages above it, and ahead of them what of the
    program's must stay there."""
    libraries = [host.require_library()]
    if arguments.progress == "smart":
        libraries.insert(0, host.require_message_library())
    programs = hosts.programs_in([arguments.program, *arguments.arguments])
    ahead = profilers.linked_to(programs, libraries)
    names = [str(part) for part in [*ahead, *libraries]]
    _refuse_what_the_loader_splits([*names, *host.preloaded("")])
    return ":".join(names)


def _refuse_what_the_loader_splits(libraries: Sequence[str]) -> None:
    """It goes on without what it does not find, and the program would run on its host alone."""
    for library in libraries:
        if re.search(r"[\s:]", library):
            raise hosts.HostError(
                f"the loader cannot preload {library!r}: white space and colons end a name in "
                "LD_PRELOAD. Build or install at a path without them; for what is built already, "
                "set SIDELIGHT_BUILD_DIR to a link to the build folder that has none"
            )


def _on_nodes(host: hosts.Host, arguments: argparse.Namespace) -> int:
    """Stays, to take the nodes down: also when it is told to end."""
    nodes = Nodes(arguments.nodes)
    what, added = _what_to_run(host, arguments), nodes.environment(host, arguments.without)
    if arguments.dry_run:
        print(f"# once there are {', '.join(nodes.names)}, beside them, where {nodes.remote_shell} "
              "reaches them:")
        return _show(nodes.command(host, **what), added)
    signals.end_in_order()
    with nodes:
        return nodes.run(nodes.launch(host, **what), os.environ | added)
