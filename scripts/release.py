#!/usr/bin/env python3
"""One command for a release: checks that the tree may be released, and makes the archive.

    scripts/release.py                 dist/amasia-X.Y.Z.tar.gz, its bill of materials, SHA256SUMS
    scripts/release.py --try           and builds and runs the program from the unpacked archive
    scripts/release.py --tag           and the annotated tag vX.Y.Z, here; nothing is pushed
    scripts/release.py --check         the checks alone
    scripts/release.py --snapshot      an archive of this commit that is no release
    scripts/release.py --criteria      writes what docs/releasing.md says of 1.0 today

Exit status: 0, 1 the tree may not be released (every reason is named), 2 a mistake in the command
line, 5 a file could not be written.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import gzip
import hashlib
import json
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import sbom
from sbom import ROOT, Mistake

PAGE = Path("docs") / "releasing.md"
BEGIN, END = "<!-- generated:criteria -->", "<!-- /generated:criteria -->"


class Refused(Exception):
    """The tree may not be released. A reason for each thing that stands against it."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise Refused([f"git {arguments[0]}: {said[-1] if said else 'failed'}"])
    return done.stdout


# --- What must agree ------------------------------------------------------------------------------


def found_in(path: Path, pattern: str) -> list[str]:
    if not path.exists():
        return []
    return re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)


def versions(root: Path) -> dict[str, str]:
    """Place -> the version that stands there; of two numbers where two are enough."""
    stand = {"CMakeLists.txt": sbom.version(root)}
    with (root / "pyproject.toml").open("rb") as file:
        stand["pyproject.toml"] = tomllib.load(file)["project"]["version"]
    stand["CITATION.cff"] = ", ".join(found_in(root / "CITATION.cff", r"^version: (.*)$"))
    released = [section.name for section in changelog(root) if section.name != "Unreleased"]
    stand["CHANGELOG.md, the newest section"] = released[0] if released else ""
    packages = [*root.glob("docs/*.md"), *root.glob("examples/*/CMakeLists.txt")]
    for path in sorted(packages):
        for number in found_in(path, r"find_package\(Amasia (\d[\d.]*)"):
            stand[f"{path.relative_to(root)}, find_package"] = number
    return stand


def disagreements(root: Path) -> list[str]:
    stand = versions(root)
    version = stand["CMakeLists.txt"]
    wrong = []
    for place, found in stand.items():
        expected = ".".join(version.split(".")[:2]) if place.endswith("find_package") else version
        if found != expected:
            wrong.append(
                f"{place}: the version is {found or 'absent'}, in CMakeLists.txt {version}"
            )
    return wrong


@dataclasses.dataclass(frozen=True)
class Section:
    name: str  # "Unreleased", "1.2.0"
    date: str  # "2026-11-22"; "" where there is none
    text: str


def changelog(root: Path) -> list[Section]:
    parts = re.split(
        r"^## \[([^]]+)\](?: - (\d{4}-\d\d-\d\d))?[ \t]*$",
        (root / "CHANGELOG.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    return [
        Section(parts[i], parts[i + 1] or "", parts[i + 2].strip()) for i in range(1, len(parts), 3)
    ]


def lines_of(section: Section) -> int:
    """That say something: a heading alone does not."""
    return sum(bool(line.strip()) and line[0] != "#" for line in section.text.splitlines())


def defects_of_changelog(root: Path) -> list[str]:
    version = sbom.version(root)
    sections = {section.name: section for section in changelog(root)}
    wrong = []
    lines = lines_of(sections["Unreleased"]) if "Unreleased" in sections else 0
    if lines:
        wrong.append(
            f"CHANGELOG.md: {lines} lines stand under Unreleased: move them into a section "
            f"[X.Y.Z] - DATE, and raise the version where it is {version}"
        )
    if "Unreleased" not in sections:
        wrong.append("CHANGELOG.md has no section [Unreleased]: keep one, empty, at the top")
    if version not in sections:
        wrong.append(f"CHANGELOG.md has no section [{version}]")
    elif not sections[version].date or not lines_of(sections[version]):
        wrong.append(f"CHANGELOG.md: the section [{version}] needs a date and a line")
    else:
        cited = found_in(root / "CITATION.cff", r"^date-released: (\S+)$")
        if cited != [sections[version].date]:
            wrong.append(
                f"CITATION.cff: date-released is {', '.join(cited) or 'absent'}, in CHANGELOG.md "
                f"{sections[version].date}"
            )
    return wrong


def defects_of_git(root: Path, *, tagged: bool) -> list[str]:
    wrong = []
    changes = git(root, "status", "--porcelain").splitlines()
    if changes:
        shown = ", ".join(line[3:] for line in changes[:5]) + (" ..." if len(changes) > 5 else "")
        wrong.append(f"{len(changes)} files differ from the commit: {shown}")
    tag = f"v{sbom.version(root)}"
    if tagged and git(root, "tag", "--list", tag).strip():
        of_tag = git(root, "rev-parse", f"{tag}^{{commit}}").strip()
        if of_tag != git(root, "rev-parse", "HEAD").strip():
            wrong.append(f"{tag} is the tag of another commit, {of_tag[:12]}: raise the version")
    return wrong


def generated_documents() -> list[tuple[str, list[str]]]:
    """Document -> the command that makes it, as the help of that command has it."""
    sys.path.insert(0, str(ROOT))
    from plots.commands import COMMANDS

    made = [("README.md", [sys.executable, "-m", "plots", "readme", "results"])]
    for command in sorted(COMMANDS.values(), key=lambda c: c.name):
        for text, _ in command.examples:
            if found := re.search(r" -o (docs/\S+\.md)$", text):
                made.append((found[1], [sys.executable, "-m", "plots", *shlex.split(text)]))
    made.append((str(sbom.PAGE), [sys.executable, "scripts/sbom.py", "page"]))
    made.append((str(PAGE), [sys.executable, "scripts/release.py", "--criteria"]))
    return made


def stale_documents(root: Path, made: list[tuple[str, list[str]]]) -> list[str]:
    """Makes each anew, in place: what differs from the commit then was stale."""
    wrong: list[str] = []
    before: set[str] = set()
    for document, command in made:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["it failed"])[-1]
            wrong.append(f"{document} cannot be made: {said}")
        else:  # README brings a picture
            changed = {
                line[3:] for line in git(root, "status", "--porcelain").splitlines()
            } - before
            before |= changed
            if changed:
                files = ", ".join(sorted(changed))
                wrong.append(f"{document} was stale; it has been made anew: commit {files}")
    return wrong


# --- The criteria of 1.0 --------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Criterion:
    text: str
    decided_by: str  # a command, or tests
    """(holds, figure): nothing for `holds` where only running it tells."""
    answer: Callable[[Path], tuple[bool | None, str]] = lambda root: (None, "")


def _apps(root: Path) -> set[str]:
    return {path.name for path in (root / "apps").iterdir() if (path / "app.cpp").exists()}


@functools.cache  # 40 MB
def recorded(root: Path) -> list[dict]:
    """The result files with comparison groups of the suite's own apps."""
    apps = _apps(root)
    files = []
    for path in sorted((root / "results").glob("*/*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        groups = [g for g in document.get("groups", []) if g["key"]["app"] in apps]
        if groups:
            files.append({"device": document["provenance"]["device"], "groups": groups})
    return files


def _of_all_apps(root: Path, have: set[str]) -> tuple[bool, str]:
    apps = _apps(root)
    lacking = ", ".join(sorted(apps - have))
    figure = f"{len(apps & have)} of {len(apps)} apps"
    return not lacking, figure + (f", without {lacking}" if lacking else "")


def _recorded_on_hopper(root: Path) -> tuple[bool, str]:
    have = {
        g["key"]["app"]
        for file in recorded(root)
        if file["device"]["compute_capability"] == 90
        for g in file["groups"]
        if g["preset"] == "paper"
    }
    return _of_all_apps(root, have)


def _run_again(root: Path) -> tuple[bool, str]:
    sessions: dict[str, set[tuple[str, int]]] = {}
    for file in recorded(root):
        for g in file["groups"]:
            if g["preset"] == "quick":
                name = (file["device"]["name"], g.get("session", 0))
                sessions.setdefault(g["key"]["app"], set()).add(name)
    have = {app for app, of in sessions.items() if len(of) >= 3}
    return _of_all_apps(root, have)


def _generations(root: Path) -> tuple[bool, str]:
    names = {
        7: "Volta or Turing",
        8: "Ampere or Ada",
        9: "Hopper",
        10: "Blackwell",
        12: "Blackwell",
    }
    have = {names[f["device"]["compute_capability"] // 10] for f in recorded(root)}
    return len(have) >= 3, f"{len(have)} of 3: {', '.join(sorted(have))}"


def _valid(root: Path) -> tuple[bool, str]:
    groups = [g for file in recorded(root) for g in file["groups"]]
    invalid = sum(bool(g.get("invalid")) for g in groups)
    return invalid == 0, f"{invalid} of {len(groups)} groups are not valid"


def _schemas(root: Path) -> tuple[bool, str]:
    number = int(
        found_in(root / "harness/results/result.hpp", r"int result_schema_version = (\d+);")[0]
    )
    written = json.loads((root / "schema/result.schema.json").read_text(encoding="utf-8"))
    const = written["properties"]["version"]["const"]
    return const == number, f"writes {number}, reads 1 to {number}"


def _components(root: Path) -> tuple[bool, str]:
    try:
        return True, f"{len(sbom.components(root))} dependencies, each with its licence"
    except Mistake as mistake:
        return False, str(mistake)


CRITERIA = [
    Criterion("It builds, and no test fails, on a machine without a GPU", "`./test.sh`"),
    Criterion(
        "Neither on one with a Hopper GPU, where no test is skipped for want of it",
        "`./test.sh` there",
    ),
    Criterion(
        "Every app is recorded on a Hopper GPU, at the sizes of the preset `paper`",
        "`amasia study paper <app>`, which refuses to claim anything from a disturbed measurement",
        _recorded_on_hopper,
    ),
    Criterion(
        "What is recorded is of the code that is released",
        "tests/python/test_digests.py::test_results_were_made_by_this_code",
    ),
    Criterion("Every recorded comparison is valid", "`amasia study`, docs/methodology.md", _valid),
    Criterion(
        "Every app was run three times on a model of GPU: its intervals are of the next run",
        "`amasia study quick --sessions 3`; tests/plots/test_between_runs.py",
        _run_again,
    ),
    Criterion("Three generations of GPUs are recorded", "`./run.sh` on each", _generations),
    Criterion(
        "Each table, figure and claim of the source documents has a row with a verdict",
        "tests/plots/test_reproduction.py",
    ),
    Criterion(
        "Result files of every version there ever was are read",
        "tests/harness/results/upgrade_test.cpp; tests/cli/test_old_code.py",
        _schemas,
    ),
    Criterion(
        "What is stable is written down, and held against the code",
        "tests/python/test_stability.py",
    ),
    Criterion(
        "An app outside the tree builds on what is installed, and a mistake in it is named",
        "tests/cli/test_install.py",
    ),
    Criterion("Every dependency has a licence", "tests/python/test_licences.py", _components),
    Criterion("The archive builds and runs by itself", "`scripts/release.py --try`"),
]


def criteria_table(root: Path) -> str:
    lines = ["| | criterion | decided by | today |", "|---|---|---|---|"]
    for number, criterion in enumerate(CRITERIA, 1):
        holds, figure = criterion.answer(root)
        word = {True: "yes", False: "**no**", None: "run it"}[holds]
        said = f"{word}: {figure}" if figure else word
        lines.append(f"| {number} | {criterion.text} | {criterion.decided_by} | {said} |")
    return "\n".join(lines) + "\n"


def page(root: Path) -> str:
    text = (root / PAGE).read_text(encoding="utf-8")
    return sbom.between(text, BEGIN, END, criteria_table(root), str(PAGE))


def unmet(root: Path) -> list[str]:
    """Of 1.0 and later: what is known not to hold. The rest is for who releases to run."""
    if int(sbom.version(root).split(".")[0]) < 1:
        return []
    wrong = []
    for criterion in CRITERIA:
        holds, figure = criterion.answer(root)
        if holds is False:
            wrong.append(f"{PAGE}: does not hold: {criterion.text} ({figure})")
    return wrong


# --- The archive ----------------------------------------------------------------------------------


def tar(root: Path, name: str) -> bytes:
    """The commit, its files in their order and with its time."""
    command = ["git", "-C", str(root), "-c", "tar.umask=0022", "archive", "--format=tar"]
    done = subprocess.run([*command, f"--prefix={name}/", "HEAD"], capture_output=True, check=False)
    if done.returncode != 0:
        raise Refused([f"git archive: {done.stderr.decode(errors='replace').strip()}"])
    return done.stdout


def archive(root: Path, name: str) -> bytes:
    """The same bytes each time, with one version of git and zlib."""
    return gzip.compress(tar(root, name), compresslevel=9, mtime=0)


def write(folder: Path, root: Path, name: str) -> list[Path]:
    commit = git(root, "rev-parse", "HEAD").strip()
    date = git(root, "show", "--no-patch", "--format=%cI", "HEAD").strip()
    materials = sbom.as_text(sbom.cyclonedx(root, timestamp=date, commit=commit)).encode()
    contents = {f"{name}.tar.gz": archive(root, name), f"{name}.cdx.json": materials}
    sums = [f"{hashlib.sha256(data).hexdigest()}  {file}\n" for file, data in contents.items()]
    contents["SHA256SUMS"] = "".join(sums).encode()
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in contents.items():
        (folder / file).write_bytes(data)
    return [folder / file for file in contents]


@contextlib.contextmanager
def unpacked(archive_file: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="amasia-release-") as folder:
        subprocess.run(["tar", "-xzf", archive_file, "-C", folder], check=True)
        yield Path(folder) / archive_file.name.removesuffix(".tar.gz")


def try_it(archive_file: Path, version: str) -> None:
    """Builds the program without CUDA in the unpacked archive, and asks it what it is."""

    def run(*command: str, cwd: Path) -> str:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip().splitlines()[-15:]
            raise Refused([f"in the unpacked archive, {' '.join(command)}:", *said])
        return done.stdout

    with unpacked(archive_file) as tree:
        run("cmake", "--preset", "cpu", "-DAMASIA_TESTS=OFF", cwd=tree)
        run("cmake", "--build", "build/cpu", "--target", "amasia", cwd=tree)
        said = run("build/cpu/amasia", "--version", cwd=tree).strip()
        if said != f"amasia {version}":
            raise Refused([f"the program of the archive says it is {said}, not amasia {version}"])
        run("build/cpu/amasia", "list", cwd=tree)
        for name, arguments in (("result", []), ("profile", ["--of", "profile"])):
            schema = tree / "schema" / f"{name}.schema.json"
            if run("build/cpu/amasia", "schema", *arguments, cwd=tree) != schema.read_text():
                raise Refused([f"{schema.name} is not what amasia schema prints: write it anew"])


def tag(root: Path, version: str) -> None:
    name = f"v{version}"
    if git(root, "tag", "--list", name).strip():
        return  # of this commit: checked before
    (section,) = [s for s in changelog(root) if s.name == version]
    message = f"Amasia {version}\n\n{section.text}\n"
    git(root, "tag", "--annotate", "--cleanup=verbatim", "--message", message, name)


def check(root: Path, *, snapshot: bool) -> None:
    reasons = defects_of_git(root, tagged=not snapshot)
    if not snapshot:
        reasons += disagreements(root) + defects_of_changelog(root) + unmet(root)
    sbom.components(root)
    if not reasons and root == ROOT:  # asked of a clean tree only
        reasons = stale_documents(root, generated_documents())
    if reasons:
        raise Refused(reasons)


def main(argv: list[str], root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="scripts/release.py", description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=root / "dist", metavar="FOLDER",
                        help="where the files go (default: dist)")  # fmt: skip
    parser.add_argument("--check", action="store_true", help="the checks alone")
    parser.add_argument("--try", action="store_true", dest="tries",
                        help="build and run the program from the archive")  # fmt: skip
    parser.add_argument("--tag", action="store_true", help="make the annotated tag, here")
    parser.add_argument("--snapshot", action="store_true", help="an archive that is no release")
    parser.add_argument("--criteria", action="store_true", help=f"write the table of {PAGE}")
    options = parser.parse_args(argv)
    if options.snapshot and options.tag:
        parser.error("a snapshot is no release, and gets no tag")
    try:
        if options.criteria:
            (root / PAGE).write_text(page(root), encoding="utf-8")
            return 0
        check(root, snapshot=options.snapshot)
        if options.check:
            return 0
        version = sbom.version(root)
        name = f"amasia-{version}"
        if options.snapshot:
            name += "-" + git(root, "rev-parse", "HEAD")[:12]
        files = write(options.out, root, name)
        for file in files:
            print(file)
        if options.tries:
            try_it(files[0], version)
        if options.tag:
            tag(root, version)
        return 0
    except Refused as refused:
        for reason in refused.reasons:
            print(f"release: {reason}", file=sys.stderr)
        return 1
    except Mistake as mistake:
        print(f"release: {mistake}", file=sys.stderr)
        return 1
    except ImportError as error:
        print(f"release: {error}: use .venv/bin/python, of scripts/setup.sh", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"release: {error.filename}: {error.strerror}", file=sys.stderr)
        return 5


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
