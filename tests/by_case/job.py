# SPDX-License-Identifier: BSD-3-Clause
"""One case: a program on some ranks, in a job of its own, and what became of it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]
import run_ranks  # noqa: E402
from sidelight_lib import hosts  # noqa: E402

# How launchers tell of a rank that a signal has ended, or that has ended the job itself.
SIGNALS = {
    "SIGSEGV": r"Segmentation fault|signal 11|EXIT CODE: 139|exit(?:ed)? (?:on|with) .*\b139\b",
    "SIGBUS": r"Bus error|signal 7\b|EXIT CODE: 135",
    "SIGABRT": r"signal 6\b|Aborted \(signal|EXIT CODE: 134|SIGABRT",
    "SIGXFSZ": r"File size limit exceeded|signal 25|EXIT CODE: 153",
    "SIGSYS": r"Bad system call|signal 31|EXIT CODE: 159",
}


@dataclass(frozen=True)
class Outcome:
    """`status` is mpiexec's; `hung`: it did not end, and `stacks` say where it was."""

    status: int
    text: str
    hung: bool

    @property
    def ending(self) -> str:
        """One word: how it ended, if not well."""
        if self.hung:
            return "hangs"
        if self.status == 0:
            return ""
        for name, pattern in SIGNALS.items():
            if re.search(pattern, self.text):
                return name
        return "ends the job"


def built(host: hosts.Host, path: str) -> Path:
    """A program of the project. Exits if there is none: its job would look like one that does not
    start."""
    program = host.program(path)
    if not program.exists():
        sys.exit(f"{program} is not built: run `make`")
    return program


def run(
    host: hosts.Host,
    ranks: int,
    argv: Sequence[str | Path],
    *,
    under: bool,
    seconds: float,
    environment: dict[str, str] | None = None,
    around: Sequence[str | Path] = (),
    each: Sequence[str | Path] = (),
    mpiexec_arguments: Sequence[str] = (),
    stacks: bool = False,
) -> Outcome:
    """`around` comes before mpiexec, and `each` before every rank's program: commands that run what
    follows them."""
    mark = uuid.uuid4().hex
    variables = {run_ranks.MARK: mark, **(environment or {})}
    program: list[str | Path] = list(argv)
    if under:
        # Only the program loads the library, not what is run before it.
        libraries = host.preloaded(host.require_library())
        program = ["env", "LD_PRELOAD=" + ":".join(libraries), *program]
    command = [
        *map(str, around),
        *host.command(ranks, [*each, *program], None, variables, mpiexec_arguments),
    ]
    with tempfile.TemporaryFile() as output:
        job = subprocess.Popen(
            command,
            env={**os.environ, **host.environment(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        hung = False
        try:
            job.wait(seconds)
        except subprocess.TimeoutExpired:
            hung = True
            if stacks:
                run_ranks.print_stacks(mark)
        finally:
            run_ranks.kill_all(mark)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Outcome(job.returncode, text, hung)


def chosen(names: str | None) -> list[hosts.Host]:
    if names:
        return [hosts.find(name) for name in names.split(",")]
    return [host for host in hosts.all() if host.library.exists()]
