"""A page per strategy, made of the record and right about it."""

from __future__ import annotations

import pytest
import synthetic

from plots.advice import strategy_pages
from plots.data.load import load
from plots.data.strategies import NAMES, code_lines, involved_lines


@pytest.fixture
def pages(load_groups):
    """tma gains 1.20 by schedule and 1.30 by movement, dsm 0.90 and 1.35 (synthetic.DIVIDED)."""
    return strategy_pages.pages(load_groups(synthetic.matched_group("nw", {"n": 64}, 1.0)))


def test_every_strategy_has_what_it_is_shows_costs_and_won(pages):
    assert list(pages) == [f"{name}.md" for name in NAMES]
    for name in NAMES:
        text = pages[f"{name}.md"]
        heads = [line for line in text.splitlines() if line.startswith("#")]
        assert heads == [
            f"# {name}", "## What it is", "## What its machine code shows",
            f"## {synthetic.device()['name']}", "### What it costs", "### When it won here",
        ]  # fmt: skip
        assert f"apps/nw/{name}.cu) ({code_lines(f'apps/nw/{name}.cu')} lines)" in text


def test_costs_are_beside_those_of_baseline(pages, load_groups):
    group = synthetic.matched_group("nw", {"n": 64}, 1.0)
    rows = {r["variant"]: r for r in group["rows"] if r["role"] == "best" and not r["repeat"]}
    registers = [rows[f"nw/{n}"]["evidence"][0]["registers"] for n in ("tma", "baseline")]
    line = next(at for at in pages["tma.md"].splitlines() if at.startswith("| nw |"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1] == f"{registers[0]} ({registers[1]})"
    own, all_of_it = code_lines("apps/nw/tma.cu"), involved_lines("apps/nw/tma.cu")
    assert cells[4].startswith(f"{own} (") and cells[5].startswith(f"{all_of_it} (")
    # An app that is not recorded has its lines.
    assert "| gemm | – (–) | – (–) | – (–) | " in pages["tma.md"]


def test_what_a_stage_costs_is_told_where_it_is_recorded(pages, save):
    def row(way: str, size: int, cycles: float) -> dict:
        at = {"way": way, "warps": "2", "bytes": str(size)}
        return synthetic.micro_row(at, cycles)

    cycles = {"none": (900, 1000), "bulk": (1150, 1300), "bulk_producer": (1020, 1111)}
    rows = [
        row(way, size, values[i])
        for way, values in cycles.items()
        for i, size in enumerate((1024, 8192))
    ]
    rows += [row("cp_async", 1024, 950.0)]  # and nobody beside
    document = synthetic.document([synthetic.matched_group("nw", {"n": 64}, 1.0)])
    document["microbenchmarks"] = [synthetic.microbenchmark(strategy_pages.STAGE_COST, rows, [])]
    told = strategy_pages.pages(load([save(document)]))
    assert (
        "A stage of 1 to 8 KiB that comes this way makes a chain of dependent operations 250 to "
        "300 cycles longer when the warps that compute see to it, and 111 to 120 when a warp "
        "beside them does"
    ) in told["tma.md"]
    for name in ("baseline", "register_bypass", "overlap", "drop_off", "dsm"):
        assert told[f"{name}.md"] == pages[f"{name}.md"]


def test_what_a_strategy_won_is_that_of_the_advice_and_of_movement(pages):
    assert "names it first in 1 of 1 cases, in 1 of them alone" in pages["tma.md"] + pages["dsm.md"]
    assert "| nw | 1 of 1: 1.56 (1.56 to 1.56); movement 1.30 |" in pages["tma.md"]
    assert "names it first in 0 of 1 cases" in pages["drop_off.md"]
    assert "In 0 of 1 cases the [advice](../choosing.md) names no strategy" in pages["baseline.md"]
