"""Result files become frames; hostile ones become one line each."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic

from plots.data import load as loading
from plots.data.load import load, main_size, sizes_of, slug
from plots.data.schema import scalars


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
    save('{"schema":"amasia-tuning","version":1}', "r/tuning.json")
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


H200, H100 = "NVIDIA H200", "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(
    ("other", "apps", "other_apps", "in_full", "by_generation"),
    [
        # An older architecture, and one of the same with slower memory.
        (synthetic.A100, "n", "n", [H200, "NVIDIA A100-SXM4-40GB"], None),
        ({**synthetic.device(H100), "memory_clock_mhz": 2619}, "n", "n", [H200, H100], None),
        ({**synthetic.device(H100), "memory_clock_mhz": 2619}, "n", "nl", [H100, H200],
         [H200, H100]),
    ],
)  # fmt: skip
def test_the_order_of_gpus(save, other, apps, other_apps, in_full, by_generation):
    """By architecture, then by apps recorded or by memory."""
    for name, gpu, of in (("a", other, other_apps), ("b", None, apps)):
        names = {"n": "nw", "l": "lud"}
        groups = [synthetic.group(names[app], {"n": 64}, 5.0) for app in of]
        folder = save(synthetic.document(groups, gpu=gpu), f"r/{name}.json").parent
    results = load([folder])
    assert results.gpus == in_full
    assert results.by_generation == (by_generation or in_full)
    assert set(results.where(gpu=H200).groups["gpu"]) == {H200}
    assert len(results.where(gpu=H200).ceilings) == len(results.ceilings) / 2


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


FRAMES = {
    "provenance": "files", "group": "groups", "work": "groups", "floor": "groups", "row": "rows",
    "median_interval": "rows", "comparison": "comparisons", "ratio_interval": "comparisons",
    "ceiling": "ceilings", "microbenchmark_row": "points", "finding": "findings",
}  # fmt: skip


@pytest.mark.parametrize("definition", FRAMES)
def test_every_value_of_the_schema_is_a_column(paper, definition):
    frame = getattr(paper, FRAMES[definition])
    assert scalars(definition) and set(scalars(definition)) <= set(frame.columns)


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
    assert len(again.cross.groups) == 1 and "(cross) is in" in again.notes[0]


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


def test_a_date_that_cannot_be_is_said(save):
    group = synthetic.group("nw", {"n": 64}, 1.0)
    save(synthetic.document([group], date="1970-01-01T00:03:20Z"), "r/reset.json")
    later = synthetic.group("nw", {"n": 128}, 1.0)
    save(synthetic.document([later], date="2099-01-01T00:00:00Z"), "r/ahead.json")
    right = save(
        synthetic.document([synthetic.group("nw", {"n": 256}, 1.0)], date="2024-02-29T12:00:00Z"),
        "r/right.json",
    )
    ahead, reset = sorted(load([right.parent]).notes)
    assert "ahead.json is dated 2099-01-01T00:00:00Z, in the future: the clock" in ahead
    assert "reset.json is dated 1970-01-01T00:03:20Z, before this suite existed" in reset
    assert load([right]).notes == []
