# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# The credentials file is gone when clustermgtd starts: it runs, says what it lacks, and goes on by itself when the file is there again. Nothing is
# concluded from what it could not read.

EC2LOCAL_ARGS="--boot=none"
up <<<"$(quickstart)"
submit $'#!/bin/bash\nsleep 600' --nodes=2 --output=/dev/null >/dev/null
wait_for 120 "two nodes have a machine" with_machine_is 2
old=$(cloud id | sort)
event() { on_head slurm-ec2 events | grep -q "$1"; }

step "the file is gone"
on_head mv /etc/slurm-ec2/credentials /etc/slurm-ec2/credentials.away
on_head systemctl restart slurm-ec2-clustermgtd
wait_for 120 "clustermgtd says so" event 'source-failed.*ec2: .*redentials'
on_head pgrep -x clustermgtd >/dev/null || fail "clustermgtd has ended"

step "the file is back"
on_head mv /etc/slurm-ec2/credentials.away /etc/slurm-ec2/credentials
wait_for 120 "clustermgtd says so" event 'source-recovered.*ec2: well again'
expect "$old" "$(cloud id | sort)" "the machines"
with_machine_is 2 || fail "a node has lost its machine"
