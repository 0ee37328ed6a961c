# SPDX-License-Identifier: GPL-2.0-only
#
# For humans; what kbuild reads is Kbuild. "make help" says what there is.

KDIR ?= /lib/modules/$(shell uname -r)/build
STAGE := modules
INSTALL_MOD_DIR ?= updates/ants
prefix ?= /usr/local
INSTALL = DESTDIR='$(DESTDIR)' prefix='$(prefix)' \
	INSTALL_MOD_PATH='$(INSTALL_MOD_PATH)' INSTALL_MOD_DIR='$(INSTALL_MOD_DIR)' \
	tools/install

# O=DIR takes the place of build/. A relative KDIR must not look like a name.
$(if $(word 2,$(O)),$(error there is a space in O=$(O), where no kernel builds modules))
BUILD := $(if $(O),$(abspath $(O)),build)
export ANTS_BUILD := $(if $(O),$(BUILD))
kdir = '$(if $(filter /%,$(KDIR)),,./)$(KDIR)'

# The sources with one deliberate bug.
BUSTED_SRC = $(CURDIR)/build/busted-$(ANTS_BUSTED)

# A program with nothing beside it; STATIC= links it as the system does.
ANTSTAT = $(BUILD)/antstat/antstat
ANTSTAT_CFLAGS = -std=gnu11 -D_GNU_SOURCE -Wall -Wextra \
	-DANTS_VERSION='"$(shell sed -n 's/^MODULE_VERSION("\(.*\)");$$/\1/p' kernel/main.c)"'
STATIC = -static
CFLAGS ?= -O2 -g
# It is for the machine that the module is for.
ANTSTAT_CC = $(if $(and $(CROSS_COMPILE),$(filter default,$(origin CC))),$(CROSS_COMPILE)gcc,$(CC))

# What the user set, and not make, goes on to kbuild.
VARS := W C CC LD AR NM OBJCOPY STRIP LLVM LLVM_IAS ARCH CROSS_COMPILE INSTALL_MOD_PATH DEPMOD \
	ANTS_DEBUG ANTS_KUNIT ANTS_FUNC ANTS_SAMPLES ANTS_BENCH ANTS_TORTURE
user_set = $(filter command environment,$(firstword $(origin $(1))))
PASS := $(foreach var,$(VARS),$(if $(call user_set,$(var)),$(var)='$($(var))'))

DEMOS := demo-loop demo-dm-crypt demo-nvmet demo-raid5

.PHONY: modules modules_install antstat echo_client snapshots clean help demo $(DEMOS) test test-kernels test-arch test-tools test-drivers torture \
	model litmus core busted mutate bench bench-readme bench-drivers bench-drivers-page check coverage htmldocs \
	dkms_install install uninstall check-kernel deb test-packages \
	test-in-tree test-often test-sources test-targets FORCE
.DEFAULT_GOAL := modules

modules:
	@tools/build-modules $(kdir) $(STAGE) $(PASS)

modules_install: modules
	@$(INSTALL) modules $(kdir) $(PASS)

antstat: $(ANTSTAT)

# Another compiler makes another program.
$(ANTSTAT).cc: FORCE
	@mkdir -p $(@D)
	@echo '$(ANTSTAT_CC)' | cmp -s - $@ || echo '$(ANTSTAT_CC)' >$@

$(ANTSTAT): $(wildcard tools/antstat/*.[ch]) kernel/main.c Makefile $(ANTSTAT).cc
	@command -v $(ANTSTAT_CC) >/dev/null || tools/setup build >&2
	@$(ANTSTAT_CC) $(CPPFLAGS) $(CFLAGS) $(ANTSTAT_CFLAGS) $(LDFLAGS) $(STATIC) -o $@ \
		$(wildcard tools/antstat/*.c)

# Programs for guests.
echo_client: build/echo_client/echo_client
snapshots: build/snapshots/snapshots

build/echo_client/echo_client: samples/echo_client.c
build/snapshots/snapshots: test/guest/snapshots.c
build/echo_client/echo_client build/snapshots/snapshots:
	@command -v $(CC) >/dev/null || tools/setup build >&2
	@mkdir -p $(@D)
	@$(CC) -static -O2 -Wall -Wextra -o $@ $<

install: modules_install antstat
	@$(INSTALL) files $(kdir)

uninstall:
	@$(INSTALL) uninstall $(kdir)

dkms_install:
	@tools/dkms-source '$(DESTDIR)/usr/src'

deb:
	@tools/deb

test-packages:
	@test/packages/run

test-in-tree:
	@test/in-tree/run

test-sources:
	@test/sources

test-targets:
	@T='$(T)' test/targets

clean:
	rm -rf build $(if $(O),$(addprefix $(BUILD)/,modules check-kernel antstat log))

demo:
	@samples/demo echo

$(DEMOS): demo-%:
	@samples/demo $*

test:
	@T='$(or $(T),$(if $(K),functional kunit userspace shell))' LONG='$(LONG)' \
		ANTS_KERNEL='$(K)' test/run

test-kernels:
	@T=kernels K='$(K)' LONG='$(LONG)' test/run

test-arch:
	@T=arch A='$(A)' LONG='$(LONG)' test/run

test-often:
	@N='$(N)' K='$(K)' T='$(T)' test/often

test-tools:
	@T=tools test/run

test-drivers:
	@T=drivers LONG='$(LONG)' test/run

torture:
	@MIN='$(MIN)' K='$(K)' SEED='$(SEED)' KNOBS='$(KNOBS)' JITTER='$(JITTER)' \
		FAULTS='$(FAULTS)' test/torture/run

model:
	@tools/model

litmus:
	@tools/litmus

core:
	@tools/setup core >&2
	@$(if $(ANTS_BUSTED),test/busted/tree $(ANTS_BUSTED) $(BUSTED_SRC))
	@$(MAKE) --no-print-directory -C test/core check \
		$(if $(ANTS_BUSTED),SRC=$(BUSTED_SRC) OUT=$(BUSTED_SRC)/core)

busted:
	@test/busted/run $(B)

mutate:
	@tools/setup core qemu kernel-build >&2
	@tools/mutate -n $(or $(N),200) --seed $(or $(SEED),1) \
		$(if $(ONLY),--only $(ONLY))

bench:
	@B='$(B)' K='$(K)' ROUNDS='$(ROUNDS)' CHECK='$(CHECK)' bench/run

bench-readme:
	@bench/run --readme

bench-drivers:
	@D='$(D)' G='$(G)' ROUNDS='$(ROUNDS)' bench/drivers

bench-drivers-page:
	@bench/drivers --page

check:
	@LONG='$(LONG)' tools/check

check-kernel:
	@tools/check-kernel $(kdir) $(PASS)

coverage:
	@T='$(T)' tools/coverage

htmldocs:
	@tools/setup docs >&2
	@tools/htmldocs

help:
	@echo 'For this machine:'
	@echo '  make [KDIR=...]     build ants.ko for the running kernel, in build/modules;'
	@echo '                      O=DIR takes the place of build/'
	@echo '  make modules_install  install it (INSTALL_MOD_PATH=, INSTALL_MOD_DIR=updates/ants)'
	@echo '  make install        the same, with antstat, headers, Module.symvers and documents'
	@echo '                      (DESTDIR=, prefix=/usr/local); make uninstall removes them'
	@echo '  make antstat        the program that shows the pools, build/antstat/antstat'
	@echo '  make dkms_install   the sources for DKMS, into /usr/src/ants-VERSION'
	@echo '  make deb            Debian packages, in build/deb'
	@echo '  make check-kernel KDIR=...  does it build for that kernel, and what is missing?'
	@echo '  make clean          remove build/ (the kernel cache stays:'
	@echo '                      $${XDG_CACHE_HOME:-~/.cache}/ants)'
	@echo ''
	@echo 'In a virtual machine, which they fetch or build and cache:'
	@echo '  make demo           show the pool at work'
	@echo '  make demo-loop      the kernel'"'"'s loop driver on ants, the stock driver beside it'
	@echo '  make demo-dm-crypt  the same for dm-crypt'
	@echo '  make demo-nvmet     the same for the NVMe target, in front of a slow disk'
	@echo '  make demo-raid5     the same for RAID 5'
	@echo '  make test           every test; the last line is the verdict'
	@echo '  make test T=NAME    one stage (selftest kunit userspace shell rt neighbours'
	@echo '                      torture torture-kcsan compile style antstat busted model litmus core'
	@echo '                      functional)'
	@echo '                      or one suite, script or program'
	@echo '  make test T=kcsan   data races: some suites on a kernel with KCSAN, 4 CPUs'
	@echo '  make test T=clang   a kernel that clang built, with LTO and CFI: functional test, load'
	@echo '  make test LONG=1    ten times as many rounds of what is tried again and again,'
	@echo '                      LONG=5 fifty times'
	@echo '  make test K=kunit-7.3  what needs a kernel, on a newer one with its own KUnit'
	@echo '  make test-kernels   builds, functional test, oopses and load on Debian'"'"'s kernels 5.10,'
	@echo '                      6.1, 6.1 with PREEMPT_RT, 6.12 and 7.3, and a table;'
	@echo '                      K="stock-5.10 stock-rt" for some of them'
	@echo '  make test-arch      the same for other architectures, in QEMU: arm64, armhf, i386, s390x,'
	@echo '                      riscv64; A="arm64 armhf" for some of them'
	@echo '  make test T=i386    the quick part of it: i386 without the minute of load'
	@echo '  make test-tools     the recipes for bpftrace, and tools/ants_dump.py with drgn on the'
	@echo '                      memory of a guest; downloads debug information, 300 MB'
	@echo '  make test-drivers   the ported drivers of the demos on a kernel with every checker: load'
	@echo '                      by fio, changes and suspends under it, disks that fail, unloading;'
	@echo '                      LONG=1 makes 100,000 requests of each'
	@echo '  make test-packages  DKMS, make install and the packages, in a clean Debian'
	@echo '  make test-in-tree   a 6.1 kernel that contains ants, and its kunit.py'
	@echo '  make test-sources   does each source of a kernel that Debian serves take our mends, and'
	@echo '                      do the oldest headers of 6.1 compile all modules?'
	@echo '  make test-targets   each target of this list in its shortest form, for some hours;'
	@echo '                      T="demo mutate" for some of them'
	@echo '  make test-often N=30  what fails by chance: each suite, script and program of the'
	@echo '                      guests so many times, on a kernel without most checkers; for'
	@echo '                      some hours, goes on where it was interrupted; T=NAME, K=NAME'
	@echo '  make coverage       what of kernel/*.c the tests run: a table, and a page in'
	@echo '                      build/coverage/html; T=NAME as above'
	@echo '  make torture        everything at once, at random; the last line is the verdict'
	@echo '  make torture MIN=30 K=kunit-7.3 SEED=1  so many minutes, that kernel, the'
	@echo '                      random numbers of another run; see test/torture/README.rst'
	@echo '  make torture FAULTS=5   of a thousand tasks five die'
	@echo '  make bench          measure ants beside workqueues, threads and others;'
	@echo '                      CHECK=1 fails on a missed target or a kernel that is left'
	@echo '                      out, ROUNDS=30 takes longer'
	@echo '  make bench B="tiny_task reap" K="stock-6.1-full 7.3"  these benches, these'
	@echo '                      kernels; bench/run says which there are. On one CPU:'
	@echo '                      tiny_task round_trip for_each cold_burst idle_cost scale_workers'
	@echo '                      reap tune sized_task from_irq blocking latency_loaded memory lines'
	@echo '                      ramp; on two, or CPUS=4: tiny_task_smp ramp_smp late_wake contention'
	@echo '  make bench-readme   put the results into README.md and Documentation/benchmarks.rst'
	@echo '  make bench-drivers  drivers on ants beside the same drivers as they came, with fio;'
	@echo '                      D="loop dm-crypt" ROUNDS=9, G=exact on a busy machine;'
	@echo '                      make bench-drivers-page puts the results into'
	@echo '                      Documentation/drivers.rst'
	@echo '  make mutate N=200 SEED=1  do the tests notice when kernel/ is wrong? See'
	@echo '                      tools/mutate; goes on where it was interrupted'
	@echo ''
	@echo 'Without one:'
	@echo '  make check          style: checkpatch, kernel-doc, sizes, documents; and what'
	@echo '                      clang, cppcheck, gcc find (LONG=1: coccinelle too)'
	@echo '  make htmldocs       build Documentation/ with sphinx, in build/htmldocs'
	@echo '  make model          check the Promela model exhaustively'
	@echo '  make litmus         check the litmus tests with herd7 and the kernel'"'"'s memory model'
	@echo '  make core           the sources of the module as a program: under load, with'
	@echo '                      sanitizers, explored and fuzzed; see test/core/README'
	@echo '  make busted [B="slot_leak ..."]  is each deliberate bug found, and how fast?'
	@echo '                      see test/busted; ANTS_BUSTED=NAME builds and tests with one'
	@echo ''
	@echo 'Variables: V=1 W=1 C=2 as in the kernel; ANTS_DEBUG=y invariants,'
	@echo 'ANTS_KUNIT=y ANTS_FUNC=y ANTS_SAMPLES=y ANTS_BENCH=y ANTS_TORTURE=y'
	@echo 'more modules,'
	@echo 'ANTS_KVM=1 lets guests use KVM, ANTS_JOBS=N parallel compilers.'
