"""The machine code of the build that AMASIA_BUILD names, and listings written by hand."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from machine_code import disassemble

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AMASIA_BUILD", ROOT / "build" / "ci"))
CUOBJDUMP = shutil.which("cuobjdump")
KEPT_LISTING = ROOT / "tests" / "kept_listing.sh"


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


def code_for_90a(file: Path) -> str:
    """The machine code of an object file for sm_90a, empty when it has none: of what the build kept
    of it, if it did, because that has been disassembled for others before (tests/kept_listing.sh).
    Raises CalledProcessError when it cannot be read."""
    stem = file.name.removesuffix(".cu.o")
    names = [f"{stem}{ending}.cubin" for ending in ("", ".compute_90a", ".sm_90a")]
    # One that an earlier setting of the build left behind is older.
    kept = sorted(
        (path for name in names if (path := kept_code(file) / name).is_file()),
        key=lambda path: path.stat().st_mtime,
    )
    return disassemble(str(KEPT_LISTING), kept[-1] if kept else file, "sm_90a")


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
        control = (1 | sets << 5 | 7 << 8 | waits << 11) << 41
        text += [f"        /*{16 * i:04x}*/  {instruction} ;  /* 0x0000000000000000 */"]
        text += [f"                          /* 0x{control:016x} */"]
    return "\n".join(text)
