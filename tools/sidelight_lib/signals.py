# SPDX-License-Identifier: BSD-3-Clause
"""How a command that has started others ends when it is told to: it ends them, too."""

from __future__ import annotations

import signal
import sys
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)


def end_in_order() -> None:
    """From now on these signals end the command by SystemExit, so that `finally` clauses run, with
    the status that a shell gives to a signal. One that is ignored, as by nohup, stays so."""
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)


def _leave(number: int, _: FrameType | None) -> None:
    for each in _ENDING:  # a second one does not cut the end of the others short
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)
