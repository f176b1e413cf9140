"""The strategies of the design, and what each strategy asks of code and hardware.

The same facts as ``strategy_traits`` in variants/strategy.hpp (a test compares them).
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plots.tree import ROOT


@dataclass(frozen=True)
class Strategy:
    """One way of moving a tile from global to shared memory."""

    name: str
    runs_from: int  # least compute capability, major * 10 + minor
    native_from: int  # below it, plain copies
    alignment: str  # of global addresses and pitches
    moves: str

    @property
    def needs(self) -> str:
        """ "sm_90", or "any GPU"."""
        least = max(self.runs_from, self.native_from)
        return f"sm_{least}" if least else "any GPU"


_AS_WIDE = "4, 8 or 16 B, as wide as the copy"

STRATEGIES = (
    Strategy("baseline", 0, 0, "of the element", "global to register to shared memory"),
    Strategy("register_bypass", 0, 80, _AS_WIDE, "cp.async, waited for at once"),
    Strategy("overlap", 0, 80, _AS_WIDE, "cp.async into a ring of stages"),
    Strategy("drop_off", 0, 80, _AS_WIDE, "cp.async into a slot per thread"),
    Strategy("tma", 90, 90, "16 B address, pitch and box row", "bulk copies by one thread"),
    Strategy(
        "dsm",
        90,
        90,
        "of the element, 16 B address and pitch where it copies boxes",
        "shared inside a thread-block cluster",
    ),
)
NAMES = tuple(strategy.name for strategy in STRATEGIES)
BY_NAME = {strategy.name: strategy for strategy in STRATEGIES}


def with_version(comparator: str, geometry: str) -> str:
    """ "cub 3.0.1" where a row's geometry holds CCCL's version, as version=300001."""
    found = re.search(r"\bversion=(\d+)", geometry)
    if found is None:
        return comparator
    major, rest = divmod(int(found[1]), 100_000)
    return f"{comparator} {major}.{rest // 100}.{rest % 100}"


def code_lines(source: str, root: Path = ROOT) -> int | None:
    """Lines of a file that are neither blank nor only a comment.

    None when the file is not there (a comparator, or a result file read away from the sources).
    """
    path = root / source
    return _code_lines_of(path.read_text(encoding="utf-8")) if path.is_file() else None


_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@cache
def involved_lines(source: str, root: Path = ROOT) -> int | None:
    """Lines of code in a file and in what it includes from its own folder and from variants/: the
    size of a strategy for its author or reader. Blank lines and comments do not count.

    None when the file is not there.
    """
    if not (root / source).is_file():
        return None
    folder = Path(source).parent.as_posix()
    found: dict[str, int] = {}
    waiting = [source]
    while waiting:
        name = waiting.pop()
        if name in found or not (root / name).is_file():
            continue
        text = (root / name).read_text(encoding="utf-8")
        found[name] = _code_lines_of(text)
        waiting += [n for n in _INCLUDE.findall(text) if n.startswith((f"{folder}/", "variants/"))]
    return sum(found.values())


def _code_lines_of(text: str) -> int:
    lines = (line.strip() for line in text.splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def built_variants(root: Path = ROOT) -> frozenset[str]:
    """The variants that exist as sources: "hotspot/tma" for apps/hotspot/tma.cu."""
    return frozenset(
        f"{path.parent.name}/{path.stem}"
        for path in root.glob("apps/*/*.cu")
        if path.stem in BY_NAME
    )
