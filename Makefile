# SPDX-License-Identifier: GPL-2.0-only
#
# For humans; what kbuild reads is Kbuild. "make help" says what there is.

KDIR ?= /lib/modules/$(shell uname -r)/build
STAGE := modules
INSTALL_MOD_DIR ?= updates/ants

# What a user may set on the command line goes on to kbuild.
PASS := $(foreach var,W C ANTS_DEBUG ANTS_KUNIT ANTS_FUNC ANTS_SAMPLES ANTS_BENCH \
	INSTALL_MOD_PATH DEPMOD CC LLVM ARCH CROSS_COMPILE,$(if $($(var)),$(if \
	$(filter command environment,$(firstword $(origin $(var)))),$(var)=$($(var)))))

.PHONY: modules modules_install clean help demo test model bench check
.DEFAULT_GOAL := modules

modules:
	@tools/build-modules $(KDIR) $(STAGE) $(PASS)

modules_install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR)/build/$(STAGE) \
		INSTALL_MOD_DIR=$(INSTALL_MOD_DIR) $(PASS) modules_install

clean:
	rm -rf build

demo:
	@samples/demo

test:
	@kunit/run $(T)

model:
	@tools/model

bench:
	@bench/run $(B)

check:
	@tools/check

help:
	@echo 'For this machine:'
	@echo '  make [KDIR=...]     build ants.ko for the running kernel, in build/modules'
	@echo '  make modules_install  install it (INSTALL_MOD_PATH=, INSTALL_MOD_DIR=updates/ants)'
	@echo '  make clean          remove build/ (the kernel cache stays:'
	@echo '                      $${XDG_CACHE_HOME:-~/.cache}/ants)'
	@echo ''
	@echo 'In a virtual machine, which they fetch or build and cache:'
	@echo '  make demo           show the pool at work'
	@echo '  make test           every test; the last line is the verdict'
	@echo '  make test T=NAME    one stage (selftest kunit userspace shell rt compile'
	@echo '                      style model) or one suite, script or program'
	@echo '  make bench          measure the cost of a task, in instructions'
	@echo ''
	@echo 'Without one:'
	@echo '  make check          style: checkpatch, kernel-doc, sizes, shellcheck'
	@echo '  make model          check the Promela model exhaustively'
	@echo ''
	@echo 'Variables: V=1 W=1 C=2 as in the kernel; ANTS_DEBUG=y invariants,'
	@echo 'ANTS_KUNIT=y ANTS_FUNC=y ANTS_SAMPLES=y ANTS_BENCH=y more modules,'
	@echo 'ANTS_KVM=1 lets guests use KVM, ANTS_JOBS=N parallel compilers.'
