"""scripts/release.py: what stands against a release is named, and an archive stands on its own.
On a small repository of its own; what this tree's archive is, at the end."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
import release
from structure import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")

FILES = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(amasia VERSION 0.2.3)\n",
    "pyproject.toml": '[build-system]\nrequires = []\n[project]\nversion = "0.2.3"\n'
    "dependencies = []\n",
    "CITATION.cff": "version: 0.2.3\ndate-released: 2027-01-02\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [0.2.3] - 2027-01-02\n\n### Added\n\n"
    "- A thing.\n\n## [0.1.0] - 2026-12-01\n\n- Older.\n",
    "docs/your-own-app.md": "find_package(Amasia 0.2 REQUIRED)\n",
    "scripts/setup.sh": "missing_packages() {\n}\n",
    "scripts/licences.toml": "",
    "cmake/Dependencies.cmake": "",
    "apps/.keep": "",
    "results/.keep": "",
    "harness/results/result.hpp": "inline constexpr int result_schema_version = 4;\n",
    "schema/result.schema.json": '{"properties": {"version": {"const": 4}}}\n',
    ".gitignore": "/dist/\n",
}


def git(root: Path, *arguments: str) -> str:
    environment = {
        **os.environ,
        **{
            f"GIT_{who}_{what}": "a@b.c"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
        "GIT_COMMITTER_DATE": "2027-01-02T03:04:05+0000",
        "GIT_AUTHOR_DATE": "2027-01-02T03:04:05+0000",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    done = subprocess.run(
        ["git", "-C", root, *arguments], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "tree"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    shutil.copytree(ROOT / "cmake", root / "cmake", dirs_exist_ok=True)
    shutil.copy(ROOT / ".gitattributes", root)
    (root / "cmake" / "Dependencies.cmake").write_text("")
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(root))
    commit(root)
    for who in ("AUTHOR", "COMMITTER"):  # for the tag that the script makes
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@b.c")
    return root


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "A commit")


def change(root: Path, file: str, old: str, new: str) -> None:
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new, 1))
    commit(root)


def ran(root: Path, *arguments: str) -> int:
    return release.main(list(arguments), root)


def test_a_sound_tree_becomes_an_archive(tree: Path, capsys: pytest.CaptureFixture) -> None:
    assert ran(tree) == 0, capsys.readouterr().err
    names = [Path(line).name for line in capsys.readouterr().out.splitlines()]
    assert names == ["amasia-0.2.3.tar.gz", "amasia-0.2.3.cdx.json", "SHA256SUMS"]
    done = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tree / "dist", check=False)
    assert done.returncode == 0
    bill = json.loads((tree / "dist" / names[1]).read_text())
    own = bill["metadata"]["component"]
    assert own["version"] == "0.2.3"
    assert own["properties"] == [{"name": "amasia:commit", "value": git(tree, "rev-parse", "HEAD")}]
    assert not git(tree, "tag", "--list"), "nobody asked for one"


def test_an_archive_is_the_same_bytes_wherever_it_is_made(tree: Path, tmp_path: Path) -> None:
    assert ran(tree, "--out", str(tmp_path / "one")) == 0
    elsewhere = tmp_path / "elsewhere"
    git(tmp_path, "clone", "--quiet", str(tree), str(elsewhere))
    os.utime(elsewhere / "CMakeLists.txt", (1, 1))
    (elsewhere / "docs").chmod(0o700)
    assert ran(elsewhere, "--out", str(tmp_path / "two")) == 0
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name
    packed = gzip.decompress((tmp_path / "one" / "amasia-0.2.3.tar.gz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(packed)) as opened:
        members = opened.getmembers()
    assert {m.mtime for m in members} == {1798859045}, "of the commit"
    assert [m.name for m in members] == sorted(m.name for m in members)
    assert all(m.name.startswith("amasia-0.2.3") for m in members)


def test_the_archive_knows_its_commit(tree: Path, tmp_path: Path) -> None:
    """As the build asks, without git; and not that of a checkout it was unpacked in."""
    head = git(tree, "rev-parse", "HEAD")
    assert ran(tree, "--out", str(tmp_path / "out")) == 0
    around = tmp_path / "around"
    git(tmp_path, "init", "--quiet", str(around))
    (around / "file").write_text("x")
    commit(around)
    with tarfile.open(tmp_path / "out" / "amasia-0.2.3.tar.gz") as packed:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Debian 12: 3.11.2
        packed.extractall(around, **safely)
    unpacked = around / "amasia-0.2.3"
    answer = tmp_path / "commit.inc"

    def said(root: Path) -> str:
        command = ["cmake", f"-DROOT={root}", f"-DOUTPUT={answer}", "-P", "cmake/commit.cmake"]
        subprocess.run(command, cwd=root, check=True)
        return answer.read_text().strip()

    assert said(unpacked) == f'{{"{head}", false}}'
    assert said(tree) == f'{{"{head}", false}}'
    (tree / "harness" / "results" / "result.hpp").write_text("")
    assert said(tree) == f'{{"{head}", true}}'
    (unpacked / "cmake" / "archived_commit.txt").unlink()
    assert said(unpacked) == '{"unknown", false}'


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("pyproject.toml", "0.2.3", "0.2.4", "pyproject.toml: the version is 0.2.4"),
        ("CITATION.cff", "version: 0.2.3", "version: 0.2", "CITATION.cff: the version is 0.2,"),
        (
            "CITATION.cff",
            "01-02",
            "01-03",
            "date-released is 2027-01-03, in CHANGELOG.md 2027-01-02",
        ),
        ("CITATION.cff", "date-released: 2027-01-02\n", "", "date-released is absent"),
        (
            "docs/your-own-app.md",
            "0.2",
            "0.9",
            "docs/your-own-app.md, find_package: the version is",
        ),
        ("CHANGELOG.md", "[0.2.3]", "[0.2.2]", "CHANGELOG.md has no section [0.2.3]"),
        ("CHANGELOG.md", " - 2027-01-02", "", "the section [0.2.3] needs a date and a line"),
        ("CHANGELOG.md", "- A thing.", "", "needs a date"),
        (
            "CHANGELOG.md",
            "[Unreleased]",
            "[Unreleased]\n\n- New.",
            "1 lines stand under Unreleased",
        ),
        ("CHANGELOG.md", "## [Unreleased]\n", "", "has no section [Unreleased]"),
        ("pyproject.toml", "dependencies = []", 'dependencies = ["x"]', "x (pypi) has no licence"),
    ],
)
def test_what_stands_against_a_release_is_named(
    tree: Path, capsys: pytest.CaptureFixture, file: str, old: str, new: str, said: str
) -> None:
    change(tree, file, old, new)
    assert ran(tree, "--check") == 1
    assert said in capsys.readouterr().err
    assert not (tree / "dist").exists()


def test_from_one_on_the_criteria_have_to_hold(tree: Path, capsys: pytest.CaptureFixture) -> None:
    """Of a tree whose record is one generation of GPUs."""
    for name in ("CMakeLists.txt", "pyproject.toml", "CITATION.cff", "CHANGELOG.md"):
        (tree / name).write_text((tree / name).read_text().replace("0.2.3", "1.0.0"))
    change(tree, "docs/your-own-app.md", "0.2", "1.0")
    assert ran(tree, "--check") == 1
    said = capsys.readouterr().err
    assert "does not hold: Three generations of GPUs are recorded (0 of 3" in said
    assert "Result files" not in said
    change(tree, "schema/result.schema.json", "4", "3")
    assert ran(tree, "--check") == 1
    assert "does not hold: Result files of every version" in capsys.readouterr().err


def test_every_reason_is_named_at_once(tree: Path, capsys: pytest.CaptureFixture) -> None:
    change(tree, "pyproject.toml", "0.2.3", "9.9.9")
    change(tree, "CHANGELOG.md", "[Unreleased]", "[Unreleased]\n\n- New.")
    (tree / "left over.txt").write_text("")
    assert ran(tree) == 1
    said = capsys.readouterr().err
    assert "left over.txt" in said and "9.9.9" in said and "Unreleased" in said


def test_a_tag_is_made_when_asked_for_and_belongs_to_one_commit(
    tree: Path, capsys: pytest.CaptureFixture
) -> None:
    assert ran(tree, "--tag") == 0, capsys.readouterr().err
    assert git(tree, "cat-file", "-t", "v0.2.3") == "tag"
    assert "### Added\n\n- A thing." in git(tree, "tag", "--list", "--format=%(contents)", "v0.2.3")
    assert ran(tree, "--tag") == 0, "of the same commit"
    change(tree, "docs/your-own-app.md", "REQUIRED", "")
    assert ran(tree) == 1
    assert "v0.2.3 is the tag of another commit" in capsys.readouterr().err


def test_a_snapshot_is_no_release(tree: Path, capsys: pytest.CaptureFixture) -> None:
    change(tree, "CHANGELOG.md", "[Unreleased]", "[Unreleased]\n\n- New.")
    assert ran(tree, "--snapshot") == 0
    head = git(tree, "rev-parse", "HEAD")[:12]
    assert (tree / "dist" / f"amasia-0.2.3-{head}.tar.gz").exists()
    with pytest.raises(SystemExit) as ended:
        ran(tree, "--snapshot", "--tag")
    assert ended.value.code == 2
    (tree / "x").write_text("")
    assert ran(tree, "--snapshot") == 1


def test_a_stale_document_is_made_anew_and_named(tree: Path) -> None:
    (tree / "docs" / "made.md").write_text("old\n")
    commit(tree)

    def stale(text: str) -> list[str]:
        script = f"import pathlib; pathlib.Path('docs/made.md').write_text({text!r})"
        return release.stale_documents(tree, [("docs/made.md", ["python3", "-c", script])])

    assert stale("old\n") == []
    assert stale("new\n") == ["docs/made.md was stale; it has been made anew: commit docs/made.md"]
    assert (tree / "docs" / "made.md").read_text() == "new\n"
    (cannot,) = release.stale_documents(tree, [("docs/a.md", ["python3", "-c", "1 / 0"])])
    assert cannot.startswith("docs/a.md cannot be made: ZeroDivisionError")


def test_where_it_cannot_be_written_is_said(tree: Path, capsys: pytest.CaptureFixture) -> None:
    (tree / "dist").write_text("")  # a file where the folder is to be
    commit(tree)
    assert ran(tree, "--snapshot") == 5
    assert "dist" in capsys.readouterr().err


# --- This tree ------------------------------------------------------------------------------------


def test_every_document_that_a_command_makes_is_made_for_a_release() -> None:
    made = dict(release.generated_documents())
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"python -m plots .* -o (docs/\S+\.md)", contributing))
    assert named and named <= set(made)
    assert {"README.md", "docs/licences.md", "docs/releasing.md"} <= set(made)
    for document in made:
        assert (ROOT / document).exists(), document


def test_the_criteria_are_those_of_the_tree() -> None:
    here = (ROOT / release.PAGE).read_text(encoding="utf-8")
    assert release.page(ROOT) == here, "docs/releasing.md is stale: scripts/release.py --criteria"


def test_what_decides_a_criterion_exists() -> None:
    for criterion in release.CRITERIA:
        tests = re.findall(r"(tests/[\w/]+\.\w+)(?:::(\w+))?", criterion.decided_by)
        assert tests or "`" in criterion.decided_by, criterion.text
        for path, name in tests:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert not name or f"def {name}(" in text, f"{path} has no {name}"


def test_the_versions_of_this_tree_agree() -> None:
    assert release.disagreements(ROOT) == []
    sections = release.changelog(ROOT)
    assert sections[0].name == "Unreleased" and all(s.date for s in sections[1:])


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an unpacked archive has no history")
def test_the_archive_of_this_tree_has_all_that_git_has(tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(release.tar(ROOT, "amasia"))) as packed:
        files = {m.name.removeprefix("amasia/") for m in packed.getmembers() if not m.isdir()}
    assert files == set(git(ROOT, "ls-tree", "-r", "--name-only", "HEAD").splitlines())
