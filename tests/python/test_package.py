"""The Python package as ``pip install`` leaves it: in a fresh environment, in a folder with nothing
but result files, its commands say what those of the repository say."""

import contextlib
import io
import json
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from plots.advice import real_kernels

ROOT = Path(__file__).resolve().parents[2]

# The fewest recorded files that the twin of `advise` are content with.
RECORDED = (
    "dsm", "instruction", "launch", "memory", "paper-histogram", "paper-lud", "paper-nw",
    "tensor_core", "tma", "twin",
)  # fmt: skip
NW = "results/paper-nw.json.gz"
SAME_AS_IN_THE_CLONE = [
    ["advise", NW],
    ["advise", "results", "--tile", "16KiB", "--intensity", "8"],
    ["expect", "V100", "A100"],
    ["figure", "--list"],
    ["reproduction", "results"],
    ["why", NW],
]
RIGHT_BY_THEMSELVES = [["figure", "heatmap", NW, "-o", "heatmap.svg"], ["report", NW]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without a network, as on a machine that was set up."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, *offline, "--wheel-dir", folder, ROOT], check=True, timeout=300)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that the wheel was installed into. Its other packages are
    those of this environment, which a line in a .pth file names."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*pip, "install", *options, wheel], check=True, timeout=300)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "of_the_tests.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python.parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with copies of recorded results."""
    folder = tmp_path_factory.mktemp("anywhere")
    (folder / "results").mkdir()
    for name in RECORDED:
        shutil.copy(ROOT / "results" / "h200" / f"{name}.json.gz", folder / "results")
    return folder


def run(programs: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    # -P, and nothing of this environment: the repository must not be found by accident.
    environment = {"HOME": str(folder), "PATH": f"{programs}:/usr/bin:/bin", "PYTHONSAFEPATH": "1"}
    return subprocess.run(
        list(command), cwd=folder, env=environment,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def answers(commands: list[list[str]]) -> list[tuple[int, str, str]]:
    """Status, stdout and stderr of commands in this process: imports take seconds."""
    from plots.cli import main

    found = []
    for command in commands:
        with (
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            status = main(command)
        found.append((status, out.getvalue(), err.getvalue()))
    return found


def test_the_wheel_has_every_file_of_the_packages_and_all_that_they_read(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    packages = [path for name in ("amasia", "plots") for path in (ROOT / name).rglob("*")]
    packages = [path for path in packages if path.is_file() and path.suffix != ".pyc"]
    read = ["inputs/**/*.csv", "schema/*.json"]
    read += ["variants/**/*.cuh", "variants/**/*.hpp"]
    read += ["results/**/twin*.json.gz", "results/**/SHA256SUMS", "results/advice/*.json"]
    for suffix in ("cu", "cuh", "hpp"):  # whose lines are counted, with what they include
        read += [f"apps/*/*.{suffix}", f"microbench/**/*.{suffix}"]
    found = {pattern: list(ROOT.glob(pattern)) for pattern in read}
    assert all(found.values()), found
    carried = [path for paths in found.values() for path in paths]
    for name in real_kernels.names():  # what advice for them was worth
        carried += real_kernels.result_files(name)
    expected = {path.relative_to(ROOT).as_posix() for path in packages}
    expected |= {f"plots/carried/{path.relative_to(ROOT).as_posix()}" for path in carried}
    assert inside == expected


def test_every_command_works_as_in_the_clone_or_says_where_it_does(
    programs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = [*SAME_AS_IN_THE_CLONE, *RIGHT_BY_THEMSELVES, ["docs", "results"]]
    done = run(programs, folder, "python", __file__, json.dumps(commands))
    assert done.returncode == 0, done.stderr
    *found, (status, out, errors) = json.loads(done.stdout)
    assert (status, out) == (2, "") and "this is no clone" in errors
    for status, _, errors in found:
        assert status == 0, errors
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "other-cache"))
    here = answers(SAME_AS_IN_THE_CLONE)
    for command, (_, out, _), of_clone in zip(SAME_AS_IN_THE_CLONE, found, here, strict=False):
        assert of_clone[:2] == (0, out), command


def test_advice_for_a_kernel_of_ones_own_needs_no_clone(programs: Path, tmp_path: Path) -> None:
    """The wheel carries the recorded twins, and what their answers were worth."""
    asked = ["python", "-m", "plots", "advise", "--tile", "16KiB", "--intensity", "8"]
    done = run(programs, tmp_path, *asked)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "no folder results here: the twins recorded with Amasia answer\n"
    assert "real kernels (" in done.stdout


if __name__ == "__main__":  # in the environment that the wheel was installed into
    print(json.dumps(answers(json.loads(sys.argv[1]))))
