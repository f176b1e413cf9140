"""Programs with other apps. Planted effects: what the tuner and the whole pipeline say of what is
known beforehand. The app that docs/extending.md builds: it registers itself, and it is right."""

from __future__ import annotations

import json

import pytest
from programs import read_result, runner


@pytest.fixture(scope="session")
def effects():
    return runner("amasia-effects")


def tune(tmp_path, times: dict[str, list[float]]) -> tuple[str, dict]:
    """The last line of data and the entry of a search between the stub's two configs."""
    script = {"rows": {f"stub/tma at {config}": {"times": t} for config, t in times.items()}}
    arguments = ["--size", "n=1000", "--tuning", "tuning.json"]
    result = runner("amasia-stub")(
        "tune", "stub/tma", *arguments, cwd=tmp_path, AMASIA_STUB=json.dumps(script), status=0
    )
    (entry,) = json.loads((tmp_path / "tuning.json").read_text())["entries"]
    return result.stdout.splitlines()[-1], entry


def test_the_tuner_names_a_winner_that_is_one_percent_better(tmp_path):
    noise = [1.0, 1.001, 0.999, 1.0005]
    line, entry = tune(tmp_path, {"iso": noise, "wide": [0.99 * t for t in noise[::-1]]})
    assert line.endswith(": best is wide")
    assert entry["config"] == "wide" and "equal" not in entry


def test_the_tuner_says_when_configs_are_equal(tmp_path):
    noise = [1.0, 1.003, 0.997, 1.001, 0.999]
    line, entry = tune(tmp_path, {"iso": noise, "wide": noise[::-1]})
    assert line.endswith(": best is iso, the least median; equal within noise: wide")
    assert (entry["config"], entry["equal"]) == ("iso", ["wide"])


def test_the_reference_of_the_planted_app_is_right(effects):
    listed = json.loads(effects("list", "--json").stdout)
    (app,) = listed["apps"]
    assert app["name"] == "planted" and len(app["variants"]) == 8
    result = effects("verify", "--reference", status=0)
    assert "0 failed" in result.stdout


def test_it_finds_what_was_planted_on_a_device(effects, gpu, tmp_path):
    out = tmp_path / "effects.json"
    effects("run", "planted", "--launch", "stream", "--out", str(out), status=0)
    groups = read_result(out)["groups"]
    assert groups
    for group in groups:
        said = {c["variant"]: c["claim"] for c in group["comparisons"] if c["role"] != "iso"}
        assert said["planted/three_percent"] == "slower"
        assert said["planted/none"] not in ("faster", "slower")
        assert said["planted/register_bypass"] not in ("faster", "slower")


@pytest.fixture(scope="session")
def example():
    return runner("amasia-example")


def test_the_example_registers_both_variants(example):
    listed = json.loads(example("list", "--json").stdout)
    assert [app["name"] for app in listed["apps"]] == ["saxpy"]
    variants = {v["name"]: [c["name"] for c in v["configs"]] for v in listed["apps"][0]["variants"]}
    assert variants == {"saxpy/baseline": ["iso", "256 threads"], "saxpy/tma": ["iso"]}


def test_its_reference_is_right(example):
    result = example("verify", "--reference", status=0)
    assert "4 references ok, 0 failed" in result.stdout


def test_it_verifies_and_compares_on_a_device(example, gpu, tmp_path):
    example("verify", status=0)
    out = tmp_path / "saxpy.json"
    example("run", "saxpy", "--roles", "iso", "--seconds", "2", "--out", str(out), status=0)
    rows = read_result(out)["groups"][0]["rows"]
    assert all(row["status"] == "ok" for row in rows)
