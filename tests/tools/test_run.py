# SPDX-License-Identifier: BSD-3-Clause
"""What `sidelight run` refuses, and what it would start."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import support
from sidelight_lib import hosts

_SIDELIGHT = support.ROOT / "tools" / "sidelight"


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(_SIDELIGHT), "run", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


class Launchers(unittest.TestCase):
    def test_a_launcher_in_the_place_of_the_program(self):
        for launcher in ("mpiexec", "/usr/bin/mpirun.openmpi", "srun"):
            ended = run("-n", "2", launcher, "-n", "2", "./a")
            self.assertEqual(ended.returncode, 127, launcher)
            self.assertIn("sidelight run -n N", ended.stderr)
            self.assertIn("--dry-run", ended.stderr)
            # Without the sign, arguments with a dash are taken for options of the command.
            self.assertIn('--mpiexec-args="ARGS OF', ended.stderr)


def dry_run(host, *arguments):
    """What it prints of a run on a host that is installed, without Sidelight: nothing is built."""
    ended = run("--host", host, "--dry-run", "--without", *arguments)
    if "is not installed" in ended.stderr:
        raise unittest.SkipTest(ended.stderr)
    return ended


class Python(unittest.TestCase):
    """The module is found by programs in Python, behind what these have."""

    def shown(self, program):
        for host in ("mpich4", "openmpi4", "mpich5", "openmpi5"):
            with contextlib.suppress(unittest.SkipTest):
                return dry_run(host, *program).stdout
        raise unittest.SkipTest("no host is installed")

    def path_of(self, *program, **variables):
        with mock.patch.dict(os.environ, variables):
            if not variables:
                os.environ.pop("PYTHONPATH", None)
            shown = self.shown(program)
        found = re.findall(r"PYTHONPATH[= ]'?([^ ']+)", shown)
        return found[0].split(":") if found else None

    def test_found_by_a_program_in_python(self):
        self.assertEqual(self.path_of(sys.executable, "a.py"), [str(support.ROOT / "python")])

    def test_behind_what_is_there(self):
        found = self.path_of(sys.executable, "a.py", PYTHONPATH="/mine:/yours")
        self.assertEqual(found, ["/mine", "/yours", str(support.ROOT / "python")])

    def test_other_programs_keep_theirs(self):
        self.assertIsNone(self.path_of("true"))


class Messages(unittest.TestCase):
    """The library for progress of messages is loaded where it is asked for, and never else."""

    def preloaded(self, *arguments):
        for host in ("mpich4", "openmpi4", "mpich5", "openmpi5"):
            ended = run("--host", host, "--dry-run", *arguments, "true")
            if ended.returncode == 0:
                (text,) = re.findall(r"LD_PRELOAD[= ](\S+)", ended.stdout)
                return text.split(":"), re.sub(r"-genv (\S+) ", r"\1=", ended.stdout)
        raise unittest.SkipTest("Sidelight is built for no host")

    def test_only_with_smart(self):
        for arguments in ((), ("--progress", "calls"), ("--progress", "thread")):
            with self.subTest(arguments=arguments):
                libraries, _ = self.preloaded(*arguments)
                self.assertNotIn("messages", "".join(libraries))

    @mock.patch.dict(os.environ, {"SIDELIGHT_PROGRESS": "smart"})
    def test_not_by_the_variable_alone(self):
        libraries, _ = self.preloaded()
        self.assertNotIn("messages", "".join(libraries))

    def test_above_the_other_library(self):
        libraries, command = self.preloaded("--progress", "smart")
        names = [library.rpartition("/")[2] for library in libraries]
        self.assertEqual(
            names.index("libsidelight_messages.so") + 1, names.index("libsidelight.so")
        )
        self.assertIn("SIDELIGHT_PROGRESS=smart", command)


class Version(unittest.TestCase):
    def test_it_is_that_of_the_project(self):
        project = (support.ROOT / "CMakeLists.txt").read_text()
        (version,) = re.findall(r"^project\(sidelight VERSION (\S+)", project, re.MULTILINE)
        command = [sys.executable, str(_SIDELIGHT), "--version"]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        self.assertEqual(said, f"sidelight {version}\n")


class Pipes(unittest.TestCase):
    def test_one_that_is_closed_ends_it_quietly(self):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "w") as closed:
            command = [sys.executable, str(_SIDELIGHT), "info"]
            ended = subprocess.run(
                command, stdout=closed, stderr=subprocess.PIPE, text=True, check=False
            )
        self.assertEqual((ended.returncode, ended.stderr), (141, ""))


@contextlib.contextmanager
def made_host(launcher_text=""):
    """A host mpich5 that is this launcher, and a library without anything."""
    with tempfile.TemporaryDirectory() as place:
        launcher = Path(place) / "mpich5/bin/mpiexec"
        library = Path(place) / "mpich5/lib/libmpi.so.12"
        for file in (launcher, library):
            file.parent.mkdir(parents=True)
            file.touch(0o755)
        launcher.write_text(launcher_text)
        with mock.patch.dict(os.environ, {"SIDELIGHT_HOSTS_DIR": place}):
            os.environ.pop("SIDELIGHT_BUILD_DIR", None)
            yield


class Options(unittest.TestCase):
    def test_those_of_the_program_are_its_own(self):
        words = "true --mpi --mpi=on --m --mpiexec-a --h --host --help --version --= -n -np9 -h -"
        with made_host():
            for each in [f"true {word}" for word in words.split()[1:]] + [words]:
                ended = run("--host", "mpich5", "--without", "--dry-run", *each.split())
                with self.subTest(arguments=each):
                    self.assertTrue(ended.stdout.endswith(f" {each}\n"), ended)

    def test_an_abbreviation_is_none_of_the_command(self):
        with made_host():
            ended = run("--host", "mpich5", "--without", "--dry", "true")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("--dry", ended.stderr)


class Signals(unittest.TestCase):
    def test_none_is_ignored_that_was_not(self):
        """A program that writes into a closed pipe ends by it, as it does without the command."""
        with made_host("#!/bin/sh\nexec grep SigIgn /proc/self/status\n"):
            ended = run("--host", "mpich5", "--without", "true")
        ignored = int(ended.stdout.split()[1], 16)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            self.assertFalse(ignored >> (number - 1) & 1, number)


class OldPython(unittest.TestCase):
    def test_it_is_told(self):
        script = "import runpy, sys; sys.version_info = (3, 9, 2); runpy.run_path(sys.argv[1])"
        command = [sys.executable, "-c", script, str(_SIDELIGHT)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 127)
        self.assertIn("needs Python 3.10", ended.stderr)


class Paths(unittest.TestCase):
    def test_what_the_loader_would_take_for_two_names(self):
        host = next(iter(hosts.all()), None)
        if host is None:
            raise unittest.SkipTest("no host is installed")
        for name in ("a b", "a:b"):
            with tempfile.TemporaryDirectory() as place:
                library = Path(place) / name / host.name / "libsidelight.so"
                library.parent.mkdir(parents=True)
                library.touch()
                variables = {"SIDELIGHT_BUILD_DIR": f"{place}/{name}"}
                with self.subTest(name=name), mock.patch.dict(os.environ, variables):
                    ended = run("--host", host.name, "--dry-run", "true")
                    self.assertEqual(ended.returncode, 127)
                    self.assertIn("SIDELIGHT_BUILD_DIR", ended.stderr)


class DryRun(unittest.TestCase):
    @mock.patch.dict(os.environ)
    def test_arguments_of_the_program_are_left_as_they_are(self):
        os.environ.pop("SIDELIGHT_BUILD_DIR", None)  # which would be among them
        for host in ("mpich4", "openmpi4"):
            with self.subTest(host=host), contextlib.suppress(unittest.SkipTest):
                for words in ("true -- b", "true -n 3 -- --dry-run", "true a -- -- b"):
                    for before in ((), ("--",)):
                        ended = dry_run(host, *before, *words.split())
                        self.assertTrue(ended.stdout.rstrip().endswith(f" -n 1 {words}"), ended)

    @mock.patch.dict(os.environ)
    def test_without_is_the_host_as_it_comes(self):
        os.environ.pop("OMPI_MCA_osc", None)
        for nodes in ((), ("--nodes", "2")):
            for host in ("openmpi4", "openmpi5"):
                with self.subTest(host=host, nodes=nodes), contextlib.suppress(unittest.SkipTest):
                    ended = dry_run(host, "-n", "2", *nodes, "true")
                    self.assertEqual(ended.returncode, 0, ended.stderr)
                    self.assertNotIn("osc", ended.stdout)
                    self.assertNotIn("LD_PRELOAD", ended.stdout)

    def test_nodes(self):
        for host in ("mpich4", "openmpi4"):
            with self.subTest(host=host), contextlib.suppress(unittest.SkipTest):
                ended = dry_run(host, "-n", "6", "--nodes", "2", "true")
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertIn("node1:3,node2:3", ended.stdout)
                self.assertTrue(ended.stdout.rstrip().endswith(" true"))

    def test_nodes_that_ranks_do_not_go_into(self):
        with contextlib.suppress(unittest.SkipTest):
            ended = dry_run("openmpi4", "-n", "3", "--nodes", "2", "true")
            self.assertEqual(ended.returncode, 127)
            self.assertIn("equal parts", ended.stderr)


if __name__ == "__main__":
    support.main()
