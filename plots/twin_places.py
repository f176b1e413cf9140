"""Where a kernel lies among others, by what of its traits decides a strategy's gain: coordinates in
which two kernels are the more alike, the nearer they are.

A trait that only limits the blocks of an SM (registers, shared memory beside the tiles) has no
coordinate of its own: the blocks have, and the bytes that they keep under way. So the same place
has the same blocks, whatever they are limited by.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from plots.kriging import Array
from plots.residency import held, registers_of_its_twin

# Coordinate -> change of correlation's distance with one unit of it: a factor of two of a number, a
# quarter of a share, one of a word. Fitted to the recorded twins of an H200 (fitted_scales), and
# held against those of an H100 and against kernels drawn by lot (docs/twin.md).
SCALES = {
    "barriers": 0.017,
    "blocks_of_baseline": 0.098,
    "blocks": 0.15,
    "chunks": 0.037,
    "common": 0.072,
    "dependent": 0.023,
    "in_flight_of_baseline": 0.138,
    "fma": 0.059,
    "in_flight": 0.038,
    "halo": 0.121,
    "launches": 0.02,
    "box": 0.032,
    "gather": 0.178,
    "mebibytes": 0.026,
    "out_bytes": 0.076,
    "reads": 0.174,
    "stages": 0.028,
    "threads": 0.033,
    "tile": 0.068,
    "tiles_per_block": 0.268,
    "warps": 0.132,
    "row_bytes": 0.068,
}
NUGGET = 1e-4

_LIMITS = ("registers", "workspace")  # of blocks per SM, which have coordinates themselves


def position(traits: Mapping[str, str]) -> Mapping[str, float]:
    """Each trait that is a number in powers of two; bytes written and rows in common as shares of
    the tile, four to the whole."""
    return _position(tuple(traits.items()))


@cache
def _position(traits: tuple[tuple[str, str], ...]) -> Mapping[str, float]:
    n = {name: float(value) for name, value in traits if value.isdigit()}
    tile = n.pop("rows", 1) * n.get("row_bytes", 1)
    shares = {
        "out_bytes": n.pop("out_bytes", 0) / max(tile, 1),
        "common": n.pop("common", 0) * n.get("row_bytes", 1) / max(tile, 1),
    }
    return {
        "tile": math.log2(max(tile, 1)),
        **{name: 4 * share for name, share in shares.items()},
        **{name: math.log2(1 + value) for name, value in n.items()},
    }


def coordinates(
    traits: Mapping[str, str], strategy: str, device: Mapping[str, Any], registers: int = 0
) -> dict[str, float]:
    """Of a kernel in a strategy, on a GPU as a result file describes it. ``registers``: per thread,
    when the kernel has more than its traits say."""
    place = {name: value for name, value in position(traits).items() if name not in _LIMITS}
    for trait, word in (("layout", "box"), ("layout", "gather"), ("chain", "dependent")):
        place[word] = float(traits.get(trait) == word)
    if not {"rows", "row_bytes", "threads"} <= traits.keys():
        return place  # a record without them does not say what a block is
    threads = int(traits["threads"])
    place["chunks"] = place["tile"] - math.log2(16 * threads)
    mine, base = (held(s, traits, device, registers) for s in (strategy, "baseline"))
    if math.isfinite(base.blocks_at_once):
        place["warps"] = math.log2(max(base.blocks_at_once * threads / 32, 1 / 64))
        for end, of in (("", mine), ("_of_baseline", base)):
            place["blocks" + end] = math.log2(max(of.blocks_at_once, 1 / 64))
            place["in_flight" + end] = math.log2(max(of.in_flight_per_sm, 16))
    return place


def place_of(
    traits: Mapping[str, str], strategy: str, device: Mapping[str, Any], registers: int = 0
) -> Array:
    """The coordinates, scaled, in the order of SCALES."""
    at = coordinates(traits, strategy, device, registers)
    return np.array([scale * at.get(name, 0.0) for name, scale in SCALES.items()])


def places_of_twins(
    twins: Sequence[Mapping[str, str]], strategy: str, device: Mapping[str, Any]
) -> Array:
    """Of recorded twins of a GPU, a row for each: a twin has the registers that it may need."""
    known = {"rows", "row_bytes", "threads"}
    rows = [
        place_of(t, strategy, device, registers_of_its_twin(t) if known <= t.keys() else 0)
        for t in twins
    ]
    return np.array(rows).reshape(len(twins), len(SCALES))
