# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# What an administrator's tools see: Prometheus metrics on a loopback port, the event log as JSON lines, events of a job and as they come. A job moves
# the numbers, a refusal and an EC2 that is away are told, a settings change is taken up.

LOOP_TIME=5
# metrics: the text; read_metrics checks it and keeps name{labels} value in $RUN/metrics.
metrics() { on_head curl -sS --fail http://127.0.0.1:9839/metrics; }
read_metrics() {
	metrics >"$RUN/metrics" || return 1
	/usr/bin/python3 - "$RUN/metrics" <<-'END'
		import re, sys
		family = kind = None
		for line in open(sys.argv[1]).read().split("\n")[:-1]:
		    if line.startswith("# HELP "): family = line.split()[2]
		    elif line.startswith("# TYPE "): assert line.split()[2] == family and line.split()[3] in ("gauge", "counter"), line
		    else:
		        assert re.fullmatch(family + r'(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9]+(\.[0-9]+)?', line), line
	END
}
# metric NAME{LABELS}: its value
metric() { read_metrics && awk -v name="$1" 'index($0, name " ") == 1 { print $NF }' "$RUN/metrics"; }
metric_is() { [ "$(metric "$1")" = "$2" ]; }
metric_above() { awk -v v="$(metric "$1")" -v least="$2" 'BEGIN { exit !(v > least) }'; }
# logged TYPE PYTHON: a line of the event log of that type for which the expression on d (the object) holds
logged() {
	on_head cat /var/log/slurm-ec2/slurm-ec2.events | /usr/bin/python3 -c '
import json, sys
keys = ["datetime", "version", "scheduler", "cluster-name", "node-role", "component", "level", "instance-id", "event-type", "message", "detail"]
all = [json.loads(line) for line in sys.stdin]
assert all and [v for v in all if list(v) != keys or v["cluster-name"] != "demo"] == []
sys.exit(not [d for d in all if d["event-type"] == sys.argv[1] and eval(sys.argv[2])])' "$1" "$2"
}

up <<<"$(quickstart)"

step "the port is on loopback only and has one page"
wait_for 120 "a loop has ended" metric_above slurm_ec2_loops_total 0
expect 404 "$(on_head curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:9839/)" "another page"
expect 405 "$(on_head curl -s -o /dev/null -w '%{http_code}' -X POST http://127.0.0.1:9839/metrics)" "another method"
expect 000 "$(on_head curl -s -o /dev/null -w '%{http_code}' http://10.77.0.1:9839/metrics || true)" "another address"
expect 10 "$(metric 'slurm_ec2_nodes{queue="queue1",resource="t2micro",state="off"}')" "nodes that are off"
expect 0 "$(metric slurm_ec2_machines_launched_total)" "machines before any job"
expect 1 "$(metric 'slurm_ec2_fleet_status{status="RUNNING"}')" "fleet"
if command -v promtool >/dev/null; then
	promtool check metrics <"$RUN/metrics" >&2 || fail "promtool does not like the metrics"
	promtool check rules "$STAGE/opt/slurm-ec2/share/slurm-ec2/slurm-ec2.rules.yml" >&2 || fail "promtool does not like the rules"
fi
[ -s "$STAGE/opt/slurm-ec2/share/slurm-ec2/slurm-ec2.json" ] || fail "the dashboard is not installed"

step "a job moves the numbers; who follows the events sees each as it comes"
on_head slurm-ec2 events --follow >"$RUN/followed" 2>&1 &
follower=$!
on_head slurm-ec2 events --follow --json --type bind >"$RUN/followed.json" 2>&1 &
json_follower=$!
job=$(submit $'#!/bin/bash\nhostname' --nodes=2 --partition=queue1)
wait_for 180 "the job is over" job_is "$job" COMPLETED
wait_for 120 "two machines were launched" metric_is slurm_ec2_machines_launched_total 2
expect 2 "$(metric slurm_ec2_machines_bound_total)" "machines bound"
wait_for 120 "two nodes have a row" metric_is 'slurm_ec2_nodes_with_row{state="bound"}' 2
metric_is 'slurm_ec2_machines{queue="queue1",resource="t2micro",state="running"}' 2 || fail "machines: $(<"$RUN/metrics")"
metric_above 'slurm_ec2_ec2_requests_total{action="DescribeInstances",result="ok"}' 0 || fail "no requests: $(<"$RUN/metrics")"
metric_above 'slurm_ec2_slurm_requests_total{request="nodes"}' 0 || fail "no requests: $(<"$RUN/metrics")"
! grep -q 'queue1-dy' "$RUN/metrics" || fail "a node is a label"
follower_has() { grep -qE "$1" "$RUN/followed"; }
wait_for 60 "the follower has the launch" follower_has "^[0-9T:-]+Z  launch +queue1-dy-t2micro-\[1-2\]: launch l-"
wait_for 60 "the follower has both binds" follower_has "^[0-9T:-]+Z  bind +queue1-dy-t2micro-2 i-"
two_lines() { [ "$(wc -l <"$RUN/followed.json")" = 2 ]; }
wait_for 60 "the other follower has both binds" two_lines
/usr/bin/python3 -c 'import json, sys; sys.exit([json.loads(v)["jobs"] for v in open(sys.argv[1])] != [sys.argv[2]] * 2)' "$RUN/followed.json" "$job" ||
	fail "not the job's binds: $(<"$RUN/followed.json")"
kill "$follower" "$json_follower"
wait "$follower" "$json_follower" || true

step "events of the job, in the table and in the log"
on_head slurm-ec2 events --job "$job" >"$RUN/out"
expect "bind bind launch" "$(awk '{ print $2 }' "$RUN/out" | sort | paste -sd' ')" "events of the job"
expect "no events" "$(on_head slurm-ec2 events --job "$((job + 1))")" "events of another job"
! on_head slurm-ec2 events --job x >"$RUN/out" 2>&1 || fail "a job x is taken"
grep -q -- "--job x: a job's number is expected" "$RUN/out" || fail "$(<"$RUN/out")"
logged launch "d['component'] == 'slurm-resume' and d['detail']['jobs'] == [$job] and d['detail']['nodes'] == 'queue1-dy-t2micro-[1-2]'" ||
	fail "no launch in the event log"
logged bind "d['detail']['jobs'] == [$job] and len(d['detail']['instances']) == 1" || fail "no bind in the event log"
logged heartbeat "d['component'] == 'clustermgtd' and d['detail']['fleet'] == 'RUNNING' and d['detail']['degraded'] == []" || fail "no heartbeat"
expect "640 slurm" "$(on_head stat -c '%a %U' /var/log/slurm-ec2/slurm-ec2.events)" "mode and owner of the event log"
! as_alice slurm-ec2 events --follow >"$RUN/out" 2>&1 || fail "alice may read the state"
grep -q "^slurm-ec2 events: you may not read the state file .*: run this as root or as SlurmUser (slurm)$" "$RUN/out" || fail "$(<"$RUN/out")"

step "a refusal: figures by type, and the shortage as a metric"
control '{"capacity": [{"type": "t2.micro", "left": 0}]}' >/dev/null
short=$(submit $'#!/bin/bash\nhostname' --nodes=4 --partition=queue1)
closed='slurm_ec2_capacity_closed{type="t2.micro",zone="ap-northeast-1a",market="on-demand"}'
wait_for 120 "the offering is closed" metric_is "$closed" 1
logged node-launch-failure-count "d['detail']['failure-type'] == 'ice-failures' and d['detail']['count'] == 2 and d['level'] == 'WARNING'" ||
	fail "no figures of the refusal"
on_head slurm-ec2 events --job "$short" --type nodes-failed | grep -q "InsufficientInstanceCapacity" || fail "no failed nodes of the job"
on_head scancel "$short"

step "a log that was rotated is left, and the next line makes the new one"
on_head mv /var/log/slurm-ec2/slurm-ec2.events /var/log/slurm-ec2/slurm-ec2.events.1
new_log() { on_head test -s /var/log/slurm-ec2/slurm-ec2.events; }
wait_for 60 "a new event log" new_log

step "EC2 is away: a metric and an event each way"
control '{"error": {"action": "DescribeInstances", "code": "UnauthorizedOperation", "status": 403, "count": 10000}}' >/dev/null
wait_for 120 "EC2 is degraded" metric_is 'slurm_ec2_source_degraded{source="ec2"}' 1
wait_for 60 "the event log has it" logged source-failed "d['level'] == 'ERROR' and d['message'].startswith('ec2: ')"
control '{"error": {"action": "DescribeInstances", "code": "UnauthorizedOperation", "status": 403, "count": 0}}' >/dev/null
wait_for 120 "EC2 is well again" metric_is 'slurm_ec2_source_degraded{source="ec2"}' 0
logged source-recovered "d['level'] == 'INFO'" || fail "no recovery in the event log"

step "changed settings: another port, then none"
on_head sh -c "echo 'MetricsPort: 9840' >>/etc/slurm-ec2/settings.yaml"
moved() { on_head curl -sS --fail -o /dev/null http://127.0.0.1:9840/metrics 2>/dev/null; }
wait_for 120 "the port moved" moved
! metrics >/dev/null 2>&1 || fail "the old port is still open"
on_head sed -i 's/MetricsPort: 9840/MetricsPort: 0/' /etc/slurm-ec2/settings.yaml
gone() { ! moved; }
wait_for 120 "no port" gone

step "systemd hears of each loop, and while EC2 is slow"
on_head systemctl stop slurm-ec2-clustermgtd
on_head /usr/bin/python3 -uc '
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/run/notify.sock")
os.chmod("/run/notify.sock", 0o777)
while True: print(s.recv(4096).decode())' >"$RUN/notified" &
listener=$!
wait_for 60 "a socket like systemd's" on_head test -S /run/notify.sock
control '{"api_delay_ms": {"DescribeInstances": 3000}}' >/dev/null
on_head env NOTIFY_SOCKET=/run/notify.sock WATCHDOG_USEC=2000000 clustermgtd --foreground >/dev/null 2>&1 &
daemon=$!
notified() { grep -qx -- "$1" "$RUN/notified"; }
wait_for 120 "a status" notified 'STATUS=RUNNING, 10 nodes, [0-9]* machines'
notified READY=1 || fail "not ready: $(<"$RUN/notified")"
before=$(grep -cx 'WATCHDOG=1' "$RUN/notified")
expect yes "$([ "$before" -ge 2 ] && echo yes)" "signs of life in one loop"
kill "$daemon" "$listener"
wait "$daemon" "$listener" || true
