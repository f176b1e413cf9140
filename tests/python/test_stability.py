"""docs/stability.md names all that users could build on, and nothing that is not there. There is
one version everywhere, and an archive knows its commit (CONTRIBUTING.md, "Releasing")."""

import json
import re
import tomllib
from pathlib import Path

from plots.commands import load_commands
from tests.process import ROOT, built, run


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


PAGE = read("docs/stability.md")


def found(name: str, pattern: str) -> str:
    match = re.search(pattern, read(name), re.MULTILINE)
    assert match, f"{name} has no {pattern}"
    return match[1]


def rows(head: str) -> dict[str, list[str]]:
    """The rows of the table whose first column has that head, by their first cell."""
    table = rf"^\| {re.escape(head)} \|.*\n\|[-:| ]+\|\n((?:\|.*\n)+)"
    lines = found("docs/stability.md", table).splitlines()
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    by_name = {row[0].strip("`"): row[1:] for row in cells}
    assert len(by_name) == len(cells), f"a name stands twice in the table of '{head}'"
    return by_name


def same(page: set[str], code: set[str], what: str) -> None:
    assert not code - page, f"docs/stability.md does not say whether {what} {code - page} is stable"
    assert not page - code, f"docs/stability.md names {what} {page - code}, which there is not"


def test_every_command_of_the_program_is_placed() -> None:
    said = run(built("amasia"), "--help", status=0).stdout
    commands = set(re.findall(r"^  ([a-z]+)  +\S", said, re.MULTILINE))
    same(set(rows("command of `amasia`")), commands, "the command")


def test_every_exit_status_is_named_with_its_meaning() -> None:
    header, source = read("harness/cli/command_line.hpp"), read("harness/cli/command_line.cpp")
    number = dict(re.findall(r"(exit_\w+) = (\d+)", header))
    meaning = dict(re.findall(r'\{(exit_\w+),\s+"([^"]+)"\}', source))
    assert set(number) == set(meaning) and len(number) > 5
    assert rows("exit status") == {number[name]: [text] for name, text in meaning.items()}


def test_every_command_of_python_is_placed() -> None:
    same(set(rows("command of `python -m plots`")), set(load_commands()), "the command of Python")
    for script in tomllib.loads(read("pyproject.toml"))["project"]["scripts"]:
        assert f"`{script}`" in PAGE, f"docs/stability.md does not name the program {script}"


def test_every_name_of_cmake_is_placed() -> None:
    project, package = read("CMakeLists.txt"), read("cmake/AmasiaConfig.cmake.in")
    names = set(re.findall(r"^option\((AMASIA_\w+)", project, re.MULTILINE))
    names |= set(re.findall(r"^set\((AMASIA_\w+) .*CACHE", project, re.MULTILINE))
    names |= set(re.findall(r"add_library\((Amasia::\w+)", package))
    names |= set(re.findall(r"add_library\((Amasia::\w+) ALIAS", read("cmake/Library.cmake")))
    names |= set(re.findall(r"^set(?:_and_check)?\((Amasia_(?!FOUND|NOT_FOUND)\w+)", package, re.M))
    assert "install(FILES cmake/AmasiaApp.cmake" in read("cmake/Library.cmake")
    app = read("cmake/AmasiaApp.cmake")  # the functions of other files are called by these alone
    names |= set(re.findall(r"^function\((amasia_\w+)", app, re.MULTILINE))
    names |= set(re.findall(r"if\((AMASIA_\w+)\)", app))
    assert {"Amasia::variants", "amasia_add_app", "AMASIA_CUDA", "Amasia_CUDA"} <= names
    cmake = PAGE[PAGE.index("\n## CMake") : PAGE.index("\n## C++")]
    page = set(re.findall(r"^\| `((?:AMASIA_|Amasia_|Amasia::|amasia_)\w+)` \|", cmake, re.M))
    same(page, names, "the name of CMake")


def test_every_preset_is_named() -> None:
    presets = json.loads(read("CMakePresets.json"))["configurePresets"]
    named = set(re.findall(r"`(\w+)`", found("docs/stability.md", "^Configure presets: (.*)$")))
    same(named, {p["name"] for p in presets if not p.get("hidden")}, "the preset")


def test_versions_of_the_schemas_are_those_of_the_code() -> None:
    code = {
        "amasia-result": ("harness/results/result.hpp", r"int result_schema_version = (\d+);"),
        "amasia-profile": ("harness/results/profile.hpp", r"int profile_schema_version = (\d+);"),
        "amasia-tuning": ("harness/plan/tuning.cpp", r"int tuning_version = (\d+);"),
    }
    page = rows("schema")
    same(set(page), set(code), "the schema")
    for schema, (path, pattern) in code.items():
        (version,) = re.findall(pattern, read(path))
        assert page[schema][:2] == [version, version], f"{schema}: {page[schema]}"


# --- A release ------------------------------------------------------------------------------------


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
    return run(*command, cwd=root, status=0).stdout.strip()


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
    run("tar", "-xzf", tmp_path / "a.tar.gz", "-C", around, status=0)

    def said(root: Path) -> str:
        command = ["cmake", f"-DROOT={root}", f"-DOUTPUT={answer}", "-P", "cmake/commit.cmake"]
        run(*command, cwd=root, status=0)
        return answer.read_text().strip()

    head, unpacked = git(tree, "rev-parse", "HEAD"), around / "unpacked"
    assert said(unpacked) == said(tree) == f'{{"{head}", false}}'
    (tree / "harness" / "a.hpp").write_text("")
    assert said(tree) == f'{{"{head}", true}}'
    (unpacked / "cmake" / "archived_commit.txt").unlink()
    assert said(unpacked) == '{"unknown", false}'
