# SPDX-License-Identifier: BSD-3-Clause
"""ci/check-layers: which arrows between the folders of the engine are wrong."""

import unittest

import support
from test_structure import load


class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.check = load("check_layers", "ci/check-layers")

    def wrong(self, path, *included):
        includes = {path: [(file.removeprefix("src/"), file) for file in included]}
        return len(list(self.check.wrong_arrows(path, includes)))

    def test_down_the_engine(self):
        order = ("engine", "epoch", "operation", "channel", "region")
        for number, above in enumerate(order):
            for below in order[number:]:
                file = f"src/rma/{above}/a.cpp"
                self.assertEqual(self.wrong(file, f"src/rma/{below}/b.hpp"), 0)
                if below != above:
                    other = f"src/rma/{below}/b.cpp"
                    self.assertEqual(self.wrong(other, f"src/rma/{above}/a.hpp"), 1)

    def test_accumulates_and_regions_do_not_know_each_other(self):
        self.assertEqual(self.wrong("src/rma/accumulate/a.cpp", "src/rma/region/b.hpp"), 1)
        self.assertEqual(self.wrong("src/rma/region/a.cpp", "src/rma/accumulate/b.hpp"), 1)

    def test_words_of_all_folders_lie_directly_in_rma(self):
        self.assertEqual(self.wrong("src/rma/region/a.cpp", "src/rma/rules.hpp"), 0)
        self.assertEqual(self.wrong("src/rma/rules.hpp", "src/rma/region/a.hpp"), 1)

    def test_layers_around_the_engine(self):
        self.assertEqual(self.wrong("src/rma/epoch/a.cpp", "src/base/log.hpp"), 0)
        self.assertEqual(self.wrong("src/api/a.cpp", "src/rma/engine/b.hpp"), 0)
        self.assertEqual(self.wrong("src/host/a.cpp", "src/rma/engine/b.hpp"), 1)


if __name__ == "__main__":
    support.main()
