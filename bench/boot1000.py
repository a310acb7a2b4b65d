# SPDX-License-Identifier: GPL-2.0-or-later
"""The measuring part of bench/boot1000, on the head machine: boot1000.py [--bar] --runs N NODES HEAD OUT.

NODES has a line for each instance: node, address, launch. identify_all.c plays the instances.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time

BAR_MS = 500
IDENTIFY_ALL = "/opt/slurm-ec2/bench/identify_all"
QUIET = 30  # runs of sinfo before

p = argparse.ArgumentParser()
p.add_argument("--bar", action="store_true")
p.add_argument("--runs", type=int, default=3)
p.add_argument("nodes")
p.add_argument("head")
p.add_argument("out")
args = p.parse_args()

count = sum(1 for _ in open(args.nodes))
slurmctld = int(open("/run/slurm/slurmctld.pid").read())
conf = "/run/boot1000.conf"
with open(conf, "w") as f:
    f.write(f"ClusterName=any\nSlurmctldHost={args.head}\nMessageTimeout=5\n")


def sinfo_ms():
    start = time.monotonic()
    subprocess.run(["sinfo", "-h"], check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic() - start) * 1000


def slurmctld_ms():
    t = open(f"/proc/{slurmctld}/stat").read().rsplit(")", 1)[1].split()
    return (int(t[11]) + int(t[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def burst():
    """All ask at once. What sinfo took meanwhile, and how it went."""
    before = [sinfo_ms() for _ in range(QUIET)]
    asking = subprocess.Popen([IDENTIFY_ALL, conf, args.nodes], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert asking.stdout.readline() == "ready\n"
    time.sleep(1)  # the last ones reach their gate
    cpu = slurmctld_ms()
    began = time.monotonic()
    asking.stdin.write("x")
    asking.stdin.close()
    during = []
    while asking.poll() is None:
        during.append(sinfo_ms())
    took = time.monotonic() - began
    return {"before_ms": before, "during_ms": during, "all_known_s": took, "right": int(asking.stdout.read()),
            "slurmctld_cpu_ms": slurmctld_ms() - cpu, "delay_ms": max(during) - statistics.median(before)}


machine = f"{os.cpu_count()} CPUs, Linux {platform.release()}, load {os.getloadavg()[0]:.2f}"
print(f"machine: {machine}")
runs = [burst() for _ in range(args.runs)]
for r in runs:
    print(f"{count} instances: all know their name after {r['all_known_s']:.2f} s, {r['right']} the right one; "
          f"slurmctld used {r['slurmctld_cpu_ms']:.0f} ms CPU; sinfo before {statistics.median(r['before_ms']):.1f} ms, meanwhile "
          f"median {statistics.median(r['during_ms']):.1f}, slowest {max(r['during_ms']):.1f} ms ({len(r['during_ms'])} runs)")
delay = statistics.median(r["delay_ms"] for r in runs)
wrong = sum(count - r["right"] for r in runs)
bars = [{"bar": "ms that sinfo is delayed", "figure": round(delay, 1), "limit": BAR_MS, "holds": delay < BAR_MS},
        {"bar": "instances without their name", "figure": wrong, "limit": 0, "holds": wrong == 0}]
for b in bars:
    print(f"{'holds ' if b['holds'] else 'MISSED'}  {b['bar']}: {b['figure']:g} (limit {b['limit']:g})")
with open(args.out, "w") as f:
    json.dump({"machine": machine, "runs": runs, "bars": bars}, f, indent=1)
sys.exit(1 if args.bar and not all(b["holds"] for b in bars) else 0)
