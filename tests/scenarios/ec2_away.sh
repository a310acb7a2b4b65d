# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# EC2 cannot be reached for longer than HeartbeatLimit (30 s here, 5 min by default): the running job is not touched, resume refuses what nobody
# would watch and says why, and when EC2 is back everything goes on by itself.

eval "plain_$(declare -f write_settings)"
write_settings() {
	plain_write_settings
	echo "HeartbeatLimit: 30"
}
# since SOURCE: seconds since that source could be read last, by the state file.
age_of() {
	on_head /usr/bin/python3 -c '
import sqlite3, sys, time
c = sqlite3.connect("file:/var/lib/slurm-ec2/state.db?mode=ro", uri=True)
print(int(time.time() - c.execute("SELECT ok_ms FROM source WHERE name = ?", (sys.argv[1],)).fetchone()[0] / 1000))
' "$1"
}
older_than() { [ "$(age_of "$1")" -gt "$2" ]; }
event() { on_head slurm-ec2 events | grep -q "$1"; }

up <<<"$(quickstart)"
job=$(submit $'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done; hostname' --output=away.out)
wait_for 120 "the job runs" job_is "$job" RUNNING
old=$(cloud id)

step "EC2 is away"
on_head sh -c 'kill -STOP $(pgrep -x ec2local)'
wait_for 120 "EC2 was not read for longer than the limit" older_than ec2 31
late=$(submit $'#!/bin/bash\nhostname' --nodes=2 --output=/dev/null)
refused() { on_head scontrol show nodes --oneliner | grep -q 'Reason=(Code:NotWatched)clustermgtd \(could not read EC2\|has finished no loop\)'; }
wait_for 120 "resume refuses" refused
expect RUNNING "$(job_state "$job")" "the running job"
says() { on_head grep -q 'error: ec2: .*meanwhile no machine is held for gone' /var/log/slurm-ec2/clustermgtd.log; }
wait_for 120 "the log says that EC2 is away" says

step "EC2 is back"
on_head sh -c 'kill -CONT $(pgrep -x ec2local)'
wait_for 120 "clustermgtd says so" event 'source-recovered.*ec2: well again'
expect "$old" "$(cloud id)" "the machines"
expect queue1-dy-t2micro-9 "$(as_alice srun --nodelist=queue1-dy-t2micro-9 hostname)" "a job that is launched again"
as_alice touch go
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect queue1-dy-t2micro-1 "$(as_alice cat away.out)" "where it ran"
expect 0 "$(on_head scontrol show job "$job" --oneliner | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" "its requeues"
as_alice scancel "$late"
