"""Advice: the best resolved strategy, its price, schedule and movement, tables of all schedules."""

import re

import planted
import pytest

from plots.advice.advise import advise, by_mode, from_size_on
from plots.data.strategies import STRATEGIES, built_variants, code_lines, involved_lines
from plots.judge.gains import gains_of
from plots.report.cross_matrix import table_of, without_time
from plots.tree import ROOT

MODE = {"cache": "cold", "launch": "stream"}


def sized(n, speedups=None, **options):
    return planted.group("nw", {"n": n}, 1.0, speedups=speedups, **options)


def winners(*names, **others):
    """Speed-ups in which the named strategies win, the first most."""
    table = {name: (1.0, 0.9) for name in planted.STRATEGIES}
    table["baseline"] = (1.0, 1.0)
    for i, name in enumerate(names):
        table[name] = (1.0, 1.5 - 0.005 * i)
    return {**table, **others}


def test_the_fastest_resolved_strategy_wins(paper):
    found = {a.size_label: a for a in advise(paper.where(app="hotspot", **MODE))}
    large = found["rows=8192 cols=8192"]
    assert (large.outcome, large.strategy) == ("faster", "tma")
    assert large.ratio == 1.31 and large.low < 1.31 < large.high
    assert large.rivals == () and large.undecided == ("register_bypass",)
    assert large.sentence() == (
        "tma ran 1.31× [1.30, 1.32] faster than baseline (0.878 ms against 1.15 ms); one run."
    )
    # Noisier there: the intervals of tma and dsm overlap.
    assert found["rows=1024 cols=1024"].rivals == ("dsm",)
    # Where tma crashed and dsm was skipped the next one wins, and the reader is told.
    odd = found["rows=4096 cols=4096"]
    assert odd.strategy == "overlap"
    assert "tma crashed: an illegal memory access was encountered" in odd.remarks


def test_the_price_is_beside_that_of_baseline(paper):
    price = advise(paper.where(app="hotspot", **MODE))[-1].price
    assert price[0] == "48 registers per thread (baseline 32)"
    assert price[1] == "9 KiB shared memory per block (baseline 9)"
    assert price[2:4] == ("alignment 16 B address, pitch and box row", "needs sm_90")
    own, involved = code_lines("apps/hotspot/tma.cu"), involved_lines("apps/hotspot/tma.cu")
    assert price[4].startswith(f"{own} lines in its own file (baseline ")
    assert price[5].startswith(f"{involved} lines in all files involved (baseline ")


def test_spills_and_fallbacks_are_part_of_the_price(load_groups):
    group = sized(64, winners("tma"))
    for row in group["rows"]:
        if row["variant"] == "nw/tma":
            row["evidence"][0]["local_bytes"] = 96
            row["fallback"] = "plain copies: it needs sm_90"
    (a,) = advise(load_groups(group))
    assert a.price[-1] == "96 B of local memory per thread (spills)"
    assert "tma fell back: plain copies: it needs sm_90" in a.remarks


def test_a_tie_is_said_where_every_interval_is_close_to_1(load_groups):
    flat = {name: (1.0, 1.0) for name in planted.STRATEGIES}
    (a,) = advise(load_groups(sized(64, {**flat, "dsm": (1.0, 0.8)})))
    assert a.outcome == "not resolved" and 0 < a.tie < 0.02 and a.few_rounds == 0
    assert a.sentence() == (
        "a tie: register_bypass, overlap, drop_off, tma and baseline differ by no more than "
        f"{-(-a.tie * 1000 // 1) / 10:.1f} %; no strategy was found faster."
    )
    # Of seven rounds nothing is known so closely.
    (few,) = advise(load_groups(planted.group("nw", {"n": 64}, 1.0, speedups=flat, rounds=7)))
    assert few.tie == 0 and few.few_rounds == 7


def test_the_comparator_is_mentioned_and_never_advised(load_groups):
    group = sized(64, winners("tma"), comparator="vendor")
    group["rows"].append(planted.timed_row("nw/vendor", "best", 0.5 / 9, 0.001))
    planted.measure(group)
    (a,) = advise(load_groups(group))
    assert a.strategy == "tma"
    assert any(remark.startswith("vendor takes 0.33") for remark in a.remarks)


def test_from_which_size_on(load_groups):
    groups = [
        sized(256, winners("overlap")),
        sized(512, winners("overlap", "tma")),  # tma is not distinguishable there
        sized(1024, winners("tma")),
    ]
    (block,) = by_mode(advise(load_groups(*groups)))
    assert [a.strategy for a in block] == ["overlap", "overlap", "tma"]
    assert from_size_on(block) == (
        "tma is the choice from n=512 on; at n=512 overlap ran fastest, and tma is not "
        "distinguishable from it."
    )
    assert from_size_on(block[2:]) == "Only one size was measured (n=1024)."
    assert from_size_on(block[:2]) == "overlap is the choice at every size measured."
    (lost,) = by_mode(advise(load_groups(sized(256, winners("tma")), sized(512, winners()))))
    assert from_size_on(lost) == "At the largest size (n=512) no strategy was found faster."


def test_a_mode_of_arithmetic_is_no_size(load_groups):
    def of(n, mode, values):
        group = sized(n, values)
        group["key"]["size"]["mode"] = mode
        return group

    results = load_groups(
        of(256, "fp32", winners("overlap")),
        of(512, "bf16", winners()),
        of(1024, "fp32", winners("tma")),
    )
    blocks = by_mode(advise(results))
    assert [(block[0].kind, len(block)) for block in blocks] == [("mode=bf16", 1), ("mode=fp32", 2)]
    assert from_size_on(blocks[1]) == "tma is the choice from n=1024 mode=fp32 on."


def test_a_case_that_ran_in_another_role_alone_is_none(load_groups):
    original = sized(128)
    for name in ("rows", "comparisons"):
        original[name] = [of for of in original[name] if of["role"] == "iso"]
    assert [a.size_label for a in advise(load_groups(sized(64), original))] == ["n=64"]
    (alone,) = advise(load_groups(original))
    assert alone.outcome == "no comparison" and "compared at iso only: --role iso" in alone.remarks
    assert len(advise(load_groups(sized(64), original), role="iso")) == 2


def divided(**of):
    """A group whose strategies are best with other schedules than the baseline."""
    return planted.matched_group("nw", {"n": 64}, 1.0, divided=of)


def test_the_overall_speed_up_decides_and_what_it_consists_of_is_said(load_groups):
    group = divided(
        overlap=("tall", 1.3, 1.02, 1.01),  # 1.33 overall, the most
        tma=("wide", 1.0, 1.25, 1.25),
        dsm=("split", 0.9, 1.3, None),  # 1.17 overall: its schedule takes away
    )
    (a,) = advise(load_groups(group))
    assert a.strategy == "overlap" and a.ratio == pytest.approx(1.326) and a.rivals == ()
    assert ", which is 1.30 schedule × 1.02 [1.01, 1.03] movement; one run." in a.sentence()
    assert any("tune again at this size" in remark for remark in a.remarks)
    (b,) = advise(load_groups(divided(dsm=("split", 0.9, 1.3, None))))
    assert b.strategy == "dsm"
    assert "× 1.30 [1.29, 1.31] movement" in b.sentence()
    assert (
        "dsm is best with split, baseline with wide, with which dsm has no time: schedule wide: "
        "too wide"
    ) in b.remarks


def test_a_gain_that_baseline_does_not_have_by_the_schedule_is_the_strategys(load_groups):
    """Where baseline loses by the schedule, all of a resolved overall gain is movement."""
    group = divided(tma=("tall", 0.98, 1.19, 1.17))
    for c in group["comparisons"]:
        if (c["variant"], c["role"]) == ("nw/tma", "matched"):
            c["verdict"] = c["claim"] = "not resolved"
            c["speedup"]["resolved"] = False
    c = (results := load_groups(group)).comparisons
    matched = (c["strategy"] == "tma") & (c["role"] == "matched")
    c.loc[matched, ["claim", "run_claim"]] = "not resolved"
    (a,) = advise(results)
    assert (a.outcome, a.strategy) == ("faster", "tma")
    assert "0.98 schedule × 1.19 [1.18, 1.20] movement (not resolved)" in a.sentence()


def unresolved(results, strategy, claim="not resolved"):
    """The same with one strategy not resolved at best."""
    c = results.comparisons
    mine = (c["strategy"] == strategy) & (c["role"] == "best") & ~c["control"]
    assert mine.any()
    results.comparisons.loc[mine, "claim"] = claim
    return results


@pytest.mark.parametrize(
    ("claim", "remedy"),
    [
        ("not resolved", "more rounds (--min-rounds "),
        ("not resolved between runs", "more sessions (--sessions), on another GPU of the model"),
        ("within A/A noise", "a machine on which baseline differs less from itself"),
    ],
)
def test_a_faster_strategy_that_is_not_resolved_is_named_with_what_may_resolve_it(
    load_groups, claim, remedy
):
    groups = [sized(256, winners("overlap")), sized(512, winners("tma", "overlap"))]
    small, large = advise(unresolved(load_groups(*groups), "tma", claim))
    assert "Faster still" not in small.sentence()
    assert large.strategy == "overlap"
    assert f". Faster still: tma 1.50× [1.49, 1.51], {claim}; {remedy}" in large.sentence()
    said = from_size_on([small, large])
    assert said.startswith("overlap is the choice at every size measured; faster still at n=512: ")
    assert "tma 1.50×" in said and remedy in said
    # And where nothing else is faster.
    (alone,) = advise(unresolved(load_groups(sized(64, winners("tma"))), "tma", claim))
    assert alone.outcome == "not resolved"
    assert f"Fastest measured: tma 1.50× [1.49, 1.51], {claim}; {remedy}" in alone.sentence()
    assert f"no strategy was found faster; tma 1.50× [1.49, 1.51], {claim}" in from_size_on([alone])


def test_a_gain_of_the_schedule_alone_is_no_advice(load_groups):
    (a,) = advise(load_groups(divided(overlap=("tall", 1.2, 1.001, 1.0))))
    assert (a.outcome, a.strategy) == ("schedule", None)
    assert a.sentence().startswith(
        "not resolved by movement: no strategy was found faster than baseline with the same "
        "schedule; overlap ran 1.20× [1.19, 1.21] faster, 1.20 schedule × 1.001"
    )
    assert any("movement is not shown to gain" in remark for remark in a.remarks)
    told = "At the largest size (n=64) no strategy was found to gain by movement."
    assert from_size_on([a]) == told
    (b,) = advise(load_groups(divided(overlap=("tall", 1.3, 0.9, 1.0))))
    assert b.outcome == "schedule" and any(r.endswith(", slower") for r in b.remarks)


def test_the_gain_with_baselines_schedule_is_told_and_a_bad_choice_of_the_tuner(load_groups):
    (a,) = advise(load_groups(divided(tma=("tall", 1.2, 1.3, 1.25))))
    assert (
        "with wide, which baseline is best with, movement gains 1.25× [1.24, 1.26]; tma is best "
        "with tall"
    ) in a.remarks
    assert any("tune again at this size" in remark for remark in a.remarks)
    (b,) = advise(load_groups(divided(tma=("tall", 0.95, 1.3, 1.2))))
    assert not any("tune again" in remark for remark in b.remarks)


# --- Total gain = schedule gain x movement gain ---------------------------------------------------


def test_each_part_is_the_comparison_that_it_should_be(load_groups):
    results = load_groups(planted.matched_group("nw", {"n": 64}, 1.0))
    gains = {gain.strategy: gain for gain in gains_of(results)}
    assert list(gains) == ["register_bypass", "overlap", "drop_off", "tma", "dsm"]
    for name, (schedule, by_schedule, by_movement, at_baseline) in planted.DIVIDED.items():
        gain = gains[name]
        assert (gain.schedule, gain.baseline_schedule) == (schedule, "wide")
        assert gain.total.ratio == pytest.approx(by_schedule * by_movement)
        assert gain.by_schedule.ratio == pytest.approx(by_schedule)
        assert gain.by_movement.ratio == pytest.approx(by_movement)
        assert gain.by_movement.low < by_movement < gain.by_movement.high
        if at_baseline is None:
            assert gain.at_baseline_schedule is None
        else:
            assert gain.at_baseline_schedule.ratio == pytest.approx(at_baseline)
    assert (gains["tma"].nature, gains["overlap"].nature) == ("movement", "schedule")


def test_a_matched_gain_inside_the_noise_is_not_claimed(load_groups):
    divided = {"tma": ("tall", 1.2, 1.002, 1.0)}  # the A/A interval reaches to 1.0034
    group = planted.matched_group("nw", {"n": 64}, 1.0, divided=divided, half=0.001)
    (gain,) = gains_of(load_groups(group))
    assert gain.by_movement.low > 1 and gain.by_movement.claim == "within A/A noise"
    assert gain.nature == "not resolved"


def test_without_the_rows_that_tell_there_is_no_gain(load_groups, paper):
    assert gains_of(paper) == []
    group = planted.matched_group("nw", {"n": 64}, 1.0)
    gone = ("nw/baseline", "tall", "matched")
    group["rows"] = [
        r for r in group["rows"] if (r["variant"], r.get("schedule"), r["role"]) != gone
    ]
    found = [g.strategy for g in gains_of(load_groups(group))]
    assert found == ["register_bypass", "drop_off", "dsm"]


# --- Who is fastest with which schedule -----------------------------------------------------------


def tabled(load_groups, **options):
    results = load_groups(planted.cross_group("nw", {"n": 64}, **options)).cross
    return table_of(results, results.groups.iloc[0]["group"])


def test_every_strategy_and_schedule_has_its_cell_and_every_schedule_its_winner(load_groups):
    t = tabled(load_groups)
    assert t.strategies == ("baseline", "overlap", "tma", "dsm")
    assert t.schedules == ("iso", "wide", "tall")  # as the app names them
    assert len(t.cells) == 12
    cell = t.cells["tma", "tall"]
    assert cell.kind == "ok" and abs(cell.median - 1) < 0.01
    assert cell.movement.ratio == pytest.approx(1.6) and cell.movement.claim == "faster"
    assert t.cells["baseline", "tall"].movement is None  # its control is no gain
    assert t.cells["dsm", "tall"].movement.claim == "not resolved"
    assert t.winners == {"iso": "tma", "wide": "tma", "tall": "tma"}
    assert t.even == {"iso": (), "wide": ("overlap",), "tall": ()}


def test_a_lead_that_is_not_resolved_is_said(load_groups):
    crossed = {"baseline": {"iso": 1.0}, "tma": {"iso": 1.0001}}
    t = tabled(load_groups, crossed=crossed)
    assert "are not statistically distinguishable" in t.sentence()
    assert not t.lead.resolved and t.even["iso"] == (t.second.strategy,)


def test_cells_without_a_time_say_why_once(load_groups):
    crossed = {
        "baseline": {"iso": 1.0, "wide": 1.0, "tall": 1.0},
        "dsm": {
            "iso": "schedule iso: nothing to share", "wide": "schedule wide: nothing to share",
            "tall": "needs sm_90, this GPU is sm_80",
        },
    }  # fmt: skip
    t = tabled(load_groups, crossed=crossed)
    assert {t.cells["dsm", s].kind for s in ("iso", "wide")} == {"declined"}
    assert t.cells["dsm", "tall"].kind == "skipped"  # the GPU cannot; the strategy could
    assert without_time(t) == [
        ("dsm declines: nothing to share", ["iso", "wide"]),
        ("dsm skipped: needs sm_90, this GPU is sm_80", ["tall"]),
    ]
    told = "no other strategy has a time. dsm runs with no schedule: nothing to share."
    assert t.sentence().endswith(told)
    assert t.strategies == ("baseline",) and t.never_ran == ("dsm",)


OTHER = "computes in mode bf16, not fp32"


def test_schedules_that_run_with_no_strategy_are_a_sentence_and_no_columns(load_groups):
    """As of gemm, most schedules of which compute in another mode than that of the table."""
    t = tabled(
        load_groups,
        crossed={
            "baseline": {"iso": 2.0, "a": OTHER, "b": OTHER, "c": "too large"},
            "tma": {"iso": 1.0, "a": OTHER, "b": "schedule b: own", "c": "too large"},
            "dsm": {"iso": 1.1, "a": OTHER, "b": OTHER, "c": "schedule c: own"},
        },
    )
    assert t.schedules == ("iso",) and t.left_out == ("a", "b", "c")
    told = f"3 of 4 schedules run with no strategy: {OTHER} (2); too large (1)."
    assert t.sentence().endswith(told)
    assert len(t.cells) == 12  # nothing is lost
    assert without_time(t) == [
        (f"baseline, dsm skipped: {OTHER}", ["a", "b"]),
        (f"tma skipped: {OTHER}", ["a"]),
        ("tma declines: own", ["b"]),
        ("baseline, tma skipped: too large", ["c"]),
        ("dsm declines: own", ["c"]),
    ]


# --- Strategies, and the lines of their code ------------------------------------------------------


def test_the_same_table_as_the_header():
    header = (ROOT / "variants" / "strategy.hpp").read_text(encoding="utf-8")
    rows = re.findall(r'\{"(\w+)",\s*(\d+),\s*(\d+),\s*\{', header)
    assert [(s.name, s.runs_from, s.native_from) for s in STRATEGIES] == [
        (name, int(runs), int(native)) for name, runs, native in rows
    ]


def test_lines_of_code_and_of_all_that_is_included_of_the_app_and_of_the_ways_to_move(tmp_path):
    files = {
        "apps/nw/tma.cu": '#include "apps/nw/kernel.cuh"\n#include "harness/app.hpp"\n\nint a;\n',
        "apps/nw/kernel.cuh": '  // why\n#include "variants/ring.hpp"\n#include <cmath>\nint b;\n',
        "apps/nw/helper.cu": "",
        "apps/nw/unused.cuh": "int c;\n",
        "variants/ring.hpp": '#include "apps/nw/kernel.cuh"\nint d;\n\nint e;  // here\n',
        "harness/app.hpp": "int f;\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert code_lines("apps/nw/tma.cu", tmp_path) == 3
    assert involved_lines("apps/nw/tma.cu", tmp_path) == 3 + 3 + 3
    assert code_lines("apps/nw/cublas.cu", tmp_path) is None
    assert involved_lines("apps/nw/cublas.cu", tmp_path) is None
    assert built_variants(tmp_path) == {"nw/tma"}
