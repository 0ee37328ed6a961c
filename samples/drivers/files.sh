# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What a guest with a driver of the kernel needs, for samples/demo and bench/drivers:
# the functions add to the array "files", which has SOURCE:DESTINATION of each. Sourced
# behind tools/lib.sh, by scripts that set
#
#   kernel	the directory of the kernel, as tools/kernel prints it

# shellcheck disable=SC2154 # kernel
# The kernel's own modules, each behind those that it needs. The dash of a name may be
# an underscore elsewhere.
with_needed()
{
	local name file deps

	for name; do
		file=$(find "$kernel/lib/modules" -name "${name//[-_]/?}.ko")
		[[ $file ]] || die "${kernel##*/} has no module $name"
		mapfile -t deps < <(modinfo -F depends "$file" | tr ',' '\n' | grep .)
		with_needed ${deps[@]+"${deps[@]}"}
		echo "$file"
	done
}

# add_modules LIST [NAME...]: of the kernel's own; the guest loads them as LIST says
add_modules()
{
	local list=$1 file

	with_needed "${@:2}" | awk '!seen[$0]++' >"$list" || return
	while read -r file; do
		files+=("$file:/ants/needed/${file##*/}")
	done <"$list"
	sed -i 's|.*/||' "$list"
	files+=("$list")
}

# add_driver PATCH DIR [NAME...]: the modules in DIR, which tools/driver has made of that
# patch, those that the patch says it needs, and others of the kernel
add_driver()
{
	local patch=$1 out=$2 file needs

	for file in "$out"/{stock,trial,ports}/*.ko; do
		[[ ! -e $file ]] || files+=("$file:/ants/${file#"$out/"}")
	done
	read -ra needs < <(told "$patch" needs) || true
	add_modules "$out/needed.list" ${needs[@]+"${needs[@]}"} "${@:3}"
}

# A program of Debian, and its libraries.
add_program()
{
	local program lib

	program=$(command -v "$1") || die "no $1"
	files+=("$program:/sbin/$1")
	while read -r lib; do
		files+=("$lib:$lib")
	done < <(ldd "$program" | grep -o '/[^ ]*')
}
