# SPDX-License-Identifier: BSD-3-Clause
"""Traces of the library: their files, what they say, and what is made of them."""
