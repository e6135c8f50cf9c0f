#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints `name=mpicc` for every host MPI that is present, for cmake/Hosts.cmake."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from sidelight_lib import hosts  # noqa: E402

for host in hosts.all():
    print(f"{host.name}={host.mpicc}")
