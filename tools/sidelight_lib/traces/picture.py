# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a page, drawn by chromium without a screen."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from .. import outputs
from ..console import MissingPackage
from ..hosts import HostError

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE_SECONDS = 120
_WIDTH = 1400


def browser() -> str:
    """Its path."""
    for name in _NAMES:
        found = shutil.which(name)
        if found is not None:
            return found
    raise MissingPackage(
        "--png needs chromium: run `apt-get install chromium`, or open the page of -o in a browser"
    )


def command(folder: Path, *options: str) -> list[str]:
    """Without what it would ask of the network, and with a profile of its own."""
    return [
        browser(),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-sync",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
        *options,
    ]


def draw(html: str, path: Path, height: int) -> None:
    """Of so many pixels of the page."""
    with tempfile.TemporaryDirectory(prefix="picture-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        source, drawn = folder / "page.html", folder / "page.png"
        source.write_text(html)
        options = (
            f"--window-size={_WIDTH},{height}",
            "--force-device-scale-factor=1.5",
            f"--screenshot={drawn}",
            "--virtual-time-budget=5000",
            source.as_uri(),
        )
        try:
            done = subprocess.run(
                command(folder, *options),
                capture_output=True,
                text=True,
                check=False,
                timeout=_PATIENCE_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise HostError(f"chromium took more than {_PATIENCE_SECONDS} s for --png") from error
        if not drawn.is_file():
            last = done.stderr.strip().splitlines()[-1:] or ["it says nothing"]
            raise HostError(f"chromium has drawn nothing: {last[0]}")
        with outputs.writing(path):
            shutil.copyfile(drawn, path)
