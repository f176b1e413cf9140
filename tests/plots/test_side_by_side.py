"""Times and ratios that stand side by side are of the same sessions: they divide, wherever both are
printed."""

from __future__ import annotations

import html
import re

import pytest
import synthetic
import test_sessions
from whole_record import whole_record

from plots.advice.advise import advise
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.judge.beside import rows_beside, times_beside
from plots.papers.generations import steps
from plots.report import readme
from plots.report.chapters import spellings
from plots.report.embedded import Embedded
from plots.report.tables import row_records

_UNITS = {"µs": 1e-3, "ms": 1.0, "s": 1e3}
_NUMBER = re.compile(r"[0-9.]+")


def ends(text):
    """The least and the largest number that is printed so; of a time in ms."""
    (number,) = _NUMBER.findall(text.split(" [")[0])
    half = 0.5 * 10.0 ** -len(number.partition(".")[2])
    if "." not in number:  # three digits are printed
        half = 0.5 * 10.0 ** max(0, len(number) - 3)
    unit = next((scale for name, scale in _UNITS.items() if text.endswith(f" {name}")), 1.0)
    return (float(number) - half) * unit, (float(number) + half) * unit


def divides(reference, time, ratio):
    """Whether a printed ratio may be the quotient of two printed times."""
    (a, b), (c, d), (low, high) = ends(reference), ends(time), ends(ratio)
    return a / d <= high * (1 + 1e-9) and b / c >= low * (1 - 1e-9)


def undivided_in_table(text):
    """The lines of README's table whose times and ratios do not divide, and how many were
    divided."""
    head, _, *lines = text.splitlines()
    columns = [name.strip() for name in head.strip("|").split("|")]
    wrong, count, base = [], 0, {}
    for line in lines:
        cells = dict(zip(columns, (c.strip() for c in line.strip("|").split("|")), strict=True))
        for time, ratio in (("best", "speed-up at best"), ("iso", "speed-up at iso")):
            if cells["strategy"] == "baseline":
                base[time] = cells[time]
            elif "×" in cells[ratio] and base[time].endswith("s"):
                count += 1
                if not divides(base[time], cells[time], cells[ratio].split(",")[0]):
                    wrong.append(line)
    return wrong, count


def recorded():
    if not any((ROOT / "results").rglob("*.json.gz")):
        pytest.skip("nothing is recorded here")
    return whole_record()


def test_the_readmes_tables_divide():
    for of_gpu in readme._of_each_gpu(recorded()):
        wrong, count = undivided_in_table(readme.table(of_gpu))
        assert wrong == [] and count > 20


_RAN = re.compile(r"ran ([0-9.]+× \[[^\]]*\]) faster than baseline \((\S+ \S+) against (\S+ \S+)\)")


def test_the_sentences_of_advice_divide():
    results, count = recorded(), 0
    for gpu in results.gpus:
        of_gpu = results.where(gpu=gpu)
        for role in ("best", "iso") if len(of_gpu.groups) else ():
            for sentence in (a.sentence() for a in advise(of_gpu, role=role)):
                if found := _RAN.search(sentence):
                    count += 1
                    assert divides(found[3], found[2], found[1]), sentence
    assert count > 50


def reference_of(record, times):
    """The time that a row's ratio is over, by what the page says of roles, or None."""
    group, schedule = record["group"], record["speedup"].against_schedule
    for role in {"comparator": ("best",), "matched": ("best", "matched")}.get(
        record["role"], (record["role"],)
    ):
        found = times.get((group, record["speedup"].against, role, schedule))
        if found is not None:
            return found
    return None


@pytest.mark.parametrize("kind", ["compared", "cross"])
def test_the_table_of_all_rows_divides(kind):
    results = recorded() if kind == "compared" else recorded().cross
    records = row_records(results)
    times = {
        (r["group"], r["variant"], r["role"], r["speedup"].schedule if r["speedup"] else s): t
        for r in records
        for s, t in [(r["schedule"], r["beside_ms"])]
        if r["repeat"] == 0
    }
    count = 0
    for record in records:
        if record["speedup"] is None or record["repeat"]:
            continue
        reference = reference_of(record, times)
        assert reference is not None, record["row"]
        count += 1
        quotient = reference / record["beside_ms"]
        assert quotient == pytest.approx(record["speedup"].ratio, rel=1e-9), record["row"]
        if record["floor_fraction"] > 0:
            share = record["floor_ms"] / record["beside_ms"]
            assert record["reached"] == pytest.approx(share, rel=1e-6)
    assert count > 300


def test_the_table_of_spellings_divides():
    body = html.unescape(spellings._body(recorded(), Embedded()))
    lines = [re.findall(r"<td[^>]*>(.*?)</td>", line) for line in body.split("<tr>")]
    lines = [cells for cells in lines if cells]
    assert lines
    for cells in lines:
        strategy, spelled, ratio = cells[7:10]
        assert float(strategy) / float(spelled) == pytest.approx(
            float(ratio.split("×")[0]), abs=0.5 * 10.0 ** -len(ratio.split("×")[0].split(".")[1]),
            rel=2e-3,
        )  # fmt: skip


def test_between_two_gpus_times_and_ratios_divide_and_there_is_one_judge():
    results = recorded()
    gpus = [gpu for gpu in results.by_generation if (results.groups["gpu"] == gpu).any()]
    if len(gpus) < 2:
        pytest.skip("one GPU is recorded")
    new, old = (results.where(gpu=gpu) for gpu in gpus[:2])
    (step,) = steps([(new, old)])
    rows = step.measured.rows
    assert len(rows) > 50
    for r in rows.itertuples():
        assert r.old_ms / r.new_ms == pytest.approx(r.ratio, rel=1e-9)
    keys = ["app", "size_label", "cache", "launch", "strategy"]
    told = rows[rows["role"] == "best"].set_index(keys)
    same = 0
    for b in step.best.itertuples():
        product = b.hardware * b.new_software / b.old_software
        assert b.ratio == pytest.approx(product, rel=1e-9)
        if b.new_strategy == b.old_strategy:
            same += 1
            row = told.loc[(b.app, b.size_label, b.cache, b.launch, b.new_strategy)]
            for name in ("ratio", "low", "high", "resolved"):
                assert getattr(b, name) == row[name]
    assert same > 5


# --- Where sessions differ ------------------------------------------------------------------------


def later_session(save, clock=1.2):
    """tma was measured in a later session of the file alone, beside the baseline, at another clock:
    every time there is longer."""

    def of(ms, variant, date, best):
        speedups = {"baseline": (1.0, 1.0), variant: (1.1, best)}
        group = synthetic.group("nw", {"n": 64}, ms, speedups=speedups)
        return synthetic.document([group], date=date)

    first = of(3.0, "overlap", "2026-11-20T10:00:00Z", 1.2)
    later = of(3.0 * clock, "tma", "2026-11-21T10:00:00Z", 1.3)
    return load([save(test_sessions.sessions_of(first, later), "sessions.json")])


def test_a_row_of_a_later_session_divides_by_its_own_ratio(save):
    results = later_session(save)
    rows = rows_beside(results)
    rows = rows[rows["repeat"] == 0].set_index(["strategy", "role"])
    compared = results.comparisons[~results.comparisons["control"]]
    compared = compared.set_index(["strategy", "role"])
    for role in ("iso", "best"):
        base, tma, ratio = ("baseline", role), ("tma", role), compared.loc[("tma", role), "ratio"]
        assert rows.loc[base, "beside_ms"] / rows.loc[tma, "beside_ms"] == pytest.approx(ratio)
        # The medians alone say otherwise.
        assert rows.loc[base, "median"] / rows.loc[tma, "median"] < 0.9 * ratio
    wrong, count = undivided_in_table(readme.table(readme.select(results)))
    assert wrong == [] and count == 4
    (found,) = advise(results)
    assert found.strategy == "tma" and found.ratio == pytest.approx(1.3)
    assert found.baseline_ms / found.median_ms == pytest.approx(1.3)


@pytest.mark.parametrize("as_one_file", [True, False])
def test_times_of_rows_in_several_sessions_divide(save, as_one_file):
    documents = test_sessions.three()
    paths = (
        [save(test_sessions.sessions_of(*documents))]
        if as_one_file
        else [save(document, f"{i}.json") for i, document in enumerate(documents)]
    )
    results = load(paths)
    assert (results.comparisons["ratio"] != results.comparisons["run_ratio"]).any()
    wrong, count = undivided_in_table(readme.table(readme.select(results)))
    assert wrong == [] and count == 10


def test_a_row_without_a_comparison_has_the_time_of_its_run(load_groups):
    results = load_groups(synthetic.group("nw", {"n": 64}, 1.0, speedups={"baseline": (1, 1)}))
    times = times_beside(results)
    base = results.rows[results.rows["repeat"] == 0]
    for row in base.itertuples():
        assert times[row.row] == pytest.approx(row.median)
