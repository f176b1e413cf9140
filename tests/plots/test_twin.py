"""Advice for a kernel that the suite does not have, from synthetic twins."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path

import judged
import pytest
import synthetic

from plots.advice import drawn_twins, examples, possible_traits, twin, twin_traits
from plots.advice.twin_text import as_text
from plots.advice.twin_traits import integer
from plots.cli import main
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from plots.judge import residency
from plots.statistics.kriging import LEAST

MIDDLE = {
    "rows": "16", "row_bytes": "512", "layout": "run", "halo": "0", "common": "0",
    "out_bytes": "8192", "reads": "1", "fma": "16", "chain": "independent", "threads": "256",
    "stages": "3", "tiles_per_block": "0", "mebibytes": "256",
}  # fmt: skip


def rows_of(traits, speedups, width=0.004):
    """The points of one twin; a text in place of a speed-up is why there is none."""
    rows = []
    for strategy, value in speedups.items():
        at = {"strategy": strategy, **traits}
        missing = isinstance(value, str)
        row = synthetic.micro_row(at, None if missing else value, "speedup", "x")
        if missing:
            row["reason"] = value
        else:
            spread = [value * (1 + width * s) for s in (-1, -1, 0, 0, 0, 1, 1)]
            row["samples"]["value"] = spread
            row["samples"]["time_ns"] = [1e5 / value] * 7
            row["samples"]["cycles"] = row["samples"]["clock_mhz"] = [None] * 7
            row["value"] = judged.median_record(spread, synthetic.CONFIDENCE)
            row["cycles"] = row["clock_mhz"] = None
            row["time_ns"] = 1e5 / value
        rows.append(row)
    return rows


def speedups(**others):
    table = {name: 1.0 for name in synthetic.STRATEGIES}
    return {**table, "dsm": "neighbouring blocks have no data in common", **others}


def document(*twins, **options):
    made = synthetic.document([], **options)
    rows = [row for traits, table in twins for row in rows_of({**MIDDLE, **traits}, table)]
    made["microbenchmarks"] = [synthetic.microbenchmark(twin.NAME, rows)]
    return made


def grid():
    """Twins over tile and arithmetic; overlap gains with the tile, tma less and less with fma."""
    for rows, fma in itertools.product((4, 16, 64), (1, 4, 16, 128)):
        traits = {"rows": str(rows), "out_bytes": str(512 * rows), "fma": str(fma)}
        gains = {"overlap": 1 + rows / 200, "tma": 1.4 - 0.05 * math.log2(fma)}
        yield traits, speedups(**gains)


@pytest.fixture
def twins(save):
    return twin.recorded_twins([save(document(*grid()))])


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
    found = asked(twin.recorded_twins([save(document(({}, near)))]))
    said = {c.measured.strategy: (c.claim, c.equal) for c in found.choices}
    assert said["tma"] == ("faster", True) and said["overlap"] == ("faster", True)
    assert said["register_bypass"] == ("not resolved", False)
    assert said["drop_off"] == ("slower", False)
    assert " faster, not distinguishable from the first" in as_text(found, None)


def test_what_is_within_the_noise_is_no_gain(save):
    noisy = document(({}, speedups(tma=1.01)))
    for row in noisy["microbenchmarks"][0]["rows"]:
        if row["at"]["strategy"] == "baseline":
            values = [0.97, 0.98, 1.0, 1.0, 1.0, 1.02, 1.03]
            row["samples"]["value"] = values
            row["value"] = judged.median_record(values, synthetic.CONFIDENCE)
    found = asked(twin.recorded_twins([save(noisy)]))
    assert found.first == "baseline"
    assert "no strategy is found to be faster" in as_text(found, None)


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
    found = asked(twin.recorded_twins([save(document(*few))]), rows="16", fma="8")
    assert [c.measured.strategy for c in found.choices] == ["baseline"]
    (why,) = {m.reason for m in found.absent if m.strategy != "dsm"}
    assert why == "8 recorded twins have it, and 9 are needed to answer for others"


def blocks_of(traits):
    device = synthetic.document([])["provenance"]["device"]
    return residency.held("baseline", traits, device).blocks_at_once


def gains_by_blocks():
    """Twins whose tma gains 5 % for each factor of two of baseline's blocks, which registers limit
    in some and shared memory beside the tiles in others."""
    for rows, registers, workspace in itertools.product(
        (4, 16, 64), ("64", "128", "255"), ("0", "49152")
    ):
        traits = {"rows": str(rows), "out_bytes": str(512 * rows), "registers": registers,
                  "workspace": workspace, "threads": "256"}  # fmt: skip
        yield traits, speedups(tma=1.2 * 1.05 ** math.log2(blocks_of({**MIDDLE, **traits})))


def test_a_strategy_that_one_of_the_nearest_lacks_is_answered_for_by_the_others(save):
    made = document(*grid())
    rows = made["microbenchmarks"][0]["rows"]
    made["microbenchmarks"][0]["rows"] = [
        row
        for row in rows
        if row["at"]["strategy"] != "tma" or (row["at"]["rows"], row["at"]["fma"]) != ("16", "16")
    ]
    found = asked(twin.recorded_twins([save(made)]), rows="16", fma="8")
    assert any("tma" not in of.strategies for of in found.twins)
    assert "tma" in {c.measured.strategy for c in found.choices}


def test_a_gain_follows_the_blocks_whatever_limits_them(save):
    twins = twin.recorded_twins([save(document(*gains_by_blocks()))])
    for registers, workspace in (("128", "24576"), ("160", "0"), ("96", "8192")):
        traits = twin_traits.traits_of({"registers": registers, "workspace": workspace}, twins)
        tma = next(
            c.measured for c in twin.answer(traits, twins).choices if c.measured.strategy == "tma"
        )
        assert tma.ratio == pytest.approx(1.2 * 1.05 ** math.log2(blocks_of(traits)), rel=0.02)


def test_random_kernels_say_how_far_off_an_answer_is(save):
    """A grid knows no noise; random kernels do."""
    lot = random.Random(5)
    drawn = [(t, speedups(tma=1.2 * math.exp(lot.gauss(0, 0.1)))) for t in drawn_twins.drawn(60)]
    alone = twin.recorded_twins([save(document(*grid()), "a.json")])
    both = twin.recorded_twins([save(document(*grid(), *drawn), "b.json")])
    tma = [
        next(c.measured for c in asked(t, fma="8").choices if c.measured.strategy == "tma")
        for t in (alone, both)
    ]
    assert tma[1].high / tma[1].low > 1.04 * tma[0].high / tma[0].low


def test_what_is_kept_unseen_answers_nothing_and_shows_what_answers_are_worth(save, capsys):
    lot = random.Random(7)

    def some(kernels):
        return [(t, speedups(tma=1.2 * math.exp(lot.gauss(0, 0.05)))) for t in kernels]

    drawn = some(drawn_twins.answering()[:250])
    kept = drawn_twins.unseen()[:40]
    right = save(document(*grid(), *drawn, *some(kept)), "right.json")
    wrong = save(document(*grid(), *drawn, *[(t, speedups(tma=3.0)) for t in kept]), "wrong.json")
    without = twin.recorded_twins([save(document(*grid(), *drawn), "without.json")])
    known = []
    for path in (right, wrong):
        twins, unseen = twin.twins_and_unseen([path])
        assert [t.traits for t in twins] == [t.traits for t in without] and len(unseen) == 40
        # Whatever was measured of them, an answer is the same, its intervals included.
        said, other = asked(twins, fma="8"), asked(without, fma="8")
        assert [c.measured for c in said.choices] == [c.measured for c in other.choices]
        known.append(twin.accuracy(twins, unseen))
        assert known[-1].asked and known[-1].asked + known[-1].unanswered == 40
        assert main(["advise", str(path), "--trait", "fma=10"]) == 0
        printed = capsys.readouterr().out
        assert known[-1].worth() in printed and examples.real_kernels() in printed
    # With tma so much faster than anything said, no interval of it holds the truth.
    assert known[0].covered - known[1].covered > 0.8 * known[0].asked
    # Of another GPU they show nothing.
    elsewhere = [dataclasses.replace(of, gpu="another") for of in unseen]
    assert not twin.accuracy(twins, elsewhere).asked


def test_a_tile_is_given_as_a_size_of_the_program_is():
    for text, size in {
        "16KiB": 16384,
        "16 Ki": 16384,
        "2^14": 16384,
        "16k": 16000,
        "64": 64,
    }.items():
        assert integer(text) == size
    for text in ("2^", "3^2", "16 kilo", "-4", "1.5k", ""):
        assert integer(text) is None


def test_a_strategy_whose_tiles_do_not_fit_is_left_out(save):
    far = [({"reads": str(n)}, speedups()) for n in (3, 9)]
    made = twin.recorded_twins([save(document(*grid(), *far))])
    found = asked(made, tile="30KiB", reads="4")
    (why,) = (m.reason for m in found.absent if m.strategy == "drop_off")
    assert why == "it needs 393216 bytes of shared memory, a block can have 232448"
    assert "drop_off" not in {c.measured.strategy for c in found.choices}


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ({"fma": "500"}, "fma is 500, recorded are 1 to 128"),
        ({"tile": "64KiB"}, "tile is 64KiB, recorded are 2KiB to 32KiB"),
        ({"rows": "2"}, "rows is 2, a tile of 1KiB, recorded are 2KiB to 32KiB"),
        ({"intensity": "0"}, "intensity is 0, recorded are 0.5 to 64"),
        (
            {"intensity": "0", "threads": "512", "tile": "64KiB"},
            "tile is 64KiB, recorded are 2KiB to 32KiB; intensity is 0, recorded are 0.5 to 64; "
            "threads is 512, recorded are 256",
        ),
        ({"threads": "512"}, "threads is 512, recorded are 256"),
        ({"out_bytes": "0"}, "out_bytes is 0, recorded are 1 of the tile"),
        (
            {"layout": "gather", "fma": "500"},
            "no twin of this kind was recorded (gather, independent), recorded are run, "
            "independent; fma is 500, recorded are 1 to 128",
        ),
        (
            {"halo": "2", "layout": "box", "reads": "5"},
            "no twin of this kind was recorded (box, independent, with halo), recorded are run, "
            "independent; reads is 5, recorded are 1",
        ),
    ],
)
def test_outside_the_measured_range_nothing_is_said(twins, named, why):
    with pytest.raises(PlotsError) as error:
        asked(twins, **named)
    assert str(error.value) == f"outside the measured range: {why}"


def test_a_refusal_says_what_answers_all_the_same(save, capsys):
    path = str(save(document(*grid())))
    assert (
        main(["advise", path, "--tile", "8KiB", "--intensity", "0", "--trait", "threads=512"]) == 2
    )
    said = capsys.readouterr().err
    assert "intensity is 0, recorded are 0.5 to 64; threads is 512, recorded are 256. " in said
    assert "On a GPU: To measure it: amasia run twin --traits rows=16,row_bytes=512," in said
    assert "fma=0," in said and "--nearest gives the answer of the nearest measured" in said
    assert main(["advise", path, "--tile", "8KiB", "--trait", "stages=5"]) == 2
    said = capsys.readouterr().err
    assert "It cannot be measured either: the twin's stages can be 2 to 4. --nearest gives" in said


def test_the_nearest_is_said_to_be_another_kernel(save, capsys):
    path = str(save(document(*grid())))
    outside = ["advise", path, "--tile", "8KiB", "--intensity", "0", "--trait", "threads=512"]
    assert main([*outside, "--nearest"]) == 0
    first, second, third, kernel, where = capsys.readouterr().out.splitlines()[:5]
    assert first.startswith("The answer of ANOTHER kernel, since the one asked about is outside")
    assert "intensity is 0, recorded are 0.5 to 64; threads is 512" in first
    assert second.endswith("it differs: intensity 0.5 for 0, threads 256 for 512.")
    assert third.startswith("To measure it: ") and ",fma=0," in third and "threads=512" in third
    assert "rows=16" in kernel and "fma=1," in kernel and "threads=256" in kernel
    assert "from its twin measured" in where
    # Within the range it is the answer that there is without it.
    within = ["advise", path, "--tile", "16KiB", "--intensity", "8"]
    assert main([*within, "--nearest"]) == main(within) == 0
    said = capsys.readouterr().out
    assert said[: len(said) // 2] == said[len(said) // 2 :]


def test_fewer_registers_than_a_twin_needs_are_taken_as_those_and_said(save, capsys):
    known = [({"registers": n, "fma": f}, speedups()) for n in ("64", "128") for f in ("1", "16")]
    path = str(save(document(*known)))
    assert main(["advise", path, "--tile", "8KiB", "--trait", "registers=32"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("registers is 32, taken as 64: a twin may need as many itself.")
    assert "registers=32" in said[1]
    assert main(["advise", path, "--tile", "8KiB", "--trait", "registers=255"]) == 2
    assert "registers is 255, recorded are 64 to 128" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "why"),
    [
        (["--app", "nw"], "--app selects among the suite's apps, and the traits of a kernel"),
        (["--cache", "cold"], "--cache selects among"),
        (["--launch", "graph"], "--launch selects among"),
        (["--role", "iso"], "--role selects among"),
        (["--nearest", "--measure", "amasia"], "--nearest asks what was recorded, --measure this"),
        (["--trait", "halo=4", "--trait", "halo=5"], "halo is '4' and '5': expected one of them"),
        (["--tile", "8KiB", "--trait", "tile=4KiB"], "tile is '4KiB' and '8KiB': expected one"),
    ],
)
def test_what_would_not_be_looked_at_is_refused(save, capsys, option, why):
    path, file = str(save(document(*grid()))), str(save('tile = "8KiB"\n', "k.toml"))
    assert main(["advise", path, "--traits", file, *option]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"plots: {why}") and said.out == ""


def test_what_is_not_named_is_as_in_twins_of_the_kind(save):
    halo = {"layout": "box", "halo": "4", "reads": "5"}
    record = document(*grid(), (halo, speedups()), ({**halo, "fma": "1"}, speedups()))
    twins = twin.recorded_twins([save(record)])
    assert twin_traits.traits_of({"rows": "16"}, twins)["reads"] == "1"
    assert twin_traits.traits_of({"rows": "16", "halo": "4"}, twins)["reads"] == "5"
    assert twin_traits.traits_of({"halo": "2"}, twins)["layout"] == "box"
    assert twin_traits.traits_of({"layout": "box", "halo": "0"}, twins)["reads"] == "1"


def test_traits_may_be_named_as_people_do(twins):
    traits = twin_traits.traits_of({"tile": "16KiB", "intensity": "8"}, twins)
    assert (traits["rows"], traits["fma"], traits["out_bytes"]) == ("32", "16", "16384")
    # Two operations per multiply-add, four bytes per element.
    assert int(traits["fma"]) * 2 / 4 == 8


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ({"tile": "1000"}, "expected a tile of whole rows of 512 bytes, not '1000'"),
        ({"tile": "a lot"}, "expected bytes as tile, such as 16KiB, not 'a lot'"),
        ({"tile": "16KB"}, "no unit 'KB' in tile '16KB': expected B, KiB, MiB, GiB or TiB"),
        ({"tile": "-16KiB"}, "expected bytes as tile, more than 0, not '-16KiB'"),
        ({"tile": "0"}, "expected bytes as tile, more than 0, not '0'"),
        ({"tile": "1.5KiB"}, "expected bytes as tile, a whole number of them, of at most 12"),
        ({"tile": "8KiB", "rows": "16"}, "tile and rows say the same: expected one of them"),
        ({"intensity": "-1"}, "expected a number as intensity, from 0 to 1e+12, not '-1'"),
        ({"intensity": "inf"}, "expected a number as intensity, from 0 to 1e+12, not 'inf'"),
        ({"intensity": "nan"}, "expected a number as intensity, from 0 to 1e+12, not 'nan'"),
        ({"intensity": "1e308"}, "expected a number as intensity, from 0 to 1e+12, not '1e308'"),
        ({"threads": "many"}, "expected a whole number as threads, not 'many'"),
        ({"threads": "0"}, "expected a whole number as threads, more than 0, not '0'"),
        ({"thread": "32"}, "no trait 'thread'; nearest: threads"),
    ],
)
def test_a_bad_trait_is_one_line(twins, named, why):
    with pytest.raises(PlotsError) as error:
        twin_traits.traits_of(named, twins)
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
    twins = twin.recorded_twins([save(document(*along(*spread[:6], measured, *spread[7:])))])
    unseen = [t for t in twins if t.traits["fma"] == "24"]
    known = twin.accuracy([t for t in twins if t not in unseen], unseen)
    assert (known.asked, known.unanswered, known.gains) == (1, 0, 4)
    assert known.covered == 4 - (others != measured)
    assert known.gain_error[1] == pytest.approx(abs(others / measured - 1), abs=0.02)
    assert {name: getattr(known, name) for name in expected} == expected
    assert f"always naming baseline scores {known.of_baseline} (" in known.sentence()
    outside = [replace(t, traits={**t.traits, "fma": "4096"}) for t in unseen]
    assert twin.accuracy(twins, outside).unanswered == 1


def test_the_command_asks_the_record(save, capsys):
    path = str(save(document(*grid())))
    assert main(["advise", path, "--tile", "32KiB", "--intensity", "0.5"]) == 0
    assert "Choose tma" in capsys.readouterr().out
    assert main(["advise", path, "--trait", "fma"]) == 2
    assert capsys.readouterr().err == "plots: expected --trait NAME=VALUE, not 'fma'\n"
    assert main(["advise", path, "--trait", "fma=999"]) == 2
    assert capsys.readouterr().err.startswith("plots: outside the measured range: fma is 999")
    assert main(["advise", path, "--tile", "8KiB", "--gpu", "no such"]) == 2
    assert 'no GPU "no such" in the result files; known:' in capsys.readouterr().err


@pytest.fixture
def program(tmp_path):
    """A program in place of amasia: a shell script."""

    def write(script):
        path = tmp_path / "amasia"
        path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return write


def test_the_command_measures_with_the_program(save, program, capsys):
    path = str(save(document(*grid()), "record.json"))
    measured = save(document(({"fma": "40"}, speedups(drop_off=3.0))), "measured.json")
    # The last argument is where the result goes.
    amasia = program(f'for last; do :; done\necho "$@" > {measured}.args\ncp {measured} "$last"\n')
    assert (
        main(["advise", path, "--trait", "fma=40", "--trait", "rows=16", "--measure", amasia]) == 0
    )
    assert "Choose drop_off" in capsys.readouterr().out
    given = (measured.parent / "measured.json.args").read_text(encoding="utf-8").split()
    assert given[:3] == ["run", "twin/strategies", "--traits"]
    assert "fma=40" in given[3].split(",")


def test_a_kernel_that_is_kept_unseen_is_answered_for_by_its_own_twin(save, program, capsys):
    traits = drawn_twins.unseen()[0]
    path = str(ROOT / "results" / "0.1.0" / "h100-80gb-hbm3" / "twin.json.gz")  # has all traits
    measured = save(document((traits, speedups(drop_off=3.0))), "measured.json")
    amasia = program(f'for last; do :; done\ncp {measured} "$last"\n')
    named = [word for name, value in traits.items() for word in ("--trait", f"{name}={value}")]
    assert main(["advise", path, *named, "--measure", amasia]) == 0
    assert "Choose drop_off" in capsys.readouterr().out


def test_a_program_that_fails_is_one_line(save, program, capsys):
    path = str(save(document(*grid()), "record.json"))
    failing = program('echo "amasia: there is no GPU" >&2\nexit 3\n')
    assert main(["advise", path, "--tile", "8KiB", "--measure", failing]) == 2
    assert capsys.readouterr().err == f"plots: {failing} ended with 3: amasia: there is no GPU\n"
    assert main(["advise", path, "--tile", "8KiB", "--measure", "/no/such"]) == 2
    assert "/no/such: cannot be run" in capsys.readouterr().err


def table_of_traits():
    """The rows of the table in traits.hpp as the page has them."""
    source = (ROOT / "microbench" / "twin" / "traits.hpp").read_text(encoding="utf-8")
    table = source[source.index("traits_of_a_kernel{{") :]
    table = re.sub(r"1 << ([0-9]+)", lambda m: str(1 << int(m[1])), table[: table.index("}};")])
    row = r'\{"(\w+)",\s*&Traits::\1,\s*(\d+),\s*(\d+),\s*"([^"]+)"(?:,\s*\{([^}]*)\})?'
    for name, least, most, what, words in re.findall(row, table):
        values = words.replace('"', "") if words else f"{least} to {most}"
        yield f"| `{name}` | {what} | {values} |"


def test_the_page_and_python_have_every_trait_of_the_program():
    page = (ROOT / "docs" / "choosing-a-strategy.md").read_text(encoding="utf-8")
    rows = list(table_of_traits())
    assert len(rows) == 17
    values = {row.split("`")[1]: row.split("|")[3].strip() for row in rows}
    assert values == {
        **{name: f"{least} to {most}" for name, (least, most) in possible_traits.LIMITS.items()},
        **{name: ", ".join(words) for name, words in possible_traits.WORDS.items()},
    }
    start = page.index("| trait | what | values |")
    listed = page[start : page.index("\n\n", start)].splitlines()[2:]
    assert listed == rows


CONTRADICTIONS = json.loads((Path(__file__).parent / "contradicting_traits.json").read_text())


@pytest.mark.parametrize("case", CONTRADICTIONS, ids=lambda case: json.dumps(case["traits"]))
def test_traits_contradict_each_other_as_they_do_for_the_program(case):
    """The same cases as tests/microbench/twin_test.cpp."""
    traits = {**MIDDLE, **case["traits"]}
    contradiction = possible_traits.contradiction(traits)
    assert (contradiction or possible_traits.indivisible(traits)) == case["why"]
    assert bool(contradiction) == bool(case["why"] and case.get("divides", True))


def test_a_tile_that_the_threads_do_not_divide_is_answered_and_not_to_be_measured(save, capsys):
    wide = [({"threads": str(n)}, speedups()) for n in (128, 512)]
    path = str(save(document(*grid(), *wide)))
    assert main(["advise", path, "--trait", "threads=160"]) == 0
    said = capsys.readouterr().out
    assert "No twin has just these traits: a thread computes on" in said
    assert "160 threads do not divide 512 x 16 bytes so.\n" in said
    command = said[said.index("To measure it, with 128 threads instead: ") :]
    assert ",threads=128," in command
    assert main(["advise", path, "--trait", "threads=384"]) == 0
    assert "with 512 threads instead" in capsys.readouterr().out


def test_more_than_the_gpu_has_is_said_before_the_range(twins):
    for named, why in (
        (
            {"tile": "300KiB"},
            "one tile takes 307200 bytes of shared memory, and a block can have 232448 there",
        ),
        (
            {"tile": "1GiB"},
            "one tile takes 1073741824 bytes of shared memory, and a block can have",
        ),
        ({"tile": "1TiB"}, "one tile takes 1099511627776 bytes of shared memory, and a block"),
        (
            {"rows": "16", "workspace": "230000"},
            "one tile and a workspace of 230000 take 238192 bytes",
        ),
        ({"threads": "512", "registers": "255"}, "a block of 512 threads with 255 registers each"),
    ):
        added = {"workspace": "0", "registers": "64"}
        device = {"shared_per_block": 232448, "registers_per_sm": 65536}
        known = [replace(t, traits={**t.traits, **added}, device=device) for t in twins]
        with pytest.raises(PlotsError, match=f"no block with these traits fits on .*: {why}"):
            asked(known, **named)
    assert possible_traits.beyond(MIDDLE, {}) == ""
