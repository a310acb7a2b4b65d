# shellcheck shell=bash disable=SC2016
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm-ec2 apply is ended by a signal: before the install all is as before, during it the install is finished; kill -9 leaves no slurmctld.

site_slurm_conf() {
	cat <<'END'
NodeName=phys1 NodeAddr=10.77.9.9 CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=phys1 Default=YES State=UP
END
}
sums() { on_head sh -c 'cd /etc/slurm && sha256sum *; ls /var/lib/slurm-ec2/applied 2>/dev/null; true'; }
settings() { { write_settings; printf '%s\n' "$@"; } | on_head sh -c 'cat >/etc/slurm-ec2/settings.yaml'; }
started() {
	on_head sh -c 'rm -f /root/pid /root/out /root/go /root/in-restart; (slurm-ec2 apply /root/cluster.yaml >/root/out 2>&1 & echo $! >/root/pid; wait $!; echo "exit $?" >>/root/out) >/dev/null 2>&1 &'
	wait_for 120 "apply has a pid" on_head test -s /root/pid
}
signal() { on_head sh -c "kill -$1 \$(cat /root/pid)"; }
said() { on_head grep -qF -- "$1" /root/out; }
ended() { wait_for 120 "apply has ended" said 'exit '; }
tries() { on_head sh -c 'ls -d /tmp/slurm-ec2-try-* 2>/dev/null | wc -l'; }
tries_are() { [ "$(tries)" = "$1" ]; }
trial_runs() { on_head sh -c 'grep -lzx 77777 /proc/[0-9]*/cmdline >/dev/null 2>&1'; }
trial_gone() { ! trial_runs; }

head_up
quickstart >"$RUN/cluster.yaml"
put "$RUN/cluster.yaml" /root/cluster.yaml
on_head sh -c 'cat >/root/slow-slurmctld; chmod 755 /root/slow-slurmctld' <<'END'
#!/bin/sh
[ "$1" != -V ] || exec slurmctld -V
exec sleep 77777
END
on_head sh -c 'cat >/root/slow-restart; chmod 755 /root/slow-restart' <<'END'
#!/bin/sh
touch /root/in-restart
while [ ! -e /root/go ]; do sleep 0.1; done
exec systemctl restart slurmctld
END
before=$(sums)

for signal in TERM HUP; do
	step "$signal while the trial slurmctld starts"
	settings 'Slurmctld: /root/slow-slurmctld'
	started
	wait_for 120 "the trial runs" trial_runs
	expect 1 "$(tries)" "folders of the trial"
	signal $signal
	ended
	said 'interrupted; nothing was changed' || fail "not said: $(on_head cat /root/out)"
	said "exit $((128 + $(kill -l $signal)))" || fail "exit status: $(on_head cat /root/out)"
	expect 0 "$(tries)" "folders of the trial"
	trial_gone || fail "the trial slurmctld runs"
	expect "$before" "$(sums)" "Slurm's folder and ours"
done

step "kill -9 while the trial slurmctld starts"
started
wait_for 120 "the trial runs" trial_runs
signal KILL
ended
wait_for 120 "the trial slurmctld is gone" trial_gone
wait_for 120 "its folder is gone" tries_are 0
expect "$before" "$(sums)" "Slurm's folder and ours"

step "TERM during the install: it is finished"
on_head mkdir -p /tmp/slurm-ec2-try-stale/state
settings 'SlurmctldRestart: [/root/slow-restart]'
started
wait_for 120 "slurmctld is being restarted" on_head test -e /root/in-restart
expect 0 "$(tries)" "stale folders of a trial"
signal TERM
on_head touch /root/go
wait_for 120 "apply has ended" said 'exit '
said 'the install was finished' || fail "not said: $(on_head cat /root/out)"
said 'exit 143' || fail "exit status: $(on_head cat /root/out)"
expect 'idle~ 10' "$(on_head sinfo --noheader --partition=queue1 --format='%t %D')" "nodes"
expect 1 "$(on_head readlink /var/lib/slurm-ec2/applied/current)" "generation"
