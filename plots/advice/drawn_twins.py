"""Traits of random kernels for twins, always the same ones.

    python3 -m plots.advice.drawn_twins             # one a line, for `amasia run twin --traits`.
    python3 -m plots.advice.drawn_twins --unseen    # The held-out ones.

A grid varies one trait at a time from a few centres: its points are closer to each other than a
real kernel is to any. Random kernels vary all traits together, so that a new kernel is like one
more of them. The unseen ones only measure how well the others predict: no answer uses them.
"""

import random
import sys
from collections.abc import Iterator
from itertools import islice

from plots.advice.twin_traits import beyond, contradiction, indivisible

COUNT = 1200  # all that are recorded
UNSEEN = range(600, 800)  # which never answer
_SEED = 611
# What a block can have where it can have most; elsewhere a strategy that does not fit is skipped.
_MOST = {"shared_per_block": 232448, "registers_per_sm": 65536}
_KINDS = ("run", "box", "halo", "gather", "common")
_ROW_BYTES = (32, 64, 128, 256, 512, 1024, 2048, 4096)
_THREADS = (64, 96, 128, 128, 192, 256, 256, 256, 384, 512, 512, 768, 1024)
_REGISTERS = (72, 80, 96, 112, 128, 160, 168, 192, 224, 255)


def _draw(lot: random.Random) -> dict[str, int | str]:
    """One kernel, possible or not. What it is asked for first decides what comes after: the order
    of the calls is part of the list."""
    kind = lot.choices(_KINDS, [25, 20, 25, 18, 12])[0]
    tile = 1 << lot.randint(10, 16)
    if lot.random() < 0.3:
        tile = tile * 3 // 2
    least_rows = 1 if kind == "run" else 2
    row = lot.choice([row for row in _ROW_BYTES if row * least_rows <= tile])
    t: dict[str, int | str] = {
        "rows": tile // row, "row_bytes": row,
        "layout": {"halo": "box", "common": "run"}.get(kind, kind), "halo": 0, "common": 0,
    }  # fmt: skip
    t["reads"] = 1 if lot.random() < 0.5 else lot.choice([2, 3, 4, 6, 9, 16])
    if kind == "halo":
        t["halo"] = lot.choice([1, 1, 2, 3, 4, 4, 6, 8])
        t["reads"] = 5 if lot.random() < 0.5 else lot.choice([3, 4, 6, 9, 12])
    if kind == "common":
        share = lot.choice([0.125, 0.25, 0.5, 0.5, 0.75])
        t["common"] = max(1, min(tile // row - 1, round(tile // row * share)))
    written = 1.0
    if lot.random() >= 0.4:
        written = 0 if lot.random() < 0.25 else lot.randint(1, 7) / 8
    t["out_bytes"] = int(tile * written) // 16 * 16
    t["fma"] = 0 if lot.random() < 0.08 else round(2 ** lot.uniform(0, 9))
    t["chain"] = "dependent" if lot.random() < 0.25 else "independent"
    t["barriers"] = 0 if lot.random() < 0.5 else lot.choice([1, 2, 3, 4, 6, 8])
    t["threads"] = lot.choice(_THREADS)
    t["stages"] = 3 if lot.random() < 0.4 else lot.choice([2, 4])
    t["registers"] = 64 if lot.random() < 0.4 else lot.choice(_REGISTERS)
    t["workspace"] = 0 if lot.random() < 0.55 else 1 << lot.randint(10, 16)
    t["tiles_per_block"] = 0 if lot.random() < 0.55 else lot.choice([1, 1, 2, 3, 4, 8, 16])
    t["launches"] = 1 if lot.random() < 0.7 else lot.choice([2, 4, 8])
    t["mebibytes"] = 256 if lot.random() < 0.4 else lot.choice([16, 32, 64, 128, 512])
    return t


def _possible() -> Iterator[dict[str, str]]:
    lot, seen = random.Random(_SEED), set()
    while True:
        traits = {name: str(value) for name, value in _draw(lot).items()}
        known = tuple(traits.items())
        if int(traits["rows"]) > 256 or known in seen:
            continue
        if contradiction(traits) or indivisible(traits) or beyond(traits, _MOST):
            continue
        seen.add(known)
        yield traits


def drawn(count: int = COUNT) -> list[dict[str, str]]:
    """The first ``count`` of them: traits as the coordinates of a point."""
    return list(islice(_possible(), count))


def answering() -> list[dict[str, str]]:
    """Those that answers are made from."""
    return [kernel for number, kernel in enumerate(drawn()) if number not in UNSEEN]


def unseen() -> list[dict[str, str]]:
    """Those that are only asked for."""
    return [kernel for number, kernel in enumerate(drawn()) if number in UNSEEN]


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--unseen"]):
        sys.exit(
            f"usage: python3 -m plots.advice.drawn_twins [--unseen], not {' '.join(sys.argv[1:])}"
        )
    for kernel in unseen() if sys.argv[1:] else answering():
        print(",".join(f"{name}={value}" for name, value in kernel.items()))
