# SPDX-License-Identifier: BSD-3-Clause
"""Nodes made of namespaces: how launchers are told, and that nothing is left of them."""

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import support
from sidelight_lib import hosts, launchers, namespaces

# Holds two nodes with a program on one of them, tells where, and waits.
HOLDER = """
import subprocess, sys, time
sys.path.insert(0, sys.argv[1])
from sidelight_lib.namespaces import Nodes
with Nodes(2) as nodes:
    program = ["sleep", "1234"]
    started = subprocess.Popen([*nodes.outside, str(nodes.remote_shell), nodes.names[1], *program])
    print(nodes.remote_shell.parent, nodes.names[1], flush=True)
    time.sleep(600)
"""


def host(name, family):
    nowhere = Path("/there")
    return hosts.Host(name, "Debian", family, nowhere, nowhere, nowhere, "make hosts", {})


class Launchers(unittest.TestCase):
    def test_ranks_of_each_node(self):
        for name, family, option in (
            ("mpich4", "mpich", "-hosts"),
            ("mpich5", "mpich", "-hosts"),
            ("openmpi4", "openmpi", "--host"),
            ("openmpi5", "openmpi", "--host"),
        ):
            words = launchers.arguments(host(name, family), ["a", "b"], 3, Path("/ssh"), "1.2.3.4")
            self.assertEqual(words[words.index(option) + 1], "a:3,b:3")
            self.assertIn("/ssh", words)

    @mock.patch.dict(os.environ, {"OMPI_MCA_osc": "pt2pt"})
    def test_what_the_user_has_set_stays(self):
        self.assertNotIn("OMPI_MCA_osc", launchers.environment(host("openmpi4", "openmpi")))

    @mock.patch.dict(os.environ)
    def test_untouched_host(self):
        os.environ.pop("OMPI_MCA_osc", None)
        openmpi = host("openmpi4", "openmpi")
        self.assertIn("OMPI_MCA_osc", launchers.environment(openmpi))
        self.assertNotIn("OMPI_MCA_osc", launchers.environment(openmpi, untouched=True))

    def test_ranks_must_be_in_equal_parts(self):
        with self.assertRaisesRegex(hosts.HostError, "3 ranks.*2 nodes"):
            namespaces.Nodes(2).command(host("mpich4", "mpich"), 3, ["./a"])


class Refusal(unittest.TestCase):
    @mock.patch.object(namespaces.shutil, "which", return_value=None)
    def test_missing_command(self, _):
        with self.assertRaisesRegex(namespaces.NodesError, "tools/setup"), namespaces.Nodes(2):
            self.fail("there cannot be nodes")

    def test_number_of_nodes(self):
        with self.assertRaisesRegex(namespaces.NodesError, "1 to"):
            namespaces.Nodes(0)


class Nodes(unittest.TestCase):
    """On real nodes, where the machine can have them; where CI runs, it must."""

    def setUp(self):
        try:
            with namespaces.Nodes(1):
                pass
        except namespaces.NodesError as error:
            if os.environ.get("CI"):
                raise
            self.skipTest(str(error))

    def output(self, nodes, node, command, **options):
        shell = [*nodes.outside, str(nodes.remote_shell), "-x", nodes.names[node], command]
        done = subprocess.run(shell, capture_output=True, text=True, timeout=120, **options)
        return done.stdout.strip()

    def test_names_and_network(self):
        with namespaces.Nodes(2) as nodes, namespaces.Nodes(2) as others:
            self.assertEqual(self.output(nodes, 1, "hostname"), nodes.names[1])
            self.assertFalse(set(nodes.names) & set(others.names))
            self.assertEqual(self.output(nodes, 0, "ls /sys/class/net").split(), ["eth0", "lo"])
            self.assertEqual(self.output(nodes, 0, "ls /dev/shm; touch /dev/shm/a"), "")
            self.assertEqual(self.output(nodes, 1, "ls /dev/shm"), "")

    def test_remote_shell_keeps_directory_and_environment(self):
        environment = os.environ | {"A": "b  c"}
        with namespaces.Nodes(1) as nodes:
            found = self.output(nodes, 0, 'echo "$A"; pwd', env=environment)
        self.assertEqual(found.splitlines(), ["b  c", os.getcwd()])

    def test_exit_status(self):
        with namespaces.Nodes(1) as nodes:
            shell = [*nodes.outside, str(nodes.remote_shell), nodes.names[0]]
            self.assertEqual(nodes.run([*shell, "exit 7"], os.environ), 7)

    def programs(self, node):
        """The processes that run on a node: it is in their environment, as TMPDIR."""
        found = []
        for entry in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"/{node}\0".encode() in entry.read_bytes():
                    found.append(entry.parent.name)
            except OSError:
                continue
        return found

    def wait_for_programs(self, node, suffices):
        """The processes there once they suffice, or those that there are after a minute."""
        deadline = time.monotonic() + 60
        while not suffices(found := self.programs(node)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def test_nothing_is_left_however_it_ends(self):
        for number in (signal.SIGINT, signal.SIGKILL):
            tools = str(hosts.ROOT / "tools")
            holder = subprocess.Popen(
                [sys.executable, "-c", HOLDER, tools],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            place, node = holder.stdout.readline().split()
            self.addCleanup(shutil.rmtree, place, ignore_errors=True)  # SIGKILL leaves it
            self.assertTrue(self.wait_for_programs(node, lambda found: bool(found)))
            holder.send_signal(number)
            holder.wait(120)
            holder.stdout.close()
            left = self.wait_for_programs(node, lambda found: not found)
            self.assertEqual(left, [], signal.Signals(number).name)


if __name__ == "__main__":
    support.main()
