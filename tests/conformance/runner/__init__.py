# SPDX-License-Identifier: BSD-3-Clause
"""Runs test suites that others wrote: on a host alone, and under Sidelight by every route.

A suite says what its tests are and how to read their output (`suite.py`); everything else is the
same for all suites and lies here."""
