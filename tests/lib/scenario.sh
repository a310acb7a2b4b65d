# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# scenario.sh - words for scenarios, above machine.sh. A scenario is tests/scenarios/<name>.sh: plain steps, run with `set -e` by
# tests/lib/run_scenario in a head machine of its own. It passes if it reaches its end. Poll with wait_for; never sleep for a condition.

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

step() { echo "-- $(date +%H:%M:%S) $*"; }

# expect WANTED GOT WHAT
expect() { [ "$1" = "$2" ] || fail "$3: expected \"$1\", got \"$2\""; }

# The example cluster: queue1 with t2.micro, MaxCount 10. Further words are sed expressions over it.
quickstart() {
	local words=(-e '') word
	for word in "$@"; do words+=(-e "$word"); done
	sed "${words[@]}" "$TOP/examples/quickstart.yaml"
}

# apply_cluster: put the cluster.yaml on stdin on the head and apply it.
apply_cluster() {
	cat >"$RUN/cluster.yaml"
	put "$RUN/cluster.yaml" /root/cluster.yaml
	on_head slurm-ec2 apply /root/cluster.yaml
}

# put FILE PATH: copy a file into the head machine.
# shellcheck disable=SC2016 # the inner shell expands it
put() { on_head sh -c 'cat >"$1"' sh "$2" <"$1"; }

# up: the usual beginning: head machine, the cluster on stdin applied, clustermgtd running.
up() {
	local yaml
	yaml=$(cat)
	head_up </dev/null
	apply_cluster <<<"$yaml"
	on_head systemctl start slurm-ec2-clustermgtd
}

# The state words of one node as scontrol shows them, such as IDLE+CLOUD+POWERED_DOWN.
node_state() { on_head scontrol show node "$1" --oneliner | sed -n 's/.* State=\([^ ]*\).*/\1/p'; }
# node_is NODE PATTERN (a regular expression on the whole state)
node_is() { node_state "$1" | grep -qxE "$2"; }
# The short state of sinfo: idle~, alloc#, idle, down~ ...
node_short() { on_head sinfo --noheader --Node --nodes="$1" --format=%t | sort -u; }
node_short_is() { [ "$(node_short "$1")" = "$2" ]; }
node_count() { on_head sinfo --noheader --Node --format=%N | sort -u | wc -l; }
node_reason() { on_head scontrol show node "$1" --oneliner | sed -n 's/.* Reason=\(.*\) \[.*/\1/p'; }

job_state() { on_head scontrol show job "$1" --oneliner | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p'; }
job_is() { [[ " $2 " == *" $(job_state "$1") "* ]]; }

# EC2 as its own command line client sees it.
ec2() {
	on_head env AWS_SHARED_CREDENTIALS_FILE=/etc/slurm-ec2/credentials AWS_DEFAULT_REGION="${REGION:-ap-northeast-1}" AWS_PAGER= \
		/usr/bin/aws --endpoint-url http://127.0.0.1:8000 ec2 "$@"
}
# control JSON: set faults of the local cloud; see ec2local(8).
control() { on_head curl -sS --fail-with-body --json "$1" http://127.0.0.1:8000/_control; }
# cloud FIELD [STATES]: a field of each instance (not the head) in these states, by default those that cost money; one a line.
cloud() {
	on_head curl -sSf http://127.0.0.1:8000/_control/instances | /usr/bin/python3 -c '
import json, sys
for i in json.load(sys.stdin):
    if not i["head"] and i["state"] in sys.argv[2].split(","):
        print(i.get(sys.argv[1]))
' "$1" "${2:-pending,running}"
}
instance_count() { cloud id | grep -c . || true; }
instance_count_is() { [ "$(instance_count)" = "$1" ]; }
# calls ACTION: how often that EC2 action was called.
calls() {
	on_head curl -sSf http://127.0.0.1:8000/_control/calls |
		/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin).get(sys.argv[1], 0))' "$1"
}
# launches [FIELD]...: of each launch that was asked for in earnest, in order, "LEAST,MOST" and then these fields of the request; one a line.
launches() {
	on_head cat /var/log/ec2-requests.log | /usr/bin/python3 -c '
import sys
from urllib.parse import parse_qsl
counts = {"RunInstances": ("MinCount", "MaxCount"),
          "CreateFleet": ("OnDemandOptions.MinTargetCapacity SpotOptions.MinTargetCapacity", "TargetCapacitySpecification.TotalTargetCapacity")}
for line in sys.stdin:
    r = dict(parse_qsl(line.strip()))
    if r.get("Action") in counts and r.get("DryRun") != "true":
        least, most = counts[r["Action"]]
        least = next((r[k] for k in least.split() if k in r), "1")
        print(" ".join(["%s,%s" % (least, r[most])] + [r.get(k, "-") for k in sys.argv[1:]]))
' "$@"
}
# The instance id behind a node, by its address.
instance_of() {
	local ip
	ip=$(node_address "$1")
	paste <(cloud ip) <(cloud id) | awk -v ip="$ip" '$1 == ip { print $2 }'
}
node_address() { on_head scontrol show node "$1" --oneliner | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p'; }

# with_machine [SINFO OPTION]...: names of the nodes that have the address of a machine, one a line.
with_machine() { on_head sinfo --noheader --Node "$@" --format='%N %o' | sort -u | awk '$2 ~ /^10\.77\./ { print $1 }'; }
with_machine_is() { [ "$(with_machine "${@:2}" | wc -l)" = "$1" ]; }

# inside NODE CMD...: run a command as root in the machine that has the node's name.
inside() {
	local node=$1 ip outer pid
	shift
	ip=$(node_address "$node")
	outer=$(paste <(cloud ip) <(cloud pid) | awk -v ip="$ip" '$1 == ip { print $2 }')
	pid=$(on_head pgrep -P "${outer:-0}") || fail "no machine for $node ($ip)"
	on_head nsenter --target "$pid" --all --wdns=/root env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# submit FILE_TEXT [SBATCH OPTION]...: as alice; prints the job id.
submit() {
	local text=$1
	shift
	as_alice sbatch --parsable "$@" <<<"$text"
}
