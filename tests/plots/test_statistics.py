"""Statistics: intervals of one run as the harness has them, and what differs between runs."""

import json
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from simulated_rounds import NOISES, ROUNDS, claims_of, noise_of, row_of, table

from plots.statistics import between
from plots.statistics.between import Pool, SessionValue, difference, log_error, predict
from plots.statistics.claims import NOT_BETWEEN_RUNS, claim_between_runs, most_difference
from plots.statistics.intervals import (
    benjamini_hochberg,
    geometric_mean,
    independent_ratio,
    median_interval,
    ratio_of_rounds,
    spread_of_rounds,
)
from plots.units import claimed_ratio, milliseconds, times


@pytest.mark.parametrize(
    ("low", "high", "most"),
    [(0.99, 1.005, 1 / 0.99 - 1), (1, 1.0199, 0.0199), (0.999, 1.0201, None), (0.98, 1, None)],
)
def test_a_tie_is_within_two_per_cent(low, high, most):
    assert most_difference(low, high) == (most and pytest.approx(most))


@pytest.mark.parametrize(
    ("values", "confidence", "found", "coverage"),
    [
        # P(B < 2) = 11/1024: x(2) to x(9) cover 1 - 22/1024.
        ([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 0.95, (5.5, 2, 9, 10), 1 - 22 / 1024),
        ([1, 1, 1, 2, 2, 2, 3, 3, 3], 0.95, (2, 1, 3, 9), 1 - 2 * 10 / 512),
        ([4, 2, 3], 0.95, (3, 2, 4, 3), 0.75),
        ([5], 0.9, (5, 5, 5, 1), 0),
    ],
)
def test_interval_of_a_median(values, confidence, found, coverage):
    m = median_interval(values, confidence)
    assert (m.median, m.low, m.high, m.n) == found
    assert m.coverage == pytest.approx(coverage)


def test_ratio_of_pairs_does_not_see_what_both_share():
    rng = np.random.default_rng(3)
    drift = np.exp(0.3 * rng.standard_normal(31))
    slow, fast = 1.02 * drift * np.exp(0.001 * rng.standard_normal(31)), drift
    r = ratio_of_rounds(slow, fast, 0.99)
    assert r.low < 1.02 < r.high < 1.03 and r.resolved
    assert not independent_ratio(slow, fast, 0.99).resolved
    back = ratio_of_rounds(fast, slow, 0.99)
    assert (back.low, back.high) == pytest.approx((1 / r.high, 1 / r.low))
    assert not ratio_of_rounds([2, 2, 2], [1, 1, 1], 0.95).resolved  # too few to cover that
    with pytest.raises(ValueError):
        ratio_of_rounds([], [], 0.95)
    with pytest.raises(ValueError):
        ratio_of_rounds([1, 2, 3], [1, 2], 0.95)


def test_the_false_discovery_rate_as_its_authors_show_it():
    """Benjamini and Hochberg (1995), section 3.2."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
         0.5719, 0.6528, 0.7590, 1.0]  # fmt: skip
    found = benjamini_hochberg(p, 0.05)
    assert found.found == (True,) * 4 + (False,) * 11
    assert found.level == pytest.approx(0.05 * 4 / 15)
    none = benjamini_hochberg([0.5, 0.9, 0.2, 1], 0.05)
    assert not any(none.found) and none.level == pytest.approx(0.0125)
    assert benjamini_hochberg([0.03, 0.031, 0.9], 0.05).found == (True, True, False)
    with pytest.raises(ValueError, match="rate"):
        benjamini_hochberg([0.5], 1.0)


# The harness is held to the same intervals (tests/harness/statistics/statistics_test.cpp).
KNOWN = json.loads(Path(__file__).with_name("statistics_cases.json").read_text())
CASES = KNOWN["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_intervals_of_rounds_are_those_of_the_harness(case):
    values, confidence = np.array(case["values"]), case["confidence"]
    of = spread_of_rounds(values[None], confidence)
    for name in ("low", "high", "coverage"):
        assert getattr(of, name)[0] == pytest.approx(case[name], rel=1e-9), name
    ratio = ratio_of_rounds(values, np.ones(len(values)), confidence)
    assert ratio.ratio == pytest.approx(case["ratio"], rel=1e-9)
    assert (ratio.low, ratio.high) == pytest.approx((case["low"], case["high"]), rel=1e-9)
    assert ratio.resolved == case["resolved"]


# --- What is resolved where rounds depend on each other -------------------------------------------

METHODOLOGY = Path(__file__).parents[2] / "docs" / "methodology.md"
GROUPS = int(os.environ.get("AMASIA_SIMULATED_GROUPS", "500"))  # 6 s; 10000 for a day of rest
# Noise with which at most five groups of a hundred have a false claim, from eight rounds on.
HELD = ("independent", "drifting", "stepped", "AR(1), 0.3")


def test_the_page_states_what_is_simulated():
    """Each rate within four standard errors of the page's, on the side that a reader minds."""
    simulated = {(name, rounds): of for name, rounds, of in table(GROUPS)}
    stated = re.findall(r"^\| (.+) \| (8|15|31|51) \| (.+) \| (.+) \| (.+) \|$",
                        METHODOLOGY.read_text(encoding="utf-8"), re.MULTILINE)  # fmt: skip
    assert [(name, int(rounds)) for name, rounds, *_ in stated] == list(simulated)
    for name, rounds, *columns in stated:
        found = simulated[name, int(rounds)]
        said = row_of(name, int(rounds), found)
        for column, member, worse in zip(
            columns, ("false_claims", "power", "oracle"), (1, -1, 0), strict=True
        ):
            for text, rates in zip(column.split(" / "), found.values(), strict=True):
                page, here = float(text) / 100, getattr(rates, member)
                assert member != "false_claims" or name not in HELD or page <= 0.05, said
                error = math.sqrt((page * (1 - page) + 0.25 / rates.groups) / rates.groups)
                off = here - page
                assert (abs(off) if worse == 0 else worse * off) <= 4 * error + 0.0005, said


@pytest.mark.parametrize("rounds", ROUNDS)
def test_what_every_round_shows_is_always_found(rounds):
    """At ten times the spread of the rounds and of the control; in random walks, too."""
    rng = np.random.default_rng(rounds)
    for name in [*NOISES, "walk"]:
        for comparisons in (2, 5, 14, 40):
            shape = (60, comparisons, rounds)
            if name == "walk":
                ratios = rng.standard_normal(shape).cumsum(axis=2)
                ratios -= ratios.mean(axis=2, keepdims=True)
            else:
                ratios = noise_of(rng, name, shape).values
            ratios /= ratios.std(axis=2, ddof=1, keepdims=True)
            control = ratios[:, :1] / np.sqrt((ratios[:, :1] ** 2).mean(axis=2, keepdims=True))
            signs = rng.choice([-1, 1], size=shape[:2])
            least = (signs[..., None] * ratios).min(axis=2)  # each round shows at least ten
            ratios += (signs * (10 - least))[..., None]
            ratios[:, :1] = control
            signs[:, 0] = 0
            assert (claims_of(ratios) == signs).all(), (name, comparisons)


# --- Between runs ---------------------------------------------------------------------------------


def _row(sessions):
    return [SessionValue(*session) for session in sessions]


def _pool(rows):
    """What rows are predicted from, as plots/data/sessions.py chooses it: few are not a kind of
    their own, and lie in the pool of all, which here has no others."""
    pool = Pool.of(rows)
    return pool if pool.suffices else pool.of_others()


# Of two implementations that agreed to twelve digits; cut down since.
@pytest.mark.parametrize("kind", KNOWN["kinds"], ids=lambda kind: kind["name"])
def test_predictions_on_known_rows(kind):
    rows = [_row(sessions) for sessions in kind["rows"]]
    pool = Pool.of(rows)
    pool = pool.of_others() if kind["of others"] else pool
    assert pool.components()[:6] == pytest.approx(kind["components"], rel=1e-12, abs=1e-15)
    for row, wanted in zip(rows, kind["predictions"], strict=True):
        found = predict(row, pool.without(row), 0.9)
        names = ("value", "low", "high", "degrees", "sessions", "gpus")
        record = found and [getattr(found, name) for name in names]
        assert record is wanted is None or record == pytest.approx(wanted, rel=1e-12)
    # Of each row and the next.
    for a, b, wanted in zip(rows, rows[1:], kind["differences"], strict=False):
        found = difference(a, pool.without(a), b, pool.without(b))
        record = found and [found.value, found.deviation, found.degrees]
        assert record is wanted is None or record == pytest.approx(wanted, rel=1e-12)
    assert len(kind["differences"]) == len(rows) - 1


def test_a_row_that_moved_does_not_widen_the_others():
    rows = [[SessionValue("a", 0.001 * (i % 3)), SessionValue("b", 0.001)] for i in range(11)]
    before = predict([SessionValue("a", 0)], Pool.of(rows).components()).half_width
    rows.append([SessionValue("a", 0), SessionValue("b", 0.5)])
    assert predict([SessionValue("a", 0)], Pool.of(rows).components()).half_width < 3 * before
    assert predict(rows[-1], Pool.of(rows).without(rows[-1])).half_width > 0.3


def test_nothing_is_said_of_another_gpu_without_two():
    row = _row([["a", 0, 0.001], ["a", 0.002, 0.001]])
    kind = Pool.of([row]).without(row)
    assert predict(row, kind) is None
    with pytest.raises(ValueError, match="session"):
        predict([], kind)
    with pytest.raises(ValueError, match="confidence"):
        predict(row, kind, 1.0)


_GPU, _SESSION = 0.004, 0.002  # standard deviations of the rows below


def _simulated(rng, rows, gpus):
    """Rows with a session on each of ``gpus``, and the next session of each, on a further GPU."""
    effects = _GPU * rng.standard_normal((rows, len(gpus) + 1))
    of_gpus = dict(zip(sorted(set(gpus)), effects.T, strict=False))
    values = [of_gpus[g] + _SESSION * rng.standard_normal(rows) for g in gpus]
    sessions = [
        [SessionValue(g, v) for g, v in zip(gpus, of_row, strict=True)]
        for of_row in zip(*values, strict=True)
    ]
    return sessions, effects[:, -1] + _SESSION * rng.standard_normal(rows)


@pytest.mark.parametrize("gpus", ["ab", "abc"])
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 20])
def test_small_pools_hold_what_they_promise(rows, gpus):
    """Few rows know little of how rows move, and a row does not say it twice."""
    rng = np.random.default_rng(11)
    inside, widths, with_all = [], [], []
    for _ in range(1500 // rows if rows < 20 else 80):
        sessions, following = _simulated(rng, rows, gpus)
        pool = _pool(sessions)
        for row, new in zip(sessions, following, strict=True):
            p = predict(row, pool.without(row))
            inside.append(p.low <= math.exp(new) <= p.high)
            widths.append(p.half_width)
            if rows == 20:
                with_all.append(predict(row, pool.components()).half_width)
    # On two GPUs rows are no pool of their own: what takes its place knows less, and holds more.
    assert 0.87 < np.mean(inside) < (0.99 if gpus == "ab" and rows >= between.LEAST_ROWS else 0.96)
    if rows == 20:
        # Of many rows it hardly matters whether a row is among the others.
        assert np.median(widths) < 1.03 * np.median(with_all)


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("gpus", [("aa", "aa"), ("aa", "a"), ("ab", "cd"), ("ab", "c")])
def test_rows_that_do_not_differ_are_seldom_told_apart(rows, gpus):
    """Of two files with few rows: the pool is of both, and neither side says anything twice."""
    rng = np.random.default_rng(12)
    false = []
    for _ in range(1200 // rows):
        of_gpus = dict(zip("abcd", _GPU * rng.standard_normal((4, rows)), strict=True))
        files = [
            [
                [SessionValue(g, of_gpus[g][r] + _SESSION * rng.standard_normal()) for g in of]
                for r in range(rows)
            ]
            for of in gpus
        ]
        pool = _pool([*files[0], *files[1]])
        for a, b in zip(*files, strict=True):
            false.append(difference(a, pool.without(a), b, pool.without(b)).p_value < 0.1)
    assert np.mean(false) < 0.13


# --- Numbers as people read them ------------------------------------------------------------------


def test_numbers_as_people_read_them():
    assert [milliseconds(v) for v in (0.0137, 0.115, 2.0, 234.4, 5600.0, np.nan)] == [
        "13.7 µs", "0.115 ms", "2.00 ms", "234 ms", "5.60 s", "–",
    ]  # fmt: skip
    assert [times(v) for v in (1.184, 12.34, 250.0)] == ["1.18×", "12.3×", "250×"]


@pytest.mark.parametrize(
    ("ratio", "low", "high", "text"),
    [
        (1.31, 1.301, 1.322, "1.31× [1.30, 1.32]"),
        (1.004, 1.0012, 1.0071, "1.004× [1.001, 1.007]"),
        (1.0004, 1.00012, 1.00071, "1.0004× [1.0001, 1.0007]"),
        (0.998, 0.9951, 0.9996, "0.9980× [0.9951, 0.9996]"),
        (1.2004, 1.2001, 1.2009, "1.200× [1.200, 1.201]"),
        (0.27, 0.27, 0.27, "0.27× [0.27, 0.27]"),
        (12.34, 12.2, 12.5, "12.3× [12.20, 12.50]"),
    ],
)
def test_a_claim_has_the_digits_that_it_needs(ratio, low, high, text):
    assert claimed_ratio(ratio, low, high) == text


def test_ratios_have_a_geometric_mean():
    assert geometric_mean([0.5, 2, 4]) == pytest.approx(4 ** (1 / 3))


@pytest.mark.parametrize(
    ("low", "high", "coverage", "error"),
    [(0.9, 1.1, 0.95, 0.05119244461760933), (1, 1, 0.9, 0), (1, 2, 1, 0)],
)
def test_the_error_of_an_interval(low, high, coverage, error):
    assert log_error(low, high, coverage) == pytest.approx(error, rel=1e-12)


def test_a_claim_falls_where_a_new_session_may_go_either_way():
    for claim in ("faster", "slower"):
        assert claim_between_runs(claim, 1, 1.2) == NOT_BETWEEN_RUNS
        assert claim_between_runs(claim, 1.01, 1.2) == claim
