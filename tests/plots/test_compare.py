"""Two sets of results: the verdict on every value, the likely cause, and the command."""

import csv
import io

import planted
import pytest

from plots.cli import main
from plots.data.load import load
from plots.judge.compare import Filter, Outcome, compare
from plots.judge.sides import NothingInCommonError
from plots.statistics.claims import INVALID
from plots.statistics.intervals import least_p_value

SIZE = {"n": 512}
CASE = "nw n=512 cold stream"


@pytest.fixture
def run(save):
    """A run of nw, each time times ``factor_of(its row)``; ``change`` alters the document."""

    def make(name, factor_of=lambda _row: 1.0, change=lambda _document: None, **options):
        options = {"half": 1e-4, "rounds": 41, **options}
        group = planted.group("nw", SIZE, 1.0, **options)
        for row in group["rows"]:
            row.median *= factor_of(row)
        planted.measure(group)
        document = planted.document([group])
        document["provenance"]["device"]["uuid_hash"] = name
        change(document)
        return load([save(document, f"{name}.json")])

    return make


def scattered(row):
    """As runs differ: each row by itself, by a promille or so."""
    return 1 + 1e-3 * (len(row["variant"] + row["role"]) % 3 - 1)


def tma(factor):
    return lambda row: scattered(row) * (factor if row["variant"] == "nw/tma" else 1.0)


def outcomes(found, quantity="time"):
    return {v.name: v.outcome for v in found.values if v.quantity == quantity}


def value(found, name, quantity="time"):
    (one,) = [v for v in found.values if (v.name, v.quantity) == (name, quantity)]
    return one


def set_clock(clock, of="nw/tma"):
    def change(document):
        for row in document["groups"][0]["rows"]:
            if row["variant"].startswith(of):
                row["samples"]["sm_clock_mhz"] = [clock] * len(row["samples"]["time_ms"])

    return change


def test_a_run_is_the_same_as_itself(run):
    one = run("one")
    found = compare(one, one)
    assert {v.outcome for v in found.values} == {Outcome.SAME}
    assert {v.ratio for v in found.values} == {1.0}
    assert found.differences == [] and found.only_old == found.only_new == []


@pytest.mark.parametrize(("factor", "outcome"), [(0.8, Outcome.FASTER), (1.25, Outcome.SLOWER)])
def test_what_moved_by_itself_is_found_with_its_ratio(run, factor, outcome):
    """Rows that did not move tell how far rows move."""
    found = compare(run("new", tma(factor)), run("old"))
    changed = {name for name, of in outcomes(found).items() if of is outcome}
    assert changed == {"nw/tma (iso)", "nw/tma (best)"}
    one = value(found, "nw/tma (best)")
    assert one.low < one.ratio < one.high and one.ratio == pytest.approx(1 / factor, rel=0.01)
    assert one.old / one.new == pytest.approx(one.ratio)  # what is printed agrees
    speedup = value(found, "nw/tma (best) over nw/baseline", "speed-up")
    assert speedup.outcome is (Outcome.LARGER if factor < 1 else Outcome.SMALLER)
    assert speedup.new / speedup.old == pytest.approx(speedup.ratio)


@pytest.mark.parametrize(
    ("threshold", "outcome"), [(0.0, Outcome.SLOWER), (0.2, Outcome.SLOWER), (0.5, Outcome.SAME)]
)
def test_a_change_below_the_threshold_is_none(run, threshold, outcome):
    found = compare(run("new", tma(1.25)), run("old"), threshold=threshold)
    assert outcomes(found)["nw/tma (best)"] is outcome


def test_rates_and_the_share_of_the_floor_are_those_of_the_time(run):
    new = run("new", tma(0.5))
    row = new.rows[new.rows["variant"] == "nw/tma"].iloc[0]
    one = value(compare(new, run("old")), "nw/tma (iso)")
    assert one.gb_s == pytest.approx(1e-6 * row["bytes"] / one.new)
    assert one.of_floor == pytest.approx(row["floor_ms"] / one.new)


def of_tma(**changed):
    def change(document):
        for row in document["groups"][0]["rows"]:
            row.update(changed if row["variant"] == "nw/tma" else {})

    return change


def of_machine(where, **changed):
    def change(document):
        of = document["provenance"]
        (of[where] if where else of).update(changed)

    return change


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (of_tma(source_digest="cd" * 32), "other code (its digest differs)"),
        (of_tma(config="of today"), "config of today against"),
        (set_clock(1584.0), "SM clock 1584 MHz against"),
        (of_machine("device_state", power_limit_w="500"), "power_limit_w 500 against"),
        (of_machine("device", driver_version=13010), "CUDA driver 13010 against"),
        (of_machine("", cuda_compiler="NVIDIA 13.9"), "CUDA compiler NVIDIA 13.9 against"),
        (lambda _: None, "GPU of the model new against old"),
    ],
)
def test_the_likely_cause_is_named(run, change, cause):
    found = compare(run("new", tma(1.25), change), run("old"))
    assert cause in value(found, "nw/tma (best)").cause
    assert value(found, "nw/overlap (best)").cause == ""


def test_a_clock_that_moves_both_alike_is_no_cause_of_their_ratio(run):
    factor = lambda row: 1.25 * (1.1 if row["variant"] == "nw/tma" else 1)  # noqa: E731
    new = run("new", factor, set_clock(1584.0, of="nw/"))
    found = compare(new, run("old", change=set_clock(1980.0)))
    assert "SM clock" not in value(found, "nw/tma (best) over nw/baseline", "speed-up").cause
    assert "SM clock 1584 MHz" in value(found, "nw/tma (best)").cause


def test_wrong_impossible_and_missing_rows_have_outcomes_of_their_own(run):
    odd = {
        ("nw/dsm", "best"): ("failed", "3 of 4 elements differ"),
        ("nw/tma", "best"): ("skipped", "needs sm_90"),
    }

    def change(document):
        group = document["groups"][0]
        group["rows"] = [
            planted.untimed_row(row["variant"], row["role"], *odd[row["variant"], row["role"]])
            if (row["variant"], row["role"]) in odd
            else row
            for row in group["rows"]
            if (row["variant"], row["role"]) != ("nw/drop_off", "best")
        ]
        planted.measure(group)

    found = compare(run("new", change=change), run("old"))
    failed, impossible = value(found, "nw/dsm (best)"), value(found, "nw/tma (best)")
    assert failed.outcome is Outcome.FAILED and "3 of 4 elements" in failed.cause
    assert impossible.outcome is Outcome.NOT_POSSIBLE and "needs sm_90" in impossible.cause
    assert outcomes(found)["nw/overlap (best)"] is Outcome.SAME
    assert found.only_old == [f"nw/drop_off (best) at {CASE}"]


@pytest.mark.parametrize("side", ["OLD", "NEW"])
def test_nothing_is_concluded_from_what_was_disturbed(run, side):
    def disturb(document):
        document["groups"][0]["invalid"] = [
            {"kind": "company", "reason": "another process computed", "remedy": "end it"}
        ]
        for comparison in document["groups"][0]["comparisons"]:
            comparison["claim"] = INVALID

    disturbed, plain = run("disturbed", tma(2.0), disturb), run("plain")
    sides = (plain, disturbed) if side == "OLD" else (disturbed, plain)
    found = compare(*sides)
    assert {v.outcome for v in found.values} == {Outcome.NOT_VALID}
    assert found.values[0].cause == f"in {side}: another process computed; end it"


@pytest.mark.parametrize(("rounds", "outcome"), [(7, Outcome.FASTER), (6, Outcome.NOT_RESOLVED)])
def test_too_few_rounds_are_said(run, rounds, outcome):
    """Six rounds on each side tell nothing apart at 95 %, seven do, where all rows differ."""
    a100 = of_machine("device", **planted.A100)
    sides = [run("new", rounds=rounds), run("old", lambda _row: 2.0, a100, rounds=rounds)]
    found = compare(*sides)
    assert set(outcomes(found).values()) == {outcome}
    told = [w for w in found.warnings if "too few rounds" in w]
    assert bool(told) == (rounds < 7)
    if told:
        assert least_p_value(7) <= 0.05 < least_p_value(6) and ": 7 rounds on each side" in told[0]


def test_most_times_of_unchanged_code_that_moved_are_the_machine(run):
    """What is to be judged is not taken for what differs between runs."""
    found = compare(run("new", lambda row: 0.5 * scattered(row)), run("old"))
    assert set(outcomes(found).values()) == {Outcome.FASTER}
    assert any("with unchanged code became faster, by 2x" in w for w in found.warnings)
    ((app, mean, count, least, most),) = found.means()
    assert (app, count) == ("nw", 12) and least <= mean <= most
    assert mean == pytest.approx(2, rel=2e-3)


def sessions_of(run, gpus):
    """Results of several sessions, the i-th on gpus[i], each slower by two promille."""

    def make(place, gpu):
        def change(document):
            document["provenance"]["device"]["uuid_hash"] = gpu
            document["provenance"]["date_utc"] = f"2026-11-2{place}T00:00:00Z"

        return run(f"s{place}", lambda row: scattered(row) * (1 + 2e-3 * place), change)

    first, *others = (make(place, gpu) for place, gpu in enumerate(gpus))
    for measured in (m for of in others for row in of.sessions.found.values() for m in row):
        first.sessions.add(measured)
    return first


@pytest.mark.parametrize(
    ("gpus", "now", "low", "high"),
    [
        (("a", "a", "a"), "a", 0.99, 1.0),  # against the sessions on this very GPU
        (("a", "b", "c"), "d", 0.99, 1.01),
    ],
)
def test_sessions_tell_how_far_rows_move(run, gpus, now, low, high):
    found = compare(run(now, tma(1.2)), sessions_of(run, gpus))
    tma_ = value(found, "nw/tma (best)")
    assert tma_.knows == "between runs" and tma_.outcome is Outcome.SLOWER
    assert low < value(found, "nw/overlap (best)").ratio * 1.0 < high + 0.01
    assert value(found, "nw/overlap (best)").outcome in (Outcome.SAME, Outcome.EDGE)
    assert "GPU of the model" not in tma_.cause or now not in gpus


def test_other_sessions_add_what_they_know(run):
    """With --sessions the samples of one run each do not count as all there is."""

    def file(name, gpu, factor):
        other = of_machine("device", uuid_hash=gpu, driver_version=12000 + len(name))
        return run(name, lambda _row: factor, other)

    new, old = file("new1", "a", 1.005), file("older", "b", 1.0)
    assert {v.knows for v in compare(new, old).values if v.quantity == "time"} == {"one run each"}
    more = [file(f"more{i}", gpu, f) for i, (gpu, f) in enumerate((("c", 1.01), ("d", 0.99)))]
    for i, results in enumerate(more):
        for row in results.sessions.found.values():
            for at, measured in enumerate(row):
                row[at] = type(measured)(**{**vars(measured), "date": f"2026-10-0{i + 1}"})
    found = compare(new, old, more=more)
    assert {v.knows for v in found.values if v.quantity == "time"} == {"between runs"}
    assert not found.of(Outcome.FASTER, Outcome.SLOWER)


@pytest.mark.parametrize(
    ("factor", "samples", "latency", "bandwidth"),
    [
        # Equal samples have no spread to compare a difference with: four digits decide.
        (1.0001, 3, Outcome.SAME, Outcome.SAME),
        (2.0, 3, Outcome.SLOWER, Outcome.FASTER),
        (0.5, 3, Outcome.FASTER, Outcome.SLOWER),
        (2.0, 1, Outcome.NOT_VALID, Outcome.NOT_VALID),
    ],
)
def test_points_are_judged_by_which_is_better(save, factor, samples, latency, bandwidth):
    def points(name, factor):
        rows = [
            planted.micro_row({"level": "l1"}, 41.0 * factor),
            planted.micro_row({"level": "l2"}, 4500.0 * factor, "bandwidth", "GB/s"),
        ]
        for row in rows if samples == 1 else ():
            row["samples"] = {name: of[:1] for name, of in row["samples"].items()}
            row["value"].update(n=1, coverage=0.0)
        gpu = {**planted.device(), "uuid_hash": name}
        made = planted.measured(planted.microbenchmark("memory/latency", rows), gpu=gpu)
        return load([save(made, f"{name}.json")])

    found = compare(points("new", factor), points("old", 1.0))
    assert [v.outcome for v in found.values] == [latency, bandwidth]
    for v in found.values:
        if samples == 1:
            assert "one sample" in v.cause
            continue
        assert v.old / v.new == pytest.approx(1 / factor)
        assert v.ratio == pytest.approx(1 / factor if v.quantity == "latency" else factor)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (Filter(app="nw", strategy="tma"), {"nw/tma (iso)", "nw/tma (best)"}),
        (Filter(only=("nw * cold stream",), strategy="dsm"), {"nw/dsm (iso)", "nw/dsm (best)"}),
    ],
)
def test_a_part_is_compared(run, wanted, names):
    assert set(outcomes(compare(run("new"), run("old"), wanted=wanted))) == names


def test_nothing_in_common_says_what_each_side_has(save):
    new = planted.document([planted.group("nw", {"n": 1}, 1.0)])
    old = planted.document([planted.group("lud", {"n": 1}, 1.0, launch="graph")], gpu=planted.A100)
    with pytest.raises(NothingInCommonError, match=r"A100.* has lud \(cold graph\); .* nw \(cold"):
        compare(load([save(new, "new.json")]), load([save(old, "old.json")]))


@pytest.fixture
def files(save):
    def make(factor):
        sides = []
        for name, f in (("old", 1.0), ("new", factor)):
            groups = [planted.group(app, SIZE, f, half=1e-4, rounds=41) for app in ("nw", "lud")]
            document = planted.document(groups)
            document["provenance"]["device"]["uuid_hash"] = name
            sides.append(str(save(document, f"{name}.json")))
        return sides

    return make


@pytest.mark.parametrize(
    ("factor", "options", "status"),
    [
        (1.5, [], 0),
        (1.5, ["--fail-on", "slower"], 1),
        (1.5, ["--fail-on", "different"], 1),
        (1.5, ["--fail-on", "slower", "--threshold", "60"], 0),
        (0.5, ["--fail-on", "slower"], 0),
        (0.5, ["--fail-on", "different"], 1),
        (1.0, ["--fail-on", "different"], 0),
    ],
)
def test_a_ci_fails_on_what_it_asks_for(ran, files, factor, options, status):
    out = ran(status, "compare", *files(factor), *options).out
    assert "geometric mean of 12 times" in out
    assert "differs: GPU of the model new against old" in out
    assert 0 <= out.index("NEW against OLD: of 24 times ") < out.index("\nTimes\n")


def test_the_csv_holds_the_values(ran, files, tmp_path):
    both = files(1.5)
    shown = ran(0, "compare", *both, "--app", "nw", "--format", "csv").out
    lines = list(csv.DictReader(io.StringIO(shown)))
    assert {line["app"] for line in lines} == {"nw"}
    slower = next(line for line in lines if line["name"] == "nw/tma (best)")
    assert slower["outcome"] == "slower" and float(slower["ratio"]) < 1
    out = tmp_path / "c.csv"
    assert main(["compare", *both, "--app", "nw", "--format", "csv", "-o", str(out)]) == 0
    assert out.read_text() == shown
