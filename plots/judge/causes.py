"""Why a value of NEW differs from that of OLD, as far as the files tell."""

import math
from collections import defaultdict
from collections.abc import Sequence

from plots.data.load import Results
from plots.data.sessions import digest_in, rows_in
from plots.judge.sides import Pair, Sides, parts_of

_OF_MODEL = "GPU of the model"
_MOST_NAMED = 2  # of what one side has of a fact
_BUILD = {
    "CUDA compiler": "cuda_compiler", "compiler flags": "flags", "architectures": "architectures",
}  # fmt: skip
_STATES = (
    "power_limit_w", "memory_clock_mhz", "sm_clock_max_mhz", "ecc", "mig", "compute_mode", "use",
    "driver_version",
)  # fmt: skip


def _facts(results: Results) -> dict[str, set[str]]:
    """What may move every value, from what explains most."""
    facts: dict[str, set[str]] = defaultdict(set)
    for p in results.files["provenance"]:
        device, state = p["device"], p.get("device_state") or {}
        facts["GPU model"].add(device["name"])
        sessions = p.get("sessions") or [device]
        facts[_OF_MODEL] |= {session["uuid_hash"] for session in sessions}
        facts["CUDA driver"].add(str(device["driver_version"]))
        for what, name in _BUILD.items():
            facts[what].add(p[name])
        for name in (name for name in _STATES if name in state):
            facts[name].add(str(state[name]))
    return facts


def _some_of(names: Sequence[str]) -> str:
    shown, more = names[:_MOST_NAMED], len(names) - _MOST_NAMED
    return " and ".join([*shown, f"{more} more"] if more > 0 else shown)


def differences_of(new: Results, old: Results) -> list[str]:
    """ "CUDA driver 13010 against 12080": the facts that no file of one side shares with the other.
    GPUs of one model are named where the two sides have none in common."""
    mine, theirs = _facts(new), _facts(old)
    found = []
    for what in (name for name in theirs if name in mine):
        if mine[what] & theirs[what] or (what == _OF_MODEL and new.gpus != old.gpus):
            continue
        after, before = (_some_of(sorted(of[what])) for of in (mine, theirs))
        found.append(f"{what} {after} against {before}")
    return found


class Causes:
    """Why a value differs, as far as the files tell."""

    def __init__(self, sides: Sides, of_all: Sequence[str]) -> None:
        self._of_all = of_all
        self._rows = [
            {row.identity: row for part in parts_of(side) for row in part.rows.itertuples()}
            for side in (sides.old, sides.new)
        ]

    def of(self, pair: Pair) -> tuple[str, bool]:
        """In words, and whether the code is other code."""
        names = list(zip(rows_in(pair.old.identity), rows_in(pair.new.identity), strict=True))
        moved = math.log(pair.values[1] / pair.values[0])
        found, is_other = [], False
        explained = []
        for place, (old, new) in enumerate(names):
            was, is_ = self._rows[0].get(old), self._rows[1].get(new)
            of = f"{is_.variant}: " if is_ is not None and len(names) > 1 else ""
            if was is not None and is_ is not None:
                if was.config != is_.config:
                    found.append(f"{of}config {is_.config} against {was.config}")
                before, after = float(was.sm_clock_mhz), float(is_.sm_clock_mhz)
                # A time goes as one over the clock; a speed-up is the time of the reference, which
                # comes second, over that of the row.
                sign = 1 if len(names) == 1 or place else -1
                by_clock = math.log(before / after) if before > 0 and after > 0 else 0.0
                words = f"{of}SM clock {after:.0f} MHz against {before:.0f} MHz"
                explained.append((sign * by_clock, words))
            if digest_in(old) != digest_in(new):
                found.append(f"{of}other code (its digest differs)")
                is_other = True
        if _explains(sum(e for e, _ in explained), moved, 0.5):
            share = 0.5 if len(names) == 1 else 0.25
            found += [words for e, words in explained if _explains(e, moved, share)]
        return "; ".join([*found, *self._of_all]) or "nothing that is recorded differs", is_other


def _explains(explained: float, moved: float, share: float) -> bool:
    return explained * moved > 0 and abs(explained) >= share * abs(moved)
