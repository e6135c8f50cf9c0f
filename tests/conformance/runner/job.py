# SPDX-License-Identifier: BSD-3-Clause
"""One program of a suite, run on its ranks within a time limit."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from sidelight_lib import info
from sidelight_lib.hosts import ROOT, Host

from .results import Result
from .routes import Route
from .suite import Ended, Entry, Suite, Verdict

# Exit status of tests/run_ranks.py
SKIPPED = 77
TIMED_OUT = 124

# A window that Sidelight leaves to the host is no test of Sidelight, and it says so on this level.
LOG = {"SIDELIGHT_LOG": "warn"}
NOT_TESTED = ("is left to the host MPI", "cannot be preloaded")


@dataclass(frozen=True)
class Job:
    suite: Suite
    host: Host
    route: Route
    entry: Entry
    limit: float

    @property
    def key(self) -> tuple[str, ...]:
        """As that of its result."""
        return self.suite.name, self.host.name, self.route.name, self.entry.name

    def run(self) -> tuple[Result, str]:
        """What was found, and all that the program and its launcher printed."""
        refusal = self.route.refusal(self.host, self.entry)
        if refusal:
            return self._result(Verdict(1, 1, ()), 0.0, reason=refusal), ""
        begin = time.monotonic()
        ended = self._start()
        seconds = time.monotonic() - begin
        if ended.status == SKIPPED:
            return self._result(Verdict(1, 1, ()), 0.0, reason=ended.text.strip()), ""
        verdict = self.suite.judge(self.entry, ended)
        untested = self.route.sidelight and any(text in ended.text for text in NOT_TESTED)
        hung = ended.status == TIMED_OUT
        if (hung or untested) and not verdict.failed:
            verdict = Verdict(verdict.ran, verdict.skipped, (self.entry.name,))
        return self._result(verdict, seconds, hung), ended.text

    def _start(self) -> Ended:
        """Takes the ranks along when this process is told to end."""
        with subprocess.Popen(
                self._command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, cwd=self.entry.directory, env=self._environment(),
                text=True, errors="replace") as runner:
            try:
                printed, errors = runner.communicate()
            except BaseException:
                runner.terminate()
                raise
        return Ended(runner.returncode, printed, errors)

    def _command(self) -> list[str]:
        command = [sys.executable, str(ROOT / "tests" / "run_ranks.py"), "--host", self.host.name,
                   "-n", str(self.entry.ranks), "--timeout", str(self.limit)]
        if self.route.sidelight:
            command += ["--preload", ":".join(map(str, self._libraries()))]
        if nodes := self.route.nodes(self.entry):
            command += ["--nodes", str(nodes)]
        for name, value in self._ranks_environment().items():
            command += ["--env", f"{name}={value}"]
        return [*command, *(str(word) for word in self.entry.argv)]

    def _libraries(self) -> list[Path]:
        own = [self.host.require_library()]
        return [self.host.require_message_library(), *own] if self.route.messages else own

    def _ranks_environment(self) -> dict[str, str]:
        own = {**LOG, **self.route.environment} if self.route.sidelight else {}
        return {**own, **self.entry.environment}

    def _environment(self) -> dict[str, str]:
        """This process's, without settings of Sidelight that would change what is tested."""
        places = ("SIDELIGHT_HOSTS_DIR", "SIDELIGHT_BUILD_DIR", "SIDELIGHT_CONFORMANCE_DIR")
        return {name: value for name, value in os.environ.items()
                if not name.startswith("SIDELIGHT_") or name in places}

    def _result(self, verdict: Verdict, seconds: float, hung: bool = False,
                reason: str = "") -> Result:
        return Result(
            suite=self.suite.name, suite_version=self.suite.version, host=self.host.name,
            host_version=info.host_version(self.host) or "?", route=self.route.name,
            entry=self.entry.name, date=datetime.date.today().isoformat(),
            seconds=round(seconds, 2), limit=self.limit, ran=verdict.ran, skipped=verdict.skipped,
            failed=verdict.failed, hung=hung, reason=reason)
