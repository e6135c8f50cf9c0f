# SPDX-License-Identifier: BSD-3-Clause
"""Running a measuring program so that a crash or a hang in one line costs that line alone.

The programs announce each line before they measure it. If one dies or falls silent, the line that
it had announced is to blame: it is recorded so, and the program is started again for the rest.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

CommandFor = Callable[[Sequence[str]], list[str]]  # the command line that measures these lines


@dataclass
class Results:
    """What a program measured, by line, and what went wrong."""

    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


@dataclass
class _Attempt:
    """One start of a program, as far as it came."""

    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    started: str | None = None  # announced and not finished
    failure: str = ""
    error: str = ""


def measure(
    command_for: CommandFor,
    lines: Sequence[str],
    environment: Mapping[str, str],
    patience: float,
) -> Results:
    """Measures the lines; none may take longer than `patience` seconds."""
    results = Results()
    remaining = list(lines)
    while remaining:
        attempt = _attempt(command_for(remaining), environment, patience)
        results.figures |= attempt.figures
        remaining = [line for line in remaining if line not in attempt.figures]
        if attempt.error:
            results.errors.append(attempt.error)
        if remaining:
            blamed = [attempt.started] if attempt.started in remaining else list(remaining)
            outcome = attempt.failure if attempt.started in remaining else "does not run"
            results.outcomes |= dict.fromkeys(blamed, outcome)
            remaining = [line for line in remaining if line not in blamed]
    return results


def _attempt(command: list[str], environment: Mapping[str, str], patience: float) -> _Attempt:
    attempt = _Attempt()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            env=os.environ | dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        try:
            _follow(process, attempt, patience)
        finally:
            _end(process)
        if attempt.failure or process.returncode != 0:
            attempt.failure = attempt.failure or "crashes"
            errors.seek(0)
            attempt.error = f"{' '.join(command)}: {errors.read()[-2000:]}".strip()
    return attempt


def _follow(process: subprocess.Popen[str], attempt: _Attempt, patience: float) -> None:
    """Reads what the program prints until it ends, or is silent for too long."""
    printed: queue.Queue[str | None] = queue.Queue()
    reader = threading.Thread(target=_pass_on, args=(process, printed), daemon=True)
    reader.start()
    try:
        while (text := printed.get(timeout=patience)) is not None:
            _note(text, attempt)
        process.wait(timeout=patience)
    except (queue.Empty, subprocess.TimeoutExpired):
        attempt.failure = "hangs"


def _pass_on(process: subprocess.Popen[str], printed: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    with process.stdout as lines:
        for text in lines:
            printed.put(text)
    printed.put(None)


def _note(text: str, attempt: _Attempt) -> None:
    try:
        said = json.loads(text)
    except ValueError:
        return  # a host's own words
    if "starts" in said:
        attempt.started = said["starts"]
    elif "line" in said:
        attempt.figures[said.pop("line")] = said
        attempt.started = None


def _end(process: subprocess.Popen[str]) -> None:
    """Ends mpiexec, which ends its ranks; kills what does not listen."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                continue
