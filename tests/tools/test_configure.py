# SPDX-License-Identifier: BSD-3-Clause
"""What CMake does without that which not every part needs."""

import os
import subprocess
import tempfile
import unittest

import support


def configure(*options, **variables):
    with tempfile.TemporaryDirectory() as place:
        return subprocess.run(
            ["cmake", "-S", support.ROOT, "-B", place, "-DBUILD_TESTING=OFF", *options],
            env=os.environ | variables,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


class Optional(unittest.TestCase):
    def test_openblas(self):
        ended = configure("-DSIDELIGHT_HOSTS=mpich4;openmpi4", PKG_CONFIG_LIBDIR="/nowhere")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("so no examples/lu", ended.stdout)


if __name__ == "__main__":
    support.main()
