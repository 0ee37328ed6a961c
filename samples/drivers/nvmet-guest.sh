#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043
#
# The scenes of the demo of the NVMe target; runs in the guest that "samples/demo nvmet"
# boots. The target serves a file on a slow disk. Its client, in the same guest, has an
# NVMe disk behind TCP connections over lo.

# shellcheck source-path=SCRIPTDIR source=../../test/guest/lib.sh
. /ants/lib.sh
# shellcheck source-path=SCRIPTDIR source=../demo-lib.sh
. /ants/demo-lib.sh
# shellcheck source-path=SCRIPTDIR source=load-lib.sh
. /ants/load-lib.sh
# shellcheck source-path=SCRIPTDIR source=nvmet-device.sh
. /ants/nvmet-device.sh

# A kernel's thread counts while it runs, or sleeps in, an item of the target.
THREADS='ants/nvmet|kworker/[^)]*[+]nvmet'
COLUMNS="capacity running busy waiting peak_running peak_busy peak_waiting completed submitted"
# A client sends its 8 MiB at once, which are 128 requests.
SIZE=8192
BLOCKS=1

# --- the disk ---------------------------------------------------------------------------

# 24 MiB/s, and only little of what is written may wait in the page cache.
slow_disk()
{
	load_needed null_blk "gb=1 memory_backed=1 mbps=24"
	run mke2fs -b 4096 -i 1048576 /dev/nullb0 131072 >/dev/null
	mkdir /tmp/disk
	mount -t ext2 /dev/nullb0 /tmp/disk || fail "no file system"
	dd if=/dev/zero of="$IMAGE" bs=1M count=64 conv=fsync status=none || fail "no image"
	echo 4194304 >/proc/sys/vm/dirty_bytes
	echo 2097152 >/proc/sys/vm/dirty_background_bytes
	mount -t configfs none /sys/kernel/config || fail "no configfs"
}

# --- the scenes -----------------------------------------------------------------------

load()
{
	scene "1. The kernel's NVMe target over TCP, with a pool for each file that it serves" \
		"The file is on a disk that writes 24 MiB/s. A request that has to sleep for it" \
		"is a work item. The pool has no queue: its submitter waits, which is the" \
		"connection."
	slow_disk
	run insmod ants.ko
	say "   # insmod /ants/ports/nvmet.ko; insmod /ants/ports/nvmet-tcp.ko"
	device_up ports
	[ -d "$POOL" ] || fail "no $POOL"
	table "connected"
	verify "capacity -eq 16" "threads -eq 1" "queue_depth -eq 0"
}

# Past the page cache
check_file()
{
	check_share "$1" "$IMAGE"
}

all_on_disk()
{
	all check_file
	say "   checked: all checksums in the file"
}

# The stock target calls it an error if the page cache has only a part of what is read.
# A request of one page is there or is not.
read_back()
{
	request_size 4
	echo 3 >/proc/sys/vm/drop_caches
	all check_share
	request_size "$REQUEST"
	say "   checked: all checksums through the target"
}

write_and_read()
{
	scene "2. Eight clients write 8 MiB each of random data, 128 requests at a time" \
		"Then all of it is read on the disk, and once more through the target, and" \
		"compared by checksum."
	all_data
	all write_share
	table "written"
	all_on_disk
	read_back
	table "read back"
	verify "submitted -gt 1000" "peak_busy -le 16" "peak_running -le 16" "peak_waiting -gt 0"
}

resize_under_load()
{
	scene "3. The capacity changes under eight writers" \
		"Waiting: the connections that are not read, because there is no room."
	resize write_share 64 waiting 16
	clients_end
	settle busy -eq 0
	all_on_disk
}

# The end of a connection waits for its requests, and one of them for room.
end_connections()
{
	scene "4. The target ends the connections while requests wait for room" \
		"The client connects again, and sends what it has no answer for."
	tune capacity 1
	clients_start write_share
	settle waiting -gt 0
	run listen_no_more
	settle waiting -eq 0
	settle busy -eq 0
	table "disconnected"
	tune capacity 16
	run listen
	settle busy -gt 0
	clients_end
	all_on_disk
}

flush_and_discard()
{
	local before size

	scene "5. Flush and discard are work items, too"
	before=$(value submitted)
	run dd if=/dev/null of="$DEVICE" conv=fsync,notrunc status=none
	verify "submitted -gt $before"
	before=$(value submitted)
	run blkdiscard "$DEVICE"
	verify "submitted -gt $before"
	size=$(du -k "$IMAGE" | cut -f 1)
	say "   the file has $size KiB on the disk"
	[ "$size" -lt 1024 ] || fail "nothing was discarded"
}

unload()
{
	scene "6. Unload: refused while the target is in use, as with the stock driver"
	remove nvmet_tcp
	say "   checked: the target is unloaded, and its pool is gone"
}

# --- the stock target beside it -------------------------------------------------------

available()
{
	awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo
}

# What has arrived at the target and was not read yet, in KiB
unread()
{
	awk '$2 ~ /:1144$/ && $4 == "01" { print substr($5, 10) }' /proc/net/tcp | (
		sum=0
		while read -r bytes; do
			sum=$((sum + 0x$bytes))
		done
		echo $((sum / 1024))
	)
}

# The least memory that is available, and the most that is unread, as long as $GO exists
watch_memory()
{
	local least now most=0

	least=$(available)
	while [ -e "$GO" ]; do
		now=$(available)
		[ "$now" -ge "$least" ] || least=$now
		now=$(unread)
		[ "$now" -le "$most" ] || most=$now
		usleep 50000
	done
	echo "$least" >/tmp/least
	echo "$most" >/tmp/unread
}

# turn NAME DRIVER: all of $CLIENTS write their share twice; a line of the table
turn()
{
	local counter watcher start before time number threads memory

	device_up "$2"
	sync
	echo 3 >/proc/sys/vm/drop_caches
	before=$(available)
	touch "$GO"
	count_threads &
	counter=$!
	watch_memory &
	watcher=$!
	start=$(hundredths)
	all write_share
	all write_share
	time=$(($(hundredths) - start))
	rm "$GO"
	wait "$counter" "$watcher"
	all check_file
	[ "$2" = stock ] || holds peak_running -le 16 || fail "the pool had $(value peak_running) threads"
	device_down
	number=$(echo "$CLIENTS" | wc -w)
	threads=$(cat /tmp/most)
	# without the clients' own buffers
	memory=$((before - $(cat /tmp/least) - number * SIZE))
	echo "$threads $memory" >"/tmp/figures-$1"
	say "$(printf '   %-6s %7d %9d %8d %13d %12d %8s' "$1" "$number" $((number * SIZE / REQUEST)) \
		"$threads" "$memory" "$(cat /tmp/unread)" "$(awk -v t="$time" 'BEGIN { printf "%.2f", t / 100 }')")"
}

# Beside the pool's threads there are those of the connections.
compare()
{
	local threads memory stock_threads stock_memory

	read -r threads memory </tmp/figures-ants
	read -r stock_threads stock_memory </tmp/figures-stock
	[ "$threads" -le 24 ] || fail "$threads threads, with a pool of 16"
	[ "$stock_threads" -gt $((3 * threads)) ] || fail "no more threads without the pool"
	[ "$stock_memory" -gt $((2 * memory)) ] || fail "no more memory without the pool"
	say
	say "   checked: with ants never more than 16 threads of the pool; stock with eight"
	say "            clients: more than 3 times the threads, and twice the memory"
	say "   checked: all checksums in the file"
}

figures()
{
	scene "7. The stock target beside it: the same source, unchanged, in turns" \
		"Each client writes its 8 MiB twice, 128 requests of 64 KiB at once." \
		"Memory: what is not available any more, but for the clients' buffers." \
		"Unread: what has arrived, and waits in the target's sockets."
	say
	say "$(printf '   %-6s %7s %9s %8s %13s %12s %8s' target clients requests threads 'memory, KiB' 'unread, KiB' seconds)"
	for CLIENTS in "1" "1 2 3 4" "1 2 3 4 5 6 7 8"; do
		turn stock stock
		turn ants ports
	done
	compare
}

load
write_and_read
resize_under_load
end_connections
flush_and_discard
unload
figures
remains 8
say
say "demo: PASS"
