# SPDX-License-Identifier: BSD-3-Clause
"""Which route operations of a measurement take under Sidelight, for people."""

from __future__ import annotations

import os
from collections.abc import Mapping

_ON_ONE_NODE = {
    "": "mapped memory: the processor of the origin copies, within the call",
    "auto": "mapped memory: the processor of the origin copies, within the call",
    "mapped": "mapped memory: the processor of the origin copies, within the call",
    "emulated": "messages: the processors of both ranks copy",
    "native": "puts and gets of UCX, which are messages of its own without hardware",
}


def describe(nodes: int, environment: Mapping[str, str] | None = None) -> str:
    """For an allocated window, with the settings that programs are started with."""
    route = (os.environ if environment is None else environment).get("SIDELIGHT_ROUTE", "")
    if nodes > 1 and route != "native":
        return "messages, or the network's hardware where UCX has some (`sidelight info`)"
    return _ON_ONE_NODE.get(route, route)
