#!/usr/bin/env python3
"""Carries the rows of apps in results/h200/ to the digests that their sources have now.

    scripts/carry_digests.py BUILD APP...

For sources that changed without a change of machine code. BUILD is a build folder. Every row of such
an app must have one digest, the one that is replaced; the digest of each file is made again.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from plots.content_digest import content_digest


def main() -> int:
    build, apps = Path(sys.argv[1]), set(sys.argv[2:])
    text = (build / "generated/provenance/source_digests.inc").read_text()
    new = dict(re.findall(r'"([^"]+)", "([0-9a-f]{64})"', text))
    old: dict[str, set[str]] = {}
    of_apps = []
    for path in sorted((ROOT / "results/h200").glob("*.json")):
        document = json.loads(path.read_text())
        rows = [row for group in document.get("groups", []) for row in group["rows"]]
        mine = [r for r in (*rows, *document.get("entries", [])) if r["variant"].split("/")[0] in apps]
        for row in mine:
            old.setdefault(row["variant"], set()).add(row["source_digest"])
        if mine:
            of_apps.append(path)
    if any(len(digests) > 1 for digests in old.values()):
        sys.exit("a variant has rows of several digests")
    for path in of_apps:
        text = path.read_text()
        for variant, (digest,) in old.items():
            text = text.replace(digest, new[variant])
        document = json.loads(text)
        if "digest" in document:
            text = text.replace(document["digest"], content_digest(document))
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
