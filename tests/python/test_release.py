"""CONTRIBUTING.md, "Releasing": one version everywhere, and an archive that knows its commit."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from structure import ROOT


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def found(name: str, pattern: str) -> str:
    match = re.search(pattern, read(name), re.MULTILINE)
    assert match, f"{name} has no {pattern}"
    return match[1]


def test_the_version_and_its_date_are_the_same_everywhere() -> None:
    version = found("CMakeLists.txt", r"project\(amasia VERSION ([\d.]+)")
    assert tomllib.loads(read("pyproject.toml"))["project"]["version"] == version
    assert found("CITATION.cff", r"^version: (.*)$") == version
    date = found("CHANGELOG.md", rf"^## \[{re.escape(version)}\] - ([\d-]+)$")
    assert found("CITATION.cff", r"^date-released: (\S+)$") == date
    texts = [*ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/CMakeLists.txt")]
    named = re.findall(r"find_package\(Amasia (\d[\d.]*)", "".join(p.read_text() for p in texts))
    assert named and set(named) == {version.rpartition(".")[0]}


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_an_archive_names_its_commit(tmp_path: Path) -> None:
    """Not the commit of a checkout that it is unpacked in."""
    tree, around, answer = tmp_path / "tree", tmp_path / "around", tmp_path / "commit.inc"
    for name in ("cmake/commit.cmake", "cmake/archived_commit.txt", ".gitattributes"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(read(name))
    (tree / "harness").mkdir()
    (tree / "harness" / "a.hpp").write_text("int version = 4;\n")
    around.mkdir()
    (around / "file").write_text("x")
    for root in (tree, around):
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", "A commit")
    git(tree, "archive", "--prefix=unpacked/", "--output", str(tmp_path / "a.tar.gz"), "HEAD")
    subprocess.run(["tar", "-xzf", tmp_path / "a.tar.gz", "-C", around], check=True)

    def said(root: Path) -> str:
        command = ["cmake", f"-DROOT={root}", f"-DOUTPUT={answer}", "-P", "cmake/commit.cmake"]
        subprocess.run(command, cwd=root, check=True)
        return answer.read_text().strip()

    head, unpacked = git(tree, "rev-parse", "HEAD"), around / "unpacked"
    assert said(unpacked) == said(tree) == f'{{"{head}", false}}'
    (tree / "harness" / "a.hpp").write_text("")
    assert said(tree) == f'{{"{head}", true}}'
    (unpacked / "cmake" / "archived_commit.txt").unlink()
    assert said(unpacked) == '{"unknown", false}'


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an unpacked archive has no history")
def test_an_archive_has_all_that_git_has() -> None:
    left_out = git(ROOT, "check-attr", "export-ignore", "--", *git(ROOT, "ls-files").splitlines())
    assert not [line for line in left_out.splitlines() if not line.endswith(": unspecified")]
