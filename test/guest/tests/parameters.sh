# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# timeout: 400
#
# The parameters of ants: a bad value is refused, with a reason, and changes nothing.

. /ants/lib.sh

# The log is full, as it is after many other tests.
i=0
while [ $i -lt 4000 ]; do
	i=$((i + 1))
	echo "<7>$i" >/dev/kmsg
done

SYSTEM=/sys/kernel/ants/system
PARAM=/sys/module/ants/parameters/system_capacity
THREADS=/sys/module/ants/parameters/max_threads
EINVAL='Invalid argument'
ERANGE='out of range'

# refuses_parameter VALUE REGEX: insmod fails, the log says why, nothing is left
refuses_parameter()
{
	log_mark
	if insmod /ants/ants.ko "system_capacity=$1"; then
		rmmod ants
		return 1
	fi
	log_has "$2" && no_remains
}

takes_parameter()
{
	insmod /ants/ants.ko "system_capacity=$1" || return
	said=$(first_line $PARAM) shown=$(first_line $SYSTEM/capacity)
	rmmod ants
	[ "$said $shown" = "$2 $3" ] && no_remains
}

# refuses_limit VALUE REASON: a write fails for that reason, and the limit stays
refuses_limit()
{
	said=$({ echo "$1" >$THREADS; } 2>&1) && return 1
	echo "$said" | grep -q "$2" && [ "$(first_line $THREADS)" = 7 ]
}

plan 20
check "no capacity for the system pool is refused" \
	refuses_parameter 0 'ants: cannot make the system pool with system_capacity=0: (-EINVAL|-22)'
check "a word is refused" refuses_parameter abc "ants: .abc' invalid for parameter .system_capacity'"
check "an empty value is refused" refuses_parameter '' "ants: .' invalid for parameter .system_capacity'"
check "a negative capacity is refused" refuses_parameter -1 "ants: .-1' invalid for parameter"
check "2^31 is refused" refuses_parameter 2147483648 'system_capacity=2147483648: (-EINVAL|-22)'
check "2^32 is refused" refuses_parameter 4294967296 "ants: .4294967296' "
check "1 is taken" takes_parameter 1 1 1
check "2^31 - 1 is taken" takes_parameter 2147483647 2147483647 2147483647
check "2^32 - 1 is no bound" takes_parameter 4294967295 4294967295 max
check "256 is the default" eval "insmod /ants/ants.ko && [ \$(first_line $SYSTEM/capacity) = 256 ]"
check "the parameter cannot be written" eval "! echo 5 >$PARAM"
check "there is no limit of threads by default" eval "[ \$(first_line $THREADS) = 0 ]"
check "a limit of threads is written" eval "echo 7 >$THREADS && [ \$(first_line $THREADS) = 7 ]"
check "a limit that is a word is refused" refuses_limit max "$EINVAL"
check "a limit below 0 is refused" refuses_limit -1 "$EINVAL"
check "a limit that does not fit is refused" refuses_limit 4294967296 "$ERANGE"
check "the largest limit is taken" eval "echo 4294967295 >$THREADS && [ \$(first_line $THREADS) = 4294967295 ]"
check "a bad limit at load is refused" eval "rmmod ants && ! insmod /ants/ants.ko max_threads=many && no_remains"
check "a limit without a value is refused" eval "! insmod /ants/ants.ko max_threads && no_remains"
check "a limit is given at load" eval "insmod /ants/ants.ko max_threads=9 && [ \$(first_line $THREADS) = 9 ]"
