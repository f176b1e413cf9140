"""Advice for a kernel that the suite does not have, from proxy kernels (twins)."""

import dataclasses
import itertools
import json
import math
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import planted
import pytest

from plots.advice import drawn_twins, real_kernels, twin, twin_traits
from plots.advice.twin_places import held, registers_of_its_twin
from plots.advice.twin_text import as_text
from plots.advice.twin_traits import beyond_the_twin, contradiction, indivisible
from plots.data.documents import read_document
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from plots.judge.gains import Gain, Part
from plots.statistics.kriging import COVERAGE, LEAST, Field
from tests.process import executable

MIDDLE = {
    "rows": "16", "row_bytes": "512", "layout": "run", "halo": "0", "common": "0",
    "out_bytes": "8192", "reads": "1", "fma": "16", "chain": "independent", "threads": "256",
    "stages": "3", "tiles_per_block": "0", "mebibytes": "256", "barriers": "0", "registers": "64",
    "workspace": "0", "launches": "1",
}  # fmt: skip


def rows_of(traits, speedups):
    """The points of one twin; a text in place of a speed-up is why there is none."""
    rows = []
    for strategy, value in speedups.items():
        at = {"strategy": strategy, **traits}
        if isinstance(value, str):
            rows.append({**planted.micro_row(at, None, "speedup", "x"), "reason": value})
            continue
        spread = [value * (1 + 0.004 * s) for s in (-1, -1, 0, 0, 0, 1, 1)]
        row = planted.micro_row(at, value, "speedup", "x")
        row["samples"] = {"value": spread, "time_ns": [1e5 / value] * 7}
        row |= {"value": planted.median_record(spread), "time_ns": 1e5 / value}
        rows.append(row | {"cycles": None, "clock_mhz": None})
    return rows


def speedups(**others):
    why_not = "neighbouring blocks have no data in common"
    return {**dict.fromkeys(planted.STRATEGIES, 1.0), "dsm": why_not, **others}


def document(*twins):
    rows = [row for traits, table in twins for row in rows_of({**MIDDLE, **traits}, table)]
    return planted.measured(planted.microbenchmark(twin.NAME, rows))


def grid():
    """Twins over tile and arithmetic; overlap gains with the tile, tma less and less with fma."""
    for rows, fma in itertools.product((4, 16, 64), (1, 4, 16, 128)):
        traits = {"rows": str(rows), "out_bytes": str(512 * rows), "fma": str(fma)}
        gains = {"overlap": 1 + rows / 200, "tma": 1.4 - 0.05 * math.log2(fma)}
        yield traits, speedups(**gains)


@pytest.fixture
def twins(save):
    return twin.twins_and_unseen([save(document(*grid()))])[0]


def asked(twins, **named):
    return twin.answer(twin_traits.traits_of(named, twins), twins, named)


def test_the_twin_with_just_these_traits_answers(twins):
    found = asked(twins, rows="64", fma="1")
    assert found.exact and found.first == "tma"
    assert [c.measured.strategy for c in found.choices[:2]] == ["tma", "overlap"]
    assert found.choices[0].claim == "faster"
    assert [m.strategy for m in found.absent] == ["dsm"]
    text = as_text(found, None)
    assert "1. tma: 1.40× [1.39, 1.41] faster" in text
    assert "dsm: neighbouring blocks have no data in common" in text
    assert "needs sm_90" in text and "To measure it" not in text


def test_equal_strategies_are_said_to_be_equal(save):
    near = speedups(overlap=1.300, tma=1.302, register_bypass=1.001, drop_off=0.5)
    found = asked(twin.twins_and_unseen([save(document(({}, near)))])[0])
    said = {c.measured.strategy: (c.claim, c.equal) for c in found.choices}
    assert said["tma"] == ("faster", True) and said["overlap"] == ("faster", True)
    assert said["register_bypass"] == ("not resolved", False)
    assert said["drop_off"] == ("slower", False)
    assert " faster, not distinguishable from the first" in as_text(found, None)


def test_what_is_within_the_noise_is_no_gain(save):
    noisy = document(({}, speedups(tma=1.01)))
    baseline = noisy["microbenchmarks"][0]["rows"][0]
    baseline["samples"]["value"] = values = [0.97, 0.98, 1.0, 1.0, 1.0, 1.02, 1.03]
    baseline["value"] = planted.median_record(values)
    found = asked(twin.twins_and_unseen([save(noisy)])[0])
    assert found.first == "baseline"
    assert "no strategy is found to be faster" in as_text(found, None)


def test_where_the_first_is_not_resolved_the_first_that_is_stands_beside_it(twins):
    found = asked(twins, rows="64", fma="1")
    tma, *others = found.choices
    between = replace(found, exact=False, choices=(replace(tma, claim="not resolved"), *others))
    text = as_text(between, None)
    assert "Try tma first, though it is not distinguishable from baseline: " in text
    assert "The first that is found to be faster than baseline is overlap." in text


def test_what_lies_between_where_no_twin_has_these_traits(twins):
    found = asked(twins, rows="16", fma="8")
    assert not found.exact and len(found.twins) == twin.NEIGHBOURS
    tma = next(c.measured for c in found.choices if c.measured.strategy == "tma")
    assert tma.ratio == pytest.approx(1.4 - 0.05 * 3, rel=0.03)
    assert tma.low < 1.4 - 0.05 * 3 < tma.high
    text = as_text(found, twin.accuracy(twins, []))
    assert found.first == "tma"
    assert "amasia run twin --traits rows=16" in text and "on this GPU is not known" in text


def test_of_too_few_twins_nothing_is_said(save):
    few = list(grid())[: LEAST - 1]
    found = asked(twin.twins_and_unseen([save(document(*few))])[0], rows="16", fma="8")
    assert [c.measured.strategy for c in found.choices] == ["baseline"]
    (why,) = {m.reason for m in found.absent if m.strategy != "dsm"}
    assert why == "8 recorded twins have it, and 9 are needed to answer for others"


def test_what_is_kept_unseen_answers_nothing_and_shows_what_answers_are_worth(save, ran):
    lot = random.Random(7)

    def some(kernels):
        return [(t, speedups(tma=1.2 * math.exp(lot.gauss(0, 0.05)))) for t in kernels]

    drawn = some(drawn_twins.answering()[:250])
    kept = drawn_twins.unseen()[:40]
    right = save(document(*grid(), *drawn, *some(kept)), "right.json")
    wrong = save(document(*grid(), *drawn, *[(t, speedups(tma=3.0)) for t in kept]), "wrong.json")
    without = twin.twins_and_unseen([save(document(*grid(), *drawn), "without.json")])[0]
    known = []
    for path in (right, wrong):
        twins, unseen = twin.twins_and_unseen([path])
        assert [t.traits for t in twins] == [t.traits for t in without] and len(unseen) == 40
        # Whatever was measured of them, an answer is the same, its intervals included.
        said, other = asked(twins, fma="8"), asked(without, fma="8")
        assert [c.measured for c in said.choices] == [c.measured for c in other.choices]
        known.append(twin.accuracy(twins, unseen))
        assert known[-1].asked and known[-1].asked + known[-1].unanswered == 40
        printed = ran(0, "advise", str(path), "--trait", "fma=10").out
        assert known[-1].worth() in printed
        assert real_kernels.sentence(real_kernels.all_cases()) in printed
    # With tma so much faster than anything said, no interval of it holds the truth.
    assert known[0].covered - known[1].covered > 0.8 * known[0].asked
    # Of another GPU they show nothing.
    elsewhere = [dataclasses.replace(of, gpu="another") for of in unseen]
    assert not twin.accuracy(twins, elsewhere).asked


def test_a_strategy_whose_tiles_do_not_fit_is_left_out(save):
    far = [({"reads": str(n)}, speedups()) for n in (3, 9)]
    made = twin.twins_and_unseen([save(document(*grid(), *far))])[0]
    found = asked(made, tile="30KiB", reads="4")
    (why,) = (m.reason for m in found.absent if m.strategy == "drop_off")
    assert why == "it needs 393216 bytes of shared memory, a block can have 232448"
    assert "drop_off" not in {c.measured.strategy for c in found.choices}


def pairs(text):
    return dict(pair.split("=") for pair in text.split())


RUN = "no twin of this kind was recorded ({}), recorded are run, independent; "


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("rows=2", "rows is 2, a tile of 1KiB, recorded are 2KiB to 32KiB"),
        ("out_bytes=0", "out_bytes is 0, recorded are 1 of the tile"),
        ("intensity=0 threads=512 tile=64KiB",
         "tile is 64KiB, recorded are 2KiB to 32KiB; intensity is 0, recorded are 0.5 to 64; "
         "threads is 512, recorded are 256"),
        ("layout=gather", RUN.format("gather, independent").removesuffix("; ")),
        ("layout=gather fma=500",
         RUN.format("gather, independent") + "fma is 500, recorded are 1 to 128"),
        ("halo=2 layout=box reads=5",
         RUN.format("box, independent, with halo") + "reads is 5, recorded are 1"),
    ],
)  # fmt: skip
def test_outside_the_measured_range_nothing_is_said(twins, named, why):
    with pytest.raises(PlotsError) as error:
        asked(twins, **pairs(named))
    assert str(error.value) == f"outside the measured range: {why}"


def test_the_nearest_is_said_to_be_another_kernel(save, ran):
    path = str(save(document(*grid())))
    outside = ["advise", path, "--tile", "8KiB", "--intensity", "0", "--trait", "threads=512"]
    first, second, third, kernel, where = ran(0, *outside, "--nearest").out.splitlines()[:5]
    assert first.startswith("The answer of ANOTHER kernel, since the one asked about is outside")
    assert "intensity is 0, recorded are 0.5 to 64; threads is 512" in first
    assert second.endswith("it differs: intensity 0.5 for 0, threads 256 for 512.")
    assert third.startswith("To measure it: ") and ",fma=0," in third and "threads=512" in third
    assert "rows=16" in kernel and "fma=1," in kernel and "threads=256" in kernel
    assert "from its twin measured" in where
    # Within the range it is the answer that there is without it.
    within = ["advise", path, "--tile", "16KiB", "--intensity", "8"]
    assert ran(0, *within, "--nearest").out == ran(0, *within).out


@pytest.mark.parametrize(
    ("option", "why"),
    [
        (["--app", "nw"], "--app selects among the suite's apps, and the traits of a kernel"),
        (["--nearest", "--measure", "amasia"], "--nearest asks what was recorded, --measure this"),
        (["--trait", "halo=4", "--trait", "halo=5"], "halo is '4' and '5': expected one of them"),
        (["--tile", "8KiB", "--trait", "tile=4KiB"], "tile is '4KiB' and '8KiB': expected one"),
        (["--trait", "fma"], "expected --trait NAME=VALUE, not 'fma'"),
        (["--trait", "fma=999"], "outside the measured range: fma is 999"),
        (["--gpu", "no such"], 'no GPU "no such" in the result files; known:'),
        (["--block", "256"], "--block and --grid are the launch shape of a --cubin"),
        (["--kernel", "k"], "--kernel names one in a report (--ncu) or in a --cubin"),
        (["--cubin", "k.cubin"], "--cubin needs --block"),
        (["--cubin", "k.cubin", "--block", "0"], "expected --block as"),
        (["--cubin", "k.cubin", "--block", "2048"], "expected a block of at most 1024 threads"),
    ],
)
def test_what_would_not_be_looked_at_is_refused(save, ran, option, why):
    path, file = str(save(document(*grid()))), str(save('tile = "8KiB"\n', "k.toml"))
    said = ran(2, "advise", path, "--traits", file, *option)
    assert said.err.startswith(f"plots: {why}") and said.out == ""


def test_traits_may_be_named_as_people_do(twins):
    for tile in ("16KiB", "16 Ki", "2^14", "16384"):
        traits = twin_traits.traits_of({"tile": tile, "intensity": "8"}, twins)
        # Two operations per multiply-add, four bytes per element.
        assert (traits["rows"], traits["fma"], traits["out_bytes"]) == ("32", "16", "16384")


MORE = "no block with these traits fits on NVIDIA H200: "


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("tile=1000", "expected a tile of whole rows of 512 bytes, not '1000'"),
        ("tile=16KB", "expected bytes as tile, a whole number above 0 of at most 12 digits with"),
        ("tile=0", "expected bytes as tile, a whole number above 0"),
        ("tile=8KiB rows=16", "tile and rows say the same: expected one of them"),
        ("intensity=-1", "expected a number as intensity, from 0 to 1e+12, not '-1'"),
        ("intensity=nan", "expected a number as intensity, from 0 to 1e+12, not 'nan'"),
        ("threads=many", "expected a whole number as threads, not 'many'"),
        ("thread=32", "no trait 'thread'; nearest: threads"),
        (
            "tile=300KiB",
            MORE + "one tile takes 307200 bytes of shared memory, and a block can have",
        ),
        ("rows=16 workspace=230000", MORE + "one tile and a workspace of 230000 take 238192 bytes"),
        ("threads=512 registers=255", MORE + "a block of 512 threads with 255 registers each"),
    ],
)
def test_a_bad_trait_is_one_line(twins, named, why):
    with pytest.raises(PlotsError) as error:
        asked(twins, **pairs(named))
    assert str(error.value).startswith(why) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rows = ", "expected TOML"),
        ("[kernel]\nrows = 16\n", "expected a number or a text as kernel"),
        ("rows = [1, 2]\n", "expected a number or a text as rows"),
        ("rows = true\n", "expected a number or a text as rows"),
        ("# rows = 16\n", 'expected traits such as tile = "16KiB", found none'),
        (None, "cannot be read"),
    ],
)
def test_a_bad_file_of_traits_is_one_line(save, tmp_path, text, why):
    path = tmp_path / "none.toml" if text is None else save(text, "kernel.toml")
    with pytest.raises(PlotsError, match=why):
        twin_traits.asked_in_file(path)


def along(*gains):
    """Twins along multiply-adds, whose tma gains so much."""
    steps = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    return [({"fma": str(n)}, speedups(tma=v)) for n, v in zip(steps, gains, strict=True)]


@pytest.mark.parametrize(
    ("others", "measured", "expected"),
    [
        # Said to be faster by all others, but the one in the middle is slower, or no different.
        (1.3, 0.8, {"opposite": 1, "unresolved": 0, "within": 0, "of_baseline": 1}),
        (1.3, 1.0, {"opposite": 0, "unresolved": 1, "within": 1, "of_baseline": 1}),
        (1.3, 1.3, {"opposite": 0, "unresolved": 0, "within": 1, "of_baseline": 0}),
        (0.5, 2.0, {"opposite": 1, "unresolved": 0, "within": 0, "of_baseline": 0}),
    ],
)
def test_accuracy_is_that_of_unseen_twins(save, others, measured, expected):
    spread = [others + 0.001 * (-1) ** n for n in range(12)]
    twins = twin.twins_and_unseen([save(document(*along(*spread[:6], measured, *spread[7:])))])[0]
    unseen = [t for t in twins if t.traits["fma"] == "24"]
    known = twin.accuracy([t for t in twins if t not in unseen], unseen)
    assert (known.asked, known.unanswered, known.gains) == (1, 0, 4)
    assert known.covered == 4 - (others != measured)
    assert known.gain_error[1] == pytest.approx(abs(others / measured - 1), abs=0.02)
    assert {name: getattr(known, name) for name in expected} == expected
    assert f"always naming baseline scores {known.of_baseline} (" in known.sentence()
    outside = [replace(t, traits={**t.traits, "fma": "4096"}) for t in unseen]
    assert twin.accuracy(twins, outside).unanswered == 1


@pytest.fixture
def program(tmp_path):
    """A program in place of amasia: a shell script."""

    return lambda script: str(executable(tmp_path / "amasia", script))


def test_the_command_measures_with_the_program_also_a_kernel_kept_unseen(save, program, ran):
    traits = drawn_twins.unseen()[0]
    path = str(ROOT / "results" / "0.1.0" / "h100-80gb-hbm3" / "twin.json.gz")  # has all traits
    measured = save(document((traits, speedups(drop_off=3.0))), "measured.json")
    # The last argument is where the result goes.
    amasia = program(f'for last; do :; done\necho "$@" > {measured}.args\ncp {measured} "$last"\n')
    named = [word for name, value in traits.items() for word in ("--trait", f"{name}={value}")]
    assert "Choose drop_off" in ran(0, "advise", path, *named, "--measure", amasia).out
    given = measured.with_name("measured.json.args").read_text(encoding="utf-8").split()
    assert given[:3] == ["run", "twin/strategies", "--traits"]
    assert pairs(given[3].replace(",", " ")) == traits


def test_a_program_that_fails_is_one_line(save, program, ran):
    measured = ("advise", save(document(*grid()), "record.json"), "--tile", "8KiB", "--measure")
    failing = program('echo "amasia: there is no GPU" >&2\nexit 3\n')
    said = f"plots: {failing} ended with 3: amasia: there is no GPU\n"
    assert ran(2, *measured, failing).err == said
    assert "/no/such: cannot be run" in ran(2, *measured, "/no/such").err


def test_the_page_and_python_have_every_trait_of_the_program():
    source = (ROOT / "microbench" / "twin" / "traits.hpp").read_text(encoding="utf-8")
    table = source[source.index("traits_of_a_kernel{{") :]
    table = re.sub(r"1 << ([0-9]+)", lambda m: str(1 << int(m[1])), table[: table.index("}};")])
    row = r'\{"(\w+)",\s*&Traits::\1,\s*(\d+),\s*(\d+),\s*"([^"]+)"(?:,\s*\{([^}]*)\})?'
    values, rows = {}, []
    for name, least, most, what, words in re.findall(row, table):
        values[name] = words.replace('"', "") if words else f"{least} to {most}"
        rows.append(f"| `{name}` | {what} | {values[name]} |")
    assert len(values) == 17
    assert values == {
        **{name: f"{least} to {most}" for name, (least, most) in twin_traits.LIMITS.items()},
        **{name: ", ".join(words) for name, words in twin_traits.WORDS.items()},
    }
    page = (ROOT / "docs" / "choosing-a-strategy.md").read_text(encoding="utf-8")
    start = page.index("| trait | what | values |")
    assert page[start : page.index("\n\n", start)].splitlines()[2:] == rows


CONTRADICTIONS = json.loads((Path(__file__).parent / "contradicting_traits.json").read_text())


@pytest.mark.parametrize("case", CONTRADICTIONS, ids=lambda case: json.dumps(case["traits"]))
def test_traits_contradict_each_other_as_they_do_for_the_program(case):
    """The same cases as tests/microbench/twin_test.cpp."""
    traits = {**MIDDLE, **case["traits"]}
    contradiction = twin_traits.contradiction(traits)
    assert (contradiction or twin_traits.indivisible(traits)) == case["why"]
    assert bool(contradiction) == bool(case["why"] and case.get("divides", True))


# --- Values between points, and scales ------------------------------------------------------------


def field_of(count, noise=0.0):
    lot = np.random.default_rng(1)
    points = lot.uniform(0, 2, (count, 3))
    return points, np.sin(points[:, 0]) + points[:, 1] / 2 + noise * lot.standard_normal(count)


def test_an_interval_holds_as_many_new_values_as_it_says():
    points, values = field_of(400, noise=0.1)
    said = Field(points[:200], values[:200], 0.05).at(points[200:])
    inside = [abs(v - s) <= half for v, (s, half) in zip(values[200:], said, strict=True)]
    assert np.mean(inside) == pytest.approx(COVERAGE, abs=0.05)


def test_widths_are_learnt_of_the_points_that_are_like_new_ones():
    points, values = field_of(200, noise=0.0)
    lot = np.random.default_rng(2)
    drawn = np.arange(200) >= 100
    values[drawn] += 0.2 * lot.standard_normal(100)
    at = np.array([[1.0, 1.0, 1.0]])
    ((_, wide),) = Field(points, values, 0.05, drawn).at(at)
    ((_, narrow),) = Field(points, values, 0.05, ~drawn).at(at)
    assert wide > narrow
    # Of fewer than it takes nothing can be learnt, and all are asked.
    few = np.arange(200) < LEAST
    assert Field(points, values, 0.05, few).at(at) == Field(points, values, 0.05).at(at)


def test_the_lot_is_always_the_same_and_of_possible_kernels():
    drawn = drawn_twins.drawn()
    assert drawn == drawn_twins.drawn(drawn_twins.COUNT) and len(drawn) == drawn_twins.COUNT
    assert len({tuple(t.items()) for t in drawn}) == len(drawn)
    assert not any(contradiction(t) or indivisible(t) or beyond_the_twin(t) for t in drawn)
    # All of them are in the record: with another lot it would be another record.
    recorded, unseen = twin.twins_and_unseen([ROOT / "results" / "0.1.0" / "h100-80gb-hbm3"])
    assert sum(twin.is_random(t) for t in recorded) == len(drawn_twins.answering())
    assert len(unseen) == len(drawn_twins.unseen()) == len(drawn_twins.UNSEEN)
    assert len(drawn_twins.answering()) + len(unseen) == len(drawn)
    for trait in ("layout", "halo", "common", "reads", "fma", "threads", "registers", "launches"):
        assert len({t[trait] for t in drawn}) > 2, trait


# --- Blocks on an SM ------------------------------------------------------------------------------


def by_the_hardware(of, m):
    """Blocks of an SM by the kernel's registers: its four parts give warps 256 at a time."""
    of_warp = math.ceil(m.kernel["registers"] * 32 / 256) * 256
    warps = 4 * (of.device["registers_per_sm"] // 4 // of_warp)
    return warps // math.ceil(int(of.traits["threads"]) / 32)


def test_it_is_what_every_recorded_twin_has():
    twins, _ = twin.twins_and_unseen([ROOT / "results"])
    recorded = [(of, m) for of in twins for m in of.strategies.values() if m.kernel]
    fewer, near = [], []
    assert len({m.strategy for _, m in recorded}) == 6 and len(recorded) > 1000
    for of, m in recorded:
        found = held(m.strategy, of.traits, of.device, registers_of_its_twin(of.traits))
        assert m.remark.startswith(f"{found.tile_bytes} bytes of tiles per block")
        blocks, under_way = m.kernel["blocks_per_sm"], m.kernel["bytes_in_flight_per_sm"]
        if m.strategy == "dsm":  # the GPU places clusters where there is room for four blocks
            assert blocks <= found.blocks_per_sm
            assert under_way <= found.in_flight_per_block * found.blocks_per_sm
            near.append(found.blocks_per_sm <= blocks + 1)
            continue
        assert under_way == pytest.approx(found.in_flight_per_block * blocks, rel=1e-3)
        if (most := by_the_hardware(of, m)) < found.blocks_per_sm:
            # The twin is held to blocks that the hardware does not give a kernel of whose own
            # registers a part of the SM has room for one warp less. Few are.
            assert blocks == most == found.blocks_per_sm - 1, of.traits
            fewer.append(of)
        else:
            assert found.blocks_per_sm == blocks, of.traits
    assert len(fewer) < 0.003 * len(recorded)
    assert sum(near) > 0.95 * len(near) > 0


# --- Kernels outside the suite --------------------------------------------------------------------


@pytest.mark.parametrize("name", real_kernels.names())
def test_advice_was_asked_before_measuring_of_the_traits_that_stand_there(name: str) -> None:
    answers = real_kernels.read_advice(real_kernels.RECORDED / "advice" / f"{name}.json")
    for path in real_kernels.result_files(name):
        provenance = read_document(path).provenance
        advice = real_kernels.advice_for(provenance.device.name, answers)
        assert advice.asked < provenance.date_utc, f"{path} was measured before it was asked"
    (traits,) = ROOT.glob(f"*/{name}/traits.toml")
    asked = twin_traits.asked_in_file(traits)
    for advice in answers:
        for trait, value in asked.items():
            if trait == "tile":
                tile = int(advice.traits["rows"]) * int(advice.traits["row_bytes"])
                assert tile == twin_traits.integer(value)
            else:
                assert advice.traits[trait] == value, trait
        assert advice.first in [a.strategy for a in advice.strategies]
        assert len(advice.strategies) == 6


def advice(first: str, gpu: str = "GPU", **nearest: str) -> real_kernels.Advice:
    return real_kernels.Advice("2026", gpu, {}, first, (), nearest)


def test_an_answer_about_another_kernel_comes_after_that_of_another_gpu() -> None:
    own, other = advice("tma"), advice("dsm", "another")
    assert real_kernels.advice_for("GPU", [other, own]) is own
    assert real_kernels.advice_for("a third", [other, own]) is other
    nearest = advice("tma", halo="4")
    assert real_kernels.advice_for("GPU", [nearest, other]) is other
    assert real_kernels.advice_for("GPU", [advice("dsm", "another", halo="1"), nearest]) is nearest


def gain(strategy: str, total: float, movement: float, width: float = 0.01) -> Gain:
    def part(ratio: float) -> Part:
        return Part(ratio, ratio - width, ratio + width, "faster" if ratio > 1 else "slower")

    return Gain(
        "GPU", "g", "softmax", "rows=1", "rows=1", "cold", "stream", strategy, "a", "b",
        part(total), part(total / movement), part(movement), None,
    )  # fmt: skip


def case(**totals: float) -> real_kernels.Case:
    gains = tuple(gain(name, total, total) for name, total in totals.items())
    return real_kernels.Case("softmax", "GPU", "rows=1", "stream", gains, advice("tma"))


def test_a_hit_costs_at_most_five_percent() -> None:
    assert case(tma=1.20, overlap=1.25).hit("tma")
    assert not case(tma=1.20, overlap=1.27).hit("tma")
    assert case(tma=0.97, overlap=0.90).hit("tma")  # baseline is the best, and near
    assert not case(tma=0.94, overlap=0.90).hit("tma")
    assert case(tma=0.94, overlap=0.90).hit("baseline")
    assert not case(overlap=1.0).hit("tma")  # which was not measured


def test_result_files_become_cases_and_are_judged_by_the_advice(tmp_path: Path) -> None:
    # The advice alone, without what was measured.
    shutil.copytree(real_kernels.RECORDED / "advice", tmp_path / "advice")
    assert real_kernels.all_cases(tmp_path) == [] and real_kernels.sentence([]) == ""
    sizes = [{"rows": 32768, "cols": 4096}, {"rows": 8192, "cols": 16384}]
    other = planted.matched_group("nw", {"n": 64}, 1.0)  # of another app: not looked at
    for name, path in (("softmax", "examples/softmax/h200"), ("cfd", "h200/paper-cfd")):
        groups = [planted.matched_group(name, size, 1.0, seed=i) for i, size in enumerate(sizes)]
        document = planted.sealed(planted.document([*groups, other]))
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / f"{path}.json").write_text(document, encoding="utf-8")
    cases = real_kernels.all_cases(tmp_path)
    labels = ["rows=32768 cols=4096", "rows=8192 cols=16384"]
    assert [(c.name, c.size_label) for c in cases] == [
        (name, label) for name in ("cfd", "softmax") for label in labels
    ]
    assert cases[0].gains and len(cases[0].gains) == len(cases[1].gains)
    of_example = cases[2:]
    (worth,) = real_kernels.worth_of(of_example)
    judged = [place for c in of_example for place in c.placed]
    assert judged and (worth.gains, worth.inside) == (len(judged), judged.count(True))
    # tma is named first and gains 1.56 overall, more than all others (planted.DIVIDED).
    best = cases[0].best
    assert best is not None and best.strategy == "tma" == of_example[0].advice.first
    assert (worth.cases, worth.hits, worth.of_baseline) == (2, 2, 0)
    said = real_kernels.sentence(of_example)
    assert worth.text() in said and said.startswith("Of 1 real kernels (softmax)")
    # Of cfd baseline is named.
    assert (cases[0].advice.first, cases[0].hit("baseline")) == ("baseline", False)
    assert real_kernels.sentence(cases[:2]).startswith("For real kernels this is no better than")


@pytest.mark.parametrize("text", ["[]", "{", '[{"asked": "2026", "gpu": 3}]'])
def test_what_is_no_advice_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "advice.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PlotsError, match="no advice is recorded there"):
        real_kernels.read_advice(path)
