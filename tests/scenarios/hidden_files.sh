# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# From inside a job the head node's settings, credentials, state and munge key cannot be seen.

up <<<"$(quickstart)"
as_alice srun sh -c 'ls -A /etc/slurm-ec2 /var/lib/slurm-ec2 /etc/slurm /srv 2>&1; cat /etc/munge/munge.key 2>&1; grep -rlF wJalrXUtnFEMI /etc /run /var /opt /home 2>/dev/null | sed "s/^/SECRET in /"; true' \
	>"$RUN/seen"
! grep -E 'credentials|settings|\.db|slurm\.conf|SECRET' "$RUN/seen" || fail "a job sees what it must not"
grep -q 'munge.key: Permission denied' "$RUN/seen" || fail "the munge key: $(<"$RUN/seen")"

step "not even root of the node sees them"
inside queue1-dy-t2micro-1 sh -c 'ls -A /etc/slurm-ec2 /var/lib/slurm-ec2 2>/dev/null
	grep -rlF wJalrXUtnFEMI /etc /run /var /opt 2>/dev/null; true' >"$RUN/root"
expect "" "$(<"$RUN/root")" "what root of the node sees"
