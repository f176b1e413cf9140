"""The recipes of sites/ are those of the manifest, and the manifest is of this tree: what it names
exists, and what stands elsewhere, too, is the same there."""

from __future__ import annotations

import ast
import builtins
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from structure import ROOT

SITES = ROOT / "sites"
CMAKE = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
with (SITES / "manifest.toml").open("rb") as file:
    MANIFEST: dict[str, Any] = tomllib.load(file)
sys.path.insert(0, str(SITES))

import generate  # noqa: E402


def recipe(path: str) -> str:
    return (SITES / path).read_text(encoding="utf-8")


# --- Generated ------------------------------------------------------------------------------------


def test_the_recipes_are_those_of_the_manifest() -> None:
    for path, text in generate.recipes().items():
        assert path.read_text(encoding="utf-8") == text, "stale: python sites/generate.py"


def test_a_changed_recipe_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys) -> None:
    """And written anew, so that the check has nothing to say then."""
    tree = tmp_path / "tree"
    for name in ("sites", "CMakeLists.txt", "pyproject.toml", "tests/golden/summary.csv"):
        copied = tree / name
        copied.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, copied)
    monkeypatch.setattr(generate, "ROOT", tree)
    monkeypatch.setattr(generate, "SITES", tree / "sites")
    text = (tree / "CMakeLists.txt").read_text().replace(generate.version(), "7.8.9", 1)
    (tree / "CMakeLists.txt").write_text(text)
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 1
    assert "spack/packages/amasia/package.py differs" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["generate.py"])
    assert generate.main() == 0
    assert 'version("7.8.9")' in (tree / "sites/spack/packages/amasia/package.py").read_text()
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 0


# --- The manifest and the tree --------------------------------------------------------------------


def debian_packages(purpose: str) -> set[str]:
    """What scripts/setup.sh asks for on a machine that has nothing."""
    script = """eval "$(sed -n '/^missing_packages()/,/^}/p' scripts/setup.sh)"
find_python() { true; }; cmake_version() { true; }; version_at_least() { false; }
have_header() { false; }; command() { false; }
missing_packages "$1"
"""
    done = subprocess.run(
        ["bash", "-c", script, "bash", purpose], cwd=ROOT, capture_output=True, text=True
    )
    return set(done.stdout.split())


def test_the_libraries_are_those_that_setup_installs_and_cmake_looks_for() -> None:
    named = {dependency["debian"] for dependency in MANIFEST["dependency"]}
    assert named == debian_packages("answer")
    assert debian_packages("tests") > named
    looked_for = set(
        re.findall(
            r"^amasia_require\(\w+ ([\w+-]+)", recipe("../cmake/Dependencies.cmake"), re.MULTILINE
        )
    )
    assert looked_for - {"libc6-dev"} <= named and "libfmt-dev" in looked_for


def test_cmakes_options_presets_and_versions_exist() -> None:
    options = set(re.findall(r"^option\((\w+)", CMAKE, re.MULTILINE))
    cmake = MANIFEST["cmake"]
    assert {*cmake["options"], cmake["cuda"]} <= options
    assert f"cmake_minimum_required(VERSION {cmake['minimum']})" in CMAKE
    with (ROOT / "CMakePresets.json").open(encoding="utf-8") as file:
        presets = {preset["name"] for preset in json.load(file)["configurePresets"]}
    assert {cmake["preset"], cmake["preset_without_cuda"]} <= presets
    least = MANIFEST["cuda"]["minimum"]
    assert f"{least} or newer" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"| toolkit | CUDA {least} " in recipe("../docs/gpu-support.md")


def test_what_a_build_reads_is_there_and_complete() -> None:
    """What names a commit dirty is what shapes the program."""
    shapes = re.search(r"status --porcelain --\s+([\w\s.]+)\n", recipe("../cmake/commit.cmake"))
    assert shapes
    assert sorted(MANIFEST["sources"]) == sorted([".git", *shapes[1].split()])
    for name in (*MANIFEST["sources"], *MANIFEST["analysis"]):
        assert (ROOT / name).exists(), name


def test_the_analysis_runs_from_what_the_manifest_lists(tmp_path: Path) -> None:
    for name in set(MANIFEST["analysis"]) - {"results"}:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    golden = ROOT / "tests/golden/result.json"
    both = f"main(['expect']) or main(['between', {str(golden)!r}])"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; from plots.cli import main; sys.exit({both})"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and "# Between runs" in done.stdout, done.stderr


def test_figures_of_merit_are_columns_of_the_csv_and_carry_their_intervals() -> None:
    columns = generate.csv_columns()
    for fom in MANIFEST["figure_of_merit"]:
        assert set(fom["columns"]) <= set(columns), fom["name"]
        if "units" in fom:
            value = fom["columns"][0]
            assert fom["columns"] == [value, f"{value}_low", f"{value}_high"]
    assert "claim" in {column for fom in MANIFEST["figure_of_merit"] for column in fom["columns"]}


# --- Each recipe ----------------------------------------------------------------------------------


class Recorder(dict):
    """A recipe's names; the words of its tool are functions that record how they are called."""

    def __init__(self, tree: ast.AST, **known: Any) -> None:
        super().__init__(known)
        self.calls: list[tuple[str, tuple, dict]] = []
        for node in ast.walk(tree):
            # Python's prompt has a word license, too.
            ours = isinstance(node, ast.Name) and node.id not in set(dir(builtins)) - {"license"}
            if ours and node.id not in known:
                self[node.id] = self._word(node.id)

    def _word(self, name: str) -> Any:
        def word(*arguments: Any, **options: Any) -> Any:
            self.calls.append((name, arguments, options))
            return Passing()

        return word

    def of(self, word: str) -> list[tuple[tuple, dict]]:
        return [(a, o) for name, a, o in self.calls if name == word]


class Passing:
    """What a word returns: a decorator, or something for `with`."""

    def __call__(self, function: Any) -> Any:
        return function

    def __enter__(self) -> Passing:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def executed(path: str, **known: Any) -> Recorder:
    """A recipe run without its tool: what the import of its words would bring is recorded."""
    source = re.sub(r"^from \S+ import \*$", "", recipe(path), flags=re.MULTILINE)
    tree = ast.parse(source, path)
    words = Recorder(tree, **known)
    exec(compile(tree, path, "exec"), words)
    return words


class Spec:
    """Of Spack: one that was asked for as amasia +cuda cuda_arch=80,90."""

    version = "0"

    def __init__(self, cuda: bool) -> None:
        self.cuda = cuda
        chosen = type("Variant", (), {"value": ("80", "90")})
        self.variants = {"cuda_arch": chosen}

    def satisfies(self, what: str) -> bool:
        return what == "+python" or (what == "+cuda" and self.cuda)


def spack_arguments(cuda: bool) -> list[str]:
    """What the recipe gives to CMake."""

    class Base:
        spec = Spec(cuda)

        @staticmethod
        def define(name: str, value: Any) -> str:
            text = ";".join(value) if isinstance(value, list) else "ON" if value else "OFF"
            return f"-D{name}={text}"

        def define_from_variant(self, name: str, variant: str) -> str:
            return self.define(name, self.spec.cuda if variant == "cuda" else None)

    words = executed("spack/packages/amasia/package.py", CMakePackage=Base, CudaPackage=object)
    return words["Amasia"]().cmake_args()


def test_spacks_recipe_depends_on_what_the_manifest_and_pyproject_name() -> None:
    base = {"CMakePackage": type("A", (), {}), "CudaPackage": type("B", (), {})}
    words = executed("spack/packages/amasia/package.py", **base)
    assert words.of("version") == [((generate.version(),), {})]
    needed = {arguments[0] for arguments, _ in words.of("depends_on")}
    assert {d["spack"] for d in MANIFEST["dependency"] if "spack" in d} <= needed
    with (ROOT / "pyproject.toml").open("rb") as file:
        names = [re.match(r"[\w-]+", d)[0] for d in tomllib.load(file)["project"]["dependencies"]]
    packages = {re.match(r"[\w-]+", spec)[0] for spec in needed}
    assert {f"py-{name}" for name in names} == {name for name in packages if name[:3] == "py-"}
    cuda = MANIFEST["cuda"]
    assert f"cuda@{cuda['minimum']}:{cuda['maximum']}" in needed


def test_spacks_options_are_cmakes() -> None:
    arguments = dict(argument[2:].split("=", 1) for argument in spack_arguments(cuda=True))
    assert arguments["AMASIA_CUDA"] == "ON" and arguments["AMASIA_TESTS"] == "OFF"
    assert arguments["CMAKE_CUDA_ARCHITECTURES"] == "80-real;90a-real"
    assert "CMAKE_CUDA_ARCHITECTURES" not in " ".join(spack_arguments(cuda=False))


@pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("ninja"), reason="needs CMake")
def test_cmake_configures_with_spacks_options(tmp_path: Path) -> None:
    """Without device code. An option that it does not know it warns of."""
    command = ["cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    done = subprocess.run(
        [*command, *spack_arguments(cuda=False)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "not used by the project" not in done.stderr


def copied(path: str) -> list[str]:
    """What a container recipe takes from the tree."""
    text = recipe(path)
    if path.endswith(".def"):
        files = text.split("%files\n")[1].split("%post")[0]
        return [line.split()[0] for line in files.splitlines() if line.strip()]
    return re.findall(r"^COPY (\S+) \1$", text, re.MULTILINE)


@pytest.mark.parametrize("path", ["containers/Containerfile", "containers/amasia.def"])
def test_containers_build_from_what_there_is(path: str) -> None:
    assert copied(path) == [*MANIFEST["sources"], "results"]
    text = recipe(path)
    installed = re.findall(r"--no-install-recommends\s+(?:\\\n\s+)?([\w+\- ]+)", text)
    build, run = (set(names.split()) for names in installed)
    assert build == debian_packages("answer")
    assert run == {name for d in MANIFEST["dependency"] for name in d.get("runtime", [])}
    assert generate.version() in text


def test_apptainers_sections_are_its_own() -> None:
    text = recipe("containers/amasia.def")
    known = {"files", "post", "labels", "environment", "runscript", "test", "help"}
    assert {name.split()[0] for name in re.findall(r"^%(\w.*)$", text, re.MULTILINE)} <= known
    assert len(re.findall(r"^Bootstrap: docker$", text, re.MULTILINE)) == 2
    for section in re.findall(r"^%(?:post|test|runscript)$\n(.*?)(?=^%|^Bootstrap|\Z)", text,
                              re.MULTILINE | re.DOTALL):  # fmt: skip
        assert subprocess.run(["sh", "-n"], input=section, text=True).returncode == 0


# --- ReFrame --------------------------------------------------------------------------------------


def constants(path: Path) -> dict[str, Any]:
    """The literals that a file assigns to names."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except (AttributeError, ValueError):
                continue
    return found


def test_reframes_library_and_the_analysis_know_a_row_by_the_same() -> None:
    """It imports nothing of the analysis, which a site's ReFrame need not have."""
    checks = constants(SITES / "reframe/amasia_checks.py")
    assert checks["KEY"] == constants(ROOT / "plots/report/references.py")["KEY"]
    assert set(checks["KEY"]) <= set(generate.csv_columns())
    header = (ROOT / "harness/cli/exit_status.hpp").read_text(encoding="utf-8")
    statuses = {int(number) for number in re.findall(r"^  exit_\w+ = (\d+),", header, re.MULTILINE)}
    assert set(checks["STATUS"]) == statuses - {0}
