# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B54, B55: clustermgtd over many loops, with a hundred machines: it opens no descriptor more and its memory does not grow. Nothing it opens lies
# outside of local folders, so a shared file system that hangs cannot stop it.

EC2LOCAL_ARGS="--boot=none"
loops() { calls DescribeInstances; }
poked_to() {
	on_head /usr/bin/python3 -c '
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendto(b"x", "/var/lib/slurm-ec2/clustermgtd.sock")'
	[ "$(loops)" -ge "$1" ]
}
memory() { on_head sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status"; }
descriptors() { on_head ls "/proc/$pid/fd" | wc -l; }

up <<<"$(quickstart 's/MaxCount: 10/MaxCount: 100/')"
submit $'#!/bin/bash\nsleep 600' --nodes=100 --output=/dev/null >/dev/null
wait_for 120 "a hundred nodes have a machine" with_machine_is 100
pid=$(on_head pgrep -x clustermgtd)
wait_for 120 "ten loops" poked_to $(($(loops) + 10))
descriptors=$(descriptors) memory=$(memory)
wait_for 180 "forty more" poked_to $(($(loops) + 40))
expect "$pid" "$(on_head pgrep -x clustermgtd)" "the process"
expect "$descriptors" "$(descriptors)" "descriptors"
[ "$(memory)" -le $((memory + 256)) ] || fail "memory grew from $memory kB to $(memory) kB"
foreign=$(on_head sh -c "ls -l /proc/$pid/fd" | sed -n 's/.* -> \(\/.*\)/\1/p' | grep -vE '^/(dev/null|var/lib/slurm-ec2/|var/log/|etc/|run/|proc/)' | grep -vF "$BUILD/" || true) # the test's own lock is handed down to all
expect "" "$foreign" "files outside of local folders"
