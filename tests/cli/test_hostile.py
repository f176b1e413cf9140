"""The implementations of tests/hostile, judged by `amasia bench`: each is refused or measured
right."""

from __future__ import annotations

import json
import random
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from programs import built_with_cuda, program, shared_library

from tests.process import ROOT, nvcc, run

FOLDER = ROOT / "tests" / "hostile"
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

UNIFORM = 'fill = "uniform"'


def buffer(name: str, role: str, more: str = "", type_: str = "f32", count: str = '"n"') -> str:
    return f'[buffers.{name}]\ntype = "{type_}"\ncount = {count}\nrole = "{role}"\n{more}\n'


def description(name: str, n: int, buffers: str, library: str, arguments: str,
                names: Iterable[str]) -> str:  # fmt: skip
    each = (
        '[[implementation]]\nname = "{0}"\nlibrary = "{1}"\nfunction = "{0}"\narguments = [{2}]\n'
    )
    implementations = "".join(each.format(name, library, arguments) for name in names)
    return f'name = "{name}"\nparameters = {{ n = {n} }}\n{buffers}{implementations}'


def hostile(n: int, names: Iterable[str], name: str = "hostile", content: str = UNIFORM) -> str:
    buffers = buffer("x", "input", content) + buffer("y", "output")
    arguments = '{ i32 = "n" }, "x", "y"'
    return description(name, n, buffers, "hostile.so", arguments, ("honest", *names))


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
    amasia: str, folder: Path, name: str, text: str, *options: str, **environment: str
) -> dict:
    """The result of `amasia bench`, whose exit status says that rows were refused."""
    (folder / f"{name}.toml").write_text(text)
    out = folder / f"{name}.json"
    command = ("bench", f"{name}.toml", "--out", out, "--overwrite", *options)
    done = run(program(amasia), *command, cwd=folder, **environment)
    assert out.exists(), done.stderr
    return json.loads(out.read_text())


def all_findings(amasia: str, folder: Path, kinds: dict[str, Kind], n: int, timed: bool,
                 *options: str, **environment: str) -> list[Finding]:  # fmt: skip
    """Of the hostile ones: on inputs that are drawn, on those of a file, and those alone."""
    together = {name: kind for name, kind in kinds.items() if not kind.alone}

    def tried(name: str, chosen: dict[str, Kind], content: str = UNIFORM) -> list[Finding]:
        text = hostile(n, chosen, name, content)
        return judged(bench(amasia, folder, name, text, *options, **environment), chosen, timed)

    draw = random.Random(1)
    (folder / "x.bin").write_bytes(struct.pack(f"<{n}f", *(draw.random() for _ in range(n))))
    # One element in many changes: what knows an input by eight of them may not see it.
    of_file = {**together, "replay_by_fingerprint": Kind(EITHER)}
    findings = tried("drawn", together) + tried("file", of_file, 'file = "x.bin"')
    for name, kind in kinds.items():
        if kind.alone:
            findings += tried(name, {name: kind})
    return findings


ON_STUB = {name: kind for name, kind in HOSTILE.items() if kind.on_stub}
FEW = ("--min-rounds", "15", "--max-rounds", "15")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    flags = ("-x", "c++", "-pthread", f"-I{ROOT}")
    shared_library(FOLDER / "hostile.cu", folder / "hostile.so", *flags)
    return folder


@pytest.mark.parametrize("cache", ["cold", "hot"])
def test_on_the_stub_each_is_refused_or_measured_right(library: Path, cache: str) -> None:
    options = ("--cache", cache, *FEW)
    findings = all_findings(
        "amasia-stub", library, ON_STUB, 1000, False, *options, AMASIA_STUB="{}"
    )
    alone = sum(kind.alone for kind in ON_STUB.values())
    assert len(findings) == 2 * (len(ON_STUB) - alone) + alone
    assert [f for f in findings if not f.is_right] == []


def test_each_round_is_verified_at_random(library: Path) -> None:
    """Which round it is cannot be known before: in 5 runs of 15 rounds it is not always one."""
    text = hostile(100, ["prints_to_stderr"])
    rounds = set()
    for _ in range(5):
        (group,) = bench("amasia-stub", library, "random", text, *FEW, AMASIA_STUB="{}")["groups"]
        assert group["inputs"] == "new in every round"
        (chosen,) = {row["verified_round"] for row in group["rows"]}
        assert 0 <= chosen < 15
        rounds.add(chosen)
    assert len(rounds) > 1


def test_what_keeping_outputs_takes_is_no_time_of_the_rounds(library: Path) -> None:
    """On the stub, outputs that are kept take 20 ms a row. Where that ended the timing, what is
    wrong from its 21st call on would never be called so often."""
    kinds = {"wrong_later": ON_STUB["wrong_later"]}
    text = hostile(100, kinds)
    honest = '[[implementation]]\nname = "{}"\nlibrary = "hostile.so"\nfunction = "honest"\n'
    for i in range(10):
        text += honest.format(f"honest{i}") + 'arguments = [{ i32 = "n" }, "x", "y"]\n'
    brief = (*FEW, "--seconds", "0.2")
    document = bench("amasia-stub", library, "keeping", text, *brief, AMASIA_STUB="{}")
    assert document["groups"][0]["rounds"] == 15
    assert [f for f in judged(document, kinds, False) if not f.is_right] == []


@pytest.mark.usefixtures("gpu")
def test_on_a_gpu_each_is_refused_or_measured_right(tmp_path: Path) -> None:
    if not built_with_cuda():
        pytest.skip("this build has no device code")
    for name, more in (("hostile", ()), ("honest", ("-lcublas",))):
        command = [
            nvcc(), "-std=c++17", "-O2", "-arch=native", "-extended-lambda", f"-I{ROOT}", "-shared",
            "-Xcompiler=-fPIC", "-o", tmp_path / f"{name}.so", FOLDER / f"{name}.cu", *more,
        ]  # fmt: skip
        run(*command, status=0)
    options = ("--cache", "cold,hot", "--seconds", "3", "--min-rounds", "15")
    findings = all_findings("amasia", tmp_path, HOSTILE, SIZE, True, *options)
    buffers = buffer("x", "input", UNIFORM)
    buffers += buffer("y", "in place", UNIFORM + "\ntolerance = { relative = 1e-6 }")
    buffers += buffer("k", "input", UNIFORM, "i32") + buffer("total", "output", "", "i64", "1")
    arguments = '{ i32 = "n" }, "x", "y", "k", "total"'
    text = description("honest", SIZE, buffers, "honest.so", arguments, ("plain", *HONEST))
    document = bench("amasia", tmp_path, "honest", text, *options)
    # Some of them are faster than the plain one, as they may be.
    findings += judged(document, dict.fromkeys(HONEST, Kind(MEASURED)), False)
    assert [f for f in findings if not f.is_right] == []
