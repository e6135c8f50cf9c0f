# SPDX-License-Identifier: BSD-3-Clause
"""Debian's packages and their sources, unpacked in a folder: nothing is installed.

The package lists are our own, beside what is unpacked: a machine may have none for sources, or for
another release than its own. What a package needs comes along where the machine does not have
it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from .suite import SuiteError, run

INSTALLED = "bookworm"  # whose packages run on the machine
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Archive:
    """The packages of one release. Reads their lists when it is made."""

    def __init__(self, place: Path, release: str = INSTALLED) -> None:
        self._log = place / "log"
        state = place / "apt"
        for folder in ("lists/partial", "archives/partial"):
            (state / folder).mkdir(parents=True)
        sources = state / "sources.list"
        kinds = ("deb", "deb-src") if release == INSTALLED else ("deb-src",)
        sources.write_text("".join(
            f"{kind} [signed-by={KEYS}] {address()} {release} main\n" for kind in kinds))
        settings = {"Dir::Etc::SourceList": sources, "Dir::Etc::SourceParts": "/dev/null",
                    "Dir::State::Lists": state / "lists", "Dir::Cache": state,
                    # Nothing is installed, so this needs neither root nor the system's locks.
                    "Debug::NoLocking": "1", "APT::Sandbox::User": "root"}
        self._packages = state / "archives"
        self._apt = ["apt-get", "-q", *(f"-o{name}={value}" for name, value in settings.items())]
        run([*self._apt, "update"], self._log)

    def source(self, package: str, place: Path) -> Path:
        """Fetches a source package. Its archive, as its authors made it."""
        run([*self._apt, "--download-only", "--tar-only", "source", package], self._log, cwd=place)
        archives = list(place.glob("*.orig.tar.*"))
        if len(archives) != 1:
            raise SuiteError(f"apt-get brought {len(archives)} archives of {package}: "
                             f"see {self._log}")
        return archives[0]

    def unpack(self, packages: Sequence[str], place: Path) -> None:
        """Unpacks packages, and what they need and the machine does not have."""
        run([*self._apt, "--download-only", "--reinstall", "--no-install-recommends", "--yes",
             "install", *packages], self._log)
        for package in sorted(self._packages.glob("*.deb")):
            run(["dpkg-deb", "--extract", package, place], self._log)


def address() -> str:
    """Where this machine has its packages from, and so all others too."""
    asked = ["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)",
             "Created-By: Packages"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        release, _, found = line.partition(" ")
        if release == INSTALLED:
            return found
    raise SuiteError(f"apt knows no archive of {INSTALLED}, whose packages are wanted")
