"""sites/reframe/ by the real ReFrame, around amasia-stub: limits from recorded sessions hold, and a
slower row, a wrong result and an invalid measurement are each found and named."""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from programs import BUSY, program, runner

from tests.process import ROOT, run

REFRAME = shutil.which("reframe", path=str(Path(sys.executable).parent)) or shutil.which("reframe")
CHECKS = ROOT / "sites/reframe/amasia_checks.py"

pytestmark = pytest.mark.skipif(not REFRAME, reason="needs ReFrame (pip install reframe-hpc)")

SETTINGS = """site_configuration = {
    "systems": [{"name": "here", "hostnames": [".*"], "partitions": [
        {"name": "gpu", "scheduler": "local", "launcher": "local", "environs": ["builtin"]}]}],
    "environments": [{"name": "builtin"}],
    "logging": [{
        "handlers": [
            {"type": "stream", "name": "stdout", "level": "info", "format": "%(message)s"}],
        "handlers_perflog": [{"type": "filelog", "prefix": "", "level": "info", "append": True,
                              "format": "%(check_gpu)s|%(check_claims)s"}]}],
}
"""
# A check as a site derives one of its own.
STUB_CHECK = f"""import sys
sys.path.insert(0, {str(CHECKS.parent)!r})
import reframe as rfm
from amasia_checks import AmasiaStudy

@rfm.simple_test
class StubCheck(AmasiaStudy):
    app = parameter(["stub"])
"""
NOISE = [1.0, 1.001, 0.999, 1.002, 0.998, 1.0005, 0.9995]


def script(gpu: str, factor: float = 1, tma: float = 0.5) -> dict:
    """Times of every row on one GPU, which is slower than others by a factor, baseline by less."""
    times = {"stub/overlap": 0.9, "stub/tma": tma, "stub/dsm": 1.1}
    rows = {name: {"times": [factor * ms * t for t in NOISE]} for name, ms in times.items()}
    rows["stub/baseline"] = {"times": [factor**0.8 * t for t in NOISE]}
    return {"rows": rows, "device": {"uuid": gpu}}


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of sessions on three GPUs, which differ by a percent."""
    folder = tmp_path_factory.mktemp("recorded")
    files = []
    stub = runner("amasia-stub")
    for gpu, factor in (("a", 1.0), ("b", 1.01), ("c", 0.99)):
        files.append(folder / f"{gpu}.json")
        command = ("study", "quick", "stub", "--out", files[-1])
        stub(*command, status=0, AMASIA_STUB=json.dumps(script(gpu, factor)))
    (folder / "recorded").mkdir()
    merged, out = folder / "recorded/quick.json", folder / "references.json"
    stub("merge", *files, "--out", merged, status=0)
    command = (sys.executable, "-m", "plots", "references", merged, "-o", out)
    run(*command, cwd=ROOT, status=0)
    return out


class Run:
    """One call of ReFrame, in a folder of its own."""

    def __init__(self, folder: Path, *arguments: str, stub: dict | None = None) -> None:
        settings = folder / "settings.py"
        settings.write_text(SETTINGS)
        command = [REFRAME, "-C", settings, "--prefix", folder / "out", "--nocolor", *arguments]
        command += ["--perflogdir", folder / "perflogs"]
        changed = {"HOME": str(folder), "AMASIA_STUB": json.dumps(stub or {})}
        done = run(*command, cwd=folder, **changed)
        self.status, self.said = done.returncode, done.stdout + done.stderr
        logs = [path for path in (folder / "perflogs").rglob("*") if path.is_file()]
        self.log = logs[0].read_text().splitlines()[-1] if logs else ""


def run_check(folder: Path, references: Path, stub: dict) -> Run:
    check = folder / "stub_checks.py"
    check.write_text(STUB_CHECK)
    amasia = program("amasia-stub")
    options = ["-S", f"program={amasia}", "-S", f"references={references}"]
    return Run(folder, "-c", str(check), "-r", *options, stub=stub)


def test_there_is_a_check_for_every_app(tmp_path: Path) -> None:
    listed = Run(tmp_path, "-c", str(CHECKS), "-l")
    assert listed.status == 0, listed.said
    apps = {path.name for path in (ROOT / "apps").iterdir() if (path / "app.cpp").exists()}
    assert set(re.findall(r"%app=(\S+)", listed.said)) == apps


def test_a_gpu_like_those_recorded_passes_within_limits(tmp_path: Path, references: Path) -> None:
    """Rows that are recorded in another config have none; a line names them."""
    recorded = json.loads(references.read_text())
    for entry in recorded["gpus"]["Stub 1"]:
        if entry["variant"] == "stub/dsm":
            entry["config"] = "narrow"
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(recorded))
    run = run_check(tmp_path, edited, script("d", 1.005))
    assert run.status == 0, run.said
    lines = [line for line in run.said.splitlines() if line.startswith("P: stub/tma iso")]
    assert len([line for line in lines if " time: " in line]) == 4 and len(lines) == 8
    assert not [line for line in lines if "l:None" in line], lines
    gpu, claims = run.log.split("|")[:2]
    assert gpu == "Stub 1" and "no recorded results" not in claims
    row = r"stub/tma iso iso n=1000 cold stream speed-up 1.99\d+ \[\S+, \S+\] x: faster;"
    assert re.search(row, claims), claims
    unknown = re.findall(r"(stub/\w+) [^;]*: this code in this config is not recorded", claims)
    assert unknown == 8 * ["stub/dsm"]


def test_a_row_that_became_slower_is_found_and_no_other(tmp_path: Path, references: Path) -> None:
    run = run_check(tmp_path, references, script("d", tma=0.6))
    assert run.status == 1
    # In seconds and in speed-up, at every size and launch mode, in both roles, and no other row.
    failed = [line for line in run.said.splitlines() if ", expected " in line]
    assert len(failed) == 16 and all("stub/tma" in line for line in failed), run.said


WRONG = {**script("d"), "rows": {**script("d")["rows"], "stub/dsm": {"wrong": True}}}


@pytest.mark.parametrize(
    ("stub", "said"),
    [
        (WRONG, ["stub/dsm iso at n=1000: failed", "ended with 1: a wrong result"]),
        ({**script("d", tma=0.6), "probe": BUSY}, ["the measurement is not valid"]),
    ],
)
def test_what_is_no_time_is_named_and_no_regression(
    tmp_path: Path, references: Path, stub: dict, said: list[str]
) -> None:
    run = run_check(tmp_path, references, stub)
    assert run.status == 1 and all(part in run.said for part in said), run.said
    assert "failed to meet reference" not in run.said


def test_an_unrecorded_gpu_has_no_limits_and_says_so(tmp_path: Path, references: Path) -> None:
    other = script("d", tma=0.6)
    other["device"]["name"] = "Stub 2"
    run = run_check(tmp_path, references, other)
    assert run.status == 0, run.said
    assert run.log.startswith("Stub 2|no recorded results of Stub 2; ")


def constants(path: Path) -> dict:
    """The literals that a file assigns to names."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def test_the_checks_and_the_analysis_recognise_a_row_by_the_same_columns() -> None:
    """The checks import nothing of the analysis: a site's ReFrame need not have it."""
    checks = constants(CHECKS)
    assert checks["KEY"] == constants(ROOT / "plots/commands/references.py")["KEY"]
    columns = (ROOT / "tests/golden/summary.csv").read_text().split("\n")[0].split(",")
    assert set(checks["KEY"]) <= set(columns)
    header = (ROOT / "harness/cli/command_line.hpp").read_text(encoding="utf-8")
    statuses = {int(number) for number in re.findall(r"^  exit_\w+ = (\d+),", header, re.MULTILINE)}
    assert set(checks["STATUS"]) == statuses - {0}


def test_the_container_image_copies_what_the_program_is_built_from() -> None:
    """And nothing else of the tree that names a commit dirty (cmake/commit.cmake)."""
    text = (ROOT / "sites/containers/Containerfile").read_text()
    copied = set(re.findall(r"^COPY (\S+) \1$", text, re.MULTILINE))
    asked = (ROOT / "cmake/commit.cmake").read_text()
    shapes = re.search(r"status --porcelain --\s+([\w\s.]+)\n", asked)
    assert shapes and copied == {".git", "results", "scripts/setup.sh", *shapes[1].split()}
