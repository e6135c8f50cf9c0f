# SPDX-License-Identifier: BSD-3-Clause
"""What the `sidelight` command is made of: hosts, running, information, measuring."""
