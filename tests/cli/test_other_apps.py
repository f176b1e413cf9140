"""Programs with other apps. Planted effects: what the tuner and the whole pipeline say of what is
known beforehand. The app that docs/extending.md builds: it registers itself, and it is right."""

from __future__ import annotations

import json
import os
import pathlib
import re

import pytest
from programs import Run, read_result, runner

from tests.process import ROOT, cached, nvcc, run


def tune(tmp_path, rounds: int, times: dict[str, list[float]]) -> tuple[str, dict]:
    """The last line and the entry of a search between the stub's two configs, under a drift."""
    script = {"rows": {f"stub/tma at {config}": {"times": t} for config, t in times.items()}}
    script["drift"] = [1 + 0.02 * i for i in range(15)]
    arguments = ["--size", "n=1000", "--tuning", "tuning.json", f"--max-rounds={rounds}"]
    result = runner("amasia-stub")(
        "tune", "stub/tma", *arguments, cwd=tmp_path, AMASIA_STUB=json.dumps(script), status=0
    )
    (entry,) = json.loads((tmp_path / "tuning.json").read_text())["entries"]
    return result.stdout.splitlines()[-1], entry


@pytest.mark.parametrize(
    ("wide", "rounds", "said", "config", "equal"),
    [
        (0.99, 15, ": best is wide", "wide", None),
        (1.0, 15, ": best is iso, the least median; equal within noise: wide", "iso", ["wide"]),
        (0.99, 3, ": best is wide, the least median; equal within noise: iso", "wide", ["iso"]),
    ],
)
def test_the_tuner_finds_one_percent_and_says_when_configs_are_equal(
    tmp_path, wide, rounds, said, config, equal
):
    noise = [1.0, 1.001, 0.999, 1.0005, 0.9995]
    line, entry = tune(tmp_path, rounds, {"iso": noise, "wide": [wide * t for t in noise[::-1]]})
    assert line.endswith(said)
    assert (entry["config"], entry.get("equal")) == (config, equal)


@pytest.mark.parametrize(
    ("name", "app", "variants"), [("amasia-effects", "planted", 8), ("amasia-example", "saxpy", 2)]
)
def test_an_app_registers_itself_and_its_reference_is_right(name, app, variants):
    run = runner(name)
    (listed,) = json.loads(run("list", "--json").stdout)["apps"]
    assert (listed["name"], len(listed["variants"])) == (app, variants)
    done = run("verify", "--reference", status=0)
    assert re.search(r"[1-9]\d* references ok, 0 failed", done.stdout)


def test_it_finds_what_was_planted_on_a_device(gpu, tmp_path):
    out = tmp_path / "effects.json"
    runner("amasia-effects")("run", "planted", "--launch", "stream", "--out", str(out), status=0)
    groups = read_result(out)["groups"]
    assert groups
    for group in groups:
        said = {c["variant"]: c["claim"] for c in group["comparisons"] if c["role"] != "iso"}
        assert said["planted/three_percent"] == "slower"
        assert said["planted/none"] not in ("faster", "slower")
        assert said["planted/register_bypass"] not in ("faster", "slower")


def test_it_verifies_and_compares_on_a_device(gpu, tmp_path):
    example = runner("amasia-example")
    example("verify", status=0)
    out = tmp_path / "saxpy.json"
    example("run", "saxpy", "--roles", "iso", "--seconds", "2", "--out", str(out), status=0)
    assert all(row["status"] == "ok" for row in read_result(out)["groups"][0]["rows"])


# --- Code of an older architecture ----------------------------------------------------------------


def built(build: pathlib.Path) -> pathlib.Path:
    """A program with nothing but PTX of compute_75. Takes minutes."""
    configure = [
        *("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
        *(f"-DCMAKE_CUDA_COMPILER={nvcc()}", "-DCMAKE_CUDA_ARCHITECTURES=75-virtual"),
        *("-DAMASIA_TESTS=OFF", "-DAMASIA_GBENCH=OFF", "-DAMASIA_MICROBENCHMARKS=ceilings"),
        f"-DAMASIA_APPS={cached('AMASIA_APPS')}",
    ]
    compile_it = ["cmake", "--build", build, "--target", "amasia"]
    for command in (configure, [*compile_it, "--parallel", str(os.cpu_count() or 1)]):
        run(*command, timeout=3000, status=0)
    return build / "amasia"


@pytest.mark.usefixtures("gpu")
def test_what_its_code_cannot_do_is_skipped_or_falls_back_and_the_rest_is_right(
    amasia: Run, tmp_path: pathlib.Path
) -> None:
    """No native asynchronous copy before compute_80, and no cluster before compute_90."""
    found = re.search(r"compute capability (\d+)\.(\d+)", amasia("doctor").stdout)
    assert found
    capability = 10 * int(found[1]) + int(found[2])
    if capability <= 75:
        pytest.skip(f"PTX of compute_75 is not old on compute capability {capability}")
    program = built(tmp_path / "build")
    result = run(program, "verify", "--preset", "smoke", timeout=1800, status=0)
    assert " 0 failed" in result.stdout.splitlines()[-1]
    assert "launch failure" not in result.stdout + result.stderr
    apps = json.loads(run(program, "list", "--json").stdout)["apps"]
    app = next(a["name"] for a in apps if a["variants"] and a["name"] not in ("gemm", "lud"))
    out = tmp_path / "old.json"
    arguments = ("--preset", "smoke", "--roles", "iso", "--seconds", "0.2", "--out", str(out))
    run(program, "run", app, *arguments, timeout=1800, status=0)
    rows = read_result(out)["groups"][0]["rows"]
    by_strategy = {r["variant"].split("/")[1]: r for r in rows if not r["repeat"]}
    assert by_strategy["baseline"]["fallback"] == ""
    for strategy in ("register_bypass", "overlap", "drop_off"):
        row = by_strategy[strategy]
        assert row["status"] == "ok", row["reason"]
        assert row["fallback"].startswith("plain copies: this program's code"), row["fallback"]
    for strategy in ("tma", "dsm") if capability >= 90 else ():
        row = by_strategy[strategy]
        assert row["status"] == "skipped" and "rebuild with" in row["reason"]
        assert "PTX of compute_75" in row["reason"]
