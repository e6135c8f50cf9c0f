# SPDX-License-Identifier: BSD-3-Clause
# Two commands for a newcomer: `make demo` and `make test`. The others are for those who work on it.
# With MPICC=/path/to/mpicc, `make`, `make test` and `make install` are for that MPI, until another
# one is named, or none (MPICC=). WERROR=OFF is for compilers that warn of what those of Debian 12
# do not, SIDELIGHT_PYTHON=/path/to/python3 for systems whose own is older than 3.10.

cached = $(shell sed -n 's/^$(1):[A-Z]*=//p' build/CMakeCache.txt 2>/dev/null)
MPICC ?= $(call cached,SIDELIGHT_MPICC)
python := $(or $(SIDELIGHT_PYTHON),$(call cached,SIDELIGHT_PYTHON),/usr/bin/python3)
N ?= 2
NODES ?= 1
SUITES ?= unit network sim $(if $(MPICC),mpi,mpich4 openmpi4)
PREFIX ?= /usr/local
WERROR ?= ON
SEEDS ?= 2000000
ROUNDS ?= 1000000
SECONDS ?= 600
MOMENTS ?= 200
UPDATES ?= 10000000
PAIRS ?= 2500000
PUTS ?= 1000000
MESSAGES ?= 1000000
JOBS ?= $(shell nproc)
# A test counts as many jobs as it has ranks, and these sleep, too: for others that are late, until
# somebody has been killed, and while a launcher begins and ends, a second with Open MPI 5.
TEST_JOBS ?= $(shell expr 4 \* $(JOBS))

results := $(CURDIR)/build/results
space := $(subst ,, )

.PHONY: build configure demo demo-nwchem demo-search test sanitize soak conformance by-case bench \
	hosts impi setup format check model tidy install clean

build: configure
	cmake --build build --parallel $(JOBS)

configure: setup
	cmake --preset default --log-level=WARNING -DSIDELIGHT_MPICC="$(MPICC)" \
		$(if $(SIDELIGHT_PYTHON),-DSIDELIGHT_PYTHON="$(SIDELIGHT_PYTHON)") \
		-DSIDELIGHT_WARNINGS_ARE_ERRORS=$(WERROR)

# LU factorisation of a real matrix: the host alone, under Sidelight, with nonblocking epochs; on N
# ranks, and with NODES as if on several machines.
demo: configure
	cmake --build build --parallel $(JOBS) --target examples
	$(python) tools/demo -n $(N) --nodes $(NODES)

# Reads searched in a genome that is spread over N ranks: by active messages, by get, by a server
# thread; on one node and on two. The data are in ../shared/data, or in the folder DATA.
demo-search: configure
	cmake --build build --parallel $(JOBS) --target examples
	$(python) tools/demo_search -n $(N) $(addprefix --data ,$(DATA))

# NWChem as Debian has it, which fails on its own MPI: three ways. Installs it; takes some ten
# minutes.
demo-nwchem: configure
	@tools/setup --nwchem
	cmake --build build --parallel $(JOBS)
	$(python) tools/demo_nwchem -n $(N)

# SUITES are ctest labels: unit, network, sim, mpi, nodes, or the name of a host; WITHOUT, if given,
# is the label of tests that are left out.
test: build
	@mkdir -p $(results)
	tests/run_suites $(results)/$(subst $(space),-,$(strip $(SUITES))).xml --parallel $(TEST_JOBS) \
		--label-regex '^($(subst $(space),|,$(strip $(SUITES))))$$' \
		$(if $(WITHOUT),--label-exclude '^$(WITHOUT)$$')

# Longer than CI has time for: SEEDS simulated programs; on each host ROUNDS of the litmus test,
# PAIRS of data and flag on ordered windows, by each route and for each flavour, UPDATES and
# notified PUTS by all routes at once, SECONDS of windows that come and go, also with an interrupt
# thread, and ranks that are killed at MOMENTS of a program that others survive.
soak: build
	SIDELIGHT_SIM_SEEDS=$(SEEDS) SIDELIGHT_SIM_ACTIVE_SEEDS=$$(($(SEEDS) / 10)) build/tests/sim-tests
	set -e; for host in $(notdir $(patsubst %/tests/litmus,%,$(wildcard build/*/tests/litmus))); do \
		$(python) tests/run_ranks.py --host $$host -n 2 --timeout 7200 \
			--preload build/$$host/libsidelight.so build/$$host/tests/litmus $(ROUNDS); \
		for route in auto emulated native; do \
			$(python) tests/run_ranks.py --host $$host -n 2 --timeout 7200 \
				--env SIDELIGHT_ROUTE=$$route \
				--preload build/$$host/libsidelight.so build/$$host/tests/ordered_pairs $(PAIRS); \
		done; \
		$(python) tests/run_ranks.py --host $$host -n 4 --timeout 7200 --odd SIDELIGHT_ROUTE=emulated \
			--preload build/$$host/libsidelight.so build/$$host/tests/lost_updates $(UPDATES); \
		$(python) tests/run_ranks.py --host $$host -n 5 --timeout 7200 --odd SIDELIGHT_ROUTE=emulated \
			--env SIDELIGHT_SHARE_MEMORY=never \
			--preload build/$$host/libsidelight.so build/$$host/tests/notified_storm $(PUTS); \
		for route in auto emulated native; do \
			$(python) tests/run_ranks.py --host $$host -n 4 --timeout 7200 \
				--env SIDELIGHT_ROUTE=$$route \
				--preload build/$$host/libsidelight.so build/$$host/tests/active_storm $(MESSAGES); \
		done; \
		$(python) tests/run_ranks.py --host $$host -n 4 --timeout 7200 --odd SIDELIGHT_ROUTE=emulated \
			--preload build/$$host/libsidelight.so build/$$host/tests/active_storm $(MESSAGES); \
		$(python) tests/run_ranks.py --host $$host -n 3 --timeout 7200 \
			--preload build/$$host/libsidelight.so build/$$host/tests/active_hostile 5000; \
		for progress in auto smart; do \
			$(python) tests/run_ranks.py --host $$host -n 3 --timeout $$(($(SECONDS) + 300)) \
				--env SIDELIGHT_PROGRESS=$$progress \
				--preload build/$$host/libsidelight.so build/$$host/tests/soak $(SECONDS); \
		done; \
		case $$host in mpich4|impi) continue ;; esac; \
		$(python) tests/mpi/killed_rank/test_killed_rank.py --host $$host --build build -n 3 --nodes 3 \
			--surviving mixed --moments $(MOMENTS); \
		$(python) tests/mpi/killed_rank/test_killed_rank.py --host $$host --build build -n 3 \
			--surviving creating --moments $(MOMENTS); \
		for nodes in 0 3; do \
			$(python) tests/mpi/killed_rank/test_killed_rank.py --host $$host --build build -n 3 \
				--nodes $$nodes --surviving active --moments $(MOMENTS); \
		done; \
	done

# All but the longest tests of one host under AddressSanitizer and UndefinedBehaviorSanitizer.
SANITIZED ?= openmpi4
sanitize: setup
	cmake --preset asan --log-level=WARNING -DSIDELIGHT_HOSTS=$(SANITIZED)
	cmake --build build-asan --parallel $(JOBS)
	LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp ctest --test-dir build-asan \
		--parallel $(TEST_JOBS) --output-on-failure --label-regex '^(unit|sim|$(SANITIZED))$$'

# What becomes of wrong arguments, and of limits of the system, on each host alone and under
# Sidelight: docs/wrong-arguments.md, docs/limits.md. BY_CASE has options of both.
by-case: build
	$(python) tests/by_case/wrong_arguments --write $(BY_CASE)
	$(python) tests/by_case/limits --write $(BY_CASE)

# Test suites of others, fetched and run on each host alone and under Sidelight, by every route; on
# one host with HOST, which may be impi. Writes docs/conformance.md. CONFORMANCE has further options
# of the suites.
conformance: $(if $(filter impi,$(HOST)),impi,hosts) build
	@status=0; for suite in mpich mpi4py opencoarrays petsc nwchem mpich_messages mpi4py_messages; do \
		$(python) tests/conformance/$$suite $(addprefix --host ,$(HOST)) $(CONFORMANCE) || status=1; \
	done; \
	$(python) tests/conformance/mpi4py_wheel $(addprefix --hosts ,$(HOST)) || status=1; \
	$(python) tests/conformance/page && exit $$status

bench: build
	$(python) tools/sidelight bench latency

setup:
	@tools/setup $(if $(MPICC),--own-mpi)

# MPICH 5 and Open MPI 5 from PyPI, into .hosts/.
hosts:
	@tools/setup --all-hosts

# Intel MPI, likewise. No other command needs it.
impi:
	@tools/setup --impi

format:
	@tools/setup --checks
	ci/check-format --fix

# What CI checks before it builds.
check:
	@tools/setup --checks
	ci/check-layers
	ci/check-format
	ci/check-structure
	ci/check-sweep
	ci/check-pages

# The four models in docs/design/models, by SPIN: interest, exclusion, offer and offer_lock.
model:
	@tools/setup --checks
	ci/check-model

tidy:
	@tools/setup --checks
	ci/check-tidy

install: build
	cmake --install build --strip --prefix $(PREFIX)

clean:
	rm -rf build build-*
