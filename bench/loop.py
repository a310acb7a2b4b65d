# SPDX-License-Identifier: GPL-2.0-or-later
"""What bench/loop does in Python.

loop.py up COUNT FILE                      nodes of slurmctld's node_state file that are powering up and not heard of are up
loop.py report [--bar] LINES MACHINE OUT   table, bars and JSON file
"""
import json
import statistics
import sys

# IDLE+CLOUD, with NOT_RESPONDING and POWERING_UP, with NOT_RESPONDING, alone; numbers of every release since 21.08, big-endian in the file of all of them.
STARTING, LOST, UP = bytes.fromhex("00004882"), bytes.fromhex("00000882"), bytes.fromhex("00000082")
KEPT_SLACK_KB = 256  # what the allocator may move


def up(count, path):
    with open(path, "rb") as f:
        text = f.read()
    if text.count(STARTING) != count:
        sys.exit(f"{path}: {text.count(STARTING)} nodes are powering up, not {count}")
    with open(path, "wb") as f:
        f.write(text.replace(STARTING, UP).replace(LOST, UP))


# name, key, divisor, digits
COLUMNS = [("wall ms", "wall_us", 1000, 1), ("CPU ms", "cpu_us", 1000, 1), ("decision ms", "decide_us", 1000, 2), ("anon MB", "anon_kb", 1024, 1),
           ("RSS MB", "rss_kb", 1024, 1), ("EC2 calls", "calls", 1, 0), ("RPCs", "rpcs", 1, 0), ("slurmctld ms", "slurmctld_ms", 1, 0)]


def read(path):
    rows = []
    for line in open(path):
        r = {k: v if k == "what" else int(v) for k, v in (p.split("=") for p in line.split())}
        if "user_us" in r:
            r["cpu_us"] = r["user_us"] + r["system_us"]
        for key in ("calls", "rpcs", "slurmctld_ms"):
            if key in r:
                r[key] /= r["count"]
        rows.append(r)
    return rows


def groups(rows):
    seen = {}
    for r in rows:
        seen.setdefault((r["what"], r["n"], r.get("up", 0)), []).append(r)
    return seen


def spread(g, key, div, digits):
    v = sorted(r[key] / div for r in g if key in r)
    if not v:
        return "-"
    return f"{v[0]:.{digits}f}" if v[0] == v[-1] else f"{statistics.median(v):.{digits}f} ({v[0]:.{digits}f} to {v[-1]:.{digits}f})"


def table(all_groups):
    print(f"{'median (least to most)':<32}" + "".join(f"{name:>24}" for name, *_ in COLUMNS))
    for (what, n, count), g in all_groups.items():
        if what == "down":
            print(f"powered down under clustermgtd, {n} nodes: {spread(g, 'ms', 1, 0)} ms until TerminateInstances, {len(g)}x")
        else:
            print(f"{what} {n}, {count} up, {len(g)}x".ljust(32) + "".join(f"{spread(g, k, d, c):>24}" for _, k, d, c in COLUMNS))


def median(g, key):
    return statistics.median(r[key] for r in g)


def flat_bars(g, at):
    tenth = max(len(g) // 10, 1)
    early, late = g[tenth:2 * tenth] or g, g[-tenth:]
    yield f"{at}: kB that memory grows from the second tenth to the last", median(late, "kept_kb") - median(early, "kept_kb"), KEPT_SLACK_KB
    yield f"{at}: descriptors more at the end than after the first loop", g[-1]["fds"] - g[0]["fds"], 0


def bars(all_groups):
    """Each bar: a sentence, the figure, the limit."""
    for (what, n, count), g in all_groups.items():
        at = f"{what}, {n} nodes, {count} up"
        if what == "down":
            yield "ms from POWERING_DOWN to TerminateInstances, the slowest", max(r["ms"] for r in g), 1000
        elif what == "flat":
            yield from flat_bars(g, f"{len(g)} loops, {n} nodes, {count} up")
        else:
            if (n, count) in ((10000, 1000), (10000, 10000)):
                yield f"{at}: ms CPU", median(g, "cpu_us") / 1000, 150 if count == 1000 else 900
            if n == 10000 and what == "loop":
                yield f"{at}: ms for the decision", median(g, "decide_us") / 1000, 50
            yield f"{at}: MB at the peak", max(r["rss_kb"] for r in g) / 1024, 120
            if what == "once":
                yield f"{at}: failed runs", sum(r["exit"] != 0 for r in g), 0
            else:
                yield f"{at}: actions", max(r["actions"] for r in g), 0


def report(lines, machine, out, strict):
    rows = read(lines)
    all_groups = groups(rows)
    table(all_groups)
    results = [{"bar": text, "figure": round(figure, 2), "limit": limit, "holds": figure <= limit} for text, figure, limit in bars(all_groups)]
    for b in results:
        print(f"{'holds ' if b['holds'] else 'MISSED'}  {b['bar']}: {b['figure']:g} (at most {b['limit']:g})")
    with open(out, "w") as f:
        json.dump({"machine": open(machine).read().strip(), "runs": rows, "bars": results}, f, indent=1)
    print(f"all figures: {out}")
    return 1 if strict and not all(b["holds"] for b in results) else 0


if sys.argv[1] == "up":
    up(int(sys.argv[2]), sys.argv[3])
else:
    sys.exit(report(*sys.argv[-3:], "--bar" in sys.argv))
