"""Programs with other apps. Planted effects: what the tuner and the whole pipeline say of what is
known beforehand. The app that docs/extending.md builds: it registers itself, and it is right."""

from __future__ import annotations

import json
import re

import pytest
from programs import read_result, runner


def tune(tmp_path, times: dict[str, list[float]]) -> tuple[str, dict]:
    """The last line of data and the entry of a search between the stub's two configs."""
    script = {"rows": {f"stub/tma at {config}": {"times": t} for config, t in times.items()}}
    arguments = ["--size", "n=1000", "--tuning", "tuning.json"]
    result = runner("amasia-stub")(
        "tune", "stub/tma", *arguments, cwd=tmp_path, AMASIA_STUB=json.dumps(script), status=0
    )
    (entry,) = json.loads((tmp_path / "tuning.json").read_text())["entries"]
    return result.stdout.splitlines()[-1], entry


@pytest.mark.parametrize(
    ("wide", "said", "config", "equal"),
    [
        (0.99, ": best is wide", "wide", None),
        (1.0, ": best is iso, the least median; equal within noise: wide", "iso", ["wide"]),
    ],
)
def test_the_tuner_finds_one_percent_and_says_when_configs_are_equal(
    tmp_path, wide, said, config, equal
):
    noise = [1.0, 1.001, 0.999, 1.0005, 0.9995]
    line, entry = tune(tmp_path, {"iso": noise, "wide": [wide * t for t in noise[::-1]]})
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
    rows = read_result(out)["groups"][0]["rows"]
    assert all(row["status"] == "ok" for row in rows)
