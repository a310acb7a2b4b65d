# shellcheck shell=bash disable=SC2016,SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# The image does not know the job's user: slurmd runs the job by number, but it has no name and no home there. With an account baked
# into the image it has both.

IMAGE_USERS=''
SHARE_HOME=no
up <<<"$(quickstart)"
expect 1200 "$(as_alice srun --chdir=/tmp id -u)" "the number"
if as_alice srun --chdir=/tmp id -un >"$RUN/out" 2>&1; then fail "the node knows the user: $(<"$RUN/out")"; fi
grep -q 'cannot find name for user ID 1200' "$RUN/out" || fail "other words: $(<"$RUN/out")"
old=$(cloud id)

step "the account is baked into the image; the next machine has it"
printf 'alice:x:1200:1200::/home/alice:/bin/bash\n' >>"$RUN/image/root/etc/passwd"
printf 'alice:x:1200:\n' >>"$RUN/image/root/etc/group"
install -d -o 1200 -g 1200 "$RUN/image/root/home/alice"
on_head scontrol update nodename=queue1-dy-t2micro-1 state=power_down_force
wait_for 120 "the old machine is gone" instance_count_is 0
wait_for 120 "the node is powered down" node_short_is queue1-dy-t2micro-1 'idle~'
expect "alice queue1-dy-t2micro-1" "$(as_alice srun --nodelist=queue1-dy-t2micro-1 sh -c 'echo $(id -un) $(hostname)')" "user and host"
expect /home/alice "$(as_alice srun pwd)" "home"
[ "$(cloud id)" != "$old" ] || fail "the old machine is still there"
