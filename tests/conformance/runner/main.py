# SPDX-License-Identifier: BSD-3-Clause
"""The command line of every suite."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from sidelight_lib import hosts
from sidelight_lib.console import progress, rich

from . import expected, results, routes
from .job import Job
from .results import Result
from .suite import Suite, SuiteError

SHOWN = 6000  # characters of what a program printed


def arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--host", action="append", default=[], metavar="NAME",
                        help="a host MPI, may be repeated; default: all that are built")
    parser.add_argument("--route", action="append", default=[], choices=routes.NAMES,
                        help="may be repeated; alone is the host without Sidelight; default: all")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB",
                        help="only programs whose name fits, may be repeated")
    parser.add_argument("--limit", type=float, default=60, metavar="S",
                        help="seconds for a program under Sidelight (default 60)")
    parser.add_argument("--alone-limit", type=float, default=60, metavar="S",
                        help="seconds for a program on the host alone (default 60)")
    parser.add_argument("--json", type=Path, metavar="FILE",
                        default=hosts.build_directory() / "conformance.json",
                        help="where the results go, with those that it has already; "
                        "default: build/conformance.json")
    parser.add_argument("--resume", action="store_true",
                        help="run only what those results lack")
    parser.add_argument("--verbose", action="store_true",
                        help="print the output of failures on the host alone too")
    return parser.parse_args()


def jobs(suite: Suite, options: argparse.Namespace) -> Iterator[Job]:
    """All that is to run, a host at a time; a host's build comes just before."""
    names = options.host or [host.name for host in hosts.all() if host.library.exists()]
    fitting = [name for name in names if not suite.hosts or name in suite.hosts]
    for name in set(names) - set(fitting):
        print(f"{suite.name} is not for {name}, only for {', '.join(suite.hosts)}")
    for host in map(hosts.find, fitting):
        suite.prepare(host)
        for route in (routes.find(name) for name in suite.routes
                      if not options.route or name in options.route):
            if route.sidelight:
                host.require_library()
            limit = options.limit if route.sidelight else options.alone_limit
            for entry in suite.entries(host, alone=not route.sidelight):
                if not options.only or any(fnmatchcase(entry.name, one) for one in options.only):
                    yield Job(suite, host, route, entry, limit)


def run_all(suite: Suite, options: argparse.Namespace,
            known: list[expected.Expectation]) -> list[Result]:
    waiting = list(jobs(suite, options))
    if options.only and not waiting:
        raise SuiteError("no test has such a name")
    keys = [job.key for job in waiting]
    found = [one for one in results.load(options.json) if options.resume and one.key in keys]
    done = {one.key for one in found}
    waiting = [job for job in waiting if job.key not in done]
    with progress(len(waiting), quiet=True) as advance:
        for job in waiting:
            advance(f"{job.host.name}, {job.route.name}: {job.entry.name}")
            result, output = job.run()
            found.append(result)
            results.save(options.json, [result])
            if result.failed:
                report(result, output, known + of_host(suite, options), options.verbose)
    return found


def report(result: Result, output: str, known: list[expected.Expectation], verbose: bool) -> None:
    """Says what failed as soon as it did, and shows the output of what should not have."""
    reasons = [expected.reason(result, test, known) for test in result.failed]
    how = f"no end after {result.limit:g} s" if result.hung else f"failed, {result.seconds:g} s"
    if result.route == routes.ALONE.name or all(reasons):
        how += ", as expected" if all(reasons) else ""
        output = output if verbose else ""
    print(f"{result.host}, {result.route}: {result.entry}: {how}", flush=True)
    for line in output[-SHOWN:].splitlines():
        print(f"    | {line}")
    sys.stdout.flush()


def table(found: list[Result], known: list[expected.Expectation]) -> object:
    drawn = rich("table").Table(title=f"{found[0].suite} {found[0].suite_version}")
    for heading in ("host", "route", "passed", "failed", "expected", "skipped", "seconds"):
        drawn.add_column(heading, justify="left" if heading in ("host", "route") else "right")
    columns = dict.fromkeys((one.host, one.route) for one in found)
    for host, route in columns:
        own = [one for one in found if (one.host, one.route) == (host, route)]
        failed = sum(len(one.failed) for one in own)
        new = len(expected.unexpected(own, known))
        drawn.add_row(host, route, str(sum(one.passed for one in own)), str(failed),
                      "" if route == routes.ALONE.name else str(failed - new),
                      str(sum(one.skipped for one in own)),
                      f"{sum(one.seconds for one in own):.0f}")
    return drawn


def of_host(suite: Suite, options: argparse.Namespace) -> list[expected.Expectation]:
    """What its host excuses, by this run or one before."""
    before = results.load(options.json) if suite.alone_decides else []
    return expected.of_hosts(one for one in before if one.suite == suite.name)


def conclude(suite: Suite, options: argparse.Namespace, found: list[Result],
             known: list[expected.Expectation]) -> int:
    """Prints the table and what is not as expected. The exit status."""
    under = [one for one in found if one.route != routes.ALONE.name]
    everything = known + of_host(suite, options)
    new = expected.unexpected(under, everything)
    if found:
        rich("console").Console().print(table(found, everything))
    for one in expected.unneeded(under, known):
        print(f"expected to fail, and passed: {one}")
    for result, test in new:
        print(f"failed: {result.host} {result.route} {test}")
    return 1 if new else 0


def main(make_suite: Callable[[], Suite], description: str, known: Path) -> int:
    options = arguments(description)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        expectations = expected.read(known)
        suite = make_suite()
        return conclude(suite, options, run_all(suite, options, expectations), expectations)
    except (SuiteError, hosts.HostError, ValueError) as error:
        print(f"{known.stem}: {error}", file=sys.stderr)
        return 1
