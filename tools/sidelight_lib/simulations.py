# SPDX-License-Identifier: BSD-3-Clause
"""The program of simulations, build/bench/simulate: where it is, and how it is run."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from . import hosts
from .hosts import HostError

NETWORKS = hosts.ROOT / "bench" / "networks"
PATIENCE_SECONDS = 900

Runner = Callable[[Sequence[str]], str]  # what the program prints, with these options


def program() -> Path:
    """Built once, with no host."""
    return hosts.build_directory() / "bench" / "simulate"


def require(network: Path) -> None:
    """Raises unless the program and the file of the network are there."""
    if not program().exists():
        raise HostError(f"not built: {program()}; run `make`")
    if not network.exists():
        raise HostError(f"--network {network}: there is no such file")


def run(options: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            [program(), *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise HostError(f"{program()} takes more than {PATIENCE_SECONDS} s") from error
    if done.returncode != 0:
        raise HostError(f"{' '.join(map(str, done.args))}: {done.stderr.strip() or done.stdout}")
    return done.stdout
