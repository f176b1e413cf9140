"""The study with known answers: what was found of it is counted as it was claimed."""

from __future__ import annotations

import json

import known_effects
import pytest
import synthetic
import synthetic_profiles

from plots.advice import effects, effects_page
from plots.advice.effects import (
    RESOURCES,
    Share,
    claims,
    doses,
    findings,
    found,
    misses,
    searches,
    studies_in,
)
from plots.cli import main
from plots.data.load import load
from plots.data.profiles import load_profiles
from plots.data.strategies import ROOT
from plots.errors import ResultFileError
from plots.figures.detection import digest_of, picture_of

NO_PROFILES = load_profiles([])
GROUPS = 20  # with 5 comparisons of equal work each


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A recording in which all goals are reached, as a folder of results."""
    path = tmp_path_factory.mktemp("results")
    groups = [known_effects.planted_group(i) for i in range(GROUPS)]
    document = known_effects.recording([*groups, *known_effects.dosed_groups()])
    (path / "effects.json").write_text(json.dumps(document), encoding="utf-8")
    (path / effects.TUNING_NAME).write_text(json.dumps(known_effects.contest()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def study(folder):
    (one,) = studies_in(load([folder]), [folder])
    return one


@pytest.fixture(autouse=True)
def _few_are_enough(monkeypatch):
    monkeypatch.setattr(effects, "LEAST_COMPARISONS", 5 * GROUPS)


def test_the_interval_of_a_share_is_exact():
    # Clopper and Pearson 1934; R's binom.test(8, 10) and binom.test(0, 10).
    assert Share(8, 10).interval == pytest.approx((0.4439045, 0.9747893), abs=1e-6)
    assert Share(0, 10).interval == pytest.approx((0, 0.3084971), abs=1e-6)
    assert Share(10, 10).interval == pytest.approx((0.6915029, 1), abs=1e-6)
    assert Share(8, 10).text() == "8 of 10, 80.0 % [44.4, 97.5]"
    assert Share(0, 0).text() == "none"


def test_it_mixes_with_no_other_result(folder, paper_file):
    results = load([folder, paper_file])
    assert set(results.effects.groups["app"]) == {"planted", "dosed"}
    for frame in (results.groups, results.rows, results.comparisons):
        assert not frame["app"].isin(["planted", "dosed"]).any()
    assert load([paper_file]).effects is None
    assert studies_in(load([paper_file]), []) == []


def test_claims_are_counted_by_what_was_planted(study):
    frame = claims(study.effects)
    assert len(frame) == 14 * GROUPS
    assert found(frame, 0).n == 5 * GROUPS and frame["control"].sum() == 2 * GROUPS
    assert found(frame, 10).n == 6 * GROUPS and found(frame, 10).value == 1
    assert found(frame, 3).n == 2 * GROUPS and found(frame, 30).n == GROUPS
    assert 0.5 < found(frame, 3).value < 1
    assert found(frame, 0).value <= 0.01 and effects.opposite(frame).k == 0


def test_fewer_rounds_find_less_and_all_rounds_the_same(study):
    recorded, again = claims(study.effects), claims(study.effects, 15)
    assert list(again["claim"]) == list(recorded["claim"])
    assert again["low"].to_numpy() == pytest.approx(recorded["low"].to_numpy())
    assert found(claims(study.effects, 10), 3).k < found(recorded, 3).k
    # The exact interval for 14 comparisons needs 10 rounds, Student's t 8.
    assert found(claims(study.effects, 8), 30).k > 0
    assert found(claims(study.effects, 7), 30).k == 0


def test_a_claim_of_equal_work_and_one_of_the_opposite_are_counted(folder):
    group = known_effects.planted_group(1)
    for row in group["rows"]:
        times = row["samples"]["time_ms"]
        if row["variant"] == "planted/register_bypass":
            row["samples"]["time_ms"] = [0.9 * t for t in times]
        if row["variant"] == "planted/drop_off":
            row["samples"]["time_ms"] = [0.8 * t for t in times]
    synthetic.summarise(group)
    path = folder / "other" / "effects.json"
    path.parent.mkdir()
    path.write_text(json.dumps(known_effects.recording([group])), encoding="utf-8")
    (other,) = studies_in(load([path]), [])
    path.unlink()
    frame = claims(other.effects)
    assert found(frame, 0) == Share(2, 5) and effects.opposite(frame) == Share(2, 9)
    said = " ".join(misses(findings(other)))
    assert "1 % is found in 4 of 6" in said
    assert "equal work is claimed to differ in 2 of 5" in said and "5 comparisons" in said
    assert "opposite" in said and "no search of the tuner" in said


def test_the_advice_names_the_planted_winner_and_the_equal_one(study):
    shares = effects.advice(study.effects)
    assert {name: share.n for name, share in shares.items()} == {
        "two that are equal": GROUPS, "one": GROUPS, "none": GROUPS,
    }  # fmt: skip
    assert all(share.value == 1 for share in shares.values())


def test_searches_are_right_when_they_choose_and_say_what_was_planted(study):
    none, one, two = searches(study.contest)
    assert (none.winners, one.winners, two.winners) == (0, 1, 2)
    assert all(s.chosen == s.equal_said == Share(1, 1) for s in (none, one, two))
    wrong = searches(known_effects.contest("same-0")["entries"])[1]
    assert wrong.chosen == wrong.equal_said == Share(0, 1)
    silent = searches(known_effects.contest(equal=("same-6",))["entries"])[1]
    assert silent.chosen == Share(1, 1) and silent.equal_said == Share(0, 1)


def test_what_is_no_tuning_file_is_refused(tmp_path):
    path = tmp_path / effects.TUNING_NAME
    for text in ("", "[]", '{"entries": [{"variant": "contest/tma"}]}'):
        path.write_text(text, encoding="utf-8")
        wanted = "the tuning file of the app contest" if text else "a result file"
        with pytest.raises(ResultFileError, match=f"expected {wanted}"):
            effects.read_contest(path)


def test_doses_name_what_binds(study):
    of = {d.base: d for d in doses(study.effects)}
    assert list(of) == ["bytes", "operations", "barriers", "barriers_beside"]
    for resource in RESOURCES:
        assert of[resource].steepest == resource and of[resource].agrees
        responses = of[resource].responses
        assert responses[resource].value == pytest.approx(1, abs=0.01)
        assert all(r.value < 0.01 for name, r in responses.items() if name != resource)
    beside = of["barriers_beside"]
    assert beside.steepest == "barriers" and beside.floor_names != "dependency"
    assert beside.resolved and not beside.agrees


def test_doses_that_contradict_the_floor_are_a_miss(tmp_path):
    groups = known_effects.dosed_groups()
    bytes_ = {"bytes": 400, "operations": 200, "barriers": 200}
    groups[0] = known_effects.dosed_group("bytes", bytes_, binds="barriers")
    path = tmp_path / "effects.json"
    groups.append(known_effects.planted_group(1))
    path.write_text(json.dumps(known_effects.recording(groups)), encoding="utf-8")
    (other,) = studies_in(load([path]), [])
    assert "the doses of bytes name barriers, the floor names bytes." in misses(findings(other))


def test_the_page_says_whether_the_goals_are_reached(study, folder, tmp_path, capsys):
    assert misses(findings(study)) == []
    text = effects_page.render([study], NO_PROFILES)
    assert "All goals are reached." in text and "| barriers_beside |" in text
    assert all(line.count("|") >= 3 for line in text.splitlines() if line.startswith("|"))
    out = tmp_path / "detection.md"
    assert main(["effects", str(folder), "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == text
    assert digest_of(study.effects) in (tmp_path / picture_of(study.gpu)).read_text(
        encoding="utf-8"
    )
    capsys.readouterr()
    assert main(["effects", str(folder)]) == 0
    assert capsys.readouterr().out == text


def test_each_gpu_has_a_section_of_its_own_numbers(folder, tmp_path):
    document = json.loads((folder / "effects.json").read_text(encoding="utf-8"))
    document["provenance"]["device"]["name"] = "NVIDIA H100 80GB HBM3"
    other = tmp_path / "effects.json"
    other.write_text(json.dumps(synthetic.signed(document)), encoding="utf-8")
    both = studies_in(load([folder, other]), [folder, tmp_path])
    assert {s.gpu for s in both} == {"NVIDIA H200", "NVIDIA H100 80GB HBM3"}
    for of_gpu in both:
        # Those of both would be twice as many.
        assert len(claims(of_gpu.effects)) == 14 * GROUPS
        searched = of_gpu.gpu == "NVIDIA H200"
        assert bool(of_gpu.contest) == searched
        without = "no search of the tuner is recorded."
        assert (without in misses(findings(of_gpu))) != searched
    text = effects_page.render(both, NO_PROFILES)
    assert "## NVIDIA H200\n" in text and "](detection-h100-80gb-hbm3.svg)" in text
    assert text.count("### Doses") == 2


def test_what_the_counters_of_dosed_kernels_name_stands_on_the_page(study, tmp_path):
    document = known_effects.recording(known_effects.dosed_groups())

    def waiting_for_memory(row):
        busy = 1.98e6 * row["time_ms"]["median"]
        return synthetic_profiles.counters(busiest_cycles=busy)

    path = tmp_path / "profile.json"
    profile = synthetic.signed(synthetic_profiles.document(document, waiting_for_memory))
    path.write_text(json.dumps(profile), encoding="utf-8")
    text = effects_page.render([study], load_profiles([path]))
    assert "| bytes | bytes-80 | 20 % | memory (bytes) | yes |" in text
    assert "| operations | operations-80 | 20 % | memory (bytes) | no |" in text
    assert "| barriers | barriers | memory (bytes) | no |" in text
    without = "No counters of these kernels are recorded"
    assert without not in text and without in effects_page.render([study], NO_PROFILES)


def test_a_goal_that_is_missed_stands_on_the_page(folder, tmp_path):
    groups = [known_effects.planted_group(i, noise=0.03) for i in range(3)]
    path = tmp_path / "effects.json"
    path.write_text(json.dumps(known_effects.recording(groups)), encoding="utf-8")
    text = effects_page.render(studies_in(load([path]), [folder]), NO_PROFILES)
    assert "All goals" not in text
    assert "Missed:" in text and "- 1 % is found in" in text


def test_the_page_of_the_repository_is_of_the_recorded_files(monkeypatch):
    monkeypatch.undo()  # as many comparisons as the goal wants
    files = sorted((ROOT / "results").glob("**/effects.json"))
    folders = [file.parent for file in files]
    recorded = studies_in(load(files), folders) if files else []
    there = (ROOT / "docs" / "detection.md").read_text(encoding="utf-8")
    assert there == effects_page.render(recorded, load_profiles(folders)), (
        f"stale: {effects_page.COMMAND}"
    )
    for of_gpu in recorded:
        picture = (ROOT / "docs" / picture_of(of_gpu.gpu)).read_text(encoding="utf-8")
        assert digest_of(of_gpu.effects) in picture, f"stale: {effects_page.COMMAND}"
        assert misses(findings(of_gpu)) == []
