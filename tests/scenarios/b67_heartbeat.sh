# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B67: clustermgtd is dead, and its last loop is 301 s old, missing, rubbish, or in the future. resume launches nothing and the node says what to do.

EC2LOCAL_ARGS="--boot=none"
up <<<"$(quickstart)"
wait_for 120 "clustermgtd has looked once" on_head grep -q 'started' /var/log/slurm-ec2/clustermgtd.log
on_head systemctl stop slurm-ec2-clustermgtd

# beat SQL: change the row of the last loop.
beat() {
	on_head setpriv --reuid slurm --regid slurm --clear-groups /usr/bin/python3 -c '
import sqlite3, sys
c = sqlite3.connect("/var/lib/slurm-ec2/state.db")
c.execute(sys.argv[1])
c.commit()
' "$1"
}
refused() { [[ "$(node_reason "$1")" == "$2"* ]]; }
# try N WHAT REASON
try() {
	local node=queue1-dy-t2micro-$1
	step "the last loop is $2"
	on_head scontrol update nodename="$node" state=power_up
	wait_for 120 "$node says why" refused "$node" "(Code:NotWatched)$3"
}
now="CAST(strftime('%s') AS INTEGER) * 1000"
beat "UPDATE source SET ok_ms = $now - 301000 WHERE name = 'loop'"
try 1 "301 s old" "clustermgtd has finished no loop for 30"
beat "DELETE FROM source WHERE name = 'loop'"
try 2 "missing" "clustermgtd never ran here"
beat "INSERT INTO source(name, ok_ms, failed_ms) VALUES('loop', 'yesterday', 0)"
try 3 "rubbish" "clustermgtd never ran here"
beat "UPDATE source SET ok_ms = $now + 3600000 WHERE name = 'loop'"
try 4 "an hour ahead" "clustermgtd's last loop lies 3"
expect 0 "$(launches | wc -l)" "launches asked of EC2"

step "clustermgtd is back"
on_head systemctl start slurm-ec2-clustermgtd
beaten() { on_head /usr/bin/python3 -c '
import sqlite3, time
c = sqlite3.connect("file:/var/lib/slurm-ec2/state.db?mode=ro", uri=True)
assert abs(time.time() - c.execute("SELECT ok_ms FROM source WHERE name = ?", ("loop",)).fetchone()[0] / 1000) < 60'; }
wait_for 120 "it has finished a loop" beaten
on_head scontrol update nodename=queue1-dy-t2micro-5 state=power_up
wait_for 120 "a machine is launched" instance_count_is 1
