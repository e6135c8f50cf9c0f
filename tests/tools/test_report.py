# SPDX-License-Identifier: BSD-3-Clause
"""`sidelight report` and `sidelight run --trace`: the page in a browser with 2, 64 and 1,024 ranks,
the JSON, and what is refused."""

import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import made_traces
import support
from sidelight_lib.traces import findings, page, patterns, picture, remedies, symbols, words
from sidelight_lib.traces.symbols import Maps, Place

_SIDELIGHT = support.ROOT / "tools" / "sidelight"
_BROWSER = next((name for name in picture._NAMES if shutil.which(name)), None)
_NO_BROWSER = "chromium is not installed: no browser shows the page"

# Behind the page's own script: how many colours each of its timelines shows.
_LOOK = """
<script>
for (const canvas of document.querySelectorAll("canvas")) {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  for (let at = 0; at < data.length; at += 4) {
    colours.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
  }
  document.body.dataset[canvas.id] = colours.size;
}
overview.zoom(0.1); overview.draw();
overview.move(-300, 5); overview.draw();
overview.zoomRanks(0.5, 200); overview.draw();
document.body.dataset.moved = overview.from > 0 && overview.to < DATA.total ? "yes" : "no";
document.body.dataset.said = overview.describe(600, 100);
overview.all();
document.body.dataset.back = overview.from === 0 && overview.to === DATA.total ? "yes" : "no";
document.querySelectorAll("#rows tr")[1].click();
document.body.dataset.chosen = document.querySelector("#rows tr.chosen").dataset.row;
</script>
"""


def sidelight(*arguments):
    return subprocess.run(
        [sys.executable, str(_SIDELIGHT), *map(str, arguments)],
        capture_output=True, text=True, timeout=300, check=False,
    )


class Remedies(unittest.TestCase):
    def named(self, pattern):
        return [
            f"{remedy.call} {remedy.what}"
            for remedy in remedies.for_pattern(pattern, frozenset(), frozenset(), 4)
        ]

    def test_each_pattern_has_some(self):
        for pattern in patterns.PATTERNS:
            with self.subTest(pattern):
                # A notification is late for what its own program does before it.
                nothing = pattern == patterns.LATE_NOTIFICATION
                self.assertEqual(bool(self.named(pattern)), not nothing)

    def test_counters_have_no_nonblocking_call_that_sets_them(self):
        setting = frozenset([("set_num_notify", None, None)])
        found = remedies.for_pattern(patterns.WAIT_AT_FENCE, setting, setting, 4)
        self.assertEqual(found, [])

    def test_memory_of_malloc_is_replaced_by_inplace_alone(self):
        (said,) = self.named(patterns.PRIVATE_MEMORY)
        self.assertIn("SIDELIGHT_SHARE_MEMORY=inplace", said)

    def test_progress_is_what_the_guide_recommends(self):
        guide = (support.ROOT / "docs" / "guide" / "trace.md").read_text(encoding="utf-8")
        (said,) = self.named(patterns.WAIT_FOR_PROGRESS)
        self.assertIn(said.partition(" moves")[0], guide.replace("`", ""))


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def trace(self, ranks, steps):
        place = self.folder / "trace"
        place.mkdir()
        made_traces.ring(ranks, steps).write(place)
        return place


class Command(Folder):
    def test_page_and_json(self):
        place = self.trace(4, 12)
        table, html = self.folder / "table.json", self.folder / "page.html"
        ended = sidelight("report", place, "-o", html, "--json", table)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        said = json.loads(table.read_text())
        self.assertEqual(said["ranks"], 4)
        self.assertEqual(set(said["patterns"]), set(patterns.PATTERNS))
        self.assertAlmostEqual(sum(said["patterns"].values()),
                               sum(row["lost_seconds"] for row in said["rows"]))
        lost = [row["lost_seconds"] for row in said["rows"]]
        self.assertEqual(lost, sorted(lost, reverse=True))
        whole = said["seconds"]
        self.assertAlmostEqual(said["replayed_seconds"], whole, delta=0.02 * whole)
        for row in said["rows"][:1]:
            self.assertTrue(row["remedies"])
        self.assertIn(said["rows"][0]["pattern"], ended.stdout)

    def test_the_page_needs_nothing_else(self):
        found = findings.analyse(made_traces.ring(4, 12).job())
        text = page.render(found, "<a title> & more </script>")
        self.assertNotRegex(text, r"(?:src|href)\s*=|https?://|@import|url\(")
        self.assertNotRegex(text, r"@[A-Z]+@")
        self.assertIn("&lt;a title&gt; &amp; more", text)
        data = re.search(r"const DATA = (.*);\n", text).group(1)
        self.assertEqual(len(json.loads(data)["ranks"]), 4)

    def test_a_trace_without_losses(self):
        trace = made_traces.Trace(2)
        exposure = trace[1].post(0, 0)
        epoch = trace[0].start(100, 1)
        trace[0].grant(epoch, 112, 1)
        trace[0].put(epoch, 120, 1)
        trace[0].complete(epoch, 140, 142)
        trace[1].wait(exposure, 900, 901)
        trace[0].call("flush_all", 990_000, 990_001)
        found = findings.analyse(trace.job())
        self.assertIn("No pattern", words.summary(found))
        self.assertIn("No pattern", page.render(found, ""))

    def test_a_rank_that_gains_alone(self):
        """The origin is through when its request is, at 1,010; the target ends when it did."""
        trace = made_traces.Trace(2)
        epoch = trace[0].start(0, 1)
        trace[0].put(epoch, 20, 1)
        trace[0].grant(epoch, 1001, 1)
        trace[0].complete(epoch, 50, 1010)
        trace[0].call("flush_all", 1500, 1510)
        exposure = trace[1].post(1000, 0)
        trace[1].wait(exposure, 1600, 1605)
        trace[1].call("flush_all", 3000, 3001)
        found = findings.analyse(trace.job())
        each = found.rows[0].predictions[0]
        self.assertLess(each.saved, 0.01 * found.recorded)
        self.assertEqual(each.rank, 0)
        self.assertAlmostEqual(each.earlier, 500e-6, delta=30e-6)
        self.assertIn("rank 0 is through", words.prediction(found, each))

    def test_no_trace(self):
        ended = sidelight("report", self.folder)
        self.assertEqual(ended.returncode, 127)
        self.assertIn("sidelight run --trace", ended.stderr)

    def test_many_events_are_drawn_as_one(self):
        found = findings.analyse(made_traces.ring(4, 30).job())
        whole = page._data(found)
        most, page._MOST_DRAWN = page._MOST_DRAWN, 20
        try:
            less = page._data(found)
        finally:
            page._MOST_DRAWN = most
        self.assertEqual(whole["merged"], 0)
        self.assertGreater(less["merged"], 0)
        self.assertLess(sum(len(rank["calls"]) for rank in less["ranks"]),
                        sum(len(rank["calls"]) for rank in whole["ranks"]))


@unittest.skipIf(_BROWSER is None, _NO_BROWSER)
class Browser(Folder):
    def look(self, ranks, steps):
        """What the page says of itself in a browser."""
        html = self.folder / "page.html"
        text = page.render(findings.analyse(made_traces.ring(ranks, steps).job()), "made")
        html.write_text(text.replace("</body>", _LOOK + "</body>"))
        command = picture.command(self.folder, "--dump-dom", "--window-size=1400,1000",
                                  html.as_uri())
        shown = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        body = re.search(r"<body[^>]*>", shown.stdout)
        self.assertIsNotNone(body, shown.stderr[-2000:])
        return dict(re.findall(r'data-(\w+)="([^"]*)"', body.group()))

    def check(self, ranks, steps):
        said = self.look(ranks, steps)
        self.assertEqual(said.get("drawn"), "yes")
        self.assertGreater(int(said["overview"]), 8)
        self.assertGreater(int(said["closeup"]), 8)
        self.assertEqual((said["moved"], said["back"], said["chosen"]), ("yes", "yes", "1"))
        self.assertRegex(said["said"], r"^rank \d+ on node\d+")

    def test_2_ranks(self):
        self.check(2, 24)

    def test_64_ranks(self):
        self.check(64, 12)

    def test_1024_ranks(self):
        self.check(1024, 4)

    def test_picture(self):
        drawn = self.folder / "page.png"
        ended = sidelight("report", self.trace(2, 12), "--png", drawn)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        data = drawn.read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", data[16:24])
        self.assertEqual(width, 2100)
        self.assertGreater(height, 1000)


class NoBrowser(unittest.TestCase):
    def test_what_to_do_without_one(self):
        with unittest.mock.patch.object(picture.shutil, "which", return_value=None):
            with self.assertRaisesRegex(picture.MissingPackage, "apt-get install chromium"):
                picture.browser()


class Refusals(Folder):
    def test_files_in_no_folder(self):
        """Told before the trace is read."""
        for option in ("-o", "--json", "--png"):
            ended = sidelight("report", self.folder, option, "/nowhere/file")
            self.assertEqual(ended.returncode, 127)
            self.assertIn(f"{option} /nowhere/file: there is no folder /nowhere", ended.stderr)


class RunWithTrace(Folder):
    def run_dry(self, *options):
        ended = sidelight("run", "--dry-run", *options, "/bin/true")
        if "is not installed" in ended.stderr or "no library" in ended.stderr:
            self.skipTest(ended.stderr)
        return ended

    def test_a_folder_with_a_trace(self):
        ended = self.run_dry("--host", "mpich4", "--trace", self.trace(2, 2))
        self.assertEqual(ended.returncode, 127)
        self.assertIn("there is a trace in it", ended.stderr)

    def test_without(self):
        ended = self.run_dry("--host", "mpich4", "--without", "--trace", self.folder / "new")
        self.assertEqual(ended.returncode, 127)
        self.assertIn("writes no trace", ended.stderr)
        self.assertFalse((self.folder / "new").exists())


class Symbols(Folder):
    MAPS = (
        "55d0c0001000-55d0c0002000 r-xp 00001000 08:01 17       /none/with space/program\n"
        "7f0000000000-7f0000100000 r-xp 00000000 08:01 18       /none/libx.so\n"
        "7fff00000000-7fff00001000 r-xp 00000000 00:00 0        [vdso]\n"
    )

    def test_the_same_place_in_two_processes(self):
        moved = self.MAPS.replace("55d0c000", "55d0c777")
        first = Maps(self.MAPS).place(0x55D0C0001235)
        second = Maps(moved).place(0x55D0C7771235)
        self.assertEqual(first, second)
        self.assertEqual(str(first), "program+0x1234")

    def test_outside_of_all(self):
        self.assertEqual(Maps(self.MAPS).place(0x1000), Place("", 0x1000))
        self.assertEqual(Maps("").place(0x1000), Place("", 0x1000))

    def test_without_symbols_the_place_is_shown(self):
        place = Maps(self.MAPS).place(0x7F0000000010)
        self.assertEqual(symbols.lines([place]), {place: "libx.so+0xf"})

    @unittest.skipIf(shutil.which("cc") is None or shutil.which("addr2line") is None,
                     "no C compiler or no addr2line: lines of source cannot be looked up")
    def test_lines(self):
        source, program = self.folder / "where.c", self.folder / "where"
        source.write_text("#include <stdio.h>\n__attribute__((noinline)) void *here(void)\n"
                          "{\n    return __builtin_return_address(0);\n}\n"
                          "int main(void)\n{\n    void *from = here();\n"
                          '    printf("%lx\\n", (long)from);\n    fflush(stdout);\n'
                          '    FILE *maps = fopen("/proc/self/maps", "r");\n'
                          "    for (int c; (c = getc(maps)) != EOF;)\n        putchar(c);\n"
                          "    return 0;\n}\n")
        subprocess.run(["cc", "-g", "-O0", "-o", program, source], check=True, timeout=300)
        ran = subprocess.run([program], capture_output=True, text=True, check=True, timeout=300)
        address, _, maps = ran.stdout.partition("\n")
        code = "\n".join(line for line in maps.splitlines() if " r-xp " in line)
        place = Maps(code).place(int(address, 16))
        self.assertEqual(symbols.lines([place])[place], "where.c:8 (main)")


if __name__ == "__main__":
    support.main()
