# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What scripts put into a guest beside files of the tree. Sourced behind lib.sh. Each
# function prints options of tools/guest, a word on each line.

# add COMMAND...: what it prints goes to the end of the array "options"
add()
{
	local words

	words=$("$@") || return
	mapfile -t -O "${#options[@]}" options <<<"$words"
}

# program_files NAME...: programs of this machine, and their libraries
program_files()
{
	local name program library

	for name; do
		program=$(command -v "$name") || die "there is no program $name: install it"
		printf '%s\n' --file "$program:/sbin/$name"
		for library in $(ldd "$program" | grep -o '/[^ ]*'); do
			printf '%s\n' --file "$library:$library"
		done
	done
}

# with_needed KERNEL NAME...: the kernel's own modules, each behind those that it needs.
# The dash of a name may be an underscore elsewhere.
with_needed()
{
	local kernel=$1 name file deps

	shift
	for name; do
		file=$(find "$kernel" -name "${name//[-_]/?}.ko")
		[[ $file ]] || die "${kernel##*/} has no module $name"
		mapfile -t deps < <(modinfo -F depends "$file" | tr ',' '\n' | grep .)
		with_needed "$kernel" ${deps[@]+"${deps[@]}"}
		echo "$file"
	done
}

# needed_files KERNEL LIST NAME...: these modules, and LIST, which names them in the
# order in which the guest loads them
needed_files()
{
	local kernel=$1 list=$2 file

	shift 2
	mkdir -p "${list%/*}"
	with_needed "$kernel" "$@" | awk '!seen[$0]++' >"$list" || return
	while read -r file; do
		printf '%s\n' --file "$file:/ants/needed/${file##*/}"
	done <"$list"
	sed -i 's|.*/||' "$list"
	printf '%s\n' --file "$list"
}

# driver_files DIR: the modules that tools/driver has built there
driver_files()
{
	local file

	for file in "$1"/{stock,trial,ports}/*.ko; do
		[[ ! -e $file ]] || printf '%s\n' --file "$file:/ants/${file#"$1/"}"
	done
}
