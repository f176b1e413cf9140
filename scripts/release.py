#!/usr/bin/env python3
"""Checks that this commit may be released, and makes its archive.

    scripts/release.py           dist/amasia-X.Y.Z.tar.gz and SHA256SUMS
    scripts/release.py --tag     and the annotated tag vX.Y.Z, here; nothing is pushed
    scripts/release.py --check   the checks alone

Exit status: 0, 1 the commit may not be released (every reason is named), 2 usage.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(
        ["git", "-C", str(root), *arguments], stdout=subprocess.PIPE, check=True
    ).stdout


def found(path: Path, pattern: str) -> str:
    match = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else "absent"


def version_of(root: Path) -> str:
    return found(root / "CMakeLists.txt", r"project\(amasia VERSION ([\d.]+)")


def section_of(root: Path, name: str) -> tuple[str, str] | None:
    """Date and text of a section of the changelog."""
    heading = rf"^## \[{re.escape(name)}\](?: - ([\d-]+))?[ \t]*\n(.*?)(?=^## \[|\Z)"
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    match = re.search(heading, text, re.MULTILINE | re.DOTALL)
    return (match[1] or "", match[2].strip()) if match else None


def disagreements(root: Path) -> list[str]:
    """Version and date, wherever they are written by hand."""
    version = version_of(root)
    date, text = section_of(root, version) or ("", "")
    short = ".".join(version.split(".")[:2])
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = root / "CITATION.cff"
    stated = [
        ("pyproject.toml", project["version"], version),
        ("CITATION.cff", found(cited, r"^version: (.*)$"), version),
        ("CITATION.cff, date-released", found(cited, r"^date-released: (\S+)$"), date),
    ]
    for path in sorted([*root.glob("docs/*.md"), *root.glob("examples/*/CMakeLists.txt")]):
        for number in re.findall(r"find_package\(Amasia (\d[\d.]*)", path.read_text()):
            stated.append((f"{path.relative_to(root)}, find_package", number, short))
    wrong = [f"{place}: {what}, expected {right}" for place, what, right in stated if what != right]
    if not date or not text:
        wrong.append(f"CHANGELOG.md: section [{version}] needs a date and a line")
    return wrong


def obstacles(root: Path) -> list[str]:
    wrong = disagreements(root)
    unreleased = section_of(root, "Unreleased")
    if unreleased is None or unreleased[1]:
        wrong.append("CHANGELOG.md: needs an empty section [Unreleased]")
    changes = git(root, "status", "--porcelain").decode().splitlines()
    if changes:
        wrong.append(f"{len(changes)} files differ from the commit: {', '.join(changes[:5])}")
    tag = f"v{version_of(root)}"
    if git(root, "tag", "--list", tag) and git(root, "rev-parse", f"{tag}^{{commit}}") != git(
        root, "rev-parse", "HEAD"
    ):
        wrong.append(f"{tag} is the tag of another commit: raise the version")
    return wrong


def archive(root: Path, name: str) -> bytes:
    """The same bytes each time, with one version of git and zlib."""
    tar = git(root, "-c", "tar.umask=0022", "archive", f"--prefix={name}/", "HEAD")
    return gzip.compress(tar, compresslevel=9, mtime=0)


def main(argv: list[str], root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="scripts/release.py", description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="the checks alone")
    parser.add_argument("--tag", action="store_true", help="make the annotated tag, here")
    options = parser.parse_args(argv)
    for reason in (wrong := obstacles(root)):
        print(f"release: {reason}", file=sys.stderr)
    if wrong or options.check:
        return 1 if wrong else 0
    version = version_of(root)
    packed = root / "dist" / f"amasia-{version}.tar.gz"
    packed.parent.mkdir(exist_ok=True)
    packed.write_bytes(archive(root, f"amasia-{version}"))
    sums = packed.with_name("SHA256SUMS")
    sums.write_text(f"{hashlib.sha256(packed.read_bytes()).hexdigest()}  {packed.name}\n")
    print(packed, sums, sep="\n")
    if options.tag and not git(root, "tag", "--list", f"v{version}"):
        _, text = section_of(root, version) or ("", "")
        message = f"Amasia {version}\n\n{text}\n"
        git(root, "tag", "--annotate", "--cleanup=verbatim", "--message", message, f"v{version}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
