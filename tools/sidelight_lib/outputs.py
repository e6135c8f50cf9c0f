# SPDX-License-Identifier: BSD-3-Clause
"""Files that a command writes after it has worked for minutes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from .hosts import HostError


def require_folder(option: str, path: Path) -> None:
    """Raises where the file would have no folder: to be found out before minutes pass."""
    if not os.path.isdir(path.absolute().parent):
        raise HostError(f"{option} {path}: there is no folder {path.absolute().parent}")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """What fails as the file is written is told in a sentence."""
    try:
        yield
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}") from error
