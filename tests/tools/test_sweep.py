# SPDX-License-Identifier: BSD-3-Clause
"""ci/check-sweep: what it reads from the page, and which steps it finds in a body or in a table
that the body walks over. Skipped without Clang's parser."""

import importlib.util
import unittest

import support
from test_structure import load

CLASS = """
struct Window {
    bool progress();
    bool grant();
    bool tell();
    bool busy() const;
    Window &parts();
    using Step = bool (Window::*)();
    static const Step steps[2];
};
"""
CALLS = "bool Window::progress() { return busy() && (grant() | parts().tell() | grant()); }"
TABLE = """
const Window::Step Window::steps[2] = {&Window::grant, &Window::tell};
bool Window::progress() {
    bool moved = false;
    for (Step step : steps) moved |= (this->*step)();
    return moved;
}
"""
PAGE = """# Progress

## The sweep

```
Window::progress
  grant    asks
  tell
```
"""


@unittest.skipIf(importlib.util.find_spec("clang") is None, "python3-clang-14 is not installed")
class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.check = load("check_sweep", "ci/check-sweep")

    def steps(self, body):
        check, found = self.check, {}
        file = str(support.ROOT / "src/rma/made_up.cpp")
        unit, errors = check.parse(file, ["-std=c++20"], CLASS + body, bodies=True)
        self.assertEqual(errors, {})
        check.definitions(unit.cursor, check.Files(), {"Window::progress"}, found)
        return check.steps_of(found["Window::progress"], check.Files())

    def test_calls_once_each_in_order_without_questions_and_places(self):
        self.assertEqual(self.steps(CALLS), ["Window::grant", "Window::tell"])

    def test_a_table_stands_for_what_it_names(self):
        self.assertEqual(self.steps(TABLE), ["Window::grant", "Window::tell"])

    def test_the_page(self):
        steps = self.check.described(PAGE)
        self.assertEqual(steps, {"Window::progress": ["Window::grant", "Window::tell"]})


if __name__ == "__main__":
    support.main()
