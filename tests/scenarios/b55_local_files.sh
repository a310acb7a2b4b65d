# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# B55: on a node whose /home is a shared file system computemgtd has nothing open there and its working folder is not there, so that it goes on when
# that hangs; and it opens no descriptor more as time goes by.

up <<<"$(quickstart)"
node=queue1-dy-t2micro-1
job=$(submit $'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done' --output=/dev/null)
wait_for 120 "the job runs" job_is "$job" RUNNING
daemon() { inside "$node" pgrep -f 'computemgtd --hosts'; }
wait_for 120 "computemgtd runs on the node" daemon
pid=$(daemon | head -n 1)
open_files() { inside "$node" sh -c "ls -l /proc/$pid/fd" | sed -n 's/.* -> //p'; }
count=$(open_files | wc -l)
foreign=$(open_files | grep '^/' | grep -vE '^/(dev|etc|run|var|opt|proc|usr)/' || true)
expect "" "$foreign" "open files outside of local folders"
[[ "$(inside "$node" readlink "/proc/$pid/cwd")" != /home* ]] || fail "its working folder is shared"
ticks() { inside "$node" sh -c "awk '/^voluntary_ctxt_switches/ { print \$2 }' /proc/$pid/status"; }
before=$(ticks)
worked() { [ "$(ticks)" -gt $((before + 10)) ]; }
wait_for 120 "it has looked ten times more" worked
expect "$count" "$(open_files | wc -l)" "open files"
as_alice touch go
wait_for 120 "the job is over" job_is "$job" COMPLETED
