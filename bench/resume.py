# SPDX-License-Identifier: GPL-2.0-or-later
"""Table, bars and JSON file of bench/resume: resume.py [--bar] LINES MACHINE OUT."""
import json
import math
import statistics
import sys

BATCH = 500
strict = sys.argv[1] == "--bar"
lines, machine, out = sys.argv[-3:]
rows = [{k: v if k == "what" else int(v) for k, v in (p.split("=") for p in line.split())} for line in open(lines)]
for r in rows:
    r["cpu_us"] = r["user_us"] + r["system_us"]
    if r["what"] == "resume":
        r["beyond_us"] = r["wall_us"] - r["api_wall_us"]

# name, key, divisor, digits
COLUMNS = [("wall ms", "wall_us", 1000, 1), ("API ms", "api_wall_us", 1000, 1), ("beyond ms", "beyond_us", 1000, 1),
           ("Slurm ms", "slurm_wall_us", 1000, 1), ("CPU ms", "cpu_us", 1000, 1), ("anon MB", "anon_kb", 1024, 2),
           ("RSS MB", "rss_kb", 1024, 1), ("EC2 calls", "calls", 1, 0), ("RPCs", "rpcs", 1, 0)]


def groups():
    seen = {}
    for r in rows:
        seen.setdefault((r["what"], r["n"], r["delay_ms"]), []).append(r)
    return seen


def median(g, key):
    return statistics.median(r[key] for r in g)


def table():
    print(f"{'median (least to most)':<28}" + "".join(f"{name:>24}" for name, *_ in COLUMNS))
    for (what, n, delay), g in groups().items():
        cells = []
        for _, key, div, digits in COLUMNS:
            v = sorted(r[key] / div for r in g if key in r)
            cells.append(f"{statistics.median(v):.{digits}f} ({v[0]:.{digits}f} to {v[-1]:.{digits}f})" if v else "-")
        print(f"{what} {n}, API {delay / 1000:g} s, {len(g)}x".ljust(28) + "".join(f"{c:>24}" for c in cells))


def bars():
    """Each bar: a sentence, the figure, the limit."""
    for (what, n, delay), g in groups().items():
        if what != "resume":
            continue
        at = f"{n} node{'s' if n > 1 else ''}, API {delay / 1000:g} s"
        if n == 1:
            yield f"{at}: ms beyond the API", median(g, "beyond_us") / 1000, 30
            yield f"{at}: MB anonymous", median(g, "anon_kb") / 1024, 4
        for size, cpu, mem in ((1000, 120, 15), (10000, 600, 35)):
            if n == size:
                yield f"{at}: ms CPU", median(g, "cpu_us") / 1000, cpu
                yield f"{at}: MB anonymous", median(g, "anon_kb") / 1024, mem
        if n >= 1000:
            yield f"{at}: ms beyond the API, twice Slurm's floor", median(g, "beyond_us") / 1000, 2 * median(g, "slurm_wall_us") / 1000
        yield f"{at}: EC2 calls", median(g, "calls"), math.ceil(n / BATCH)
        yield f"{at}: failed runs", sum(r["exit"] != 0 for r in g), 0


table()
results = [{"bar": text, "figure": round(figure, 2), "limit": round(limit, 2), "holds": figure <= limit} for text, figure, limit in bars()]
for b in results:
    print(f"{'holds ' if b['holds'] else 'MISSED'}  {b['bar']}: {b['figure']:g} (at most {b['limit']:g})")
with open(out, "w") as f:
    json.dump({"machine": open(machine).read().strip(), "runs": rows, "bars": results}, f, indent=1)
print(f"all figures: {out}")
sys.exit(1 if strict and not all(b["holds"] for b in results) else 0)
