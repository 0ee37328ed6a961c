# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC3043
#
# An NVMe target that serves a file, and its client in the same guest, which has an NVMe
# disk behind TCP connections over lo; for the demo and the test. Sourced behind
# load-lib.sh, which says what for. configfs is mounted, and IMAGE is there.

NQN=nqn.2026-11.org.example:disk
POOL=/sys/kernel/ants/nvmet-$NQN-1
TARGET=/sys/kernel/config/nvmet
SUBSYSTEM=$TARGET/subsystems/$NQN
NAMESPACE=$SUBSYSTEM/namespaces/1
PORT=$TARGET/ports/1
IMAGE=/tmp/disk/image
OPTIONS=queue_size=1024,keep_alive_tmo=120,reconnect_delay=1
# the size of a request in KiB
REQUEST=64

# The data of a request comes along with it, so that it can stay with the client.
serve()
{
	mkdir "$SUBSYSTEM" "$NAMESPACE" "$PORT" &&
		echo 1 >"$SUBSYSTEM/attr_allow_any_host" &&
		echo "$IMAGE" >"$NAMESPACE/device_path" &&
		echo 1 >"$NAMESPACE/buffered_io" &&
		echo 1 >"$NAMESPACE/enable" &&
		echo ipv4 >"$PORT/addr_adrfam" &&
		echo tcp >"$PORT/addr_trtype" &&
		echo 127.0.0.1 >"$PORT/addr_traddr" &&
		echo 4420 >"$PORT/addr_trsvcid" &&
		echo $((REQUEST * 1024)) >"$PORT/param_inline_data_size" &&
		listen
}

listen()
{
	ln -s "$SUBSYSTEM" "$PORT/subsystems/$NQN"
}

# Ends all connections.
listen_no_more()
{
	rm "$PORT/subsystems/$NQN"
}

request_size()
{
	for limit in /sys/block/nvme*/queue/max_sectors_kb; do
		echo "$1" >"$limit" || fail "$limit"
	done
}

connect()
{
	echo "transport=tcp,traddr=127.0.0.1,trsvcid=4420,nqn=$NQN,$OPTIONS" >/dev/nvme-fabrics ||
		fail "no connection"
	wait_for "[ -b /dev/nvme?n1 ]" "$DEADLINE" || fail "no disk"
	DEVICE=$(echo /dev/nvme?n1)
	request_size "$REQUEST"
}

disconnect()
{
	for delete in /sys/class/nvme/nvme*/delete_controller; do
		echo 1 >"$delete"
	done
	wait_for "[ ! -e $DEVICE ]" "$DEADLINE" || fail "$DEVICE stays"
}

device_up()
{
	for module in nvmet nvmet-tcp; do
		insmod "/ants/$1/$module.ko" || fail "no $1 target"
	done
	serve || fail "the $1 target cannot be set up"
	connect
}

device_down()
{
	disconnect
	listen_no_more
	rmdir "$PORT" "$NAMESPACE" "$SUBSYSTEM" || fail "the target stays"
	for module in nvmet_tcp nvmet; do
		rmmod "$module" || fail "$module stays"
	done
}
