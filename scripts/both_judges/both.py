"""Both judges over every pair: outcome of C++ beside that of Python, counted, differences listed."""

import csv, sys, glob, os, collections, pickle
from pathlib import Path
import plots.data.load as L
from plots.data.load import load
from plots.judge.compare import *

OUT = sys.argv[1] + "/"  # what judge.cpp wrote: TAG.compare.csv, TAG.repetition.csv
base = sys.argv[2] + "/"  # results/ at commit 21c2a87


def pairs():
    for f in sorted(glob.glob(OUT + "*.compare.csv")):
        tag = os.path.basename(f)[:-12]
        if tag.startswith("old-new-"):
            n = tag[8:]
            yield tag, base + f"0.1.0/h200/{n}.json", base + f"h200/{n}.json"
        elif tag.startswith("h100-h200-"):
            n = tag[10:]
            yield tag, base + f"0.1.0/h100-80gb-hbm3/{n}.json", base + f"h200/{n}.json"
        elif tag.startswith("h100-old-"):
            n = tag[9:]
            yield tag, base + f"0.1.0/h100-80gb-hbm3/{n}.json", base + f"0.1.0/h200/{n}.json"
        elif tag.startswith("self-"):
            n = tag[5:]
            yield tag, base + f"h200/{n}.json", base + f"h200/{n}.json"
        elif tag.startswith("split-"):
            n, i = tag[6:].rsplit("-", 1)
            s = sys.argv[3] + "/"
            yield tag, s + f"{n}-0.json", s + f"{n}-{i}.json"


@cache
def get(p):
    return load([p])


if __name__ == "__main__":
    want = sys.argv[4] if len(sys.argv) > 4 else ""
    total = {"compare": collections.Counter(), "repetition": collections.Counter()}
    lines = []
    for tag, o, n in pairs():
        if want not in tag:
            continue
        done = OUT + tag + ".py.pkl"
        try:
            c = compare(get(n), get(o))
        except PlotsError as e:
            print(tag, "PlotsError", e, flush=True)
            continue

        def split(v):
            return v

        times = {}
        for v in c.values:
            times[(v.quantity, v.name, v.at)] = v
        cpp = list(csv.DictReader(open(OUT + tag + ".compare.csv")))
        seen = set()
        for r in cpp:
            variant, role = r["variant"], r["role"]
            within = {"matched": None}.get(role)
            at = f"{r['app']} {r['size']} {r['cache']} {r['launch']}"
            cand = [
                v
                for (q, nm, a), v in times.items()
                if q == "time"
                and a == at
                and nm.startswith((f"{variant} ({role} ", f"{variant} ({role})"))
                and abs(v.new / float(r["b_ms"]) - 1) < 0.5
            ]
            if role in ("matched", "cross", "candidate", "counterpart"):
                # by config in the cause-free name: schedule is the head of config
                cc = [
                    v
                    for v in cand
                    if (lambda w: w and (r["a_config"] == w or r["a_config"].startswith(w + "/")))(
                        v.name[len(variant) + 2 + len(role) + 1 : -1]
                    )
                ]
                if cc:
                    cand = [max(cc, key=lambda v: len(v.name))]
                else:
                    cand = cand if len(cand) == 1 else cand[:0] if len(cand) != 1 else cand
            if len(cand) != 1:
                total["compare"][(r["verdict"], "UNMATCHED %d" % len(cand))] += 1
                lines.append((tag, "compare", "unmatched", variant, role, r["a_config"], at))
                continue
            v = cand[0]
            seen.add(id(v))
            total["compare"][(r["verdict"], str(v.outcome))] += 1
            lines.append(
                (
                    tag,
                    "compare",
                    r["verdict"],
                    str(v.outcome),
                    v.name,
                    at,
                    r["speedup"],
                    r["speedup_low"],
                    r["speedup_high"],
                    r["between"],
                    v.ratio,
                    v.low,
                    v.high,
                    v.knows,
                )
            )
        for v in c.values:
            if v.quantity == "time" and v.is_judged and id(v) not in seen:
                total["compare"][("not in C++", str(v.outcome))] += 1
                lines.append((tag, "compare", "absent", str(v.outcome), v.name, v.at))
        for r in csv.DictReader(open(OUT + tag + ".repetition.csv")):
            if r["name"].endswith("A/A"):
                continue
            v = times.get((r["quantity"], r["name"], r["at"]))
            if v is None and "(matched) over" in r["name"]:
                head, tail = r["name"].split("(matched) over")
                near = [
                    w
                    for (q, nm, a), w in times.items()
                    if q == "speed-up"
                    and a == r["at"]
                    and nm.startswith(head + "(matched")
                    and nm.endswith("over" + tail)
                ]
                v = min(near, key=lambda w: abs(w.old / float(r["recorded"]) - 1), default=None)
            if v is None and r["outcome"].startswith("not possible"):
                got = "only in OLD"
            got = (
                ("only in OLD" if r["outcome"].startswith("not possible") else "absent")
                if v is None
                else str(v.outcome)
            )
            total["repetition"][
                (
                    r["quantity"] if r["quantity"] in ("time", "speed-up") else "point",
                    r["outcome"],
                    got,
                )
            ] += 1
            lines.append(
                (
                    tag,
                    "repetition",
                    r["outcome"],
                    got,
                    r["quantity"],
                    r["name"],
                    r["at"],
                    r["recorded"],
                    r["low"],
                    r["high"],
                    r["now"],
                    r["interval"],
                    None if v is None else (v.old, v.new, v.ratio, v.low, v.high, v.knows),
                    r["reason"],
                )
            )
        print(tag, len(cpp), len(c.values), tally(c.values), flush=True)
    pickle.dump((total, lines), open(OUT + "both-%s.pkl" % (want or "all"), "wb"))
    for k, t in total.items():
        print("==", k)
        for key, nn in sorted(t.items(), key=str):
            print(key, nn)
