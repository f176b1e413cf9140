#!/usr/bin/env python3
"""Looks every result file of results/ through and writes results/checked.sha256, after a recording.

    scripts/checked_results.py

Reading those files is reading alone from then on (plots/data/checked.py). Exit status: 0, 1 a file
is not sound (it is named).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from plots.data import checked, frozen
from plots.data.documents import find_files, read_document
from plots.errors import PlotsError


def main() -> int:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    found, _ = find_files([checked.FOLDER])
    paths = sorted({*found, *frozen.beside(found)})
    try:
        for path in paths:
            read_document(path, anew=True)
    except PlotsError as error:
        print(f"checked_results.py: {error}", file=sys.stderr)
        return 1
    checked.LIST.write_text(checked.listed(paths), encoding="utf-8")
    print(f"checked_results.py: {len(paths)} files are sound, and in {checked.LIST.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
