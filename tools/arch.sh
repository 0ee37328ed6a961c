# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Architectures other than this machine's: which kernel of Debian stands for each, what
# compiles for it, and the machine of QEMU that runs it. Sourced behind lib.sh.
#
# What tools/kernel makes for one of them has a file "arch" with its name, and "busybox".

# arch_suite ARCH: the suite of Debian, and the flavour of the kernel
arch_suite()
{
	case $1 in
	arm64) echo bookworm arm64 ;;
	armhf) echo bookworm armmp ;;
	i386) echo bookworm 686-pae ;;
	s390x) echo bookworm s390x ;;
	# the first release that has it
	riscv64) echo trixie riscv64 ;;
	*) die "no kernel is known for the architecture '$1'" ;;
	esac
}

# arch_cross ARCH: the prefix of its compiler; the one of amd64 compiles for i386 as well
arch_cross()
{
	case $1 in
	arm64) echo aarch64-linux-gnu- ;;
	armhf) echo arm-linux-gnueabihf- ;;
	i386) [[ $(uname -m) == x86_64 ]] || echo i686-linux-gnu- ;;
	*) echo "$1-linux-gnu-" ;;
	esac
}

# arch_compiler ARCH: the package with that compiler
arch_compiler()
{
	local cross

	cross=$(arch_cross "$1")
	echo "pkg:${cross:+gcc-${cross%-}}" | grep -x 'pkg:..*' || echo build
}

# arch_of KERNEL_DIR: nothing if it is this machine's
arch_of()
{
	[[ ! -e $1/arch ]] || cat "$1/arch"
}

# arch_packages ARCH: the packages with its emulator, and with firmware that it needs, if
# that is not the emulator of this machine, one on each line
arch_packages()
{
	case $1 in
	arm64 | armhf) echo pkg:qemu-system-arm ;;
	s390x) echo pkg:qemu-system-misc ;;
	riscv64) printf '%s\n' pkg:qemu-system-misc pkg:opensbi ;;
	esac
}

# The name of the program.
arch_qemu()
{
	case $1 in
	arm64) echo qemu-system-aarch64 ;;
	armhf) echo qemu-system-arm ;;
	*) echo "qemu-system-$1" ;;
	esac
}

# The device of the console, as the kernel names it.
arch_console()
{
	case $1 in
	arm64 | armhf) echo ttyAMA0 ;;
	s390x) echo ttysclp0 ;;
	*) echo ttyS0 ;;
	esac
}

# arch_machine ARCH: what machine it is, as arguments of QEMU, one on each line. A kernel
# without LPAE reaches no device above 4 GB.
arch_machine()
{
	case $1 in
	arm64) printf '%s\n' -M virt -cpu neoverse-n1 ;;
	armhf) printf '%s\n' -M virt,highmem=off -cpu cortex-a15 ;;
	# Of a K7, which QEMU's CPU is to this kernel, there must not be two.
	i386) printf '%s\n' -cpu max,vendor=GenuineIntel ;;
	s390x) printf '%s\n' -M s390-ccw-virtio -cpu max ;;
	riscv64) printf '%s\n' -M virt ;;
	esac
}

# arch_serial ARCH FILE: arguments of QEMU as above, for a console that goes to FILE
arch_serial()
{
	case $1 in
	s390x)
		printf '%s\n' -chardev "file,id=console,path=$2" \
			-device sclpconsole,chardev=console
		;;
	*) printf '%s\n' -serial "file:$2" ;;
	esac
}
