# SPDX-License-Identifier: BSD-3-Clause
"""What the `sidelight` command is made of: hosts, running, information, measuring."""

VERSION = "0.1.0"  # that of CMakeLists.txt, which an installed command has not beside it
