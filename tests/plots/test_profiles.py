"""Profiles: found beside results, refused when they are not what was written, joined to rows."""

from __future__ import annotations

import json

import pytest
import synthetic
import synthetic_profiles

from plots.data.documents import find_files
from plots.data.load import load
from plots.data.profiles import find_profiles, load_profiles, profiles_beside
from plots.errors import PlotsError, ResultFileError


@pytest.fixture
def results(save):
    return save(synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)]), "r/results.json")


def save_profile(save, path, name="r/profile.json", **changes):
    document = json.loads(path.read_text())
    counted = synthetic_profiles.counters(**changes)
    return save(synthetic_profiles.document(document, lambda row: counted), name)


def rows_of(path):
    return list(load([path]).rows.itertuples())


def test_a_profile_is_no_result_and_nothing_is_said_of_it(save, results):
    profile = save_profile(save, results)
    found, notes = find_files([results.parent])
    assert found == [results] and notes == []
    assert find_files([results, profile])[0] == [results]
    assert load([results, profile]).notes == load([results]).notes
    with pytest.raises(PlotsError, match="a profile, which python -m plots why reads"):
        find_files([profile])


def test_profiles_are_found_in_folders_and_beside_results(save, results):
    profile = save_profile(save, results)
    assert find_profiles([results.parent]) == [profile] == find_profiles([results, profile])
    assert len(profiles_beside(load([results]))) == len(load_profiles([profile])) > 0


def test_counters_come_to_the_row_they_were_counted_of(save, results):
    document = json.loads(results.read_text())

    def counted(row):
        best_tma = row["variant"] == "nw/tma" and row["role"] == "best"
        return synthetic_profiles.counters(instructions=7.0 if best_tma else 9.0)

    profiles = load_profiles(
        [save(synthetic_profiles.document(document, counted), "r/profile.json")]
    )
    found = {
        (r.variant, r.role): profiles.of(r)["instructions"]
        for r in rows_of(results)
        if r.repeat == 0
    }
    assert found["nw/tma", "best"] == 7
    assert found["nw/tma", "iso"] == found["nw/baseline", "best"] == 9


def change_rows(**changed):
    return lambda d: [row.update(changed) for row in d["groups"][0]["rows"]]


@pytest.mark.parametrize(
    ("change", "is_stale"),
    [
        (change_rows(variant="nw/dsm"), False),
        (change_rows(config="other"), False),
        (change_rows(source_digest="cd" * 32), True),
        (lambda d: d["groups"][0]["key"].update(size={"n": 65}), False),
        (lambda d: d["groups"][0]["key"].update(cache="hot"), False),
        (lambda d: d["groups"][0]["key"].update(launch="graph"), False),
        (lambda d: d["provenance"].update(device=synthetic.A100), False),
    ],
)
def test_of_another_row_nothing_is_taken(save, results, change, is_stale):
    document = synthetic_profiles.document(
        json.loads(results.read_text()), lambda row: synthetic_profiles.counters()
    )
    document = json.loads(json.dumps(document))
    change(document)
    profiles = load_profiles([save(document, "r/profile.json")])
    tma = next(r for r in rows_of(results) if r.variant == "nw/tma" and r.role == "best")
    assert len(profiles) and profiles.of(tma) is None
    assert bool(profiles.of_other_code(load([results]))) == is_stale


def test_what_was_not_counted_is_absent(save, results):
    profiles = load_profiles([save_profile(save, results, dram_use=None)])
    profile = next(iter(profiles.by_key.values()))
    assert profile["dram_use"] is None and profile["instructions"] == 100_000
    assert profile.stalls["barrier"] == 0.2


def test_a_damaged_or_foreign_file_is_refused_in_one_line(save, results):
    path = save_profile(save, results)
    whole = path.read_text()
    wrong = json.loads(whole)
    wrong["groups"][0]["rows"][0]["role"] = "isso"
    for text, expected in (
        (whole.replace("100000.0", "100001.0", 1), "was changed or damaged"),
        (synthetic.sealed(wrong), "Invalid enum value 'isso'"),
        (whole[:-20], "was changed or damaged"),
        (whole.replace('"version":2', '"version":3', 1), "version 3 is newer than this program"),
        (whole.replace('"version":2', '"version":1', 1), "is a profile file of format 1, which"),
    ):
        path.write_text(text)
        with pytest.raises(ResultFileError, match=expected) as error:
            load_profiles([path])
        assert str(path) in str(error.value) and "\n" not in str(error.value)
