# SPDX-License-Identifier: BSD-3-Clause
"""A job of several programs: `./a x : -n 2 ./b y`, as mpiexec has it. Every part after the first
begins with options of the launcher."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

# How many words follow an option. What is not here takes nobody knows how many.
_OPTIONS = {
    0: "-envall -envnone --oversubscribe",
    1: "-n --n -np --np -c -host --host -hosts -H -hostfile --hostfile -machinefile --machinefile "
    "-wdir --wdir -wd --wd -path --path -x -envlist -ppn --map-by --bind-to -map-by -bind-to",
    2: "-env -genv -mca --mca --prtemca",
}
_WORDS = {option: count for count, names in _OPTIONS.items() for option in names.split()}


class PartError(Exception):
    """A part in which the program cannot be told from the options."""


def each(argv: Sequence[str], change: Callable[[list[str]], list[str]]) -> list[str]:
    """The same parts, with what `change` makes of each program and its arguments."""
    first, *others = split(argv)
    if not first:
        raise PartError("the first part of the job names no program")
    changed = change(first)
    for part in others:
        start = _program_at(part)
        changed += [":", *part[:start], *change(part[start:])]
    return changed


def options(argv: Sequence[str]) -> list[str]:
    """The options of the launcher that stand before programs, as far as they can be told."""
    found: list[str] = []
    for part in split(argv)[1:]:
        with contextlib.suppress(PartError):
            found += part[: _program_at(part)]
    return found


def split(argv: Sequence[str]) -> list[list[str]]:
    """The words of each part."""
    found: list[list[str]] = [[]]
    for word in argv:
        if word == ":":
            found.append([])
        else:
            found[-1].append(word)
    return found


def _program_at(part: Sequence[str]) -> int:
    """Where in a part its program is."""
    at = 0
    while at < len(part) and part[at].startswith("-"):
        option = part[at]
        words = 0 if "=" in option else _WORDS.get(option)
        if words is None:
            raise PartError(
                f"`sidelight run` does not know the option {option} behind a `:`, and so not where "
                "the program of that part is: leave that option out"
            )
        at += 1 + words
    if at >= len(part):
        raise PartError("a part of the job, behind a `:`, names no program")
    return at
