# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# MinCount nodes are up without any job, stay up when idle, and are replaced when their machine goes.

up <<<"$(quickstart 's/MinCount: 0/MinCount: 2/')"
wait_for 120 "static nodes are up" node_short_is 'queue1-st-t2micro-[1-2]' idle
expect 2 "$(instance_count)" "instances"
expect queue1-st-t2micro-2 "$(as_alice srun --nodelist=queue1-st-t2micro-2 hostname)" "host name"

step "one machine goes"
old=$(instance_of queue1-st-t2micro-1)
control "{\"terminate\": [\"$old\"]}"
replaced() { [ "$(instance_count)" = 2 ] && ! cloud id | grep -q "$old"; }
wait_for 120 "another machine is there" replaced
wait_for 120 "the node is up again" node_short_is queue1-st-t2micro-1 idle
expect queue1-st-t2micro-1 "$(as_alice srun --nodelist=queue1-st-t2micro-1 hostname)" "host name"
