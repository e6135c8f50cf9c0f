# SPDX-License-Identifier: BSD-3-Clause
"""Failures that are known, each with its reason: the file `<suite>.expected`.

A line has four parts: a host, a route, a test, each of them a pattern as the shell has them, and
the reason, which is the rest of the line. A program that holds many tests and its test have a colon
between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from .results import Result
from .routes import ALONE


@dataclass(frozen=True)
class Expectation:
    host: str
    route: str
    test: str
    reason: str

    def covers(self, result: Result, test: str) -> bool:
        """Whether a failure of this test, in the run of this result, is the one expected."""
        return (fnmatchcase(result.host, self.host) and fnmatchcase(result.route, self.route)
                and fnmatchcase(test, self.test))

    def __str__(self) -> str:
        return f"{self.host} {self.route} {self.test}: {self.reason}"


def read(path: Path) -> list[Expectation]:
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=3)
        if len(words) != 4:
            raise ValueError(f"{path}:{number}: host, route, test and a reason are wanted")
        found.append(Expectation(*words))
    return found


def of_hosts(results: Iterable[Result]) -> list[Expectation]:
    """What fails on hosts alone, for suites in which a host may fail as it does alone."""
    return [Expectation(result.host, "*", test, "it fails on the host alone, too")
            for result in results if result.route == ALONE.name for test in result.failed]


def unexpected(results: Iterable[Result], known: list[Expectation]) -> list[tuple[Result, str]]:
    """The failures that no line covers."""
    return [(result, test) for result in results for test in result.failed
            if not any(one.covers(result, test) for one in known)]


def reason(result: Result, test: str, known: list[Expectation]) -> str | None:
    return next((one.reason for one in known if one.covers(result, test)), None)


def unneeded(results: list[Result], known: list[Expectation]) -> list[Expectation]:
    """The lines about tests that ran, and of which none failed."""
    def ran(one: Expectation) -> bool:
        program = replace(one, test=one.test.partition(":")[0])
        return any(program.covers(result, result.entry) and not result.reason
                   for result in results)

    def failed(one: Expectation) -> bool:
        return any(one.covers(result, name) for result in results for name in result.failed)

    return [one for one in known if ran(one) and not failed(one)]
