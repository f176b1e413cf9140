"""Makes the recipes of sites/ from sites/manifest.toml.

    python sites/generate.py            writes them
    python sites/generate.py --check    writes nothing; exit 1 if one differs from what it would be

The templates are in sites/templates/. What stands elsewhere in the tree is read there: the version,
Python's packages, the columns of the CSV.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import jinja2

ROOT = Path(__file__).resolve().parents[1]
SITES = ROOT / "sites"
# Where each template's result goes.
RECIPES = {
    "package.py.j2": "spack/packages/amasia/package.py",
    "application.py.j2": "ramble/applications/amasia/application.py",
    "Containerfile.j2": "containers/Containerfile",
    "amasia.def.j2": "containers/amasia.def",
}


def version() -> str:
    """The project's, from the one place where it stands."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"project\(amasia VERSION ([\d.]+)", text)
    assert found
    return found[1]


def csv_columns() -> list[str]:
    """Of the CSV of rows, in order."""
    golden = ROOT / "tests/golden/summary.csv"
    return golden.read_text(encoding="utf-8").split("\n")[0].split(",")


def spack_range(requirement: str) -> tuple[str, str]:
    """A requirement of pyproject.toml as Spack's: ">=4.40,<5" is "@4.40:4"."""
    found = re.fullmatch(r"([\w-]+)>=([\d.]+),<(\d+)", requirement)
    if not found:
        raise ValueError(f"pyproject.toml: expected NAME>=VERSION,<MAJOR, not {requirement}")
    return found[1], f"@{found[2]}:{int(found[3]) - 1}"


def facts() -> dict[str, Any]:
    """What the templates are filled with."""
    with (SITES / "manifest.toml").open("rb") as file:
        manifest = tomllib.load(file)
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    return {
        **manifest,
        "version": version(),
        "python": project["requires-python"].removeprefix(">="),
        "python_packages": [spack_range(text) for text in project["dependencies"]],
        "csv_columns": csv_columns(),
        # Ramble's own braces are for Ramble.
        "ramble_options": "--out {experiment_run_dir}/result.json --overwrite --csv - ",
        "runtime": [p for d in manifest["dependency"] for p in d.get("runtime", ())],
    }


def recipes() -> dict[Path, str]:
    """The text of every recipe, by its path."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(SITES / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    known = facts()
    return {
        SITES / path: environment.get_template(template).render(known)
        for template, path in RECIPES.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the recipes of sites/ from its manifest.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if one differs")
    options = parser.parse_args()
    different = []
    for path, text in recipes().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            different.append(path.relative_to(ROOT))
            if not options.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for path in different:
        says = "{} differs; run: python sites/generate.py" if options.check else "wrote {}"
        print(says.format(path))
    return 1 if options.check and different else 0


if __name__ == "__main__":
    sys.exit(main())
