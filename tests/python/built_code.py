"""The machine code of the build that AMASIA_BUILD names, and listings written by hand."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AMASIA_BUILD", ROOT / "build" / "ci"))
CUOBJDUMP = shutil.which("cuobjdump")


def objects(folder: str) -> list[Path]:
    """The object files with device code of the folders in apps or microbench."""
    return sorted(BUILD.glob(f"CMakeFiles/{folder}_*.dir/{folder}/*/*.cu.o"))


def example_objects() -> list[Path]:
    """The same of the apps of examples/, where the build has them."""
    return sorted(BUILD.glob("examples/*/CMakeFiles/*.dir/*.cu.o"))


def kept_code(file: Path) -> Path:
    """Where the build kept the intermediate code of an object file."""
    if file.is_relative_to(BUILD / "examples"):
        example = file.relative_to(BUILD / "examples").parts[0]
        return BUILD / "examples" / example / "code" / example
    return BUILD / "code" / file.parent.relative_to(file.parents[2])


def architectures() -> str:
    """What the build folder has code for: "75-real;90a-real"."""
    cache = BUILD / "CMakeCache.txt"
    lines = cache.read_text(encoding="utf-8").splitlines() if cache.is_file() else []
    found = [line for line in lines if line.startswith("CMAKE_CUDA_ARCHITECTURES:")]
    return found[0].partition("=")[2] if found else ""


def written(*lines: tuple[str, int, int]) -> str:
    """A listing of one kernel from (instruction, scoreboard it sets, mask it waits for)."""
    text = ["\t\tFunction : kernel"]
    for i, (instruction, sets, waits) in enumerate(lines):
        control = (sets << 5 | waits << 11) << 41
        text += [f"        /*{16 * i:04x}*/  {instruction} ;  /* 0x0000000000000000 */"]
        text += [f"                          /* 0x{control:016x} */"]
    return "\n".join(text)
