# SPDX-License-Identifier: BSD-3-Clause
"""What the library tells of itself without an MPI: the network that it would use here, the memory
that a window takes, and which memory that a program brings others may map."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .hosts import HostError

# Windows whose memory `info` shows: members, those on one node, others that each has met.
WINDOWS = ((2, 2, 0), (64, 64, 0), (4096, 64, 16), (1_000_000, 64, 16))

# In a process of its own: UCX starts threads, and may complain where it does not like a machine.
_ASK_NETWORK = """
import ctypes, json, sys
ask = ctypes.CDLL(sys.argv[1]).sidelight_network
ask.restype = ctypes.c_size_t
text = ctypes.create_string_buffer(4096)
size = ask(text, ctypes.c_size_t(len(text)))
print(json.dumps([size, text.value.decode()]))
"""
_ASK_SECONDS = 30


@dataclass(frozen=True)
class Network:
    """What carries messages between nodes here; without it, why there is none."""

    description: str | None
    address_bytes: int  # of a process's address; 0 without a network
    missing: str | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "description": self.description,
            "address_bytes": self.address_bytes,
            "missing": self.missing,
        }


def network(library: Path) -> Network:
    """Has the library open a network, with the settings of this process's environment."""
    environment = os.environ | {"SIDELIGHT_LOG": "warn"}
    try:
        answer = subprocess.run(
            [sys.executable, "-I", "-c", _ASK_NETWORK, str(library)],
            capture_output=True,
            text=True,
            check=False,
            timeout=_ASK_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return Network(None, 0, f"opening it took more than {_ASK_SECONDS} s")
    return parse_network(answer.stdout, answer.stderr)


def parse_network(output: str, complaints: str) -> Network:
    """From what the process above has written."""
    said = re.findall(r"^sidelight.*?(?:warn|error): (.*)$", complaints, re.MULTILINE)
    last = complaints.strip().splitlines()[-1:] or ["no reason was given"]
    reason = (said or last)[-1]
    try:
        size, description = json.loads(output.strip().splitlines()[-1])  # UCX writes there, too
    except (ValueError, IndexError):
        return Network(None, 0, f"{reason}: run `make`")
    if size == 0:
        return Network(None, 0, f"{reason}. {remedy(reason)}")
    return Network(description, size, None)


def remedy(reason: str) -> str:
    """What to do about a network that is missing."""
    if "headers" in reason:
        return "Install libucx-dev and run `make`."
    if "load UCX" in reason:
        return "Install libucx0, or name a libucp.so.0 with SIDELIGHT_UCX."
    return "SIDELIGHT_UCX names another UCX, SIDELIGHT_NETWORK other transports."


def memory(library: Path, address_bytes: int) -> list[dict[str, int]]:
    """Bytes that windows of some sizes take, without the program's own memory in them."""
    try:
        ask = ctypes.CDLL(str(library)).sidelight_memory_json
    except (OSError, AttributeError) as error:
        raise HostError(f"{library} does not tell what it takes ({error}): run `make`") from error
    ask.restype = ctypes.c_char_p
    ask.argtypes = [ctypes.c_size_t] * 4
    rows = []
    for members, on_node, elsewhere in WINDOWS:
        taken = json.loads(ask(members, on_node, elsewhere, address_bytes).decode())
        rows.append({"members": members, "on_node": on_node, "elsewhere": elsewhere} | taken)
    return rows


def allocated_private_from(library: Path) -> int:
    """From how many bytes on memory of MPI_Alloc_mem stays private by itself; 0: never."""
    try:
        ask = ctypes.CDLL(str(library)).sidelight_allocated_private_from
    except (OSError, AttributeError) as error:
        raise HostError(f"{library} does not tell what it can ({error}): run `make`") from error
    ask.restype = ctypes.c_size_t
    return ask()


def in_words(count: int) -> str:
    """Bytes, with three digits."""
    value = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            digits = 0 if unit == "B" or value >= 100 else 1
            return f"{value:.{digits}f} {unit}"
        value /= 1000
    raise AssertionError
