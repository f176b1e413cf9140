"""The shell scripts and the test summary, with stand-ins for the programs they drive."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [
    *(ROOT / name for name in ("run.sh", "test.sh", ".ci/run")),
    *sorted((ROOT / "scripts").glob("*.sh")),
    *(ROOT / "campaign" / name for name in ("submit", "task", "merge")),
]


def program(folder: Path, name: str, body: str) -> Path:
    """Write an executable shell script `name` into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/usr/bin/env bash\n" + body)
    path.chmod(0o755)
    return path


def run(*command: str | Path, path: Path | None = None, **environment: str):
    """Run a command with `path` searched first; captures text."""
    prefix = f"{path}:" if path else ""
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PATH": prefix + os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_parse_and_are_executable(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert run("bash", "-n", script).stderr == ""


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="needs shellcheck")
def test_scripts_are_clean_to_shellcheck() -> None:
    result = run("shellcheck", "-x", *SCRIPTS)
    assert result.returncode == 0, result.stdout


def test_python_is_clean_to_ruff() -> None:
    folders = ["amasia", "plots", "scripts", "sites", "tests"]
    result = run(sys.executable, "-m", "ruff", "check", *folders)
    assert result.returncode == 0, result.stdout


# --- test_summary.py ------------------------------------------------------------------------------

CTEST = """<testsuite name="Linux-c++">
  <testcase name="A.pass" status="run"/>
  <testcase name="A.fail" status="fail"><failure message=""/></testcase>
  <testcase name="A.skip" status="notrun">
    <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>
  <testcase name="code" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
  <testcase name="A.off" status="disabled"/>
  <testcase name="never_NOT_BUILT" status="notrun">
    <skipped message="Unable to find executable"/></testcase>
</testsuite>"""
PYTEST = """<testsuites><testsuite name="pytest">
  <testcase name="passes"/><testcase name="passes_too"/>
  <testcase name="skips"><skipped type="pytest.skip" message="no GPU"/></testcase>
  <testcase name="cannot be collected"><error message="x"/></testcase>
</testsuite></testsuites>"""


def summary(tmp_path: Path, *reports: str) -> subprocess.CompletedProcess[str]:
    paths = []
    for number, report in enumerate(reports):
        paths.append(tmp_path / f"{number}.xml")
        paths[-1].write_text(report)
    return run(sys.executable, "scripts/test_summary.py", *paths)


def test_summary_adds_both_dialects(tmp_path: Path) -> None:
    """A test that was not built counts as failed: nobody decided to skip it."""
    result = summary(tmp_path, CTEST, PYTEST)
    assert result.stdout == "3 passed, 3 failed, 4 skipped\n"
    assert result.returncode == 1


def test_summary_of_passing_tests(tmp_path: Path) -> None:
    result = summary(tmp_path, '<testsuite><testcase name="a" status="run"/></testsuite>')
    assert (result.stdout, result.returncode) == ("1 passed, 0 failed, 0 skipped\n", 0)


@pytest.mark.parametrize(
    "report",
    [
        "<testsuite/>",
        "<testsuite><testcase ",
        '<testsuite><testcase name="s"><skipped/></testcase></testsuite>',
    ],
    ids=["nothing ran", "cut off", "all skipped"],
)
def test_summary_fails_when_nothing_passed(tmp_path: Path, report: str) -> None:
    assert summary(tmp_path, report).returncode == 1


def test_summary_fails_when_one_runner_died(tmp_path: Path) -> None:
    good = tmp_path / "good.xml"
    good.write_text('<testsuite><testcase name="a" status="run"/></testsuite>')
    result = run(sys.executable, "scripts/test_summary.py", good, tmp_path / "absent.xml")
    assert result.returncode == 1
    assert "absent.xml" in result.stderr
    assert result.stdout == "1 passed, 0 failed, 0 skipped\n"


GTEST = """<testsuites><testsuite name="Suite">
  <testcase name="passes" status="run" result="completed" classname="Suite"/>
  <testcase name="skips" status="run" result="skipped" classname="Suite">
    <skipped message="no"/></testcase>
  <testcase name="is off" status="notrun" result="suppressed" classname="Suite"/>
  FAILING
</testsuite></testsuites>"""
FAILING = """<testcase name="fails" status="run" result="completed" classname="Suite">
  <failure message="1 is not 2"/></testcase>"""


def summary_of_programs(tmp_path: Path, statuses: dict[str, str], reports: dict[str, str]):
    cases = "".join(f'<testcase name="{n}" status="{s}"/>' for n, s in statuses.items())
    (tmp_path / "ctest.xml").write_text(f"<testsuite>{cases}</testsuite>")
    for name, report in reports.items():
        (tmp_path / f"{name}.xml").write_text(report)
    (tmp_path / "pytest.xml").write_text(PYTEST.replace("<error", "<output"))
    return run(
        sys.executable,
        "scripts/test_summary.py",
        *("--programs", tmp_path / "ctest.xml", tmp_path, tmp_path / "pytest.xml"),
    )


def test_summary_counts_the_cases_of_programs(tmp_path: Path) -> None:
    passing = GTEST.replace("FAILING", "")
    result = summary_of_programs(tmp_path, {"a": "run", "b": "run"}, {"a": passing, "b": passing})
    assert (result.stdout, result.stderr) == ("5 passed, 0 failed, 5 skipped\n", "")
    assert result.returncode == 0


def test_summary_names_the_case_that_failed(tmp_path: Path) -> None:
    result = summary_of_programs(tmp_path, {"a": "fail"}, {"a": GTEST.replace("FAILING", FAILING)})
    assert result.stdout == "4 passed, 1 failed, 3 skipped\n"
    assert result.stderr == "test_summary: failed: Suite.fails\n"
    assert result.returncode == 1


@pytest.mark.parametrize(
    ("status", "report", "reason"),
    [
        ("fail", None, "ended without a report of its cases"),  # it crashed
        ("run", None, "ended without a report of its cases"),
        ("fail", "<testsuites><testsuite", "ended without a report of its cases"),
        ("fail", GTEST.replace("FAILING", ""), ", but none of its cases"),
        ("run", "<testsuites/>", "has no cases"),
    ],
)
def test_summary_counts_a_program_that_says_nothing_as_a_failure(
    tmp_path: Path, status: str, report: str | None, reason: str
) -> None:
    result = summary_of_programs(tmp_path, {"a": status}, {} if report is None else {"a": report})
    assert " 1 failed, " in result.stdout
    assert f"failed: a{'' if reason[0] == ',' else ' '}{reason}" in result.stderr
    assert result.returncode == 1


# --- setup.sh -------------------------------------------------------------------------------------


def prepared(tmp_path: Path, name: str, capability: str, driver: str, **environment: str):
    """Source setup.sh beside a GPU of this kind; return what it found as a dictionary."""
    program(
        tmp_path,
        "nvidia-smi",
        f"""if [[ "$*" == *query-gpu* ]]; then echo "{name}, {capability}"
else echo "| NVIDIA-SMI 999.9   Driver Version: 999.9   CUDA Version: {driver}  |"; fi
""",
    )
    names = ["gpu_name", "gpu_capability", "gpu_obstacle", "CUDACXX"]
    script = "source scripts/setup.sh; " + "".join(f'echo "{n}=${n}"; ' for n in names)
    result = run("bash", "-c", script, path=tmp_path, **environment)
    assert result.returncode == 0, result.stderr
    return dict(line.split("=", 1) for line in result.stdout.splitlines()), result.stderr


needs_setup = pytest.mark.skipif(
    not (ROOT / ".venv/amasia-stamp").exists() or not os.environ.get("CUDACXX"),
    reason="only after scripts/setup.sh: it would install things here",
)


@needs_setup
def test_setup_finds_the_gpu(tmp_path: Path) -> None:
    found, _ = prepared(tmp_path, "NVIDIA H100 80GB HBM3", "9.0", "13.0", CUDA_VISIBLE_DEVICES="0")
    assert found["gpu_name"] == "NVIDIA H100 80GB HBM3"
    assert found["gpu_capability"] == "90"
    assert found["gpu_obstacle"] == ""
    assert found["CUDACXX"] == os.environ["CUDACXX"]


@needs_setup
def test_setup_heeds_cuda_visible_devices(tmp_path: Path) -> None:
    found, _ = prepared(tmp_path, "NVIDIA H200", "9.0", "13.0", CUDA_VISIBLE_DEVICES="")
    assert found["gpu_name"] == found["gpu_capability"] == ""


@needs_setup
@pytest.mark.parametrize(
    ("name", "capability", "driver", "obstacle"),
    [
        ("NVIDIA H200", "9.0", "11.8", "need a newer driver than this one, which runs CUDA 11.8"),
        ("Tesla K80", "3.7", "11.4", "does not know sm_37"),
    ],
)
def test_setup_says_why_a_gpu_cannot_be_built_for(
    tmp_path: Path, name: str, capability: str, driver: str, obstacle: str
) -> None:
    found, said = prepared(tmp_path, name, capability, driver, CUDA_VISIBLE_DEVICES="0")
    assert obstacle in found["gpu_obstacle"]
    assert f"nothing built here will run on that GPU: {found['gpu_obstacle']}" in said


@needs_setup
def test_setup_passes_over_an_old_toolkit(tmp_path: Path) -> None:
    """An nvcc that is first on PATH, but older than 12.4, is passed over, and said so."""
    old = program(tmp_path / "old", "nvcc", "echo 'Cuda compilation tools, release 11.8'\n")
    found, said = prepared(
        tmp_path,
        "NVIDIA H200",
        "9.0",
        "13.0",
        CUDA_VISIBLE_DEVICES="0",
        CUDACXX=str(old),
        CUDA_HOME=str(Path(os.environ["CUDACXX"]).parent.parent),
    )
    assert f"passing over {old}: CUDA 11.8 is older than 12.4" in said
    assert found["CUDACXX"] != str(old)


@needs_setup
def test_run_refuses_a_gpu_it_cannot_build_for(tmp_path: Path) -> None:
    """Exit code 3 (no usable device) before anything is built, and what to install."""
    program(
        tmp_path,
        "nvidia-smi",
        '[[ "$*" == *query-gpu* ]] && echo "Tesla K80, 3.7" || echo "CUDA Version: 11.4"\n',
    )
    program(tmp_path, "cmake", 'echo "cmake version 3.25.1"; [[ "$*" == --version ]] || exit 99\n')
    result = run("./run.sh", path=tmp_path, CUDA_VISIBLE_DEVICES="0")
    assert result.returncode == 3, result.stderr
    assert "there is a GPU (Tesla K80), but no compiler for it" in result.stderr
    assert "CUDA 12 toolkit" in result.stderr


def without_gpu(tmp_path: Path, copied: Path, **environment: str):
    """Run a copy of run.sh without a GPU, where each program only says what it is asked."""
    for name in ("run.sh", "scripts/setup.sh", "pyproject.toml"):
        (copied / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copied / name)
    log = tmp_path / "calls"
    said = f'echo "$(basename "$0") $*" >>"{log}"\n'
    python = f"""if [[ "$*" == "-m venv --clear .venv" ]]; then
  mkdir -p .venv/bin && cp "$0" .venv/bin/python
elif [[ "$*" == *_base_executable* ]]; then
  echo "$0"
elif [[ "$*" == "-m plots"* || "$*" == "-m pip"* ]]; then
  {said}  [[ "$*" != *"${{FAILING:-none}}"* ]] || exit 9
else
  exec {sys.executable} "$@"
fi
"""
    program(tmp_path / "bin", "python3", python)
    program(tmp_path / "bin", "nvidia-smi", "exit 9\n")
    program(tmp_path / "bin", "nvcc", said + "exit 9\n")
    program(
        tmp_path / "bin",
        "cmake",
        """[[ $* != --version ]] || { echo "cmake version 3.25.1"; exit; }
"""
        + said
        + '''[[ $* != --build* ]] || [[ ${FAILING:-} != build ]] || exit 7
mkdir -p build/cpu
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >build/cpu/CMakeCache.txt
printf '#!/bin/sh\\necho "amasia $*" >>"%s"\\nexit ${AMASIA_STATUS:-0}\\n' "'''
        + str(log)
        + """" >build/cpu/amasia
chmod +x build/cpu/amasia
""",
    )
    result = subprocess.run(
        [copied / "run.sh"],
        env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return result, log.read_text().splitlines() if log.exists() else []


needs_packages = pytest.mark.skipif(
    not shutil.which("ninja") or not Path("/usr/include/CLI/CLI.hpp").exists(),
    reason="needs the system packages: setup.sh would install them",
)


@needs_packages
def test_without_a_gpu_the_answer_needs_no_cuda(tmp_path: Path) -> None:
    """No nvcc is run or installed, no package for tests, and the second time pip is not asked."""
    result, calls = without_gpu(tmp_path, tmp_path / "copy")
    assert result.returncode == 0, result.stderr
    assert not any("nvcc" in call or "nvidia" in call or "pytest" in call for call in calls), calls
    assert "cmake --preset cpu -DAMASIA_TESTS=OFF" in calls
    assert "cmake --build build/cpu --target amasia" in calls
    assert "amasia verify --reference" in calls
    assert "python -m plots report results --out report.html" in calls
    assert sum("-m pip" in call for call in calls) == 1

    _, again = without_gpu(tmp_path, tmp_path / "copy")
    again = again[len(calls) :]
    assert not any("-m pip" in call for call in again), again
    assert "cmake --preset cpu" in again, "options for a new folder only"


@needs_packages
@pytest.mark.parametrize(
    ("environment", "status"),
    [
        ({"FAILING": "build"}, 7),
        ({"FAILING": "-m plots"}, 9),
        ({"AMASIA_STATUS": "1"}, 1),
        ({"FAILING": "-m pip"}, 1),
    ],
    ids=["build", "report", "references", "packages"],
)
def test_without_a_gpu_each_failure_is_the_end(
    tmp_path: Path, environment: dict[str, str], status: int
) -> None:
    result, _ = without_gpu(tmp_path, tmp_path / "copy", **environment)
    assert result.returncode == status, result.stderr
    assert "done: open report.html" not in result.stderr


# --- sanitize.sh ----------------------------------------------------------------------------------

AMASIA = """case $1 in
  list) printf 'hotspot: heat\\n  rows         help (default 8)\\n'
        printf '  hotspot/tma                  Iso Tile32\\n  hotspot/dsm                  Iso\\n'
        printf 'studies:\\n  quick        all\\n' ;;
  verify) printf '%s\\n' "$*" >>"$CALLS"; echo "${OUTCOME:-4 ok, 0 failed, 0 skipped}"
          exit "${STATUS:-0}" ;;
esac
"""
SANITIZER = """log=""; error_exit=0; tool=""
while [[ $1 == --* ]]; do
  case $1 in
    --tool) tool=$2; shift 2 ;;
    --log-file) log=$2; shift 2 ;;
    --error-exitcode) error_exit=$2; shift 2 ;;
    --leak-check | --target-processes) shift 2 ;;
    --help) echo "${OPTIONS:-}"; exit ;;
    --num-cuda-barriers) [[ $tool == synccheck ]] || exit 1; echo "$2" >>"$OPTIONS_USED"; shift 2 ;;
    *) echo "unknown option $1" >&2; exit 1 ;;
  esac
done
if [[ -n ${LINGERS:-} ]]; then # its program is in a session of its own
  setsid sleep 60 &
  echo $! >"$LINGERS"; wait
fi
status=0; "$@" || status=$?
errors=0; [[ "$tool $*" != *"${FAULTY:-none}"* ]] || errors=3
if [[ -z ${SILENT:-} ]]; then
  case $tool in
    racecheck) echo "========= RACECHECK SUMMARY: $errors hazards displayed ($errors errors)" ;;
    *) echo "========= ERROR SUMMARY: $errors errors" ;;
  esac >"$log"
fi
[[ $errors == 0 ]] || exit "$error_exit"
exit $status
"""


def sanitize(tmp_path: Path, *arguments: str, **environment: str):
    binary = program(tmp_path / "build", "amasia", AMASIA)
    program(tmp_path / "bin", "compute-sanitizer", SANITIZER)
    result = run(
        ROOT / "scripts/sanitize.sh",
        *("-b", binary, "-o", tmp_path / "out", *arguments),
        path=tmp_path / "bin",
        CALLS=str(tmp_path / "calls"),
        **environment,
    )
    return result, [line for line in result.stdout.splitlines() if re.match(r"\| \w+/", line)]


def test_sanitize_runs_each_variant_under_each_tool(tmp_path: Path) -> None:
    result, table = sanitize(tmp_path, "-j", "2")
    assert result.returncode == 0, result.stderr
    assert table == ["| hotspot/tma | 0 | 0 | 0 | 0 |", "| hotspot/dsm | 0 | 0 | 0 | 0 |"]
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls.count("verify --in-process --preset smoke hotspot/tma") == 4
    assert len(calls) == 8


@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "initcheck", "synccheck"])
def test_sanitize_reports_errors(tmp_path: Path, tool: str) -> None:
    result, table = sanitize(tmp_path, "-t", tool, FAULTY="hotspot/dsm")
    assert result.returncode == 1
    assert table == ["| hotspot/tma | 0 |", "| hotspot/dsm | 3 errors |"]


@pytest.mark.parametrize(
    ("environment", "cell", "code"),
    [
        ({"OUTCOME": "3 ok, 1 failed, 0 skipped", "STATUS": "1"}, "exit 1", 1),
        ({"OUTCOME": "0 ok, 0 failed, 0 skipped"}, "nothing ran", 1),
        ({"OUTCOME": "0 ok, 0 failed, 4 skipped"}, "skipped", 0),
        ({"SILENT": "1"}, "did not run", 1),
    ],
)
def test_sanitize_mistrusts_silence(
    tmp_path: Path, environment: dict[str, str], cell: str, code: int
) -> None:
    """No error found is no proof: the variant must also have run, and been right."""
    result, table = sanitize(tmp_path, "-t", "memcheck", **environment)
    assert result.returncode == code
    assert table == [f"| hotspot/tma | {cell} |", f"| hotspot/dsm | {cell} |"]


@pytest.mark.parametrize("options", ["--num-cuda-barriers arg (=0)", "--nvtx arg"])
def test_sanitize_tells_synccheck_of_many_barriers_where_it_can(
    tmp_path: Path, options: str
) -> None:
    used = tmp_path / "used"
    result, table = sanitize(tmp_path, OPTIONS=options, OPTIONS_USED=str(used))
    assert result.returncode == 0, result.stderr
    assert table == ["| hotspot/tma | 0 | 0 | 0 | 0 |", "| hotspot/dsm | 0 | 0 | 0 | 0 |"]
    assert used.exists() == ("barriers" in options)
    assert not used.exists() or used.read_text().split() == ["4096"] * 2


def test_sanitize_leaves_nobody_on_the_gpu(tmp_path: Path) -> None:
    left = tmp_path / "left"
    result, table = sanitize(tmp_path, "-t", "racecheck", "-s", "1", "-j", "1", LINGERS=str(left))
    assert result.returncode == 1
    assert table == ["| hotspot/tma | over 1 s |", "| hotspot/dsm | over 1 s |"]
    state = Path(f"/proc/{left.read_text().strip()}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


@pytest.mark.parametrize(
    "arguments", [["-t", "valgrind"], ["-j", "0"], ["-s", "x"], ["-b", "/nonexistent"]]
)
def test_sanitize_refuses_bad_arguments(tmp_path: Path, arguments: list[str]) -> None:
    assert sanitize(tmp_path, *arguments)[0].returncode == 2
