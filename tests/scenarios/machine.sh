# shellcheck shell=bash disable=SC2016
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine shows only its image, its clock starts at zero, and nothing of it outlives it.

start_services() { :; }
head_up

step "only the image is seen"
on_head test ! -e "$TOP/tests" || fail "the source tree is seen"
expect head "$(on_head hostname)" "host name"
on_head sh -c '! touch /usr/x 2>/dev/null && ! touch /opt/slurm-ec2/x 2>/dev/null && ! touch /sys/x 2>/dev/null' ||
	fail "something is writable"
expect "169.254.169.254/32" "$(on_head ip -4 -o addr show br0 | grep -o '169[^ ]*')" "metadata address"

step "an instance: address, clock, wire"
instance() {
	on_head "$LIBEXEC/ec2local-machine" --die-with-parent --fresh-clock --stay --hostname ip-10-77-0-9 --bridge br0 --wire vtest \
		--address 10.77.0.9/16 --gateway 10.77.0.1 --mac 0a:00:0a:4d:00:09 --image /srv/image "$@"
}
instance -- /bin/sh -c 'read -r up _ </proc/uptime; test "${up%.*}" -lt 5 && test ! -e /etc/slurm-ec2 && shutdown -h now' ||
	fail "uptime does not start at zero, or head files are seen, or shutdown fails: status $?"
instance -- /bin/sleep 1000 >"$RUN/i.log" 2>&1 &
wait_for 120 "the instance's wire is up" on_head sh -c 'ip -o link show vtest | grep -q "master br0.*state UP"'
outer=$(on_head pgrep -o -f -- '--hostname ip-10-77-0-9')
on_head kill -KILL "$outer"
wait_for 120 "the wire of a killed instance is gone" on_head sh -c '! ip link show vtest 2>/dev/null'
wait_for 120 "the processes of a killed instance are gone" on_head sh -c '! pgrep -x sleep'

step "the status of a machine that cannot be made"
status=0
instance --bind /nowhere:/x -- /bin/true >"$RUN/i.log" 2>&1 || status=$?
expect 125 "$status" "exit status"
grep -q /nowhere "$RUN/i.log" || fail "no reason given: $(<"$RUN/i.log")"

step "kill -9 of the outer process leaves nothing"
pid=$HEAD_PID
kill -KILL "$MACHINE_PID"
wait_for 120 "process 1 is gone" test ! -e "/proc/$pid"
! grep -q "$RUN" /proc/mounts || fail "a mount is left"
HEAD_PID=
