"""Sessions of the same rows, in one file and over several: which count, and the claim of a row."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import synthetic

from plots.advice.advise import advise
from plots.data.load import LEAST_ROUNDS, load
from plots.data.strategies import ROOT
from plots.statistics.claims import NOT_BETWEEN_RUNS, claim_between_runs, most_difference

SIZE = {"n": 512}


def run(gpu: str, date: str, factor: float = 1.0, seed: int = 1, **options) -> dict:
    """A run of one group; ``factor`` is what this GPU does to the strategies, not to baseline."""
    speedups = {
        name: (1.0, 1.0) if name == "baseline" else (a * factor, b * factor)
        for name, (a, b) in synthetic.TYPICAL.items()
    }
    group = synthetic.group("nw", SIZE, 1.0, seed=seed, speedups=speedups, **options)
    document = synthetic.document([group])
    document["provenance"]["date_utc"] = date
    document["provenance"]["device"]["uuid_hash"] = gpu
    return document


def sessions_of(*documents: dict) -> dict:
    """The runs as one file of sessions, as `amasia merge` writes it."""
    merged = copy.deepcopy(documents[0])
    merged["groups"] = []
    merged["provenance"]["sessions"] = []
    for index, document in enumerate(documents):
        provenance = document["provenance"]
        merged["provenance"]["sessions"].append(
            {
                "date_utc": provenance["date_utc"],
                "commit": provenance["commit"],
                "dirty": False,
                "uuid_hash": provenance["device"]["uuid_hash"],
                "wall_s": 1.0,
                "device_state": provenance["device_state"],
            }
        )
        merged["groups"] += [{**g, "session": index} for g in copy.deepcopy(document["groups"])]
    return merged


def three() -> list[dict]:
    return [
        run("one", "2026-11-20T10:00:00Z", 1.0),
        run("two", "2026-11-20T11:00:00Z", 1.01, seed=2),
        run("one", "2026-11-20T12:00:00Z", 1.001, seed=3),
    ]


def tma(results):
    c = results.comparisons
    return c[(c["variant"] == "nw/tma") & (c["role"] == "best")].iloc[0]


def test_one_run_says_so_and_predicts_nothing(save):
    results = load([save(run("one", "2026-11-20T10:00:00Z"))])
    c = tma(results)
    assert (c["sessions"], c["gpus"]) == (1, 1) and np.isnan(c["next_low"])
    assert (c["ratio"], c["low"], c["claim"]) == (c["run_ratio"], c["run_low"], c["run_claim"])
    assert "one run" in advise(results)[0].sentence()


@pytest.mark.parametrize("as_one_file", [True, False])
def test_sessions_of_one_file_or_of_several(save, as_one_file):
    documents = three()
    if as_one_file:
        paths = [save(sessions_of(*documents))]
    else:
        paths = [save(document, f"{i}.json") for i, document in enumerate(documents)]
    results = load(paths)
    assert len(results.groups) == 1
    c = tma(results)
    assert (c["sessions"], c["gpus"]) == (3, 2)
    # The mean of the GPUs, each the mean of its sessions.
    mean = 1.31 * np.exp((np.log(1.001) / 2 + np.log(1.01)) / 2)
    assert c["ratio"] == pytest.approx(mean, rel=1e-6)
    assert c["low"] < 1.31 and c["high"] > 1.31 * 1.01
    assert c["low"] < c["run_low"] < c["run_high"] < c["high"]
    assert advise(results)[0].sentence().endswith("; 3 runs on 2 GPUs.")
    assert bool(results.notes) is not as_one_file  # of two files, which one counts is said


def test_a_variant_that_a_later_session_alone_has_is_filled_in(save):
    """As where a variant was measured again, with the baseline beside it, when its code was new."""

    def of(ms: float, variant: str, date: str) -> dict:
        speedups = {"baseline": (1.0, 1.0), variant: (1.1, 1.2)}
        document = synthetic.document([synthetic.group("nw", SIZE, ms, speedups=speedups)])
        document["provenance"]["date_utc"] = date
        return document

    first = of(3.0, "overlap", "2026-11-20T10:00:00Z")
    later = of(6.0, "tma", "2026-11-21T10:00:00Z")
    alone = {"rest": load([save(first, "a.json")]), "tma": load([save(later, "b.json")])}
    both = load([save(sessions_of(first, later))])
    assert len(both.groups) == 1 and set(both.rows["group"]) == set(both.groups["group"])
    assert both.rows["row"].is_unique
    own = both.rows[both.rows["variant"] != "nw/tma"]
    assert own["median"].tolist() == alone["rest"].rows["median"].tolist()
    assert (own["session_scale"] == 1).all()
    filled_in, there = (r.rows[r.rows["variant"] == "nw/tma"] for r in (both, alone["tma"]))
    assert len(filled_in) > 0 and filled_in["median"].tolist() == there["median"].tolist()
    # The baseline took twice as long there.
    assert filled_in["session_scale"].tolist() == pytest.approx([0.5] * len(filled_in), rel=0.05)
    gains, of_tma = (r.comparisons[r.comparisons["variant"] == "nw/tma"]
                     for r in (both, alone["tma"]))  # fmt: skip
    assert len(gains) > 0 and gains["run_ratio"].tolist() == of_tma["run_ratio"].tolist()
    samples, of_row = (r.samples[r.samples["variant"] == "nw/tma"] for r in (both, alone["tma"]))
    assert samples["time_ms"].tolist() == of_row["time_ms"].tolist()
    assert set(samples["row"]) == set(filled_in["row"])
    assert len(both.samples) == both.rows["samples"].sum()


def test_controls_stay_those_of_their_run(save):
    results = load([save(sessions_of(*three()))])
    controls = results.comparisons[results.comparisons["control"]]
    assert (controls["ratio"] == controls["run_ratio"]).all()


def test_a_session_in_two_files_counts_once(save):
    documents = three()
    results = load([save(sessions_of(*documents)), save(documents[1], "again.json")])
    assert tma(results)["sessions"] == 3


def test_other_code_is_no_session(save):
    documents = three()
    for row in documents[1]["groups"][0]["rows"]:
        row["source_digest"] = "cd" * 32
    results = load([save(d, f"{i}.json") for i, d in enumerate(documents)])
    c = tma(results)
    assert c["sessions"] == 2 and c["gpus"] == 1 and np.isnan(c["next_low"])


def test_what_was_measured_once_has_the_spread_of_its_app(save):
    other = synthetic.document([synthetic.group("nw", {"n": 1024}, 1.0, seed=9)])
    other["provenance"]["date_utc"] = "2026-11-20T13:00:00Z"
    results = load([save(sessions_of(*three())), save(other, "other.json")])
    once = tma(results.where(size="n=1024"))
    assert (once["sessions"], once["gpus"]) == (1, 1)
    assert once["low"] < once["run_low"] and once["run_high"] < once["high"]


def test_what_the_next_run_may_turn_round_is_no_claim(save):
    """Resolved in its run by a few tenths of a percent, where GPUs differ by one percent."""
    documents = three()
    small = {name: (1.0, 1.0) for name in synthetic.TYPICAL} | {"tma": (1.004, 1.004)}
    other = synthetic.document([synthetic.group("nw", {"n": 1024}, 1.0, speedups=small, half=5e-4)])
    results = load([save(sessions_of(*documents)), save(other, "other.json")])
    c = tma(results.where(size="n=1024"))
    assert c["run_claim"] == "faster" and c["claim"] == "not resolved between runs"
    advice = advise(results.where(size="n=1024"))[0]
    assert advice.outcome == "not resolved" and "tma" in advice.undecided


def test_a_shard_that_was_measured_on_another_gpu_names_it(save):
    document = run("one", "2026-11-20T10:00:00Z")
    document["groups"][0]["uuid_hash"] = "two"
    results = load([save(document), save(run("one", "2026-11-21T10:00:00Z"), "b.json")])
    assert tma(results)["gpus"] == 2


def test_a_session_without_the_least_rounds_does_not_stand_for_those_that_have_them(save):
    def shown(*rounds, of_one_code=True):
        documents = []
        for session, n in enumerate(rounds):
            group = synthetic.group("nw", {"n": 64}, 3.0, rounds=n)
            for row in group["rows"]:
                row["source_digest"] = ("ab" if of_one_code else f"0{session}") * 32
            document = synthetic.document([group], date=f"2026-01-0{1 + session}T00:00:00Z")
            documents.append(document)
        return load([save(sessions_of(*documents))]).groups["rounds"].tolist()

    assert shown(8, 15, 51) == [15]
    assert shown(8, 7, 9, 51) == [51]
    assert shown(15, 51) == [15] and shown(8, 7) == [8]
    assert shown(8, 15, of_one_code=False) == [8]
    header = (ROOT / "harness" / "statistics" / "stopping_rule.hpp").read_text()
    assert f"least_rounds = {LEAST_ROUNDS};" in header


@pytest.mark.parametrize(
    ("low", "high", "most"),
    [(0.99, 1.01, 1 / 0.99 - 1), (0.985, 1.019, 0.019), (0.97, 1.01, None), (0.0, 1.01, None)],
)
def test_a_tie_differs_by_two_percent_at_most(low, high, most):
    found = most_difference(low, high)
    assert found is None if most is None else found == pytest.approx(most)


@pytest.mark.parametrize(
    ("claim", "low", "high", "said"),
    [
        ("faster", 0.99, 1.2, NOT_BETWEEN_RUNS),
        ("slower", 0.9, 1.0, NOT_BETWEEN_RUNS),
        ("faster", 1.01, 1.2, "faster"),
        ("not resolved", 0.99, 1.2, "not resolved"),
    ],
)
def test_what_the_next_run_may_deny_is_not_claimed(claim, low, high, said):
    assert claim_between_runs(claim, low, high) == said
