#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043
#
# The scenes of the demo of the loop driver; runs in the guest that "samples/demo loop"
# boots.

# shellcheck source-path=SCRIPTDIR source=../../test/guest/lib.sh
. /ants/lib.sh
# shellcheck source-path=SCRIPTDIR source=../demo-lib.sh
. /ants/demo-lib.sh
# shellcheck source-path=SCRIPTDIR source=load-lib.sh
. /ants/load-lib.sh
# shellcheck source-path=SCRIPTDIR source=loop-device.sh
. /ants/loop-device.sh

THREADS='ants/loop0|kworker/[^)]*[-+]loop0'
CGROUPS=/tmp/cgroup
BLOCKS=32

load()
{
	scene "1. The kernel's loop driver, with a pool for each device" \
		"Its per-cgroup tree of workers, idle list, timer and workqueue are gone." \
		"A request is a work item of its device's pool. One thread is in reserve," \
		"so that requests go on when there is no memory for another."
	run insmod ants.ko
	run insmod /ants/ports/loop.ko
	truncate -s 32M "$IMAGE" || fail "no image"
	run losetup "$DEVICE" "$IMAGE"
	[ -d "$POOL" ] || fail "no $POOL"
	table "bound"
	verify "capacity -eq 128" "threads -eq 1" "queue_depth -eq 128"
	tune capacity 2
}

write_all()
{
	scene "2. Eight writers at once" \
		"Each writes 2 MiB of its own random data, past the page cache of the device;" \
		"then all of it is read back and compared by checksum."
	all_data
	all write_share
	table "written"
	all check_share
	table "read back"
	verify "submitted -gt 500" "peak_busy -le 2" "peak_running -le 2"
}

resize_under_load()
{
	scene "3. Eight readers, and the capacity changes under them" \
		"Each reads its 2 MiB again and again and compares the checksum."
	resize check_share 8 pending 4
	clients_end
	settle busy -eq 0
	table "after"
}

# A request that the pool refuses goes back to the block layer, which tries again.
no_queue()
{
	scene "4. An administrator may take the queue away, too" \
		"With neither queue nor a second thread, all but one request are refused;" \
		"the block layer holds them back, and no data is lost."
	tune capacity 1
	tune queue_depth 0
	all check_share
	table "no queue"
	verify "rejected -gt 0"
	tune queue_depth 128
	tune capacity 2
}

# charge: how much of the image's memory the cgroup pays for
charge()
{
	awk '$1 == "shmem" { print $2 }' "$CGROUPS/tenant/memory.stat"
}

# In its own cgroup; a part of the image that has no memory yet
write_as_tenant()
{
	# shellcheck disable=SC2016 # for that shell
	sh -c 'echo $$ >"$1/tenant/cgroup.procs" && shift && exec "$@"' sh "$CGROUPS" \
		dd if=/dev/zero of="$DEVICE" bs=64k seek=$((512 - 64)) count=64 \
		oflag=direct conv=notrunc status=none
}

tenant()
{
	scene "5. The submitter's cgroup pays, as with the stock driver" \
		"A writer in a cgroup of its own writes 4 MiB where the image has no memory" \
		"yet. A thread of the pool allocates it, on behalf of that cgroup."
	mkdir "$CGROUPS"
	mount -t cgroup2 none "$CGROUPS" || fail "no cgroups"
	echo "+io +memory" >"$CGROUPS/cgroup.subtree_control" || fail "no controllers"
	mkdir "$CGROUPS/tenant" || fail "no cgroup"
	write_as_tenant || fail "the tenant's write"
	say "   memory.stat of the cgroup: shmem $(charge)"
	[ "$(charge)" -ge 4194304 ] || fail "the cgroup is charged $(charge) bytes"
}

unload()
{
	scene "6. Unload: refused while a file is bound, as with the stock driver"
	remove loop
}

figures()
{
	scene "7. The stock driver beside it: the same source, unchanged, in turns" \
		"Eight clients write 2 MiB each, and read them twice; then the checksums are" \
		"compared. The stock driver runs all requests of one cgroup one after another." \
		"One line, #include <linux/ants_workqueue.h>, makes its workqueue a pool."
	rounds stock trial "ports 1" "ports 8"
	row "stock" stock
	row "stock, one line added" trial
	row "ants, capacity 1" "ports 1"
	row "ants, capacity 8" "ports 8"
}

load
write_all
resize_under_load
no_queue
tenant
unload
figures
remains 8
say
say "demo: PASS"
