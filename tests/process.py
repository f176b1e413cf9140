"""Programs that tests run, and the files of this tree and of its build."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("AMASIA_BUILD", ROOT / "build" / "ci")).resolve()

MADE = {".git", ".venv", ".cuda", ".ccache", "build", "out", "__pycache__"}
MADE |= {".pytest_cache", ".ruff_cache"}


def files_of(root: Path) -> list[str]:
    """Relative to the root, without what builds and tools leave there."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in MADE]
        found += [Path(folder, name).relative_to(root).as_posix() for name in names]
    return sorted(found)


def built(name: str) -> Path:
    """What the build made."""
    path = BUILD / name
    if not path.exists():
        pytest.fail(f"{path} is missing: build it, or set AMASIA_BUILD")
    return path


def cached(name: str) -> str:
    """An entry of the cache of the build folder, empty where there is none."""
    cache = BUILD / "CMakeCache.txt"
    text = cache.read_text(encoding="utf-8") if cache.is_file() else ""
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)
    return found[1] if found else ""


def nvcc() -> str:
    """Skips where there is none."""
    places = (os.environ.get("CUDACXX"), cached("CMAKE_CUDA_COMPILER"), shutil.which("nvcc"))
    for path in (*places, "/usr/local/cuda/bin/nvcc"):
        if path and os.path.exists(path):
            return path
    pytest.skip("no nvcc here")


def executable(path: Path, text: str, shell: object = "/bin/sh") -> Path:
    """Writes a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{shell}\n{text}", encoding="utf-8")
    path.chmod(0o755)
    return path


def sealed(document: dict[str, Any]) -> str:
    """The text of a result file or profile with these members, as if it had been written so."""
    first = {name: document.get(name) for name in ("schema", "version")}
    rest = {name: of for name, of in document.items() if name not in (*first, "digest")}
    text = json.dumps(rest, separators=(",", ":"))[1:-1] + "\n}\n"
    first["digest"] = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    return json.dumps(first, separators=(",", ":"))[:-1] + ",\n" + text


def run(
    *command: object, status: int | None = None, timeout: float = 600, cwd: Any = None,
    pass_fds: tuple[int, ...] = (), **environment: str,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """With these variables besides those there are. Fails where it ends with another status."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env={**os.environ, **environment}, pass_fds=pass_fds,
        capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert status in (None, done.returncode), done.stdout[-3000:] + done.stderr[-3000:]
    return done
