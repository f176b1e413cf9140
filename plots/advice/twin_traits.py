"""The traits of a kernel that twins are asked for: whether any kernel can have them, and whether
the twin can; as given, completed from the record, compared with its range.

What is possible follows the rules of ``contradiction`` in microbench/twin/traits.hpp: tests hold
both to the same cases (tests/plots/contradicting_traits.json). A trait that is not there is not
judged.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plots.advice.twin_places import most_threads, numbers, position
from plots.errors import PlotsError, nearest

if TYPE_CHECKING:
    from plots.advice.twin import Twin


Traits = dict[str, str]  # as the coordinates of a point

_THREADS = range(32, 1025, 32)
# What the traits that are no numbers may be.
WORDS = {"layout": ("run", "box", "gather"), "chain": ("independent", "dependent")}

# The least and the most that `amasia run twin` takes of those that are numbers.
LIMITS = {
    "rows": (1, 256),
    "row_bytes": (16, 65536),
    "halo": (0, 32),
    "common": (0, 255),
    "out_bytes": (0, 1048576),
    "reads": (1, 32),
    "fma": (0, 4096),
    "barriers": (0, 64),
    "threads": (32, 1024),
    "stages": (2, 4),
    "registers": (16, 255),
    "workspace": (0, 1048576),
    "tiles_per_block": (0, 65536),
    "launches": (1, 16),
    "mebibytes": (1, 4096),
}


def _chunks(n: Mapping[str, int]) -> int:
    """Pieces of 16 bytes in a tile without its halo."""
    return n.get("rows", 1) * n.get("row_bytes", 16) // 16


def contradiction(traits: Mapping[str, str]) -> str:
    """Why no kernel has these traits together, in one sentence; "" when one may."""
    n = numbers(traits)
    for name, least in (("row_bytes", 16), ("out_bytes", 16), ("threads", 32)):
        if n.get(name, 0) % least:
            return f"{name} is not a multiple of {least}"
    if n.get("out_bytes", 0) > _chunks(n) * 16:
        return "out_bytes is more than the tile has (rows x row_bytes)"
    halo, common, rows = n.get("halo", 0), n.get("common", 0), n.get("rows", 1)
    if halo and traits.get("layout") != "box":
        return "a halo needs the layout box"
    if halo and n.get("reads", 3) < 3:
        return "a halo is there to be read: reads is at least 3"
    if halo > rows:
        return "the halo is larger than the tile"
    if common >= rows:
        return "common has to leave a row of the tile's own"
    if halo and common:
        return "a tile has a halo or common rows, not both"
    return ""


def indivisible(traits: Mapping[str, str]) -> str:
    """Why the twin's threads cannot share the tile, although a kernel's might; "" when they can."""
    n = numbers(traits)
    chunks, threads = _chunks(n), n.get("threads", 32)
    each = chunks // max(threads, 1)
    if each and (chunks % threads or 8 % each):
        return (
            f"a thread computes on 1, 2, 4 or 8 times 16 bytes of a tile; {threads} threads do not "
            f"divide {chunks} x 16 bytes so"
        )
    most = most_threads(each)
    if threads > most:
        return (
            f"a block has at most {most} threads when each computes on {each} x 16 bytes of a tile"
        )
    return ""


def beyond_the_twin(traits: Mapping[str, str]) -> str:
    """Which traits `amasia run twin` does not take, and what it takes; "" when it takes all."""
    return "; ".join(
        f"the twin's {name} can be {LIMITS[name][0]} to {LIMITS[name][1]}"
        for name, value in numbers(traits).items()
        if name in LIMITS and not LIMITS[name][0] <= value <= LIMITS[name][1]
    )


def nearest_divisible(traits: Mapping[str, str]) -> Traits | None:
    """The same traits with the nearest number of threads that the twin can have; None when it can
    have none."""
    asked = int(traits["threads"])
    options = sorted(_THREADS, key=lambda threads: (abs(math.log2(threads / asked)), threads))
    for threads in options:
        found = {**traits, "threads": str(threads)}
        if not indivisible(found):
            return found
    return None


def beyond(traits: Mapping[str, str], device: Mapping[str, Any]) -> str:
    """What the GPU that a result file describes has too little of for one block with these traits,
    in any strategy, in one sentence; "" when a block fits or the file does not say."""
    n = numbers(traits)
    halo = n.get("halo", 0)
    # Left and right of a row whole pieces of 16 bytes are copied, 4 elements each.
    row = n.get("row_bytes", 16) + 2 * 16 * math.ceil(halo / 4)
    tile = (n.get("rows", 1) + 2 * halo) * row
    shared = tile + n.get("workspace", 0)
    most = device.get("shared_per_block")
    if most and shared > most:
        held = ["one tile with its halo" if halo else "one tile"]
        held += [f"a workspace of {n['workspace']}"] if n.get("workspace") else []
        return (
            f"{' and '.join(held)} {'take' if held[1:] else 'takes'} {shared} bytes of shared "
            f"memory, and a block can have {most} there"
        )
    threads, registers = n.get("threads", 32), n.get("registers", 16)
    held = device.get("registers_per_sm")
    # The hardware hands out registers to a warp in steps of 8 per thread.
    if held and threads * math.ceil(registers / 8) * 8 > held:
        return (
            f"a block of {threads} threads with {registers} registers each does not fit on an SM, "
            f"which has {held} registers"
        )
    return ""


# --- As given, completed, compared ----------------------------------------------------------------

_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9} | {
    unit + suffix: 1 << shift
    for unit, shift in (("ki", 10), ("mi", 20), ("gi", 30), ("ti", 40))
    for suffix in ("", "b")
}


def integer(text: str) -> int | None:
    """ "16KiB", "16Ki", "2^14" -> 16384, "4k" -> 4000, as in sizes of `amasia`; None for what is no
    whole number of bytes or things."""
    if power := re.fullmatch(r"2\^([0-9]|[1-5][0-9])", text.strip()):
        return 1 << int(power[1])
    match = re.fullmatch(r"([0-9]{1,12})\s*([A-Za-z]*)", text.strip())
    if match is None or match[2].lower() not in _UNITS:
        return None
    return int(match[1]) * _UNITS[match[2].lower()]


def _rows_of_tile(text: str, traits: Traits) -> int:
    """Rows of a tile of so many bytes. Raises PlotsError, which says what is wrong with it."""
    size, row = integer(text), int(traits["row_bytes"])
    if not size:
        raise PlotsError(
            "expected bytes as tile, a whole number above 0 of at most 12 digits with one of the "
            f"units B, KiB, MiB, GiB and TiB, such as 16KiB, not {text!r}"
        )
    if row == 0 or size % row:
        raise PlotsError(
            f"expected a tile of whole rows of {row} bytes, not {text!r} (row_bytes says how long "
            "a row is)"
        )
    return size // row


def asked_in_file(path: Path) -> dict[str, str]:
    """The traits in a TOML file of one table, ``rows = 16``, ``layout = "box"``, ``tile =
    "16KiB"``. Raises PlotsError."""
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise PlotsError(f"{path}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlotsError(f"{path}: expected TOML: {error}") from None
    if not table:
        raise PlotsError(f'{path}: expected traits such as tile = "16KiB", found none')
    for name, value in table.items():
        if type(value) not in (int, float, str):
            raise PlotsError(f"{path}: expected a number or a text as {name}")
    return {name: str(value) for name, value in table.items()}


# With any of these above zero the twin is another kind of kernel.
_ALL_OR_NONE = ("halo", "common", "tiles_per_block")


def _value(text: str) -> str:
    """A trait as a coordinate: a number of bytes or things as such, a word as it is."""
    value = integer(text)
    return text if value is None else str(value)


def defaults_for(asked: Mapping[str, str], twins: Sequence[Twin]) -> Traits:
    """What a trait is that nobody names: its most frequent value in recorded twins of the same
    kind, as far as that is named; which is that of the middle that the others are varied from."""
    there = {name: _value(text) for name, text in asked.items()}
    alike = [
        twin
        for twin in twins
        if all(
            twin.traits[name] == value
            for name, value in there.items()
            if name in twin.traits and not twin.traits[name].isdigit()
        )
        and all(
            (twin.traits.get(name, "0") != "0") == (there.get(name, "0") != "0")
            for name in _ALL_OR_NONE
        )
    ]
    counts: dict[str, Counter[str]] = {}
    for twin in alike or twins:
        for name, value in twin.traits.items():
            counts.setdefault(name, Counter())[value] += 1
    return {name: count.most_common(1)[0][0] for name, count in counts.items()}


_MOST = 1e12  # as many digits as integer() takes


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (0 <= value < _MOST):
        raise PlotsError(f"expected a number as {name}, from 0 to {_MOST:.0e}, not {text!r}")
    return value


def traits_of(asked: Mapping[str, str], twins: Sequence[Twin]) -> Traits:
    """All traits of a kernel from those that are named.

    Besides the traits themselves: ``tile``, bytes of a tile, which gives the rows; ``intensity``,
    operations per byte that a tile brings, which gives the multiply-adds (two operations on four
    bytes). What is written is as much as the tile has, if not named. Raises PlotsError, for traits
    that contradict each other, too.
    """
    asked = dict(asked)
    defaults = defaults_for(asked, twins)
    traits = dict(defaults)
    for name, given in (("tile", "rows"), ("intensity", "fma")):
        if name in asked and given in asked:
            raise PlotsError(f"{name} and {given} say the same: expected one of them")
    tile = asked.pop("tile", None)
    intensity = asked.pop("intensity", None)
    for name, text in asked.items():
        if name not in defaults:
            raise PlotsError(
                f"no trait {name!r}; {nearest(name, [*defaults, 'tile', 'intensity'])}"
            )
        if defaults[name].isdigit():
            value = integer(text)
            if value is None:
                raise PlotsError(f"expected a whole number as {name}, not {text!r}")
            if value == 0 < LIMITS.get(name, (0, 0))[0]:
                raise PlotsError(f"expected a whole number as {name}, more than 0, not {text!r}")
            traits[name] = str(value)
        else:
            words = WORDS.get(name, ())
            if words and text not in words:
                raise PlotsError(f"expected one of {', '.join(words)} as {name}, not {text!r}")
            traits[name] = text
    if tile is not None:
        traits["rows"] = str(_rows_of_tile(tile, traits))
    if intensity is not None:
        traits["fma"] = str(round(2 * _number("intensity", intensity)))
    if "out_bytes" not in asked:
        traits["out_bytes"] = str(int(traits["rows"]) * int(traits["row_bytes"]))
    if why := contradiction(traits):
        raise PlotsError(f"no kernel has these traits: {why}")
    return traits


def kind_of(traits: Traits) -> tuple[str, ...]:
    """Twins of different kinds do not answer for each other."""
    words = [value for value in traits.values() if not value.isdigit()]
    return (*words, *(f"{name}: {traits.get(name, '0') != '0'}" for name in _ALL_OR_NONE))


def in_bytes(value: float) -> str:
    """ "16KiB", "100 bytes"."""
    whole = int(value)
    return f"{whole // 1024}KiB" if whole and whole % 1024 == 0 else f"{whole} bytes"


def tile_bytes(traits: Traits) -> int:
    """Of a tile, without its halo."""
    return int(traits["rows"]) * int(traits["row_bytes"])


def _said(name: str, traits: Traits, asked: Mapping[str, str]) -> str:
    """A trait, one of position(), by the name it was given under."""
    if name == "tile":
        size = in_bytes(tile_bytes(traits))
        return (
            f"rows is {traits['rows']}, a tile of {size}" if "rows" in asked else f"tile is {size}"
        )
    if name == "fma" and "intensity" in asked:
        return f"intensity is {asked['intensity']}"
    return f"{name} is {traits.get(name, '0')}"


def _scale(name: str, asked: Mapping[str, str]) -> tuple[Callable[[Traits], float], str]:
    """What was measured of a trait of position() as a number, and how numbers of it are printed."""
    if name == "tile":
        return tile_bytes, "bytes"
    if name in ("out_bytes", "common"):
        return (lambda t: position(t)[name] / 4), "share"
    if name == "fma" and "intensity" in asked:
        return (lambda t: int(t["fma"]) / 2), ""
    return (lambda t: int(t.get(name, "0"))), ""


def _kind_in_words(traits: Traits) -> str:
    words = [v for v in traits.values() if not v.isdigit()]
    some = [name for name in _ALL_OR_NONE if traits.get(name, "0") != "0"]
    return ", ".join([*words, *(f"with {name}" for name in some)])


def reach_of(twins: Sequence[Twin]) -> dict[str, tuple[float, float]]:
    """The least and the most that twins have of each number of position(); a trait that one does
    not have is 0 there."""
    places = [position(twin.traits) for twin in twins]
    values = {n: [place.get(n, 0.0) for place in places] for place in places for n in place}
    return {name: (min(of), max(of)) for name, of in values.items()}


def beyond_reach(traits: Traits, reach: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """The numbers of position() that lie outside."""
    for name, value in position(traits).items():
        least, most = reach.get(name, (0, 0))
        if not least - 1e-9 <= value <= most + 1e-9:
            yield name


def outside(traits: Traits, twins: Sequence[Twin], asked: Mapping[str, str]) -> list[str]:
    """Each trait that lies outside the recorded range, with that range, by the names of ``asked``:
    of twins of the same kind, or of all when there are none."""
    of_kind = [twin for twin in twins if kind_of(twin.traits) == kind_of(traits)]
    said = []
    if not of_kind:
        kinds = dict.fromkeys(_kind_in_words(twin.traits) for twin in twins)
        recorded = " / ".join(kinds) or "none"
        said.append(
            f"no twin of this kind was recorded ({_kind_in_words(traits)}), recorded are {recorded}"
        )
    there = of_kind or twins
    for name in beyond_reach(traits, reach_of(there)) if there else ():
        if not of_kind and name in _ALL_OR_NONE:
            continue  # it is the kind that is told by it
        number, unit = _scale(name, asked)
        recorded = sorted({min(map(number, (t.traits for t in there))),
                           max(map(number, (t.traits for t in there)))})  # fmt: skip
        ends = " to ".join(in_bytes(v) if unit == "bytes" else f"{v:g}" for v in recorded)
        share = " of the tile" if unit == "share" else ""
        said.append(f"{_said(name, traits, asked)}, recorded are {ends}{share}")
    return said
