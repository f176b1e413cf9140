"""Has `amasia bench` judge every implementation of this folder, and compares what becomes of each
with what must (tests/cli/test_hostile.py)."""

import json
import os
import random
import re
import shutil
import struct
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
SIZE = 1 << 22  # 16 MiB a buffer, well within the L2 of an H100
REFUSED, MEASURED, EITHER = "refused", "measured right", "either"
MOST_GAIN = 1.03  # of what is measured right, over the baseline that does the same


@dataclass(frozen=True)
class Kind:
    """What must become of an implementation. ``said`` stands in the reason of a refusal, or in a
    warning beside a time. ``alone``: what it does may disturb those beside it."""

    outcome: str
    said: str = ""
    on_stub: bool = True
    alone: bool = False


AFTER = "wrong result after timing"
HOSTILE = {
    "no_work": Kind(REFUSED, "not written"),
    "part_of_the_work": Kind(REFUSED, "not written"),
    "stale_output": Kind(REFUSED, "wrong result"),
    "kept_output": Kind(REFUSED, "challenge 1|wrong result"),
    "replay_by_fingerprint": Kind(MEASURED),
    "replay_by_pointer": Kind(REFUSED, "wrong result"),
    "replay_by_call_count": Kind(REFUSED, AFTER),
    "every_other_call": Kind(REFUSED, "wrong result"),
    "wrong_later": Kind(REFUSED, AFTER),
    "side_stream": Kind(REFUSED, "works on another stream|changed after|not written", alone=True),
    "side_stream_later": Kind(REFUSED, AFTER, alone=True),
    "work_after_the_end": Kind(REFUSED, "works on another stream|changed after", alone=True),
    "work_after_the_end_uncaptured": Kind(
        REFUSED, "works on another stream", on_stub=False, alone=True
    ),
    "only_when_poisoned": Kind(MEASURED),
    "writes_beyond": Kind(REFUSED, "behind the end of 'y'"),
    "writes_input": Kind(REFUSED, "wrote into the input 'x'"),
    # A driver may wait in an allocation.
    "allocates_each_call": Kind(REFUSED, "does not give back|what it allocates or loads must stay"),
    "prints_to_stdout": Kind(MEASURED, "printed to stdout"),
    "prints_to_stderr": Kind(MEASURED),
    "nothing_in_capture": Kind(REFUSED, "works outside the stream", on_stub=False),
    "allocates_and_frees": Kind(EITHER, on_stub=False),  # a driver may free without waiting
    "allocates_on_the_stream": Kind(MEASURED, on_stub=False),
    "result_left_in_l2": Kind(MEASURED, on_stub=False),
    "result_left_in_persisting_l2": Kind(MEASURED, "left cudaLimitPersisting", on_stub=False),
}
HONEST = (
    "handles_in_the_first_call", "cublas", "cub_with_scratch", "cooperative", "graph_of_its_own",
    "thrust_on_the_stream",
)  # fmt: skip

HOSTILE_PROBLEM = """name = "{name}"
parameters = {{ n = {n} }}
[buffers.x]
type = "f32"
count = "n"
role = "input"
{content}
[buffers.y]
type = "f32"
count = "n"
role = "output"
"""
HONEST_PROBLEM = """name = "honest"
parameters = {{ n = {n} }}
[buffers.x]
type = "f32"
count = "n"
role = "input"
fill = "uniform"
[buffers.y]
type = "f32"
count = "n"
role = "in place"
fill = "uniform"
tolerance = {{ relative = 1e-6 }}
[buffers.k]
type = "i32"
count = "n"
role = "input"
fill = "uniform"
[buffers.total]
type = "i64"
count = 1
role = "output"
"""


def description(problem: str, library: str, arguments: str, names: Iterable[str]) -> str:
    each = (
        '[[implementation]]\nname = "{0}"\nlibrary = "{1}"\nfunction = "{0}"\narguments = [{2}]\n'
    )
    return problem + "".join(each.format(name, library, arguments) for name in names)


def hostile(n: int, names: Iterable[str], name: str = "hostile", content: str = "") -> str:
    problem = HOSTILE_PROBLEM.format(name=name, n=n, content=content or 'fill = "uniform"')
    return description(problem, "hostile.so", '{ i32 = "n" }, "x", "y"', ("honest", *names))


def write_data(path: Path, n: int) -> None:
    draw = random.Random(1)
    path.write_bytes(struct.pack(f"<{n}f", *(draw.random() for _ in range(n))))


@dataclass(frozen=True)
class Finding:
    name: str
    problem: str
    cache: str
    became: str
    is_right: bool


def judged(document: dict, kinds: dict[str, Kind], timed: bool = True) -> list[Finding]:
    """What became of each. ``timed``: times are real, so that a gain is one."""
    findings = []
    for group in document["groups"]:
        app, cache = group["key"]["app"], group["key"]["cache"]
        rows = {r["variant"].split("/")[1]: r for r in group["rows"] if not r.get("repeat")}
        ratios = {c["variant"].split("/")[1]: c["speedup"] for c in group["comparisons"]}
        for name, kind in kinds.items():
            row = rows[name]
            mismatches = (row.get("verdict") or {}).get("first_mismatches") or []
            said = "; ".join([row.get("reason") or "", *mismatches[:1]])
            if row["status"] == "ok":
                warned = [w for w in group["warnings"] if f"/{name} " in w]
                ratio = ratios.get(name, {"ratio": 0.0, "low": 0.0})
                right = kind.outcome != REFUSED and (not timed or ratio["low"] <= MOST_GAIN)
                right = right and re.search(kind.said, " ".join(warned)) is not None
                became = f"{MEASURED}, {ratio['ratio']:.3f}x, round {row.get('verified_round')}"
                became += f" of {group['rounds']}"
                became += "".join(f"; {w}" for w in warned)
                right = right and row.get("verified_round") is not None
            else:
                right = kind.outcome != MEASURED and row["status"] == "failed"
                right = right and re.search(kind.said, said) is not None
                became = f"{row['status']}: {said}"
            findings.append(Finding(name, app, cache, " ".join(became.split()), right))
    return findings


def bench(
    program: str, folder: Path, name: str, text: str, *options: str, **environment: str
) -> dict:
    """The result of `amasia bench`, whose exit status says that rows were refused."""
    (folder / f"{name}.toml").write_text(text)
    out = folder / f"{name}.json"
    command = [program, "bench", f"{name}.toml", "--out", str(out), "--overwrite", *options]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True
    )
    if not out.exists():
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return json.loads(out.read_text())


def all_findings(program: str, folder: Path, kinds: dict[str, Kind], n: int, timed: bool,
                 *options: str, **environment: str) -> list[Finding]:  # fmt: skip
    """Of the hostile ones: on inputs that are drawn, on those of a file, and those alone."""
    together = {name: kind for name, kind in kinds.items() if not kind.alone}

    def tried(name: str, chosen: dict[str, Kind], content: str = "") -> list[Finding]:
        text = hostile(n, chosen, name, content)
        return judged(bench(program, folder, name, text, *options, **environment), chosen, timed)

    write_data(folder / "x.bin", n)
    # One element in many changes: what knows an input by eight of them may not see it.
    of_file = {**together, "replay_by_fingerprint": Kind(EITHER)}
    findings = tried("drawn", together) + tried("file", of_file, 'file = "x.bin"')
    for name, kind in kinds.items():
        if kind.alone:
            findings += tried(name, {name: kind})
    return findings


def compile_libraries(folder: Path) -> None:
    nvcc = os.environ.get("CUDACXX") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    for name, more in (("hostile", ()), ("honest", ("-lcublas",))):
        command = [
            nvcc, "-std=c++17", "-O2", "-arch=native", "-extended-lambda", f"-I{ROOT}", "-shared",
            "-Xcompiler=-fPIC", "-o", str(folder / f"{name}.so"), str(FOLDER / f"{name}.cu"), *more,
        ]  # fmt: skip
        subprocess.run(command, check=True)


def on_a_gpu(program: str, folder: Path) -> list[Finding]:
    compile_libraries(folder)
    options = ("--cache", "cold,hot", "--seconds", "3", "--min-rounds", "15")
    findings = all_findings(program, folder, HOSTILE, SIZE, True, *options)
    text = description(
        HONEST_PROBLEM.format(n=SIZE), "honest.so", '{ i32 = "n" }, "x", "y", "k", "total"',
        ("plain", *HONEST),
    )  # fmt: skip
    accepted = dict.fromkeys(HONEST, Kind(MEASURED))
    # Some of them are faster than the plain one, as they may be.
    return findings + judged(bench(program, folder, "honest", text, *options), accepted, False)
