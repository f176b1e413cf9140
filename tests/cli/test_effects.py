"""The program of the study with known answers; the tuner says which configs are equal."""

from __future__ import annotations

import json

import pytest
from programs import runner


@pytest.fixture(scope="session")
def effects():
    return runner("amasia-effects")


def tune(tmp_path, times: dict[str, list[float]]) -> tuple[str, dict]:
    """The last line of data and the entry of a search between the stub's two configs."""
    script = {"rows": {f"stub/tma at {config}": {"times": t} for config, t in times.items()}}
    arguments = ["--size", "n=1000", "--tuning", "tuning.json"]
    result = runner("amasia-stub")(
        "tune", "stub/tma", *arguments, cwd=tmp_path, AMASIA_STUB=json.dumps(script)
    )
    assert result.returncode == 0, result.stderr
    (entry,) = json.loads((tmp_path / "tuning.json").read_text())["entries"]
    return result.stdout.splitlines()[-1], entry


def test_the_tuner_names_a_winner_that_is_one_percent_better(tmp_path):
    noise = [1.0, 1.001, 0.999, 1.0005]
    line, entry = tune(tmp_path, {"iso": noise, "wide": [0.99 * t for t in noise[::-1]]})
    assert line.endswith(": best is wide")
    assert (entry["config"], entry["equal"]) == ("wide", [])


def test_the_tuner_says_when_configs_are_equal(tmp_path):
    noise = [1.0, 1.003, 0.997, 1.001, 0.999]
    line, entry = tune(tmp_path, {"iso": noise, "wide": noise[::-1]})
    assert line.endswith(": best is iso, the least median; equal within noise: wide")
    assert (entry["config"], entry["equal"]) == ("iso", ["wide"])


def test_the_study_lists_its_apps_and_their_references_are_right(effects):
    listed = json.loads(effects("list", "--json").stdout)
    apps = {app["name"]: app for app in listed["apps"]}
    assert set(apps) == {"contest", "dosed", "planted"}
    strategies = [v["name"] for v in apps["planted"]["variants"]]
    assert len(strategies) == 8 and "planted/three_percent" in strategies
    assert len(apps["dosed"]["schedules"]) == 10
    result = effects("verify", "--reference")
    assert result.returncode == 0 and "7 references ok, 0 failed" in result.stdout


def test_the_study_plans_groups_enough_for_one_in_a_hundred(effects):
    result = effects("effects", "--dry-run")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("planted/baseline") >= 300 / 5  # comparisons of equal work each
    assert "dosed" in result.stdout and "contest" not in result.stdout


def test_it_finds_what_was_planted_on_a_device(effects, gpu, tmp_path):
    out = tmp_path / "effects.json"
    result = effects("effects", "--preset", "smoke", "--out", str(out))
    assert result.returncode == 0, result.stderr
    file = json.loads(out.read_text())
    assert file["provenance"]["study"] == "effects"
    planted = [g for g in file["groups"] if g["key"]["app"] == "planted"]
    assert len(planted) == 3
    for group in planted:
        said = {c["variant"]: c["claim"] for c in group["comparisons"] if c["role"] != "iso"}
        assert said["planted/three_percent"] == "slower"
        assert said["planted/none"] not in ("faster", "slower")
