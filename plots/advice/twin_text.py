"""The answer of twins in words: what to choose, at what cost, how sure, and how to measure it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from plots.advice.twin import (
    Accuracy,
    Answer,
    Computed,
    Measured,
    OutsideRangeError,
    Twin,
    answer,
    place_of,
    places_of_twins,
)
from plots.advice.twin_traits import (
    Traits,
    beyond_the_twin,
    in_bytes,
    indivisible,
    kind_of,
    nearest_divisible,
    tile_bytes,
)
from plots.data.strategies import BY_NAME, code_lines, involved_lines
from plots.errors import PlotsError
from plots.statistics.kriging import distances
from plots.units import claimed_ratio


def _kibibytes(value: float) -> str:
    return f"{value / 1024:.4g} KiB"


def _computed_cost(strategy: str, of: Computed) -> list[str]:
    parts = [f"{of.held.tile_bytes} bytes of tiles per block"]
    if of.registers is not None:
        least_and_most = " to ".join(map(str, dict.fromkeys(of.registers)))
        parts.append(f"{least_and_most} registers per thread in the nearest twins")
    blocks = of.held.blocks_per_sm
    if blocks is not None:
        # Where the clusters of dsm lie decides how many there are.
        at_most = "at most " if strategy == "dsm" else ""
        beside = f" ({of.own_twin})" if of.own_twin else ""
        parts.append(f"{at_most}{blocks} block{'s' * (blocks != 1)} per SM{beside}")
    return parts


def _cost(measured: Measured) -> str:
    strategy = BY_NAME[measured.strategy]
    parts = [measured.remark] if measured.remark else []
    if measured.computed is not None:
        parts += _computed_cost(measured.strategy, measured.computed)
    elif measured.kernel:
        parts.append(f"{measured.kernel['registers']} registers per thread in the twin")
        parts.append(f"{measured.kernel['blocks_per_sm']} blocks per SM")
    parts += [f"alignment {strategy.alignment}", f"needs {strategy.needs}"]
    source = f"microbench/twin/{strategy.name}.cu"
    lines = code_lines(source)
    if lines is not None:
        parts.append(f"{lines} lines in its own file of the twin")
        parts.append(f"{involved_lines(source)} in all files involved")
    return "; ".join(parts)


def _in_flight(m: Measured) -> float:
    if m.computed is not None:
        return m.computed.held.in_flight_per_sm
    return float(m.kernel.get("bytes_in_flight_per_sm", math.nan))


def _reason(found: Answer) -> str:
    """Why the first is where it is, from what was measured beside the times."""
    by_name = {c.measured.strategy: c.measured for c in found.choices}
    first, base = by_name[found.first], by_name["baseline"]
    if first is base:
        return "no strategy is found to be faster than copies through registers"
    said = []
    a, b = _in_flight(first), _in_flight(base)
    if math.isfinite(a) and math.isfinite(b):
        # Of dsm it depends on where clusters find room.
        at_most = "at most " if first.strategy == "dsm" and first.computed is not None else ""
        said.append(
            f"{first.strategy} can have {at_most}{_kibibytes(a)} per SM in flight, baseline "
            f"{_kibibytes(b)}"
            if a > b
            else f"not because of more bytes in flight (at most {_kibibytes(a)} per SM, baseline "
            f"{_kibibytes(b)})"
        )
    moved = float(found.traits.get("mebibytes", "nan")) * 2**20
    tile = int(found.traits["rows"]) * int(found.traits["row_bytes"])
    moved *= 1 + int(found.traits["out_bytes"]) / tile
    if math.isfinite(first.time_ms) and math.isfinite(base.time_ms):
        speeds = (f"{moved / m.time_ms / 1e6:.0f} GB/s" for m in (first, base))
        said.append("throughput of tiles and results {} against {}".format(*speeds))
    return "; ".join(said) or "nothing was recorded that says why"


def given_to_amasia(traits: Traits) -> str:
    """The traits as `amasia run twin --traits` takes them."""
    return ",".join(f"{name}={value}" for name, value in traits.items())


def how_to_measure(traits: Traits) -> list[str]:
    """The command for these traits, or for the nearest that the twin can have."""
    why = indivisible(traits)
    near = nearest_divisible(traits) if why else traits
    said = [f"No twin has just these traits: {why}."] if why else []
    if near is None:
        return [*said, "No number of threads shares this tile: give a tile that one does."]
    beside = f", with {near['threads']} threads instead" if why else ""
    if limits := beyond_the_twin(near):
        return [*said, f"It cannot be measured either: {limits}."]
    return [*said, f"To measure it{beside}: amasia run twin --traits {given_to_amasia(near)}"]


def with_ways_out(error: OutsideRangeError, traits: Traits) -> PlotsError:
    """The refusal with what answers all the same."""
    ways = " ".join(how_to_measure(traits))
    if not beyond_the_twin(traits) and nearest_divisible(traits):
        ways = f"On a GPU: {ways} (or --measure AMASIA here). Without one:"
    return PlotsError(
        f"{error}. {ways} --nearest gives the answer of the nearest measured traits, which is "
        "another kernel's"
    )


def as_text(found: Answer, known: Accuracy | None, beside: Sequence[str] = ()) -> str:
    """The answer as plain text, with where it is from; ``beside`` says what else is known of how
    well such answers are."""
    named = ", ".join(f"{name}={value}" for name, value in found.traits.items())
    where = (
        f"its twin measured {found.twins[0].date[:10]}"
        if found.exact
        else "what lies between recorded twins"
    )
    lines = [*found.remarks, f"A kernel with {named}", f"on {found.gpu}, from {where}:"]
    for place, choice in enumerate(found.choices, 1):
        m = choice.measured
        if choice.claim == "reference":
            low, high = found.noise
            text = f"the reference; against itself [{low:.3f}, {high:.3f}]"
        else:
            text = claimed_ratio(m.ratio, m.low, m.high)
            apart = m.low > 1 or m.high < 1
            unclaimed = "(within baseline's noise)" if apart else "(not resolved)"
            text += " " + (choice.claim if choice.claim != "not resolved" else unclaimed)
        same = ", not distinguishable from the first" if choice.equal and place > 1 else ""
        lines.append(f"  {place}. {m.strategy}: {text}{same}")
        lines.append(f"     cost: {_cost(m)}")
    lines += [f"  – {m.strategy}: {m.reason}" for m in found.absent]
    resolved = any(c.claim in ("faster", "reference") and c.measured.strategy == found.first
                   for c in found.choices)  # fmt: skip
    lines.append(
        f"Choose {found.first}: {_reason(found)}."
        if resolved
        else f"Try {found.first} first, though it is not distinguishable from baseline: "
        f"{_reason(found)}."
    )
    surest = next((c.measured.strategy for c in found.choices if c.claim == "faster"), None)
    if not resolved and surest is not None:
        lines.append(f"The first that is found to be faster than baseline is {surest}.")
    if not found.exact:
        lines.append(
            "Gains are interpolated between all recorded twins; brackets are 90 % prediction "
            "intervals, calibrated on twins left out. Bytes of tiles, blocks per SM and bytes in "
            "flight are computed for this kernel."
        )
        computed = [c.measured.computed for c in found.choices]
        if any(of is not None and of.own_twin for of in computed):
            lines.append(
                "The kernel has more blocks per SM than a twin with its traits can have: intervals "
                "cover both numbers of blocks."
            )
        if known is not None:
            lines += [s for s in (known.worth(), known.sentence(), *beside) if s]
        lines += how_to_measure(found.traits)
    return "\n".join(lines) + "\n"


def answer_of_nearest(
    traits: Traits, twins: Sequence[Twin], asked: Mapping[str, str] | None = None
) -> Answer:
    """The answer; outside the measured range that of the nearest twin, which is another kernel's
    and says so. Raises PlotsError."""
    asked = asked or {}
    try:
        return answer(traits, twins, asked)
    except OutsideRangeError as error:
        why = str(error)

    here = place_of(traits, "baseline", twins[0].device)

    def apart(twin: Twin) -> tuple[int, float]:
        kinds = zip(kind_of(traits), kind_of(twin.traits), strict=False)
        there = places_of_twins([twin.traits], "baseline", twin.device)
        return sum(a != b for a, b in kinds), float(distances(there, here[None, :])[0, 0])

    other = min(twins, key=apart)
    changed = []
    for name, value in other.traits.items():
        was = traits.get(name, "0")
        if was == value:
            continue
        if name == "fma" and "intensity" in asked:
            changed.append(f"intensity {int(value) / 2:g} for {asked['intensity']}")
        elif name == "rows" and "tile" in asked:
            changed.append(
                f"tile {in_bytes(tile_bytes(other.traits))} for {in_bytes(tile_bytes(traits))}"
            )
        else:
            changed.append(f"{name} {value} for {was}")
    found = answer(other.traits, twins)
    remarks = (
        f"The answer of ANOTHER kernel, since the one asked about is {why}.",
        f"This is the nearest that was measured; it differs: {', '.join(changed)}.",
        *how_to_measure(traits),
    )
    return replace(found, remarks=remarks)
