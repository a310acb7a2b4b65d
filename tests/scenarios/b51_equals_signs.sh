# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# B51: texts with "=", commas and spaces in every field that a person or slurmd can fill. The loop reads them as they are: a node that was drained
# with such a reason keeps it, the others work.

up <<<"$(quickstart)"
text='disk full: used=99% path=/x?a=b [root@2024-07-10T10:00:00] a,b=c'
on_head scontrol update nodename=queue1-dy-t2micro-3 state=drain reason="$text"
on_head scontrol update nodename=queue1-dy-t2micro-4 comment="a=b c=d, e" extra="x=1 {\"slurm-ec2\": \"l-0\"" || true
before=$(calls DescribeInstances)
looked() { [ "$(calls DescribeInstances)" -gt $((before + 2)) ]; }
wait_for 120 "clustermgtd has looked several times" looked
expect queue1-dy-t2micro-1 "$(as_alice srun hostname)" "host name"
expect queue1-dy-t2micro-4 "$(as_alice srun --nodelist=queue1-dy-t2micro-4 hostname)" "host name of the one with the comment"
node_is queue1-dy-t2micro-3 'IDLE\+CLOUD\+DRAIN\+POWERED_DOWN' || fail "the drained node is $(node_state queue1-dy-t2micro-3)"
[[ "$(node_reason queue1-dy-t2micro-3)" == "disk full: used=99% path=/x?a=b"* ]] || fail "its reason is $(node_reason queue1-dy-t2micro-3)"
on_head scontrol show node queue1-dy-t2micro-4 | grep -q 'Comment=a=b c=d, e' || fail "the comment of somebody else is gone"
! on_head grep -q 'error:' /var/log/slurm-ec2/clustermgtd.log || fail "the log has errors"
