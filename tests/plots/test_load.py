"""Result files become frames; hostile ones become one line each."""

from __future__ import annotations

import copy
import importlib
import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
import synthetic

from plots import parallel
from plots.data import documents, schema, validation
from plots.data import load as loading
from plots.data.cache import Cache
from plots.data.documents import find_files, read_document, upgrade
from plots.data.load import load, main_size, sizes_of, slug
from plots.data.schema import SCHEMA_PATH, scalars
from plots.data.strategies import ROOT
from plots.errors import PlotsError, ResultFileError
from plots.papers import published
from plots.statistics.claims import (
    WITHIN_NOISE,
    claim_of,
    earlier_claim_of,
    set_claims,
    within_own_noise,
)


def test_the_synthetic_files_obey_the_published_schema():
    text = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(text)
    validator = jsonschema.Draft202012Validator(text)
    validator.validate(synthetic.paper_like())
    broken = synthetic.paper_like()
    broken["groups"][0]["rows"][0]["samples"]["time_ms"][3] = -1
    assert not validator.is_valid(broken)


def test_what_the_harness_writes_is_read():
    """The result file that the C++ tests compare with byte by byte."""
    golden = ROOT / "tests" / "golden" / "result.json"
    document = json.loads(golden.read_text(encoding="utf-8"))
    assert validation.is_valid(document, SCHEMA_PATH)
    results = load([golden])
    assert len(results.rows) == sum(len(g["rows"]) for g in document["groups"]) > 0
    for group, row in zip(document["groups"], results.groups.itertuples(), strict=True):
        if group["floor"] is not None:  # the rule of the maximum is the same on both sides
            assert row.floor_ms == group["floor"]["floor_ms"]
            assert row.bound_by == group["floor"]["bound_by"]


def test_frames_hold_every_row_sample_comparison_and_ceiling(paper):
    document = synthetic.paper_like()
    rows = [row for group in document["groups"] for row in group["rows"]]
    assert len(paper.groups) == len(document["groups"]) == 20
    assert len(paper.rows) == len(rows)
    assert len(paper.samples) == sum(len(row["samples"]["time_ms"]) for row in rows)
    assert len(paper.comparisons) == sum(len(g["comparisons"]) for g in document["groups"])
    assert list(paper.ceilings["name"]) == [c["name"] for c in document["ceilings"]]
    first = paper.rows.iloc[0]
    assert first["median"] == rows[0]["time_ms"]["median"]
    assert first["strategy"] == "baseline" and first["registers"] == 32
    assert first["shared_bytes"] == 1024 + 8192
    assert first["instructions"] == "LDGSTS 12"  # no totals, no zeros
    assert first["floor_fraction"] == pytest.approx(
        document["groups"][0]["floor"]["floor_ms"] / first["median"]
    )


def test_rows_without_a_time_keep_status_and_reason(paper):
    absent = paper.rows[paper.rows["status"] != "ok"].set_index("strategy")
    assert dict(absent["status"]) == {"drop_off": "failed", "tma": "crashed", "dsm": "skipped"}
    assert absent["median"].isna().all() and (absent["samples"] == 0).all()
    assert absent.loc["dsm", "reason"] == "needs sm_90, this GPU is sm_80"
    assert absent.loc["drop_off", "verified"] is False


def test_samples_keep_throttled_ones_and_unknown_clocks(paper):
    assert paper.samples["throttled"].sum() == 3 * 2 * 4  # dsm, iso and best, in four modes
    assert paper.samples["sm_clock_mhz"].isna().any()
    row = paper.rows[paper.rows["throttled"] > 0].iloc[0]
    assert row["samples"] == 21 and row["n"] == 18


def test_times_leave_throttled_samples_out_unless_there_are_no_others(paper, load_groups):
    row = paper.rows[paper.rows["throttled"] > 0].iloc[0]["row"]
    assert len(loading.usable_times(paper)[row]) == 18
    group = synthetic.group("nw", {"n": 64}, 1.0)
    group["rows"][0]["samples"]["throttled"] = [True] * 21
    results = load_groups(group)
    assert len(loading.usable_times(results)[results.rows.iloc[0]["row"]]) == 21


def test_a_ratio_inside_the_control_interval_is_no_claim(load_groups):
    group = synthetic.group("nw", {"n": 64}, 1.0)
    # The interval excludes 1, yet the ratio is within what baseline differs from itself.
    synthetic.set_ratio(group, "nw/register_bypass", "iso", 1.002, 0.001)
    frame = load_groups(group).comparisons
    inside = frame[(frame["strategy"] == "register_bypass") & (frame["role"] == "iso")].iloc[0]
    assert inside["resolved"] and inside["verdict"] == "faster"
    assert inside["claim"] == "within A/A noise"
    outside = frame[(frame["strategy"] == "tma") & (frame["role"] == "iso")].iloc[0]
    assert outside["claim"] == "faster"
    assert (outside["noise_low"], outside["noise_high"]) == pytest.approx(
        (1.0004 * np.exp(-0.003), 1.0004 * np.exp(0.003))
    )


def test_without_a_control_the_verdict_stands(load_groups):
    frame = load_groups(synthetic.group("nw", {"n": 64}, 1.0, control=False)).comparisons
    assert frame["noise_low"].isna().all()
    assert (frame["claim"] == frame["verdict"]).all()


def test_size_labels_name_what_differs(paper, load_groups):
    labels = set(paper.groups.loc[paper.groups["app"] == "hotspot", "size_label"])
    assert labels == {"rows=1024 cols=1024", "rows=4096 cols=4096", "rows=8192 cols=8192"}
    alone = load_groups(synthetic.group("hotspot", synthetic.hotspot_size(64), 1.0))
    assert alone.groups.iloc[0]["size_label"] == "rows=64 cols=64"
    odd = load_groups(synthetic.group("nw", {"file": "a,b=c.txt"}, 1.0))  # separators in a value
    assert odd.groups.iloc[0]["size_label"] == "file=a,b=c.txt"


def test_sizes_are_ordered_by_traffic_and_the_papers_first_size_is_main(paper, load_groups):
    assert sizes_of(paper.groups, "pathfinder") == [
        "rows=10000,cols=10000,pyramid=20,path=none",
        "rows=1000,cols=1000000,pyramid=20,path=none",
    ]
    assert main_size(paper.groups, "pathfinder").startswith("rows=1000,cols=1000000")
    assert main_size(paper.groups, "gemm") is None
    sweep = load_groups(
        *(synthetic.group("nw", {"n": n}, 1.0, preset="sweep") for n in (512, 4096, 1024))
    )
    assert main_size(sweep.groups, "nw") == "n=4096"


def test_of_the_same_group_in_two_files_the_later_counts(save):
    old = synthetic.document([synthetic.group("nw", {"n": 64}, 5.0)], date="2026-01-01T00:00:00Z")
    new = synthetic.document(
        [synthetic.group("nw", {"n": 64}, 3.0, preset="quick")], date="2026-02-01T00:00:00Z"
    )
    save(new, "r/a.json")
    folder = save(old, "r/b.json").parent
    save({"schema": "amasia-tuning", "version": 1}, "r/tuning.json")
    results = load([folder])
    assert len(results.groups) == 1
    row = results.rows.iloc[0]
    assert row["median"] == pytest.approx(3.0, rel=0.02)
    assert results.groups.iloc[0]["preset"] == "paper"  # still one of the paper's sizes
    assert any("the later one (2026-02-01" in note for note in results.notes)
    assert any("tuning.json is no result file" in note for note in results.notes)


def test_of_the_same_code_the_group_with_more_rounds_counts(save):
    def group(ms, rounds, digest):
        g = synthetic.group("nw", {"n": 64}, ms, rounds=rounds)
        for row in g["rows"]:
            row["source_digest"] = digest
        return g

    def median(early, late):
        save(synthetic.document([early], date="2026-01-01T00:00:00Z"), "r/a.json")
        folder = save(synthetic.document([late], date="2026-02-01T00:00:00Z"), "r/b.json").parent
        results = load([folder])
        return results.rows.iloc[0]["median"], results.notes

    few, many = group(5.0, 7, "same"), group(3.0, 40, "same")
    for early, late in ((few, many), (many, few)):
        value, notes = median(early, late)
        assert value == pytest.approx(3.0, rel=0.02)
    assert any("the one with more rounds (40) counts" in note for note in notes)
    value, notes = median(group(5.0, 40, "old"), group(3.0, 7, "new"))
    assert value == pytest.approx(3.0, rel=0.02)
    assert any("the later one (2026-02-01" in note for note in notes)


def test_a_group_with_fewer_variants_does_not_replace_a_whole_one(save):
    """As a later session has it that could repeat a library alone, the rest being of new code."""
    whole, part = (synthetic.group("nw", {"n": 64}, 3.0) for _ in range(2))
    part["rows"] = [row for row in part["rows"] if row["variant"] == "nw/tma"][:1]
    part["comparisons"] = []
    for one, other in ((whole, part), (part, whole)):
        save(synthetic.document([one], date="2026-01-01T00:00:00Z"), "r/a.json")
        later = synthetic.document([other], date="2026-02-01T00:00:00Z")
        results = load([save(later, "r/b.json").parent])
        assert len(results.groups) == 1
        assert set(results.rows["variant"]) == {row["variant"] for row in whole["rows"]}
        assert any("the one with more variants counts" in note for note in results.notes)


def test_gpus_come_newest_architecture_first(save):
    group = synthetic.group("nw", {"n": 64}, 5.0)
    save(synthetic.document([group], gpu=synthetic.device("NVIDIA A100-SXM4-40GB", 80)), "r/a.json")
    folder = save(synthetic.document([group]), "r/b.json").parent
    results = load([folder])
    assert results.gpus == ["NVIDIA H200", "NVIDIA A100-SXM4-40GB"]
    assert results.where(gpu="NVIDIA H200").groups["gpu"].unique().tolist() == ["NVIDIA H200"]
    assert len(results.where(gpu="NVIDIA H200").ceilings) == len(results.ceilings) / 2


def test_of_one_architecture_the_gpu_with_the_faster_memory_comes_first(save):
    groups = [synthetic.group("nw", {"n": n}, 5.0) for n in (64, 128)]
    few = synthetic.device("NVIDIA H100 80GB HBM3", 90)
    save(synthetic.document(groups[:1], gpu=few), "r/a.json")
    folder = save(synthetic.document(groups), "r/b.json").parent
    # As fast as each other: the one with more recorded.
    assert load([folder]).gpus == ["NVIDIA H200", "NVIDIA H100 80GB HBM3"]
    slow = {**synthetic.device(), "memory_clock_mhz": 2619, "memory_bus_bits": 5120}
    save(synthetic.document(groups, gpu=slow), "r/b.json")
    assert load([folder]).gpus == ["NVIDIA H100 80GB HBM3", "NVIDIA H200"]


def test_of_one_architecture_the_gpu_with_more_apps_is_shown_in_full(save):
    groups = [synthetic.group("nw", {"n": 64}, 5.0), synthetic.group("lud", {"n": 64}, 5.0)]
    slow = {**synthetic.device("NVIDIA H100 80GB HBM3", 90), "memory_clock_mhz": 2619}
    save(synthetic.document(groups, gpu=slow), "r/a.json")
    folder = save(synthetic.document(groups[:1]), "r/b.json").parent
    both = load([folder])
    assert both.gpus == ["NVIDIA H100 80GB HBM3", "NVIDIA H200"]
    assert both.by_generation == ["NVIDIA H200", "NVIDIA H100 80GB HBM3"]
    assert published.gpus_of(published.recorded([folder])) == both.gpus
    save(synthetic.document(groups), "r/b.json")
    assert load([folder]).gpus == both.by_generation


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("Tesla V100-SXM2-16GB", "v100-sxm2-16gb"),
        ("NVIDIA A100 80GB PCIe", "a100-80gb-pcie"),
    ],
)
def test_slugs_are_those_of_the_harness(name, expected):
    assert slug(name) == expected


def edited(path, value):
    """The paper-like document with the member at ``path`` replaced (or removed: value ...)."""
    document = synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)])
    at = document
    for step in path[:-1]:
        at = at[step]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return document


ROW = ("groups", 0, "rows", 2)


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("version",), 5, "result schema version 5 is newer than this program, which reads 1 to 4"),
        (("version",), 10**30, "version 10000000000000000000 is newer than this program"),
        (("version",), 0, "expected result schema version 1 to 4, found 0"),
        (("version",), 3.5, "expected result schema version 1 to 4, found 3.5"),
        (("version",), ..., "expected result schema version 1 to 4, found null"),
        (("schema",), "other", 'expected an Amasia result file ("schema": "amasia-result")'),
        (("groups",), ..., 'expected member "groups" in the file'),
        (("groups",), 3, "expected type array at groups, found 3"),
        (("provenance", "commit"), ..., 'expected member "commit" in provenance'),
        (("provenance", "device", "name"), 7, "type string at provenance.device.name, found 7"),
        (("provenance", "extra"), 1, "expected no member extra in provenance"),
        ((*ROW, "status"), "great", 'skipped", "crashed" at groups[0].rows[2].status'),
        ((*ROW, "samples", "time_ms"), [1.0], "columns of one length at groups[0].rows[2].samples"),
        ((*ROW, "samples"), [], "expected the columns round, position"),
        ((*ROW, "samples", "throttled", 0), 1, "true or false in column throttled"),
        ((*ROW, "samples", "time_ms", 0), 0, "positive numbers in column time_ms"),
        (
            (*ROW, "samples", "round", 0),
            -1,
            "integers of at least 0, at most 2147483647, in column round",
        ),
        ((*ROW, "samples", "position", 0), 2**63, "at most 2147483647, in column position"),
        ((*ROW, "samples", "sm_clock_mhz", 0), "x", "or null in column sm_clock_mhz"),
        ((*ROW, "time_ms", "median"), -1, "a number above 0 at groups[0].rows[2].time_ms.median"),
        (("groups", 0, "key", "cache"), "warm", 'one of "cold", "hot" at groups[0].key.cache'),
        (("groups", 0, "comparisons", 0, "verdict"), "maybe", "groups[0].comparisons[0].verdict"),
    ],
)
def test_a_wrong_member_is_named_with_what_was_expected(save, path, value, line):
    file = save(edited(path, value))
    with pytest.raises(ResultFileError) as caught:
        load([file])
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert line in message
    assert "\n" not in message and len(message) < 400


def test_columns_of_a_second_run_are_checked_as_those_of_the_first(save):
    document = synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)])
    row = document["groups"][0]["rows"][2]
    row["repeat_samples"] = {name: values[:-1] for name, values in row["samples"].items()}
    row["repeat_samples"]["time_ms"].pop()
    with pytest.raises(ResultFileError, match=r"one length at groups\[0\].rows\[2\].repeat_sampl"):
        load([save(document)])
    row["repeat_samples"] = 3
    with pytest.raises(ResultFileError, match=r"the columns .* at groups\[0\].rows\[2\].repeat_s"):
        load([save(document)])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "found an empty one"),
        ("{", "truncated"),
        ('{"schema": "amasia-res', "truncated"),
        ("[1, 2]", "expected an Amasia result file"),
        ('{"schema": }', "expected JSON, but line 1 column 12"),
        ('{"schema": "amasia-result", "version": NaN}', "NaN is no JSON number"),
        ("[" * 100_000, "expected JSON"),
    ],
)
def test_what_is_no_result_file_is_one_line(save, text, line):
    file = save(text)
    with pytest.raises(ResultFileError) as caught:
        load([file])
    assert str(caught.value).startswith(f"{file}: ") and line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_anywhere_is_truncated(save, share):
    text = json.dumps(synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)]), indent=1)
    with pytest.raises(ResultFileError, match=r"result\.json: expected"):
        load([save(text[: int(share * len(text))])])


def test_bytes_that_are_no_text(tmp_path):
    file = tmp_path / "x.json"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ResultFileError, match="UTF-8"):
        load([file])


def test_nothing_to_load(tmp_path):
    with pytest.raises(PlotsError, match="no result files under"):
        load([tmp_path])
    with pytest.raises(PlotsError, match="found nothing"):
        load([tmp_path / "absent.json"])


def test_samples_are_checked_as_the_schema_says():
    """The fast check of the sample columns and the schema agree on every wrong column."""
    validator = jsonschema.Draft202012Validator(schema.schema()["$defs"]["samples"])
    good = synthetic.group("nw", {"n": 64}, 1.0)["rows"][0]["samples"]
    assert validator.is_valid(good)
    for column in documents.SAMPLE_COLUMNS:
        for wrong in ("text", -1, 0, None, True, 1.5, 2):
            samples = copy.deepcopy(good)
            samples[column][0] = wrong
            try:
                documents._check_samples(Path("a.json"), "rows[0]", samples)
                accepted = True
            except ResultFileError:
                accepted = False
            assert accepted == validator.is_valid(samples), (column, wrong)


FRAMES = {
    "provenance": "files", "group": "groups", "work": "groups", "floor": "groups", "row": "rows",
    "median_interval": "rows", "comparison": "comparisons", "ratio_interval": "comparisons",
    "ceiling": "ceilings", "microbenchmark_row": "points", "finding": "findings",
    "samples": "samples",
}  # fmt: skip


@pytest.mark.parametrize("definition", FRAMES)
def test_every_value_of_the_schema_is_a_column(paper, definition):
    frame = getattr(paper, FRAMES[definition])
    names = schema.members("samples") if definition == "samples" else scalars(definition)
    assert names and set(names) <= set(frame.columns)


@pytest.fixture
def schema_with_a_new_field(tmp_path, monkeypatch):
    """The schema as it were with one more field in a row and one more column of samples."""
    text = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    text["$defs"]["row"]["properties"]["ipc"] = {"type": ["number", "null"]}
    text["$defs"]["samples"]["properties"]["watts"] = {
        "type": "array", "items": {"type": "number", "exclusiveMinimum": 0},
    }  # fmt: skip
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(text), encoding="utf-8")

    def reload():
        for cached in (schema.schema, schema.scalars):
            cached.cache_clear()
        importlib.reload(documents)
        importlib.reload(loading)

    with monkeypatch.context() as patch:
        patch.setattr(schema, "SCHEMA_PATH", path)
        reload()
        yield
    reload()


def test_a_new_field_needs_nothing_but_the_schema(schema_with_a_new_field, save):
    document = synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)])
    for row in document["groups"][0]["rows"]:
        row["samples"]["watts"] = [300.0] * len(row["samples"]["time_ms"])
    document["groups"][0]["rows"][0]["ipc"] = 1.75
    results = loading.load([save(document)])
    assert results.rows["ipc"].iloc[0] == 1.75 and results.rows["ipc"].iloc[1:].isna().all()
    assert (results.samples["watts"] == 300).all()


def before_version_4(document):
    """Without what later versions added, in place."""
    for group in document["groups"]:
        group.pop("interval_rule", None)
        for item in [*group["rows"], *group["comparisons"]]:
            for member in ("repeat_samples", "itself"):
                item.pop(member, None)
    return document


def version_1(document):
    """The same file as version 1 had it."""
    document = copy.deepcopy(document)
    document["version"] = 1
    document.pop("digest", None)
    for group in before_version_4(document)["groups"]:
        for comparison in group["comparisons"]:
            del comparison["claim"]
    return document


GOLDEN = ROOT / "tests" / "golden" / "result.json"
RECORDED = [
    path
    for path in (GOLDEN, *sorted((ROOT / "results").rglob("*.json")))
    if json.loads(path.read_text(encoding="utf-8")).get("version", 0) >= 2
]  # fmt: skip


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_claims_of_version_1_are_those_the_harness_writes(path):
    """The rule that is kept for old files agrees with harness/results/claim.cpp, but for what a
    row's own noise decided, of which they know nothing; a recorded claim may be by the earlier
    rule."""
    document = json.loads(path.read_text(encoding="utf-8"))
    if document["schema"] == "amasia-result":
        upgraded = upgrade(version_1(document))["groups"]
        for old, new in zip(upgraded, document["groups"], strict=True):
            for before, now in zip(old["comparisons"], new["comparisons"], strict=True):
                if within_own_noise(now) and now["claim"] == WITHIN_NOISE:
                    before["claim"] = WITHIN_NOISE
                if now["claim"] == earlier_claim_of(new["comparisons"], now):
                    before["claim"] = now["claim"]
        assert upgraded == before_version_4(document)["groups"]


def test_claims_have_the_words_of_the_schema():
    words = schema.members("comparison")["claim"]["enum"]
    claim = {"control": False, "role": "comparator", "verdict": "slower"}
    claim["speedup"] = {"ratio": 0.999}
    speedup = {"low": 0.99, "high": 1.01, "resolved": False}
    noise = {"control": True, "role": "best", "speedup": speedup}
    assert claim_of([noise, claim], claim) == "within A/A noise" and "within A/A noise" in words
    assert claim_of([claim], claim) == "slower" and "slower" in words
    assert claim_of([{**noise, "role": "iso"}, claim], claim) == "slower"


def test_a_baseline_that_differs_from_itself_hides_all_that_is_smaller():
    speedup = {"low": 1.01, "high": 1.02, "resolved": True}
    control = {"control": True, "role": "iso", "speedup": speedup}

    def claim(ratio):
        c = {"control": False, "role": "iso", "verdict": "faster", "speedup": {"ratio": ratio}}
        return claim_of([control, c], c)

    assert {claim(r) for r in (1.005, 1.015, 1.02, 0.99)} == {"within A/A noise"}
    assert claim(1.021) == "faster"


def test_claims_of_a_recorded_file_are_what_is_said_now():
    path = ROOT / "results" / "0.1.0" / "h100-80gb-hbm3" / "quick-hotspot.json"
    said = set()
    for group in read_document(path)["groups"]:
        now = [c["claim"] for c in group["comparisons"]]
        assert now == [claim_of(group["comparisons"], c) for c in group["comparisons"]]
        for c in group["comparisons"]:
            c["claim"] = "by an earlier rule"
        set_claims(group)
        assert [c["claim"] for c in group["comparisons"]] == now
        said |= set(now)
    assert {"faster", "slower", "within A/A noise"} <= said


def test_matched_and_cross_comparisons_are_held_against_their_own_controls():
    def control(role, low, high, **of):
        speedup = {"low": low, "high": high, "resolved": False}
        return {"control": True, "role": role, "speedup": speedup, **of}

    noise = [
        control("iso", 0.9, 1.1),
        control("best", 0.99, 1.01),
        control("cross", 0.98, 1.02, schedule="wide"),
        control("cross", 0.999, 1.001, schedule="tall"),
    ]

    def claim(role, ratio, **of):
        c = {"control": False, "role": role, "verdict": "faster", "speedup": {"ratio": ratio}, **of}
        return claim_of([*noise, c], c)

    assert claim("matched", 1.005, schedule="wide") == "within A/A noise"
    assert claim("matched", 1.015, schedule="wide") == "faster"
    assert claim("cross", 1.015, schedule="wide") == "within A/A noise"
    assert claim("cross", 1.015, schedule="tall") == "faster"


def test_schedules_and_movements_are_columns(matched_file, paper):
    results = load([matched_file])
    rows = results.rows[(results.rows["role"] == "matched") & (results.rows["size"] == "n=2048")]
    found = set(zip(rows["strategy"], rows["schedule"], strict=True))
    assert found == {
        ("baseline", "tall"), ("baseline", "iso"), ("baseline", "split"),
        ("overlap", "wide"), ("drop_off", "wide"), ("tma", "wide"), ("dsm", "wide"),
    }  # fmt: skip
    assert set(rows.loc[rows["status"] == "ok", "movement"]) == {"stages=3, producers=1"}
    c = results.comparisons
    own = c[(c["variant"] == "nw/tma") & (c["role"] == "matched") & (c["size"] == "n=2048")]
    assert list(zip(own["schedule"], own["against_schedule"], strict=True)) == [
        ("tall", "tall"), ("wide", "wide"),
    ]  # fmt: skip
    assert own["noise_high"].notna().all()  # that of best
    # Files that do not tell them apart: no text, as for any other absent one.
    assert set(paper.rows["schedule"]) == set(paper.rows["movement"]) == {""}
    assert set(paper.comparisons["against_schedule"]) == {""}
    assert paper.cross is None


def test_tables_of_amasia_cross_are_kept_apart(save):
    """They may be of the same app, size and modes as a comparison, and are later than it."""
    plain = synthetic.document([synthetic.matched_group("nw", {"n": 64}, 1.0)])
    table = synthetic.cross_like(
        synthetic.cross_group("nw", {"n": 64}, launch="stream"), date="2026-11-22T00:00:00Z"
    )
    alone = load([save(plain, "r/a.json")])
    both = load([save(plain, "r/a.json"), save(table, "r/b.json")])
    assert not both.notes and len(both.files) == 2
    for name in ("groups", "rows", "comparisons", "samples"):
        assert getattr(both, name).equals(getattr(alone, name)), name
    assert set(both.cross.rows["role"]) == {"cross"} and len(both.cross.groups) == 1
    assert both.cross.files["file"].tolist() == [1] and both.cross.gpus == ["NVIDIA H200"]
    assert len(both.where(app="nw").cross.rows) == len(both.cross.rows) > 0
    assert both.where(launch="graph").cross.rows.empty
    again = load([save(table, "r/b.json"), save(table, "r/c.json")])
    assert len(again.cross.groups) == 1 and "of amasia cross is in" in again.notes[0]


def test_a_group_with_both_is_divided(load_groups):
    group = synthetic.matched_group("nw", {"n": 64}, 1.0, comparator="vendor")
    table = synthetic.cross_group("nw", {"n": 64})
    rows, comparisons = len(group["rows"]), len(group["comparisons"])
    group["rows"] += table["rows"]
    group["comparisons"] += table["comparisons"]
    results = load_groups(group)
    assert len(results.rows) == rows and len(results.comparisons) == comparisons
    assert set(results.cross.rows["role"]) == {"cross", "comparator"}
    assert len(results.cross.rows) == len(table["rows"]) + 1


def test_a_file_of_version_1_is_read(save):
    document = synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)])
    old = load([save(version_1(document), "old.json")])
    new = load([save(document, "new.json")])
    assert list(old.comparisons["claim"]) == list(new.comparisons["claim"])
    assert not new.notes
    (note,) = old.notes
    assert note.startswith("1 of 1 files are from before files carried a digest of their content")


@pytest.mark.parametrize(
    ("path", "value"),
    [(("groups", 0, "comparisons", 0, "speedup"), ...), (("groups", 0, "comparisons"), 3)],
)
def test_a_malformed_file_of_version_1_is_one_line(save, path, value):
    document = edited(path, value)
    document["version"] = 1
    del document["digest"]
    with pytest.raises(ResultFileError, match=r"expected .* groups\[0\].comparisons"):
        load([save(document)])


def test_digests_of_two_kinds_are_said_not_to_be_comparable(save):
    group = synthetic.group("nw", {"n": 64}, 1.0)
    document = synthetic.document([group])
    results = load([save(version_1(document), "a.json"), save(document, "b.json")])
    note, _ = results.notes
    assert "whether the code is the same is not known" in note
    assert "by path in the earlier, by content in the later" in note


@pytest.mark.parametrize("member", ["low", "high"])
def test_an_interval_that_does_not_hold_its_median_is_refused(save, member):
    beyond = {"low": 2.0, "high": 0.5}[member]
    document = synthetic.document([synthetic.group("nw", {"n": 4}, 1.0)])
    document["groups"][0]["comparisons"][1]["speedup"][member] *= beyond
    place = rf"as the samples have it, at groups\[0\].comparisons\[1\].speedup.{member}"
    with pytest.raises(ResultFileError, match=place):
        load([save(document)])
    document = synthetic.document([synthetic.group("nw", {"n": 4}, 1.0)])
    document["groups"][0]["rows"][2]["time_ms"][member] *= beyond
    with pytest.raises(ResultFileError, match=rf"groups\[0\].rows\[2\].time_ms.{member}"):
        load([save(document)])
    document = synthetic.memory_like()
    document["microbenchmarks"][0]["rows"][0]["value"][member] *= beyond * beyond
    with pytest.raises(ResultFileError, match=r"microbenchmarks\[0\].rows\[0\].value"):
        load([save(document)])


def test_half_a_character_is_refused(save):
    document = synthetic.document([synthetic.group("nw", {"n": 4}, 1.0)])
    document["provenance"]["device"]["name"] = "NVIDIA 😀"  # a pair of them, as JSON spells it
    assert load([save(document)]).gpus == ["NVIDIA 😀"]
    document["provenance"]["device"]["name"] = "NVIDIA \ud800"
    with pytest.raises(ResultFileError, match="found half of a surrogate pair"):
        load([save(document)])


def test_the_same_bytes_are_read_once_and_changed_ones_again(save, tmp_path, monkeypatch):
    cache = Cache(tmp_path / "cache")
    path = save(synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)]))
    first = load([path], cache)
    monkeypatch.setattr(loading, "read_document", lambda path: pytest.fail("read again"))
    again = load([path], cache)
    monkeypatch.undo()
    for frame in ("files", "groups", "rows", "samples", "comparisons", "ceilings"):
        pd.testing.assert_frame_equal(getattr(again, frame), getattr(first, frame))
    assert again.notes == first.notes and again.sessions is not None
    save(synthetic.document([synthetic.group("nw", {"n": 64}, 2.0)]))
    changed = load([path], cache)
    assert changed.rows["median"].iloc[0] == pytest.approx(2 * first.rows["median"].iloc[0])


def test_large_files_are_read_by_all_cores_with_the_same_result(save, monkeypatch):
    for n in (64, 128, 256):
        document = synthetic.document([synthetic.group("nw", {"n": n}, 1.0, seed=n)])
        folder = save(document, f"r/{n}.json").parent
    alone = load([folder], Cache(None))
    monkeypatch.setattr(loading, "_MANY_BYTES", 1)
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    pd.testing.assert_frame_equal(load([folder], Cache(None)).samples, alone.samples)
    save("{}", "r/z.json")
    save('{"schema": "amasia-result", "version": 1', "r/zz.json")
    with pytest.raises(ResultFileError, match=r"zz.json: expected the rest of the JSON"):
        load([folder], Cache(None))


def test_a_result_file_is_known_by_its_beginning_and_by_its_content(save):
    group = synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)])
    plain = save(group, "r/plain.json")
    moved = {name: group[name] for name in sorted(group, reverse=True)}
    save(json.dumps({"first": 1}), "r/other.json")
    save(json.dumps({"x": {"schema": "amasia-result"}}), "r/inside.json")
    assert next(iter(moved)) != "schema"
    save(json.dumps(moved), "r/moved.json")
    found, notes = find_files([plain.parent])
    assert [path.name for path in found] == ["moved.json", "plain.json"]
    assert len(notes) == 2


def test_a_date_that_cannot_be_is_said(save):
    group = synthetic.group("nw", {"n": 64}, 1.0)
    save(synthetic.document([group], date="1970-01-01T00:03:20Z"), "r/reset.json")
    later = synthetic.group("nw", {"n": 128}, 1.0)
    save(synthetic.document([later], date="2099-01-01T00:00:00Z"), "r/ahead.json")
    right = save(
        synthetic.document([synthetic.group("nw", {"n": 256}, 1.0)], date="2024-02-29T12:00:00Z"),
        "r/right.json",
    )
    ahead, reset = sorted(load([right.parent], Cache(None)).notes)
    assert "ahead.json is of 2099-01-01T00:00:00Z, which is to come: the clock" in ahead
    assert "reset.json is of 1970-01-01T00:03:20Z, before there was this suite" in reset
    assert load([right], Cache(None)).notes == []


@pytest.mark.parametrize(
    "date", ["2026-02-30T10:00:00Z", "2026-13-01T10:00:00Z", "2026-02-01T25:00:00Z"]
)
def test_a_date_that_does_not_exist_is_refused(save, date):
    """Of the file, and of a session in it; the schema asks for digits alone."""
    document = synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)])
    document["provenance"]["date_utc"] = date
    with pytest.raises(ResultFileError, match=f"exist at provenance.date_utc, found {date}"):
        load([save(document)], Cache(None))
    whole, session = synthetic.provenance([]), "date_utc commit dirty uuid_hash wall_s device_state"
    there = {**whole, "uuid_hash": whole["device"]["uuid_hash"], "wall_s": 1.0}
    of_session = {name: there[name] for name in session.split()}
    document["provenance"]["date_utc"] = whole["date_utc"]
    document["provenance"]["sessions"] = [of_session, {**of_session, "date_utc": date}]
    with pytest.raises(ResultFileError, match=r"provenance.sessions\[1\].date_utc, found"):
        load([save(document)], Cache(None))


@pytest.mark.parametrize("lines", [1, 2])
def test_a_journal_is_called_one_and_what_can_be_done_with_it_said(save, lines):
    first = {"schema": "amasia-journal", "version": 4, "provenance": synthetic.provenance([])}
    text = "".join(json.dumps(line) + "\n" for line in [first, {"ceilings": []}][:lines])
    path = save(text, "out.json.journal")
    with pytest.raises(ResultFileError, match="journal of a run that did not finish") as refused:
        load([path], Cache(None))
    assert f"amasia merge {path} --out FILE" in str(refused.value)


def test_texts_are_python_texts(paper):
    """Those of pandas' own kind of column are given one by one, ten times as slowly."""
    for frame in (paper.files, paper.groups, paper.rows, paper.comparisons, paper.ceilings):
        assert not [name for name in frame if isinstance(frame[name].dtype, pd.StringDtype)]
        assert {type(name) for name in frame["gpu"]} == {str}
