"""What is resolved where rounds depend on each other: simulated, with the table of
docs/methodology.md, and recorded."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from simulated_rounds import NOISES, ROUNDS, claims_of, noise_of, row_of, table

FOLDER = Path(__file__).parent
METHODOLOGY = FOLDER.parents[1] / "docs" / "methodology.md"
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
    """At ten times the spread of the rounds and of the control, whatever the rounds depend on, a
    walk at random included."""
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
