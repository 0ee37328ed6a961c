# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What tools/kernel, which sources this file, gets from a suite of Debian that is
# not this machine's: sources, and kernels with what builds modules for them.

# --- packages ------------------------------------------------------------------

# Where this machine gets Debian from, whatever the syntax of its sources.
mirror_of()
{
	local codename=$1

	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(RELEASE) $(CODENAME)' \
		'Created-By: Packages' |
		awk -v name="$codename" '
		$2 == "main" && ($3 == name || $4 == name) && !found++ { print $1 }'
}

# apt with lists and sources of its own: the machine's stay as they are, and what it has
# installed is nothing that can be downloaded. The lists of a suite that has come to its
# end have expired. A suite of another architecture is SUITE:ARCH.
foreign_apt()
{
	local dir=$1 other=()

	shift
	[[ ${dir##*/} != *:* ]] || other=(-o "APT::Architecture=${dir##*:}")
	"$@" ${other[@]+"${other[@]}"} \
	     -o Dir::Etc::SourceList="$dir/sources.list" \
	     -o Dir::State::Status=/dev/null \
	     -o Dir::Etc::SourceParts=/dev/null \
	     -o Dir::State::Lists="$dir/lists" \
	     -o Dir::Cache::PkgCache="" -o Dir::Cache::SrcPkgCache="" \
	     -o Acquire::Check-Valid-Until=false \
	     -o APT::Sandbox::User="$(id -un)"
}

foreign_update()
{
	local suite=$1 dir=$ANTS_CACHE/apt/$1 codename mirror keyring

	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	# security updates come from a mirror of their own
	[[ ${suite%:*} != *-security ]] || codename+=-security
	mirror=$(mirror_of "$codename")
	# apt names no targets before it has read a list
	if [[ ! $mirror ]]; then
		"$ANTS_ROOT/tools/setup" --update >&2
		mirror=$(mirror_of "$codename")
	fi
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	if [[ ! $mirror ]]; then
		log "no mirror of Debian $codename in this machine's apt sources"
		return 1
	fi
	mkdir -p "$dir/lists/partial"
	echo "deb [signed-by=$keyring] $mirror ${suite%:*} main" >"$dir/sources.list"
	run_logged "reading package lists of $suite" "$ANTS_CACHE/log/apt-$suite.log" \
		foreign_apt "$dir" apt-get update
}

# foreign_download SUITE DIR PACKAGE...: into DIR
foreign_download()
{
	local dir=$2 apt=$ANTS_CACHE/apt/$1

	shift 2
	mkdir -p "$dir"
	(
		cd "$dir" || exit
		run_logged "downloading $*" "$ANTS_CACHE/log/download-$1.log" \
			foreign_apt "$apt" apt-get download "$@"
	)
}

# Downloads PACKAGE of SUITE and leaves its tarball in DIR.
foreign_tarball()
{
	local suite=$1 pkg=$2 dir=$3

	foreign_update "$suite" || return "$UNAVAILABLE"
	foreign_download "$suite" "$dir" "$pkg" || return "$UNAVAILABLE"
	dpkg-deb --fsys-tarfile "$dir/$pkg"_*.deb |
		tar -x -C "$dir" --wildcards './usr/src/*.tar.*'
}

# --- kernels -------------------------------------------------------------------

# foreign_release SUITE FLAVOUR
foreign_release()
{
	foreign_apt "$ANTS_CACHE/apt/$1" apt-cache depends "linux-headers-$2" |
		sed -n 's/.*Depends: linux-headers-\([0-9]\)/\1/p' | head -n 1
}

# Since 6.13 the image is a package of its own behind that of its name.
image_package()
{
	local suite=$1 release=$2

	foreign_apt "$ANTS_CACHE/apt/$suite" apt-cache depends "linux-image-$release" |
		grep -o "linux-binary-$release" || echo "linux-image-$release"
}

# The headers of RELEASE, and all that they need but a compiler.
headers_packages()
{
	local suite=$1 release=$2

	echo "linux-headers-$release"
	foreign_apt "$ANTS_CACHE/apt/$suite" apt-cache depends "linux-headers-$release" |
		sed -nE 's/.*Depends: (linux-(headers|kbuild)-.*)/\1/p'
}

# Headers name each other by where they are installed, and their compiler by version.
move_headers()
{
	local dir=$1 headers=$2

	sed -i "s|/usr/src/|$dir/usr/src/|" "$headers/Makefile"
	sed -i 's/gcc-[0-9]*$/gcc/' "$headers/.kernelvariables"
}

# What the kernel's own compiler could do, and that of this machine cannot; and a
# version of pahole that is compared, though no BTF is made. None of it changes how
# anything is laid out.
lower_config()
{
	local headers=$1

	echo 'override PAHOLE = none' >>"$headers/.kernelvariables"
	sed -i 's/^CONFIG_PAHOLE_VERSION=.*/CONFIG_PAHOLE_VERSION=0/' \
		"$headers/include/config/auto.conf"
	gcc -fmin-function-alignment=16 -E -x c /dev/null >/dev/null 2>&1 ||
		sed -i '/CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT/d' \
			"$headers/include/config/auto.conf" \
			"$headers/include/generated/autoconf.h"
}

# The programs of kbuild that ask for a newer libc than this machine's.
newer_programs()
{
	# shellcheck disable=SC2016 # for that shell
	find "$1"/usr/lib/linux-kbuild-* -type f -executable \
		-exec sh -c 'ldd "$1" 2>&1 | grep -q "GLIBC_.* not found"' sh {} \; -print
}

# They get that of their suite, beside them.
wrap_programs()
{
	local suite=$1 dir=$2 lib=$2/usr/lib/x86_64-linux-gnu programs program

	mapfile -t programs < <(newer_programs "$dir")
	((${#programs[@]})) || return 0
	fetch_libc "$suite" "$dir" || return
	for program in "${programs[@]}"; do
		mv "$program" "$program.bin"
		# some run others that lie beside them
		# shellcheck disable=SC2016 # for the script
		printf '#!/bin/sh\nexec %s --library-path %s --argv0 "$0" %s "$@"\n' \
			"$lib/ld-linux-x86-64.so.2" "$lib" "$program.bin" >"$program"
		chmod +x "$program"
	done
}

unpack_debs()
{
	local dir=$1 deb

	for deb in "$dir"/tmp/*.deb; do
		dpkg-deb -x "$deb" "$dir/tmp/root" || return
	done
}

# What a build reads, and the image, which is not in /boot any more since 7.3.4.
unpack_foreign()
{
	local dir=$1 image

	unpack_debs "$dir" || return
	mkdir -p "$dir/usr/lib"
	mv "$dir/tmp/root/usr/src" "$dir/usr/" || return
	mv "$dir"/tmp/root/usr/lib/linux-kbuild-* "$dir/usr/lib/" || return
	image=$(find "$dir/tmp/root" -type f \
		\( -path '*/boot/vmlinu?-*' -o -path '*/lib/modules/*/vmlinu?' \) | head -n 1)
	[[ $image ]] || die "no package in $dir/tmp has an image of a kernel"
	mv "$image" "$dir/vmlinuz" || return
	rm -rf "$dir/tmp"
}

# Backports have none of their own.
fetch_libc()
{
	local suite=${1%-backports} dir=$2

	[[ $suite == "$1" ]] || foreign_update "$suite" || return
	foreign_download "$suite" "$dir/tmp" libc6 || return
	unpack_debs "$dir" || return
	mv "$dir/tmp/root/usr/lib/x86_64-linux-gnu" "$dir/usr/lib/" || return
	rm -rf "$dir/tmp"
}

fetch_foreign()
{
	local suite=$1 dir=$2 release=$3 packages
	local headers=$dir/usr/src/linux-headers-$release

	"$ANTS_ROOT/tools/setup" build kernel-build >&2 || return
	rm -rf "$dir"
	mapfile -t packages < <(image_package "$suite" "$release"
		headers_packages "$suite" "$release")
	foreign_download "$suite" "$dir/tmp" "${packages[@]}" || return
	unpack_foreign "$dir" || return
	# without it no BTF is made
	rm -f "$headers/vmlinux"
	move_headers "$dir" "$headers"
	wrap_programs "$suite" "$dir" || return
	lower_config "$headers" || return
	ln -s "$headers" "$dir/build"
	touch "$dir/complete"
}

foreign_once()
{
	local version=$1 suite=$2 dir=$3 release

	! stock_ready "$dir" || return 0
	foreign_update "$suite" || return "$UNAVAILABLE"
	release=$(foreign_release "$suite" cloud-amd64)
	if [[ $release != "$version".* ]]; then
		log "$suite has ${release:-no cloud kernel}, and not $version"
		return "$UNAVAILABLE"
	fi
	fetch_foreign "$suite" "$dir" "$release"
}

# foreign_kernel NAME SUITE: as stock_kernel, and like it never updated by itself
foreign_kernel()
{
	local dir=$ANTS_CACHE/kernels/$1/$2

	stock_ready "$dir" || with_lock "$1" foreign_once "${1#stock-}" "$2" "$dir"
	echo "$dir"
}

# --- other architectures ---------------------------------------------------------

# The programs of kbuild are for the machine that builds; the headers name them by links
# with relative paths, so that those of this machine do in their place.
fetch_arch_packages()
{
	local arch=$1 suite=$2 release=$3 dir=$4 packages kbuild

	mapfile -t packages < <(image_package "$suite:$arch" "$release"
		headers_packages "$suite:$arch" "$release")
	mapfile -t kbuild < <(printf '%s\n' "${packages[@]}" | grep '^linux-kbuild-')
	mapfile -t packages < <(printf '%s\n' "${packages[@]}" | grep -v '^linux-kbuild-')
	foreign_download "$suite" "$dir/tmp" "${kbuild[@]}" &&
		foreign_download "$suite:$arch" "$dir/tmp" "${packages[@]}"
}

# What the guest runs, which is linked statically.
fetch_busybox()
{
	local suite=$1 dir=$2

	foreign_download "$suite" "$dir/tmp" busybox-static || return "$UNAVAILABLE"
	unpack_debs "$dir" || return
	mv "$(find "$dir/tmp/root" -name busybox -type f -perm -1)" "$dir/busybox" || return
	rm -rf "$dir/tmp"
}

fetch_arch()
{
	local arch=$1 suite=$2 release=$3 dir=$4
	local headers=$dir/usr/src/linux-headers-$release

	rm -rf "$dir"
	fetch_arch_packages "$arch" "$suite" "$release" "$dir" || return "$UNAVAILABLE"
	unpack_foreign "$dir" || return
	fetch_busybox "$suite:$arch" "$dir" || return
	rm -f "$headers/vmlinux"
	move_headers "$dir" "$headers"
	wrap_programs "$suite" "$dir" || return
	lower_config "$headers" || return
	echo "override CROSS_COMPILE = $(arch_cross "$arch")" >>"$headers/.kernelvariables"
	ln -s "$headers" "$dir/build"
	echo "$arch" >"$dir/arch"
	touch "$dir/complete"
}

arch_once()
{
	local arch=$1 dir=$2 suite flavour release

	! stock_ready "$dir" || return 0
	read -r suite flavour <<<"$(arch_suite "$arch")"
	foreign_update "$suite" && foreign_update "$suite:$arch" || return "$UNAVAILABLE"
	release=$(foreign_release "$suite:$arch" "$flavour")
	if [[ ! $release ]]; then
		log "$suite has no linux-headers-$flavour for $arch"
		return "$UNAVAILABLE"
	fi
	fetch_arch "$arch" "$suite" "$release" "$dir"
}

# arch_kernel NAME ARCH: as foreign_kernel; its compiler and emulator are installed
arch_kernel()
{
	local dir=$ANTS_CACHE/kernels/$1/$2 packages

	mapfile -t packages < <(arch_compiler "$2"; arch_packages "$2")
	if ! "$ANTS_ROOT/tools/setup" build kernel-build qemu "${packages[@]}" >&2; then
		log "what compiles for $2 and what emulates it cannot be installed: ${packages[*]}"
		return "$UNAVAILABLE"
	fi
	stock_ready "$dir" || with_lock "$1" arch_once "$2" "$dir"
	echo "$dir"
}

# Debian has no kernel of arm64 with pages of 64 KB. What it has is told otherwise what the
# pages are, by what Kconfig makes of CONFIG_ARM64_64K_PAGES: modules compile, and
# there is nothing to boot.
large_pages_once()
{
	local headers=$1 copy=$1-64k dir=$2 file

	! stock_ready "$dir" || return 0
	rm -rf "$copy" "$dir"
	cp -a "$headers" "$copy" || return
	for file in .config include/config/auto.conf include/generated/autoconf.h; do
		sed -i -E 's/CONFIG_ARM64_4K_PAGES\b/CONFIG_ARM64_64K_PAGES/
			s/(CONFIG_ARM64_PAGE_SHIFT[= ])12$/\116/
			s/(CONFIG_ARM64_CONT_P(TE|MD)_SHIFT[= ])4$/\15/
			s/(CONFIG_PGTABLE_LEVELS[= ])4$/\13/
			s/(CONFIG_ARCH_FORCE_MAX_ORDER[= ])11$/\114/
			/CONFIG_PAGE_SIZE_LESS_THAN_64KB/d' "$copy/$file" || return
	done
	mkdir "$dir"
	ln -s "$copy" "$dir/build"
	touch "$dir/complete"
}

arm64_64k()
{
	local kernel headers

	kernel=$(arch_kernel stock-arm64 arm64)
	headers=$(readlink -f "$kernel/build")
	stock_ready "$kernel/64k" ||
		with_lock stock-arm64-64k large_pages_once "$headers" "$kernel/64k"
	echo "$kernel/64k"
}
