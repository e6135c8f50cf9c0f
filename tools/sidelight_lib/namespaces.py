# SPDX-License-Identifier: BSD-3-Clause
"""Several nodes on one machine, made of Linux namespaces.

A node has a network, a host name, /dev/shm, System V memory and process numbers of its own, so
that to an MPI it is another machine: nothing but the network leads to its neighbours. Files are
those of this machine. The nodes hang on a bridge, and that lies in a network of its own too, with
the launcher beside it: several such sets never meet, and the machine's own network is not touched.

    with Nodes(2) as nodes:
        nodes.run(nodes.launch(host, 4, ["./program"]), os.environ | nodes.environment(host))

Each namespace is held by a process that ends when its input does, so the nodes and all that runs on
them are gone when this process is, however it ended. Who is not root becomes root of a user
namespace, where the machine lets users make those.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from . import launchers
from .hosts import Host, HostError

MOST = 200  # nodes: the last number of an address
SECONDS = 120.0  # that a step of the set-up may take

_NETWORK = "10.77.0"  # not seen outside: any would do
OUTSIDE = f"{_NETWORK}.254"  # where the launchers run

# Ends with its input. Its number is read where processes are counted as they are by the caller.
_HOLD = "exec cat >/dev/null"
_OWN_NUMBER = "read -r number rest </proc/self/stat; echo $number; read -r go"
_NO_IPV6 = (
    "for all in /proc/sys/net/ipv6/conf/*/disable_ipv6; do "
    'if [ -w "$all" ]; then echo 1 >"$all"; fi; done'
)

# Linux's own default, whatever this machine has: BBR takes its memory for a wire and paces what it
# sends, so that 1 MB takes three times as long.
_CUBIC = (
    "congestion=/proc/sys/net/ipv4/tcp_congestion_control; "
    'if [ -w "$congestion" ]; then echo cubic >"$congestion"; fi 2>/dev/null || :'
)

# Where the launchers run: the bridge.
_OUTSIDE_SCRIPT = f"""
{_OWN_NUMBER}
hostname "$1"
mount --bind "$2" /etc/hosts
mount -t sysfs sysfs /sys
{_NO_IPV6}
ip link set lo up
ip link add bridge type bridge
ip address add {OUTSIDE}/24 dev bridge
ip link set bridge up
echo ready
{_HOLD}
"""

# One node. Its children's ends are nobody's business, so that none stays behind as a zombie.
_NODE_SCRIPT = f"""
trap '' CHLD
{_OWN_NUMBER}
hostname "$1"
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /dev/shm
{_NO_IPV6}
{_CUBIC}
ip link set lo up
ip address add "$2"/24 dev eth0
ip link set eth0 up
echo ready
{_HOLD}
"""

# What a launcher calls in the place of ssh: options, a node, words of a shell command. The working
# directory and the environment are the launcher's, which ssh would not give. Temporary files are
# the node's: launchers name theirs by process numbers, and two nodes have the same ones.
_REMOTE_SHELL = """#!/bin/sh
while case "$1" in -*) ;; *) false ;; esac; do shift; done
case "$1" in
{cases}
*) echo "there is no node $1" >&2; exit 255 ;;
esac
TMPDIR=${{0%/*}}/$1
export TMPDIR
shift
exec nsenter --target "$process" {kinds} sh -c 'cd "$1" && shift && eval "$*"' sh "$PWD" "$@"
"""

_OUTSIDE_KINDS = ("--net", "--uts", "--mount", "--ipc")
_NODE_KINDS = (*_OUTSIDE_KINDS, "--pid")


class NodesError(HostError):
    """This machine cannot have several nodes. The text says why."""


def _words(output: str) -> str:
    """What a tool said, as part of a sentence."""
    return "; ".join(line.strip() for line in output.splitlines() if line.strip()) or "no reason"


class _Holder:
    """A process that keeps namespaces, until its input ends."""

    def __init__(self, command: Sequence[str], script: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [*command, "sh", "-euc", script, "sh", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=_tools_environment(),
            start_new_session=True,  # ^C is for the caller, who takes the nodes down
        )
        self.number = 0  # of the process in the namespaces, as this process counts

    def begin(self) -> None:
        """Returns when the namespaces are there. They wait for `finish_set_up`."""
        self.number = int(self._line())

    def finish_set_up(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
        self._line()

    def _line(self) -> str:
        """The next line it prints; there is one, or it has ended and said why."""
        line = self._process.stdout.readline()
        if not line:
            raise NodesError(_refusal(self._process.stderr.read()))
        return line

    def end(self) -> None:
        """Ends all that runs in namespaces with process numbers of their own."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._process.stderr.close()


def _tools_environment() -> dict[str, str]:
    """This process's, with the places of `ip` that only root has on its path."""
    return os.environ | {"PATH": f"{os.environ.get('PATH', '/usr/bin:/bin')}:/usr/sbin:/sbin"}


def _refusal(reason: str) -> str:
    return (
        "several nodes on one machine are made of Linux namespaces, which this machine does not "
        f"let this user make ({_words(reason)})"
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a launcher, which ends its ranks."""
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Nodes:
    """`count` nodes and a place beside them for the launcher; a context manager."""

    def __init__(self, count: int) -> None:
        if not 1 <= count <= MOST:
            raise NodesError(f"{count} nodes: there can be 1 to {MOST}")
        self.count = count
        # As they are called before they are there.
        self.names = [f"node{number}" for number in range(1, count + 1)]
        self._holders: list[_Holder] = []  # the place of the launcher, then the nodes
        self._place = Path()

    def __enter__(self) -> Nodes:
        for tool in ("unshare", "nsenter", "ip", "mount", "hostname"):
            if shutil.which(tool, path=_tools_environment()["PATH"]) is None:
                raise NodesError(
                    f"several nodes on one machine need the command {tool}, which is not there: "
                    "`tools/setup` installs it"
                )
        try:
            self._set_up()
        except BaseException:
            self._take_down()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._take_down()

    @property
    def remote_shell(self) -> Path:
        """The script that takes the place of ssh: `remote_shell NODE COMMAND...`."""
        return self._place / "remote-shell"

    @property
    def outside(self) -> list[str]:
        """Goes before a command that is to run beside the nodes, as launchers do."""
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        number = self._holders[0].number
        entered = ["nsenter", "--target", str(number), *user, *_OUTSIDE_KINDS]
        stay = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", os.getcwd()]
        return [*entered, *stay]

    def launch(self, *what: Any, **how: Any) -> list[str]:
        """What `command` answers to the same arguments, started beside the nodes."""
        return [*self.outside, *self.command(*what, **how)]

    def command(
        self,
        host: Host,
        ranks: int,
        argv: Sequence[str | Path],
        preload: str | Path | None = None,
        extra_env: Mapping[str, str] | None = None,
        mpiexec_arguments: Sequence[str] = (),
    ) -> list[str]:
        """As Host.command, with the ranks on the nodes in equal parts: the first on the first. It
        can be asked for before the nodes are there."""
        if ranks % self.count != 0:
            raise HostError(f"{ranks} ranks cannot be in equal parts on {self.count} nodes")
        each = ranks // self.count
        placing = launchers.arguments(host, self.names, each, self.remote_shell, OUTSIDE)
        return host.command(ranks, argv, preload, extra_env, [*placing, *mpiexec_arguments])

    def environment(self, host: Host, untouched: bool = False) -> dict[str, str]:
        """As Host.environment, for a launcher beside the nodes."""
        return launchers.environment(host, untouched)

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Runs what `launch` gave and returns its exit status, as a shell tells it. It does not
        outlive this call."""
        process = subprocess.Popen(command, env=dict(environment))
        try:
            status = process.wait()
        finally:
            if process.poll() is None:
                _stop(process)
        return status if status >= 0 else 128 - status

    def _set_up(self) -> None:
        self._place = Path(tempfile.mkdtemp(prefix="nodes-of-ranks-"))
        unique = self._place.name.rpartition("-")[2].lower().replace("_", "x")
        self.names = [f"node{number}-{unique}" for number in range(1, self.count + 1)]
        addresses = {name: f"{_NETWORK}.{i}" for i, name in enumerate(self.names, 1)}
        outside = f"outside-{unique}"
        self._write_hosts(addresses | {outside: OUTSIDE})
        self._hold_outside(outside)
        for name, address in addresses.items():
            (self._place / name).mkdir()
            self._hold_node(name, address)
        self._write_remote_shell()

    def _write_hosts(self, addresses: Mapping[str, str]) -> None:
        lines = [f"{address} {name}" for name, address in addresses.items()]
        (self._place / "hosts").write_text("\n".join(["127.0.0.1 localhost", *lines]) + "\n")

    def _hold_outside(self, name: str) -> None:
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        command = ["unshare", *user, *_OUTSIDE_KINDS]
        holder = _Holder(command, _OUTSIDE_SCRIPT, name, str(self._place / "hosts"))
        self._holders.append(holder)
        holder.begin()
        holder.finish_set_up()

    def _hold_node(self, name: str, address: str) -> None:
        command = [*self.outside, "unshare", "--fork", "--kill-child", *_NODE_KINDS]
        holder = _Holder(command, _NODE_SCRIPT, name, address)
        self._holders.append(holder)
        holder.begin()
        cable = name.partition("-")[0]
        self._run_outside(
            f"ip link add {cable} type veth peer name eth0 netns {holder.number}; "
            f"ip link set {cable} master bridge up"
        )
        holder.finish_set_up()

    def _run_outside(self, script: str) -> None:
        done = subprocess.run(
            [*self.outside, "sh", "-euc", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=_tools_environment(),
            timeout=SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise NodesError(_refusal(done.stderr))

    def _write_remote_shell(self) -> None:
        nodes = zip(self.names, self._holders[1:])
        cases = [f"{name}) process={holder.number} ;;" for name, holder in nodes]
        text = _REMOTE_SHELL.format(cases="\n".join(cases), kinds=" ".join(_NODE_KINDS))
        self.remote_shell.write_text(text)
        self.remote_shell.chmod(0o755)

    def _take_down(self) -> None:
        while self._holders:
            self._holders.pop().end()
        if self._place.name:
            shutil.rmtree(self._place, ignore_errors=True)
