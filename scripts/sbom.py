#!/usr/bin/env python3
"""The software bill of materials, and docs/licences.md, from what the manifests name.

    scripts/sbom.py json [--installed]   CycloneDX 1.6 on stdout, with the versions found here
    scripts/sbom.py page [--check]       writes the table of docs/licences.md, or only compares

The manifests are scripts/setup.sh, cmake/Dependencies.cmake and pyproject.toml;
scripts/licences.toml knows the licence of each. Exit status: 0, 1 the page is stale, 2 a dependency
without a licence, or the reverse.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path("docs") / "licences.md"
BEGIN, END = "<!-- generated:components -->", "<!-- /generated:components -->"

# What of a dependency reaches whom; the order of the page.
USES = {
    "linked": "Its code is in the programs",
    "shared": "Loaded when a program runs, from the machine",
    "output": "A part of what the programs make",
    "analysis": "The Python package needs it",
    "compiler": "Compiles device code",
    "build": "Builds, or is called where it is there",
    "tests": "For tests and formatting only",
}
# As CycloneDX has it: whether the programs or the analysis run without it.
SCOPES = {"linked": "required", "shared": "required", "analysis": "required", "output": "required"}


class Mistake(Exception):
    """A dependency without a row, or a row without a dependency; says what to do."""


@dataclasses.dataclass(frozen=True)
class Component:
    kind: str  # "debian", "pypi", or "found" for what no manifest names
    package: str
    name: str
    licence: str  # an SPDX expression
    use: str
    source: str
    wanted: str = ""  # ">=2.0,<3"; "" for any version
    of: tuple[str, ...] = ()
    note: str = ""

    @property
    def reference(self) -> str:
        return f"{self.kind}/{self.package}"

    @property
    def exact(self) -> str:
        """The version, where the manifest names exactly one."""
        return self.wanted.removeprefix("==") if self.wanted.startswith("==") else ""


def normal(name: str) -> str:
    """A package's name as PyPI compares them."""
    return re.sub(r"[-_.]+", "-", name).lower()


def manifests(root: Path = ROOT) -> dict[tuple[str, str], str]:
    """(kind, package) -> versions wanted, of all that the manifests name."""
    named: dict[tuple[str, str], str] = {}
    setup = (root / "scripts" / "setup.sh").read_text(encoding="utf-8")
    function = re.search(r"^missing_packages\(\) \{$(.*?)^\}$", setup, re.MULTILINE | re.DOTALL)
    if not function:
        raise Mistake("scripts/setup.sh has no function missing_packages, which names the packages")
    for package in re.findall(r"\|\| echo (\S+)$", function[1], re.MULTILINE):
        named["debian", package] = ""
    libraries = (root / "cmake" / "Dependencies.cmake").read_text(encoding="utf-8")
    for package in re.findall(r"amasia_require\(\w+ ([\w+.-]+)", libraries):
        named["debian", package] = ""
    with (root / "pyproject.toml").open("rb") as file:
        pyproject = tomllib.load(file)
    project = pyproject["project"]
    wanted = [*pyproject["build-system"]["requires"], *project["dependencies"]]
    for requirements in project.get("optional-dependencies", {}).values():
        wanted += requirements
    for requirement in wanted:
        found = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*([^;]*)", requirement)
        assert found, requirement
        named["pypi", normal(found[1])] = found[2].strip()
    return named


def components(root: Path = ROOT) -> list[Component]:
    """All dependencies, by use and name. Raises Mistake for one without a licence."""
    with (root / "scripts" / "licences.toml").open("rb") as file:
        table = tomllib.load(file)
    named = manifests(root)
    rows = {(kind, package): row for kind, of in table.items() for package, row in of.items()}
    for kind, package in named:
        if (kind, package) not in rows:
            raise Mistake(
                f"{package} ({kind}) has no licence: add [{kind}.{json.dumps(package)}] to "
                "scripts/licences.toml, with the file or page that says which"
            )
    found = []
    for (kind, package), row in rows.items():
        what = f"scripts/licences.toml: [{kind}.{package}]"
        unknown = set(row) - {"name", "licence", "use", "source", "of", "note"}
        missing = {"licence", "use", "source"} - set(row)
        if unknown or missing:
            raise Mistake(f"{what} has {sorted(unknown)} and lacks {sorted(missing)}")
        if row["use"] not in USES:
            raise Mistake(f"{what}: use {row['use']!r} is none of {', '.join(USES)}")
        brought = [name for name in row.get("of", []) if (kind, name) in rows]
        if len(brought) < len(row.get("of", [])):
            raise Mistake(f"{what}: of {row['of']} names a package that has no row")
        if kind != "found" and (kind, package) not in named and not brought:
            raise Mistake(f"{what} is named by no manifest: remove it")
        row = {"name": package, **row, "of": tuple(brought)}
        found.append(Component(kind, package, wanted=named.get((kind, package), ""), **row))
    order = list(USES)
    return sorted(found, key=lambda c: (order.index(c.use), c.name.lower(), c.reference))


def version(root: Path = ROOT) -> str:
    text = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"^project\(amasia VERSION ([\d.]+)", text, re.MULTILINE)
    if not found:
        raise Mistake("CMakeLists.txt has no project(amasia VERSION ...)")
    return found[1]


def installed(component: Component) -> str:
    """The version on this machine; "" where it is not here."""
    if component.kind == "pypi":
        try:
            return importlib.metadata.version(component.package)
        except importlib.metadata.PackageNotFoundError:
            return ""
    if component.kind == "debian":
        try:
            query = ["dpkg-query", "--show", "--showformat=${Version}", component.package]
            answer = subprocess.run(query, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return ""
        return answer.stdout.strip() if answer.returncode == 0 else ""
    return ""


def cyclonedx(
    root: Path = ROOT, *, timestamp: str = "", commit: str = "", with_installed: bool = False
) -> dict:
    """The bill of materials. The same tree gives the same bytes, but for what is installed."""
    all_components = components(root)
    entries, depends = [], {}
    for c in all_components:
        number = c.exact or (installed(c) if with_installed else "")
        properties = {"amasia:use": c.use, "amasia:licence-source": c.source}
        if c.wanted:
            properties["amasia:versions"] = c.wanted
        if c.note:
            properties["amasia:note"] = c.note
        entry: dict = {
            "type": "application" if c.use in ("build", "compiler", "tests") else "library",
            "bom-ref": c.reference,
            "name": c.name,
            "scope": SCOPES.get(c.use, "excluded"),
            "licenses": [{"expression": c.licence}],
            "properties": [{"name": k, "value": v} for k, v in sorted(properties.items())],
        }
        if number:
            entry["version"] = number
        if c.kind != "found":
            where = "deb/debian" if c.kind == "debian" else "pypi"
            name = c.package.replace("+", "%2B")
            entry["purl"] = f"pkg:{where}/{name}" + (f"@{number}" if number else "")
        entries.append(entry)
        for parent in c.of:
            depends.setdefault(f"{c.kind}/{parent}", []).append(c.reference)
    named = manifests(root)
    direct = [c.reference for c in all_components if c.kind == "found" or not c.of]
    direct += [c.reference for c in all_components if c.of and (c.kind, c.package) in named]
    own = {
        "type": "application",
        "bom-ref": "amasia",
        "name": "amasia",
        "version": version(root),
        "licenses": [{"license": {"id": "BSD-3-Clause"}}],
    }
    if commit:
        own["properties"] = [{"name": "amasia:commit", "value": commit}]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {**({"timestamp": timestamp} if timestamp else {}), "component": own},
        "components": entries,
        "dependencies": [
            {"ref": "amasia", "dependsOn": sorted(direct)},
            *({"ref": ref, "dependsOn": sorted(depends[ref])} for ref in sorted(depends)),
        ],
    }


def as_text(document: dict) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def table(root: Path = ROOT) -> str:
    lines = []
    for use, title in USES.items():
        rows = [c for c in components(root) if c.use == use]
        if not rows:
            continue
        lines += ["", f"### {title}", "", "| what | package | licence | stated in |"]
        lines.append("|---|---|---|---|")
        for c in rows:
            name = c.name + (f" ({c.note})" if c.note else "")
            package = (
                "" if c.kind == "found" else f"`{c.package}`" + (f" {c.wanted}" if c.wanted else "")
            )
            if c.kind == "pypi":
                package += ", PyPI" + (f", of {', '.join(c.of)}" if c.of else "")
            elif c.kind == "debian":
                package += ", Debian"
            lines.append(f"| {name} | {package} | {c.licence} | {c.source} |")
    return "\n".join(lines) + "\n"


def between(text: str, begin: str, end: str, content: str, what: str) -> str:
    """The text with other content between two marks."""
    parts = re.split(f"({re.escape(begin)}|{re.escape(end)})", text)
    if len(parts) != 5 or parts[1] != begin:
        raise Mistake(f"{what} needs {begin} and {end}, once each")
    return f"{parts[0]}{begin}\n{content}{end}{parts[4]}"


def page(root: Path = ROOT) -> str:
    text = (root / PAGE).read_text(encoding="utf-8")
    return between(text, BEGIN, END, table(root), str(PAGE))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_subparsers(dest="what", required=True)
    of_json = what.add_parser("json", help="CycloneDX on stdout")
    of_json.add_argument("--installed", action="store_true", help="with the versions found here")
    of_page = what.add_parser("page", help=f"the table of {PAGE}")
    of_page.add_argument("--check", action="store_true", help="write nothing; exit 1 if different")
    options = parser.parse_args(argv)
    try:
        if options.what == "json":
            sys.stdout.write(as_text(cyclonedx(with_installed=options.installed)))
            return 0
        text = page()
        if text == (ROOT / PAGE).read_text(encoding="utf-8"):
            return 0
        if options.check:
            print(f"{PAGE} is stale: scripts/sbom.py page writes it", file=sys.stderr)
            return 1
        (ROOT / PAGE).write_text(text, encoding="utf-8")
        print(f"wrote {PAGE}", file=sys.stderr)
        return 0
    except Mistake as mistake:
        print(f"sbom: {mistake}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
