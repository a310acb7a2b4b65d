# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# machine.sh - the head machine of a test or a demonstration: a Slurm site of its own, with the local cloud beside it, on a stock Debian.
# Sourced by demo, tests/lib/run_scenario and others. Needs root, and a build in $BUILD (set before sourcing, or by build_product).
#
#   stage_product        install the build into $BUILD/stage (once)
#   head_up              start the head machine: munged, slurmctld (SlurmUser=slurm), ec2local; nothing of ours applied yet
#   on_head CMD...       run a command in it as root;  as_alice CMD... as the ordinary user;  both fail as CMD does
#   head_down            end it and all in it (also done by the kernel if this shell dies)
#
# Everything of a run lies in $RUN, a folder that head_up makes and head_down removes, unless KEEP_RUN is set.

: "${TOP:?}" "${BUILD:?}"
STAGE=$BUILD/stage
IMAGE_ID=ami-0123456789abcdef0
ACCESS_KEY=AKIDEXAMPLE
SECRET_KEY=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY
LIBEXEC=/opt/slurm-ec2/libexec/slurm-ec2
RUN=
HEAD_PID=
MACHINE_PID=

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# wait_for SECONDS WHAT CMD...: poll until CMD succeeds; says what did not happen in time.
wait_for() {
	local limit=$1 what=$2 end
	shift 2
	end=$(($(date +%s%N) + limit * 1000000000))
	until "$@" >/dev/null 2>&1; do
		if [ "$(date +%s%N)" -gt "$end" ]; then
			echo "not within $limit s: $what" >&2
			return 1
		fi
		sleep 0.1
	done
}

# shellcheck source=tests/lib/source.sh
. "$TOP/tests/lib/source.sh"

build_product() {
	local source
	mkdir -p "$BUILD" || return
	source=$(source_tree "$BUILD") || return
	if [ ! -f "$BUILD/Makefile" ]; then
		(cd "$BUILD" && "$source/configure" -q --prefix=/opt/slurm-ec2 --sysconfdir=/etc --localstatedir=/var "$@") || return
	fi
	make -C "$BUILD" -s -j"$(nproc)"
}

# The build's programs as they will lie in the machines: <stage>/opt/slurm-ec2 is shown at /opt/slurm-ec2.
stage_product() {
	exec 9>"$BUILD/stage.lock"
	flock 9
	rm -rf "$STAGE"
	make -C "$BUILD" -s install DESTDIR="$STAGE" >"$BUILD/install.log" 2>&1 || {
		tail -n 20 "$BUILD/install.log" >&2
		return 1
	}
	exec 9>&-
}

# Hooks a scenario may redefine before head_up: more lines of the site's slurm.conf, more files in the head's tree.
site_slurm_conf() { :; }
more_head_files() { :; }
: "${IMAGE_USERS=alice:1200}" "${HEAD_NAME=head}" "${HEAD_ADDRESS=10.77.0.1}" "${EC2_ENDPOINT=http://127.0.0.1:8000}"

write_slurm_conf() {
	cat <<END
ClusterName=${CLUSTER_NAME:-demo}
SlurmctldHost=$HEAD_NAME($HEAD_ADDRESS)
SlurmUser=slurm
AuthType=auth/munge
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MailProg=/bin/true
END
	site_slurm_conf
}

write_settings() {
	cat <<END
Ec2Endpoint: $EC2_ENDPOINT
CredentialsFile: /etc/slurm-ec2/credentials
ImageId: $IMAGE_ID
ComputeSecurityGroupIds: [sg-0ec2000000000001a]
SuspendTimeout: 10
LoopTime: ${LOOP_TIME:-10}
END
}

write_credentials() {
	cat <<END
[default]
aws_access_key_id = $ACCESS_KEY
aws_secret_access_key = $SECRET_KEY
END
}

# The unit that runs the local cloud on the head.
# /home of the head is shown on the instances, as a shared file system would be, unless SHARE_HOME is "no".
write_ec2local_unit() {
	local args
	args="--boot=machine --imds 169.254.169.254:80 --run-dir /run/ec2local --key $ACCESS_KEY:$SECRET_KEY --region ap-northeast-1"
	args+=" --head ip=10.77.0.1,id=i-0ec20000000000001,subnet=subnet-0123456789abcdef0"
	args+=" --image $IMAGE_ID:$(slurmctld -V | sed 's/.* //') --image-arg --image=/srv/image"
	args+=" --request-log /var/log/ec2-requests.log --state-log /var/log/ec2-states.log"
	args+=" --subnet subnet-0123456789abcdef0:ap-northeast-1a --subnet subnet-0fedcba9876543210:ap-northeast-1a"
	[ "${SHARE_HOME-}" = no ] || args+=" --image-arg --bind=/home:/home:rw"
	cat <<END
[Service]
ExecStart=$LIBEXEC/ec2local $args ${EC2LOCAL_ARGS-}
END
}

# make_head DIR PRODUCT: the tree of a head machine; PRODUCT is what to show at /opt/slurm-ec2.
make_head() {
	local root=$1/root
	"$TOP/ec2local/ec2local-image" --out "$1" --munge-key "$RUN/munge.key" --product "$2:/opt/slurm-ec2" --user alice:1200 || return
	install -d -o slurm -g slurm -m 755 "$root/var/lib/slurm/slurmctld" "$root/run/slurm"
	install -d -m 755 "$root/etc/slurm-ec2" "$root/srv/image"
	write_slurm_conf >"$root/etc/slurm/slurm.conf"
	printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n' >"$root/etc/slurm/cgroup.conf"
	write_settings >"$root/etc/slurm-ec2/settings.yaml"
	write_credentials >"$root/etc/slurm-ec2/credentials"
	chown slurm:slurm "$root/etc/slurm-ec2/credentials"
	chmod 600 "$root/etc/slurm-ec2/credentials"
	write_ec2local_unit >"$root/etc/systemd/system/ec2local.service"
	echo "$HEAD_ADDRESS $HEAD_NAME" >>"$root/etc/hosts"
	# Our package's own parts outside of /opt: state and log folders, units.
	if [ -d "$STAGE/var" ]; then cp -a "$STAGE/var" "$root/"; fi
	install -d -o slurm -g slurm -m 755 "$root/var/lib/slurm-ec2" "$root/var/log/slurm-ec2"
	find "$STAGE" -name '*.service' -exec cp {} "$root/etc/systemd/system/" \;
}

# The image of instances. They are made inside the head machine and find the product where it is there.
make_image() {
	local user users=()
	for user in $IMAGE_USERS; do
		users+=(--user "$user")
	done
	"$TOP/ec2local/ec2local-image" --out "$RUN/image" --munge-key "$RUN/munge.key" --product /opt/slurm-ec2 "${users[@]}"
}

on_head() {
	nsenter --target "$HEAD_PID" --all --wdns=/root env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
		PATH=/usr/local/sbin:/usr/local/bin:/opt/slurm-ec2/bin:/opt/slurm-ec2/sbin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
as_alice() {
	on_head env HOME=/home/alice USER=alice setpriv --reuid 1200 --regid 1200 --clear-groups env --chdir=/home/alice "$@"
}

# With KEEP_MACHINE it may outlive this shell; without, it dies with it.
start_machine() {
	local how=(env) life=(--die-with-parent)
	[ -z "${KEEP_MACHINE-}" ] || how=(setsid) life=()
	"${how[@]}" "$STAGE$LIBEXEC/ec2local-machine" --head --stay "${life[@]}" --hostname "$HEAD_NAME" --root-size 1g \
		--image "$RUN/head" --bind "$RUN/image:/srv/image" --pid-file "$RUN/head.pid" -- /bin/true \
		</dev/null >"$RUN/machine.log" 2>&1 &
	MACHINE_PID=$!
	wait_for 120 "the head machine runs" test -s "$RUN/head.pid" || {
		cat "$RUN/machine.log" >&2
		return 1
	}
	HEAD_PID=$(<"$RUN/head.pid")
	wait_for 120 "the head machine has its own root" on_head test -x /usr/local/sbin/ec2local-boot
}

start_services() {
	on_head setpriv --reuid munge --regid munge --clear-groups munged "--origin=$HEAD_ADDRESS" || return
	# A site without nodes of its own: slurmctld refuses to run until apply gives it some.
	if grep -q ^PartitionName= "$RUN/head/root/etc/slurm/slurm.conf"; then
		on_head systemctl start slurmctld || return
		wait_for 120 "slurmctld answers" on_head scontrol ping || return
	fi
	on_head systemctl start ec2local || return
	wait_for 120 "ec2local answers" on_head bash -c 'exec 3<>/dev/tcp/127.0.0.1/8000'
}

head_up() {
	RUN=$(mktemp -d "${RUN_DIR:-/tmp}/slurm-ec2.XXXXXX")
	chmod 755 "$RUN"
	dd if=/dev/urandom of="$RUN/munge.key" bs=128 count=1 status=none
	make_image && make_head "$RUN/head" "$STAGE/opt/slurm-ec2" && more_head_files && start_machine && start_services
}

head_down() {
	if [ -n "$MACHINE_PID" ]; then
		kill -KILL "$MACHINE_PID" 2>/dev/null || true
		wait "$MACHINE_PID" 2>/dev/null || true
	fi
	MACHINE_PID='' HEAD_PID=''
	if [ -n "$RUN" ] && [ -z "${KEEP_RUN-}" ]; then rm -rf "$RUN"; fi
}
