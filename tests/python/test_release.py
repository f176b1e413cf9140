"""scripts/release.py names what speaks against a release, and its archive works without git."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest
import release
from structure import ROOT

FILES = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(amasia VERSION 0.2.3)\n",
    "pyproject.toml": '[project]\nversion = "0.2.3"\n',
    "CITATION.cff": "version: 0.2.3\ndate-released: 2027-01-02\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [0.2.3] - 2027-01-02\n\n- A thing.\n\n"
    "## [0.1.0] - 2026-12-01\n\n- Older.\n",
    "docs/your-own-app.md": "find_package(Amasia 0.2 REQUIRED)\n",
    "harness/results/result.hpp": "int version = 4;\n",
    ".gitignore": "/dist/\n",
}
WHOLE_FILES = ("cmake/commit.cmake", "cmake/archived_commit.txt", ".gitattributes")


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", root, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@b.c")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    root = tmp_path / "tree"
    for name, text in {
        **FILES,
        **{name: (ROOT / name).read_text() for name in WHOLE_FILES},
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(tmp_path, "init", "--quiet", str(root))
    commit(root)
    return root


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "A commit")


def change(root: Path, file: str, old: str, new: str) -> None:
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new, 1))
    commit(root)


def test_the_archive_is_the_same_each_time_and_knows_its_commit(tree: Path, tmp_path: Path) -> None:
    """Not the commit of a checkout that it is unpacked in."""
    packed, head = tree / "dist" / "amasia-0.2.3.tar.gz", git(tree, "rev-parse", "HEAD")
    assert release.main([], tree) == 0
    first = packed.read_bytes()
    assert release.main([], tree) == 0 and packed.read_bytes() == first
    subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tree / "dist", check=True)
    around = tmp_path / "around"
    git(tmp_path, "init", "--quiet", str(around))
    (around / "file").write_text("x")
    commit(around)
    with tarfile.open(packed) as opened:
        opened.extractall(around)
    unpacked, answer = around / "amasia-0.2.3", tmp_path / "commit.inc"

    def said(root: Path) -> str:
        command = ["cmake", f"-DROOT={root}", f"-DOUTPUT={answer}", "-P", "cmake/commit.cmake"]
        subprocess.run(command, cwd=root, check=True)
        return answer.read_text().strip()

    assert said(unpacked) == said(tree) == f'{{"{head}", false}}'
    (tree / "harness" / "results" / "result.hpp").write_text("")
    assert said(tree) == f'{{"{head}", true}}'
    (unpacked / "cmake" / "archived_commit.txt").unlink()
    assert said(unpacked) == '{"unknown", false}'


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("pyproject.toml", "0.2.3", "0.2.4", "pyproject.toml: 0.2.4, expected 0.2.3"),
        ("CITATION.cff", "version: 0.2.3", "version: 0.2", "CITATION.cff: 0.2, expected"),
        ("CITATION.cff", "date-released: 2027-01-02\n", "", "date-released: absent, expected 2027"),
        ("docs/your-own-app.md", "0.2", "0.9", "docs/your-own-app.md, find_package: 0.9, expected"),
        ("CHANGELOG.md", "[0.2.3]", "[0.2.2]", "section [0.2.3] needs a date and a line"),
        ("CHANGELOG.md", " - 2027-01-02", "", "section [0.2.3] needs a date and a line"),
        ("CHANGELOG.md", "- A thing.", "", "section [0.2.3] needs a date and a line"),
        ("CHANGELOG.md", "[Unreleased]", "[Unreleased]\n\n- New.", "empty section [Unreleased]"),
        ("CHANGELOG.md", "## [Unreleased]\n", "", "empty section [Unreleased]"),
    ],
)
def test_what_speaks_against_a_release_is_named(
    tree: Path, capsys: pytest.CaptureFixture, file: str, old: str, new: str, said: str
) -> None:
    change(tree, file, old, new)
    (tree / "left over.txt").write_text("")
    assert release.main([], tree) == 1
    errors = capsys.readouterr().err
    assert said in errors and "left over.txt" in errors, "all reasons at once"
    assert not (tree / "dist").exists()


def test_a_tag_belongs_to_one_commit(tree: Path, capsys: pytest.CaptureFixture) -> None:
    assert release.main(["--tag"], tree) == 0
    assert "- A thing." in git(tree, "tag", "--list", "--format=%(contents)", "v0.2.3")
    assert release.main(["--tag"], tree) == 0, "of the same commit"
    change(tree, "docs/your-own-app.md", "REQUIRED", "")
    assert release.main(["--check"], tree) == 1
    assert "v0.2.3 is the tag of another commit" in capsys.readouterr().err


def test_the_versions_of_this_tree_agree() -> None:
    assert release.disagreements(ROOT) == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an unpacked archive has no history")
def test_the_archive_of_this_tree_has_all_that_git_has() -> None:
    left_out = git(ROOT, "check-attr", "export-ignore", "--", *git(ROOT, "ls-files").splitlines())
    assert not [line for line in left_out.splitlines() if not line.endswith(": unspecified")]
