# SPDX-License-Identifier: BSD-3-Clause
"""Which host belongs to a program, and how it is started."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import support
from sidelight_lib import hosts, interpreters, library, records, versions


def host(**changes):
    fields = {
        "name": "mpich5",
        "origin": "PyPI",
        "family": "mpich",
        "mpiexec": Path("/there/bin/mpiexec"),
        "mpicc": Path("/there/bin/mpicc"),
        "libmpi": Path("/there/lib/libmpi.so.12"),
        "install": "make hosts",
        "settings": {},
    }
    return hosts.Host(**(fields | changes))


class Command(unittest.TestCase):
    def test_program_and_arguments_come_last(self):
        command = host().command(3, ["./a", "-n", "7"], mpiexec_arguments=["-bind-to", "none"])
        expected = "/there/bin/mpiexec -n 3 -bind-to none ./a -n 7"
        self.assertEqual(command, expected.split())

    @mock.patch.dict(os.environ, {"LD_PRELOAD": "/tool.so"})
    def test_tools_stay_above_the_library(self):
        command = host().command(2, ["./a"], preload="/libsidelight.so")
        self.assertEqual(command[3:], ["env", "LD_PRELOAD=/tool.so:/libsidelight.so", "./a"])

    @mock.patch.dict(os.environ, {"LD_PRELOAD": "/tool.so"})
    def test_open_mpi_is_loaded_at_the_start_and_below_the_library(self):
        open_mpi = host(family="openmpi", libmpi=Path("/there/lib/libmpi.so.40"))
        command = open_mpi.command(2, ["./a"], preload="/l.so")
        self.assertEqual(command[4], "LD_PRELOAD=/tool.so:/l.so:/there/lib/libmpi.so.40")
        with mock.patch.dict(os.environ):
            del os.environ["LD_PRELOAD"]
            self.assertEqual(open_mpi.command(2, ["./a"])[3:], ["./a"])

    @mock.patch.dict(os.environ)
    def test_nothing_else_is_preloaded(self):
        os.environ.pop("LD_PRELOAD", None)
        command = host().command(2, ["./a"], preload="/l.so", extra_env={"SIDELIGHT_A": "b c"})
        self.assertEqual(command[3:], ["env", "SIDELIGHT_A=b c", "LD_PRELOAD=/l.so", "./a"])

    def test_a_program_whose_path_has_an_equals_sign(self):
        """Its arguments and its exit status are the program's."""
        with tempfile.TemporaryDirectory() as place:
            program = Path(place) / "eps=0.1" / "program"
            program.parent.mkdir()
            program.write_text('#!/bin/sh\necho "$SIDELIGHT_A" "$@"\nexit 3\n')
            program.chmod(0o755)
            command = host().command(1, [program, "c d", "e=f"], extra_env={"SIDELIGHT_A": "b"})
            ended = subprocess.run(command[3:], capture_output=True, text=True, check=False)
        self.assertEqual((ended.stdout, ended.returncode), ("b c d e=f\n", 3))

    @mock.patch.dict(os.environ)
    def test_each_program_of_a_job_of_several(self):
        os.environ.pop("LD_PRELOAD", None)
        jobs = {
            "./a x : -n 2 ./b y": "ENV ./a x : -n 2 ENV ./b y",
            "./a : -env K v -host h ./b -n": "ENV ./a : -env K v -host h ENV ./b -n",
            "./a :": None,
            "./a : -np 1 -mca k v --wdir=d ./b -z": "ENV ./a : -np 1 -mca k v --wdir=d ENV ./b -z",
            "./a : -unheard of ./b": None,
            "./a : -n 2": None,
            ": ./a": None,
        }
        for job, expected in jobs.items():
            with self.subTest(job=job):
                if expected is None:
                    with self.assertRaises(hosts.HostError):
                        host().command(1, job.split(), preload="/l.so")
                    continue
                command = host().command(1, job.split(), preload="/l.so")
                text = " ".join(command[3:]).replace("env LD_PRELOAD=/l.so", "ENV")
                self.assertEqual(text, expected)
        alone = host().command(1, ["./a", ":", "-unheard", "of", "./b"])
        self.assertEqual(alone[3:], ["./a", ":", "-unheard", "of", "./b"])

    @mock.patch.dict(os.environ)
    def test_a_launcher_that_gives_variables_to_processes_that_ranks_start(self):
        os.environ.pop("LD_PRELOAD", None)
        with tempfile.TemporaryDirectory() as place:
            hydra, orterun = Path(place) / "mpiexec", Path(place) / "orterun"
            for file in (hydra, orterun, Path(place) / "hydra_pmi_proxy"):
                file.touch()
            of_mpich = host(mpiexec=hydra)
            of_open_mpi = host(mpiexec=orterun, family="openmpi", libmpi=Path("/m.so"))
            settings = {"extra_env": {"SIDELIGHT_A": "b c"}, "preload": "/l.so"}
            command = of_mpich.command(2, ["./a"], **settings)
            expected = ["-genv", "SIDELIGHT_A", "b c", "-genv", "LD_PRELOAD", "/l.so", "./a"]
            self.assertEqual(command[3:], expected)
            command = of_open_mpi.command(2, ["./a"], **settings)
            expected = ["-x", "SIDELIGHT_A=b c", "-x", "LD_PRELOAD=/l.so:/m.so", "./a"]
            self.assertEqual(command[3:], expected)
            with mock.patch.dict(os.environ, {"OMPI_MCA_mca_base_env_list": "A=1"}):
                self.assertEqual(of_open_mpi.command(2, ["./a"], **settings)[3], "env")

    def test_a_launcher_that_is_told_of_another_library_to_preload(self):
        for arguments in (
            "-x LD_PRELOAD=/s.so",
            "--mca mca_base_env_list A=1;LD_PRELOAD=/s.so",
            "-genv LD_PRELOAD /s.so",
            "-env A 1 -env LD_PRELOAD /s.so",
        ):
            others = {"mpiexec_arguments": arguments.split()}
            with self.subTest(arguments=arguments):
                with self.assertRaisesRegex(hosts.HostError, "LD_PRELOAD.*in the environment"):
                    host().command(1, ["./a"], preload="/l.so", **others)
                host().command(1, ["./a"], **others)  # without Sidelight it is the user's
        for part in ("-env LD_PRELOAD /s.so ./b", "-n 1 -x LD_PRELOAD=/s.so ./b"):
            with self.subTest(part=part):
                with self.assertRaisesRegex(hosts.HostError, "LD_PRELOAD.*in the environment"):
                    host().command(1, ["./a", ":", *part.split()], preload="/l.so")
        host().command(1, ["./a", ":", "./b", "LD_PRELOAD=/s.so"], preload="/l.so")
        for arguments in ("-x LD_PRELOAD", "-genvlist LD_PRELOAD", "-env MY_LD_PRELOAD= 1"):
            with self.subTest(arguments=arguments):
                others = {"mpiexec_arguments": arguments.split()}
                command = host().command(1, ["./a"], preload="/l.so", **others)
                self.assertIn(arguments, " ".join(command))


class Environment(unittest.TestCase):
    @mock.patch.dict(os.environ, {"OMPI_MCA_osc": "rdma"})
    def test_what_the_user_has_set_stays(self):
        needs = {"settings": {"OTHER": "1"}, "for_windows": {"OMPI_MCA_osc": "^ucx"}}
        added = host(**needs).environment()
        self.assertEqual(added["OTHER"], "1")
        self.assertNotIn("OMPI_MCA_osc", added)

    @mock.patch.dict(os.environ)
    def test_untouched_is_all_that_starts_it_and_nothing_for_its_windows(self):
        os.environ.pop("OMPI_MCA_osc", None)
        needs = host(settings={"OTHER": "1"}, for_windows={"OMPI_MCA_osc": "^ucx"})
        self.assertEqual(needs.environment()["OMPI_MCA_osc"], "^ucx")
        added = needs.environment(untouched=True)
        self.assertEqual(added["OTHER"], "1")
        self.assertNotIn("OMPI_MCA_osc", added)

    @mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": "/mine"})
    def test_library_path_of_a_wheel_comes_first(self):
        self.assertEqual(host().environment()["LD_LIBRARY_PATH"], "/there/lib:/mine")
        self.assertNotIn("LD_LIBRARY_PATH", host(origin="Debian").environment())

    @mock.patch.dict(os.environ, {}, clear=True)  # root may have said so already
    @mock.patch("os.geteuid", return_value=0)
    def test_open_mpi_is_told_that_root_is_meant(self, _):
        self.assertIn("OMPI_ALLOW_RUN_AS_ROOT", host(family="openmpi").environment())


class LinkedLibrary(unittest.TestCase):
    program = Path("/a.out")

    def test_library_of_each_host(self):
        for line in (
            "libmpich.so.12 => /lib/x86_64-linux-gnu/libmpich.so.12 (0x00007fcd21e00000)",
            "libmpi.so.40 => /opt/x/libmpi.so.40 (0x00007f0b8c486000)",
            "libmpi.so.12 => /opt/x/libmpi.so.12 (0x00007f6825800000)",
            "libmpi_abi.so.1 => /opt/x/libmpi_abi.so.1 (0x00007fcb2dc00000)",
        ):
            text = f"\tlinux-vdso.so.1 (0x0)\n\t{line}\n\tlibc.so.6 => /lib/libc.so.6 (0x0)\n"
            self.assertEqual(hosts.mpi_library(text, self.program), Path(line.split()[2]))

    def test_path_with_a_space(self):
        for end in (" (0x00007f0b8c486000)", ""):
            line = f"\tlibmpi.so.40 => /opt/my mpi/libmpi.so.40{end}\n"
            text = f"{line}\tlibc.so.6 => /libc.so.6 (0x0)\n"
            found = hosts.mpi_library(text, self.program)
            self.assertEqual(found, Path("/opt/my mpi/libmpi.so.40"))

    def test_no_mpi(self):
        text = "\tlibc.so.6 => /lib/libc.so.6 (0x0)\n\tlibmpifoo.so.1 => /libmpifoo.so.1 (0x0)\n"
        self.assertIsNone(hosts.mpi_library(text, self.program))

    def test_library_that_the_loader_does_not_find(self):
        with self.assertRaisesRegex(hosts.HostError, "LD_LIBRARY_PATH"):
            hosts.mpi_library("\tlibmpi.so.40 => not found\n", self.program)


class Finding(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        places = {"SIDELIGHT_HOSTS_DIR": place.name, "SIDELIGHT_BUILD_DIR": f"{place.name}/build"}
        patched = mock.patch.dict(os.environ, places)
        patched.start()
        self.addCleanup(patched.stop)

    def install(self, name, library):
        for file in ("bin/mpiexec", "bin/mpicc", f"lib/{library}"):
            path = self.place / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o755)
        return self.place / name

    def test_unknown_name(self):
        with self.assertRaisesRegex(hosts.HostError, "mpich4, openmpi4, mpich5, openmpi5"):
            hosts.find("lam")

    def test_host_that_is_not_installed(self):
        with self.assertRaisesRegex(hosts.HostError, "make hosts"):
            hosts.find("openmpi5")

    def test_host_that_is_where_the_library_was_built_for_it(self):
        there = self.install("elsewhere", "libmpi.so.40")
        paths = [there / name for name in ("bin/mpicc", "bin/mpiexec", "lib/libmpi.so.40")]
        folder = self.place / "build/openmpi5"
        records.write(records.Record("openmpi5", "openmpi-5.0", *map(str, paths)), folder)
        (folder / "libsidelight.so").touch()
        found = hosts.find("openmpi5")
        self.assertEqual([found.mpicc, found.mpiexec, found.libmpi], paths)
        self.assertEqual(found.environment()["LD_LIBRARY_PATH"].split(":")[0], str(there / "lib"))
        paths[1].unlink()
        with self.assertRaisesRegex(hosts.HostError, "make hosts"):
            hosts.find("openmpi5")

    def test_packages_of_a_later_debian_are_started_as_their_version_is(self):
        """Those that are called openmpi4 after Debian 12's are Open MPI 5 in Debian 13."""
        folder = self.place / "build/openmpi4"
        records.write(records.Record("openmpi4", "openmpi-5.0", "/a", "/b", "/c"), folder)
        self.assertEqual(self.openmpi4().major, "4")
        (folder / "libsidelight.so").touch()
        found, like = self.openmpi4(), hosts.own("openmpi-5.0", "a", *[Path("/a")] * 3)
        self.assertEqual(found.origin, "Debian")
        self.assertEqual(found.major, "5")
        self.assertEqual(found.settings, like.settings)
        self.assertEqual(found.for_windows, like.for_windows)

    def openmpi4(self):
        return next(host for host in hosts.known() if host.name == "openmpi4")

    def test_what_another_user_keeps_to_himself_is_not_there(self):
        """Nor is it an error: what is built may name an MPI in the home of root."""
        private = self.install("private", "libmpi.so.40")
        paths = [private / name for name in ("bin/mpicc", "bin/mpiexec", "lib/libmpi.so.40")]
        build = self.place / "build"
        record = records.Record("openmpi5", "openmpi-5.0", *map(str, paths))
        records.write(record, build / "openmpi5")
        (build / "openmpi5/libsidelight.so").touch()
        self.place.chmod(0o755)
        private.chmod(0o700 if os.geteuid() == 0 else 0)
        self.addCleanup(private.chmod, 0o700)
        if os.geteuid() == 0:
            os.seteuid(65534)
            self.addCleanup(os.seteuid, 0)
        with self.assertRaisesRegex(hosts.HostError, "make hosts"):
            hosts.find("openmpi5")
        with mock.patch.dict(os.environ, {"SIDELIGHT_BUILD_DIR": str(private / "build")}):
            self.assertIn("openmpi5", [host.name for host in hosts.known()])
            with self.assertRaisesRegex(hosts.HostError, "is not built"):
                host().require_library()

    def test_by_the_library_that_the_program_is_linked_to(self):
        self.install("mpich5", "libmpi.so.12")
        place = self.install("openmpi5", "libmpi.so.40")
        with mock.patch.object(hosts, "_linked_library", return_value=place / "lib/libmpi.so.40"):
            self.assertEqual(hosts.find(None, "./a").name, "openmpi5")

    def test_program_of_the_mpi_abi(self):
        place = self.install("mpich5", "libmpi_abi.so.1")
        with mock.patch.object(
            hosts, "_linked_library", return_value=place / "lib/libmpi_abi.so.1"
        ):
            found = hosts.find(None, "./a")
        self.assertEqual((found.name, found.mpiexec), ("mpi-abi", place / "bin/mpiexec"))
        self.assertNotIn("mpi-abi", [host.name for host in hosts.all()])

    def test_library_of_no_known_host(self):
        with (
            mock.patch.object(hosts, "_linked_library", return_value=Path("/x/libmpi.so.40")),
            self.assertRaisesRegex(hosts.HostError, "--host"),
        ):
            hosts.find(None, "./a")

    def test_script_runs_on_the_mpiexec_of_the_path(self):
        place = self.install("mpich5", "libmpi.so.12")
        with (
            mock.patch.object(hosts, "_linked_library", return_value=None),
            mock.patch.dict(os.environ, {"PATH": str(place / "bin")}),
        ):
            self.assertEqual(hosts.find(None, "script").name, "mpich5")

    def test_script_with_a_launcher_of_an_unknown_mpi(self):
        """It is not started by another MPI's: each rank would be alone."""
        launcher = self.install("other", "libother.so") / "bin/mpiexec"
        self.install("mpich5", "libmpi.so.12")
        with mock.patch.object(hosts, "_linked_library", return_value=None):
            with (
                mock.patch.dict(os.environ, {"PATH": str(launcher.parent)}),
                self.assertRaisesRegex(hosts.HostError, f"{launcher}.*--host.*--mpiexec"),
            ):
                hosts.find(None, "script")
            with mock.patch.dict(os.environ, {"PATH": ""}):
                self.assertIn(hosts.find(None, "script"), hosts.all())

    def test_a_program_of_another_mpi_than_its_host(self):
        of_open_mpi = self.install("openmpi5", "libmpi.so.40")
        of_mpich = self.install("mpich5", "libmpi.so.12")
        linked = {
            str(place / "bin/mpicc"): place / f"lib/{library}"
            for place, library in ((of_open_mpi, "libmpi.so.40"), (of_mpich, "libmpi.so.12"))
        }
        program = str(of_open_mpi / "bin/mpicc")
        with mock.patch.object(hosts, "_linked_library", side_effect=linked.get):
            for words in ([program], ["env", "A=1", program]):
                with self.assertRaisesRegex(hosts.HostError, "openmpi5: leave out --host mpich5"):
                    hosts.refuse_other_mpi(hosts.find("mpich5"), words)
                hosts.refuse_other_mpi(hosts.find("openmpi5"), words)
            hosts.refuse_other_mpi(host(), [str(of_mpich / "bin/mpicc")])  # of its family
            hosts.refuse_other_mpi(host(), ["sh", "-c", "whatever"])
        unknown = hosts.HostError("needs libmpi.so.40, which the loader does not find")
        with mock.patch.object(hosts, "_linked_library", side_effect=unknown):
            hosts.refuse_other_mpi(hosts.find("mpich5"), [program])

    def test_what_is_not_executable(self):
        with tempfile.NamedTemporaryFile() as file:
            with self.assertRaisesRegex(hosts.HostError, "is not executable"):
                hosts.ldd(file.name)
        with self.assertRaisesRegex(hosts.HostError, "there is no program"):
            hosts.ldd(file.name)

    def test_what_is_here_and_not_on_the_path(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.install("mpich5", "libmpi.so.12") / "bin")
        Path("of-this-test").touch(mode=0o755)
        with self.assertRaisesRegex(hosts.HostError, "not on PATH: say ./of-this-test"):
            hosts.ldd("of-this-test")

    def test_program_behind_others(self):
        self.install("mpich5", "libmpi.so.12")
        program = self.install("openmpi5", "libmpi.so.40") / "bin/mpicc"
        library = self.place / "openmpi5/lib/libmpi.so.40"
        linked = {str(program): library}
        with mock.patch.object(hosts, "_linked_library", side_effect=linked.get):
            for words in (
                ["env", "A=1", program, "x"],
                ["taskset", "-c", "0", program],
                ["sh", "-c", f"cd / && A=1 {program}; true"],
            ):
                argv = [str(word) for word in words]
                found = hosts.find_for(argv)
                self.assertEqual(found.name, "openmpi5")
                self.assertEqual(hosts.programs_in(argv), [str(program)])
                self.assertEqual(found.preloaded("/l.so"), ["/l.so", str(library)])

    def test_programs_of_each_part_of_a_job(self):
        """Also of one whose MPI the loader does not find: its host may have it."""
        bins = self.install("mpich5", "libmpi.so.12") / "bin"
        one, other = str(bins / "mpicc"), str(bins / "mpiexec")

        def linked(program):
            if program == other:
                raise hosts.HostError("needs libmpi.so.12, which the loader does not find")
            return Path("/m/libmpi.so.12") if program == one else None

        with mock.patch.object(hosts, "_linked_library", side_effect=linked):
            for job, programs in (
                (f"env A=1 {one} : -n 2 env {other} x", [one, other]),
                (f"env true {other} : -host h true {one} : missing", [other, one]),
                ("true x : -n 2 -unheard of env true", ["true", "env"]),
            ):
                with self.subTest(job=job):
                    self.assertEqual(hosts.programs_in(job.split()), programs)

    def test_open_mpi_is_not_loaded_for_what_a_shell_may_start(self):
        place = self.install("openmpi5", "libmpi.so.40")
        script, other = place / "bin/script", place / "bin/other"
        script.write_text("#!/bin/sh\n")
        script.chmod(0o755)
        other.touch(mode=0o755)
        library = str(place / "lib/libmpi.so.40")
        with (
            mock.patch.object(hosts, "_linked_library", return_value=None),
            mock.patch.dict(os.environ, {"PATH": str(place / "bin")}),
            mock.patch.object(hosts, "_library_of", return_value=Path(library)),
        ):
            for argv, launcher, expected in (
                (["script"], None, ["/l.so"]),
                (["other", "script"], None, ["/l.so"]),
                (["script"], "mpiexec", ["/l.so", library]),
                (["other"], None, ["/l.so", library]),
            ):
                with self.subTest(argv=argv, launcher=launcher):
                    found = hosts.find_for(argv, launcher)
                    self.assertEqual(found.preloaded("/l.so"), expected)
                    self.assertEqual(hosts.programs_in(argv), argv[:1])


class OwnMpi(unittest.TestCase):
    """An MPI that is not one of the five, such as a wheel in an active environment."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        for file in ("env/bin/mpiexec", "env/bin/mpicc", "env/lib/libmpi.so.12"):
            path = self.place / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o755)
        variables = {
            "SIDELIGHT_HOSTS_DIR": place.name,
            "SIDELIGHT_BUILD_DIR": f"{place.name}/build",
            "VIRTUAL_ENV": f"{place.name}/env",
            "PATH": "/nowhere",
        }
        version = versions.Version("mpich", "5.0.2")
        for patch in (
            mock.patch.dict(os.environ, variables),
            mock.patch.object(versions, "of_library", return_value=version),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def test_of_the_launcher_of_an_active_environment(self):
        with mock.patch.object(hosts, "_loaded_library", return_value=None):
            found = hosts.find(None, "script")
        self.assertEqual((found.name, found.origin), ("mpich-5.0", "own"))
        self.assertEqual(found.mpiexec, self.place / "env/bin/mpiexec")
        with self.assertRaisesRegex(hosts.HostError, "make MPICC=.*/env/bin/mpicc"):
            found.require_library()

    def test_library_of_intel_mpi_where_it_was_in_a_folder_of_its_own(self):
        library = self.place / "env/lib/release/libmpi.so.12"
        library.parent.mkdir()
        (self.place / "env/lib/libmpi.so.12").rename(library)
        with mock.patch.object(hosts, "_loaded_library", return_value=None):
            found = hosts.find(None, "script")
        self.assertEqual((found.name, found.libmpi), ("mpich-5.0", library.resolve()))

    def test_program_of_the_mpi_abi(self):
        library = self.place / "env/lib/libmpi_abi.so.1"
        library.touch()
        with mock.patch.object(hosts, "_loaded_library", return_value=library):
            found = hosts.find(None, "./a")
        there = (found.name, found.mpiexec, found.libmpi)
        self.assertEqual(there, ("mpi-abi", self.place / "env/bin/mpiexec", library))

    def test_library_of_the_same_version_line(self):
        library = self.build("mpich5", "mpich-5.0")
        with mock.patch.object(
            hosts, "_loaded_library", return_value=self.place / "env/lib/libmpi.so.12"
        ):
            found = hosts.find(None, "./a")
        self.assertEqual(found.require_library(), library)
        self.assertEqual(found.mpiexec, self.place / "env/bin/mpiexec")

    def test_known_host_with_another_version_than_its_library_was_built_for(self):
        """The MPI is 5.0 now. It is served by a library for that line, if there is one."""
        for file in ("bin/mpiexec", "bin/mpicc", "lib/libmpi.so.12"):
            path = self.place / "mpich5" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o755)
        loaded = self.place / "mpich5/lib/libmpi.so.12"

        def found():
            with mock.patch.object(hosts, "_loaded_library", return_value=loaded):
                return hosts.find(None, "./a")

        self.assertEqual((found().name, found().origin), ("mpich5", "PyPI"))  # without a record
        self.build("mpich5", "mpich-5.0")
        self.assertEqual((found().name, found().origin), ("mpich5", "PyPI"))
        self.build("mpich5", "mpich-4.3")
        self.assertEqual((found().name, found().libmpi), ("mpich-5.0", loaded))
        self.assertEqual(found().mpiexec, self.place / "mpich5/bin/mpiexec")
        with self.assertRaisesRegex(hosts.HostError, "mpich-5.0.*make MPICC=.*/mpich5/bin/mpicc`"):
            found().require_library()
        library = self.build("other", "mpich-5.0")
        self.assertEqual(found().require_library(), library)
        with mock.patch.object(versions, "of_library", return_value=None):
            self.assertEqual(found().name, "mpich5")

    def build(self, name, line):
        library = self.place / "build" / name / "libsidelight.so"
        records.write(records.Record(name, line, "/a", "/b", "/c"), library.parent)
        library.touch()
        return library

    def test_launcher_that_is_named(self):
        launcher = self.place / "env/bin/mpiexec"
        with mock.patch.object(hosts, "_loaded_library", return_value=None):
            self.assertEqual(hosts.find(None, "script", launcher).mpiexec, launcher)
            with self.assertRaisesRegex(hosts.HostError, "no launcher"):
                hosts.find(None, "script", "/nowhere/mpiexec")


class Versions(unittest.TestCase):
    def test_out_of_what_libraries_answer(self):
        for text, line in (
            ("MPICH Version:      4.2.3\n", "mpich-4.2"),
            ("Open MPI v4.1.8, package: Open MPI", "openmpi-4.1"),
            ("Intel(R) MPI Library 2021.18 for Linux* OS", "impi-2021.18"),
        ):
            self.assertEqual(versions.in_text(text).line, line)
        self.assertIsNone(versions.in_text("MVAPICH2 Version      : 2.3.7"))

    def test_out_of_headers(self):
        numbers = ("#define OMPI_MAJOR_VERSION 5", "#define OMPI_MINOR_VERSION 0")
        text = "\n".join([*numbers, "#define OMPI_RELEASE_VERSION 11"])
        self.assertEqual(versions.in_header(text), versions.Version("openmpi", "5.0.11"))
        self.assertEqual(versions.in_header('#define MPICH_VERSION "4.1.3"').line, "mpich-4.1")
        self.assertEqual(versions.in_header("#define MPI_ABI_VERSION 1").line, "mpi-abi")
        self.assertIsNone(versions.in_header("#define OTHER 1"))


    def test_modules_of_the_program_are_not_asked(self):
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "ctypes.py").write_text('raise SystemExit("not this one")\n')
            with mock.patch.dict(os.environ, {"PYTHONPATH": place}):
                self.assertNotIn("not this", library.network(Path("/nowhere.so")).missing)
                answer = mock.Mock(stdout="")
                with mock.patch.object(subprocess, "run", return_value=answer) as asked:
                    versions.of_library(Path("/nowhere.so"))
                self.assertIn("-I", asked.call_args.args[0])


class Compilers(unittest.TestCase):
    def test_the_launcher_beside_a_compiler(self):
        sys.path.insert(0, str(support.ROOT / "cmake"))
        self.addCleanup(sys.path.remove, str(support.ROOT / "cmake"))
        import list_hosts

        for compiler, launcher in (
            ("mpicc", "mpiexec"),
            ("mpicc.openmpi", "mpiexec.openmpi"),
            ("mpigcc", "mpiexec"),
            ("mpiicx", "mpiexec"),
        ):
            self.assertEqual(list_hosts.launcher_name(compiler), launcher)

    def listed(self, place, *compilers):
        build = str(place / "build")
        return subprocess.run(
            [sys.executable, support.ROOT / "cmake/list_hosts.py", build, *compilers],
            env=os.environ | {"SIDELIGHT_BUILD_DIR": build, "SIDELIGHT_HOSTS_DIR": str(place)},
            capture_output=True, text=True, check=False,
        )

    def test_one_that_fails_says_why(self):
        with tempfile.TemporaryDirectory() as place:
            mpicc = Path(place) / "mpicc"
            mpicc.write_text("#!/bin/sh\necho 'cannot execute cc1' >&2\nexit 3\n")
            mpicc.chmod(0o755)
            ended = self.listed(Path(place), mpicc)
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, f"^{mpicc} does not compile .*status 3.*cannot execute cc1")

    def test_a_host_without_one_is_left_out(self):
        with tempfile.TemporaryDirectory() as place:
            for name in ("bin/mpiexec", "lib/libmpi.so.40"):
                path = Path(place) / "openmpi5" / name
                path.parent.mkdir(parents=True)
                path.touch(mode=0o755)
            ended = self.listed(Path(place))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertNotIn("openmpi5", ended.stdout)
        self.assertRegex(ended.stderr, "openmpi5 is left out: .*/mpicc cannot be run: No such file")


class Interpreters(unittest.TestCase):
    def test_of_a_script(self):
        with tempfile.TemporaryDirectory() as place:
            script = Path(place) / "script"
            script.write_text("#!/usr/bin/env python3\n")
            self.assertEqual(interpreters.python_of(script), ["/usr/bin/env", "python3"])
            script.write_text("#!/bin/sh\n")
            self.assertIsNone(interpreters.python_of(script))

    def test_by_its_name(self):
        names = ("python", "python3", "python3.11", "pypy3", "python3.13t", "python3.13td",
                 "python3-dbg", "python3.11-dbg", "python3.12d", "python3-debug")
        for name in names:
            self.assertEqual(interpreters.python_of(Path(f"/a/{name}")), [f"/a/{name}"])
        for name in ("python3-config", "pythonic", "ipython3x", "python3.11-dbg-config"):
            self.assertIsNone(interpreters.python_of(Path(f"/a/{name}")))

    def opened(self, *names):
        """Which of these libraries, in a folder with a space, is that of an mpi4py that maps all of
        them."""
        with tempfile.TemporaryDirectory() as place:
            script, package = Path(place) / "script", Path(place) / "mpi4py"
            there = Path(place) / "my mpi"
            there.mkdir()
            for name in names:
                (there / name).write_text("mapped")
            script.write_text(f"#!{sys.executable}\n")
            script.chmod(0o755)
            package.mkdir()
            (package / "__init__.py").write_text("class rc: pass\n")
            (package / "MPI.py").write_text(
                f"import mmap\nfiles = [open(f'{there}/{{name}}', 'rb') for name in {names}]\n"
                "maps = [mmap.mmap(each.fileno(), 0, access=mmap.ACCESS_READ) for each in files]\n"
            )
            with mock.patch.dict(os.environ, {"PYTHONPATH": place}):
                found = interpreters.mpi_library(script)
            self.assertEqual(found.parent, there.resolve())
            return found.name

    def test_mpi_of_mpi4py(self):
        self.assertEqual(self.opened("libmpi.so.12"), "libmpi.so.12")
        self.assertEqual(self.opened("libmpi_mpifh.so.40", "libmpi.so.40"), "libmpi.so.40")

    def test_mpi_of_an_mpi4py_for_the_mpi_abi(self):
        self.assertEqual(self.opened("libmpi_abi.so.1.0.0"), "libmpi_abi.so.1.0.0")
        names = ("libmpi.so.40", "libmpi_abi.so.1", "libmpich.so.12", "libmpi.so.12")
        self.assertEqual(self.opened(*names), "libmpi_abi.so.1")


class Library(unittest.TestCase):
    @mock.patch.dict(os.environ, {"SIDELIGHT_BUILD_DIR": "/nowhere"})
    def test_library_that_is_not_built(self):
        with self.assertRaisesRegex(hosts.HostError, "/nowhere/mpich5/libsidelight.so.*make"):
            host().require_library()

    @mock.patch.dict(os.environ, {"SIDELIGHT_BUILD_DIR": "/elsewhere"})
    def test_programs_lie_beside_the_library(self):
        self.assertEqual(host().program("bench/latency"), Path("/elsewhere/mpich5/bench/latency"))

    def test_folders_are_absolute_and_an_empty_name_is_none(self):
        for variable, folder, usual in (
            ("SIDELIGHT_BUILD_DIR", hosts.build_directory, "build"),
            ("SIDELIGHT_HOSTS_DIR", hosts.hosts_directory, ".hosts"),
        ):
            with mock.patch.dict(os.environ, {variable: "some/folder"}):
                self.assertEqual(folder(), Path.cwd() / "some/folder")
            with mock.patch.dict(os.environ, {variable: ""}):
                self.assertEqual(folder(), support.ROOT / usual)


if __name__ == "__main__":
    support.main()
