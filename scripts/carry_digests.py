"""Carry results over whose digests were made with ``-Xcompiler -fPIC`` among the options.

    carry_digests.py FILE...

That option reaches the host compiler alone and counts no longer (cmake/code_options.cmake). A file is changed only if
each of its rows has exactly the digest that this tree gives with the option; what it gets is the digest of the same
tree without. Kept in the history of the repository only.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from plots.content_digest import MEMBER, content_digest

ROOT = Path(__file__).resolve().parents[1]
BEFORE, AFTER = "-std=c++17 --expt-relaxed-constexpr -lineinfo", "-O3 -DNDEBUG"


def digests(options: str) -> dict[str, str]:
    """Of every variant and microbenchmark of this tree, by name."""
    with tempfile.TemporaryDirectory() as folder:
        script = ROOT / "cmake" / "source_digests.cmake"
        command = ["cmake", f"-DROOT={ROOT}", f"-DOUTPUT={folder}", f"-DOPTIONS={options}"]
        subprocess.run([*command, "-P", script], check=True)
        found: dict[str, str] = {}
        for name in ("source_digests", "microbenchmark_digests", "study_digests"):
            text = (Path(folder) / f"{name}.inc").read_text()
            found |= dict(re.findall(r'\{"([^"]+)", "([0-9a-f]{64})"\}', text))
        return found


def main() -> None:
    with_option, without = digests(f"{BEFORE} -Xcompiler -fPIC {AFTER}"), digests(f"{BEFORE} {AFTER}")
    carried = {with_option[name]: without[name] for name in with_option}
    for path in map(Path, sys.argv[1:]):
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
        rows = [row for group in document.get("groups", ()) for row in group["rows"]]
        for row in rows:
            if with_option[row["variant"]] != row["source_digest"]:
                sys.exit(f"{path}: {row['variant']} is of other code: record it again")
        for entry in document.get("entries", ()):
            if entry["source_digest"] in carried:
                assert with_option[entry["variant"]] == entry["source_digest"]
        text = re.sub(r"\b[0-9a-f]{64}\b", lambda m: carried.get(m[0], m[0]), text)
        if old := document.get(MEMBER):
            assert content_digest(document) == old
            text = text.replace(old, content_digest(json.loads(text)))
        path.write_text(text, encoding="utf-8")
        print(f"{path}: {len(rows)} rows")


main()
