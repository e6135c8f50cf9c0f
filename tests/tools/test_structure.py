# SPDX-License-Identifier: BSD-3-Clause
"""ci/check-structure: what it counts, and that it finds circles. Skipped without Clang's parser."""

import importlib.machinery
import importlib.util
import sys
import unittest

import support

MISSING = importlib.util.find_spec("clang") is None

TEXT = """
class Window {
public:
    Window();
    ~Window();
    Window &operator=(const Window &) = delete;
    void put();
    static int count();
    template <typename T> T get() { return T{}; }
private:
    friend class Process;
    void flush() { put(); }
    int rank_, size_;
    union { long word_; double number_; };
    static int windows_;
    int (*hook_)(int);
};
static void (*const steps[])(Window &) = {[](Window &window) { window.put(); }};
"""


def load(name, script):
    """A check as a module: it has no suffix that Python would know."""
    sys.path.insert(0, str(support.ROOT / "ci"))
    loader = importlib.machinery.SourceFileLoader(name, str(support.ROOT / script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module  # dataclasses look there
    loader.exec_module(module)
    return module


@unittest.skipIf(MISSING, "python3-clang-14 is not installed")
class Structure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.check = load("check_structure", "ci/check-structure")

    def read(self, text):
        file = str(support.ROOT / "src/rma/made_up.cpp")
        unit, errors = self.check.parse(file, ["-std=c++20"], text, bodies=True)
        self.assertEqual(errors, {})
        return self.check.Reader(unit).facts

    def graph(self, **calls):
        defined = {callee: f"src/rma/{callee}.cpp" for callees in calls.values()
                   for callee in callees}
        mentions = {(f"src/rma/{file}.cpp", callee, callee)
                    for file, callees in calls.items() for callee in callees}
        return self.check.call_graph(self.check.Facts(set(), defined, mentions))

    def test_what_a_class_declares(self):
        (window,) = self.read(TEXT).classes
        self.assertEqual((window.name, window.methods, window.fields, window.friends),
                         ("Window", 4, 4, 1))

    def test_a_call_in_a_body_and_one_in_a_table(self):
        text = "void one() {}\nvoid two() { one(); }\nvoid (*const steps[])() = {two};\n"
        mentions = {name for _, _, name in self.read(text).mentions}
        self.assertEqual(mentions, {"one", "two"})

    def test_what_is_only_declared_here_ties_to_no_file(self):
        facts = self.read("struct Listener { virtual void done() = 0; };\n"
                          "void tell(Listener &listener) { listener.done(); }\n")
        self.assertEqual(self.check.call_graph(facts), {})

    def test_a_circle_over_three_files_is_found_and_told(self):
        graph = self.graph(a=["b"], b=["c"], c=["a", "d"], d=[])
        (circle,) = self.check.circles(graph)
        self.assertEqual(circle, ["src/rma/a", "src/rma/b", "src/rma/c"])
        way = self.check.shortest_circle(graph, circle)
        self.assertEqual(self.check.told(graph, way), "a -(b)-> b -(c)-> c -(a)-> a")

    def test_arrows_one_way_are_no_circle(self):
        self.assertEqual(self.check.circles(self.graph(a=["b", "c"], b=["c"], c=["d"])), [])

    def test_limits(self):
        check = self.check
        large = check.ClassNumbers("Large", "src/rma/large.hpp:1", 41, 31, 1)
        outside = check.ClassNumbers("Outside", "src/api/outside.hpp:1", 40, 30, 1)
        facts = check.Facts({large, outside})
        wrong = list(check.violations(facts, {"src/a.hpp": 201, "src/b.hpp": 200}, {}))
        self.assertEqual([name for name, _ in wrong], ["Large"] * 3 + ["src/a.hpp"])
        self.assertTrue(all(name in line for name, line in wrong))

    def test_what_is_known_is_not_told_and_what_is_mended_is(self):
        check = self.check
        self.addCleanup(setattr, check, "UNMENDED", check.UNMENDED)
        check.UNMENDED = {"Large": "gets owners", "src/long.hpp": "gets a second header"}
        found = [(name, f"{name} is too large") for name in check.UNMENDED]
        self.assertEqual(list(check.complaints(found)), [])
        self.assertEqual(len(list(check.complaints([*found, ("New", "New is too large")]))), 1)
        self.assertEqual(len(list(check.complaints(found[1:]))), 1)


if __name__ == "__main__":
    support.main()
