"""The shell scripts and the test summary, with stand-ins for the programs they drive."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests import process
from tests.process import ROOT

SCRIPTS = [
    *(ROOT / name for name in ("run.sh", "test.sh", "plots.sh", ".ci/run")),
    *sorted((ROOT / "scripts").glob("*.sh")),
    *(ROOT / "campaign" / name for name in ("submit", "task", "merge")),
]


def program(folder: Path, name: str, body: str) -> Path:
    """Write an executable shell script `name` into `folder`."""
    return process.executable(folder / name, body, "/usr/bin/env bash")


def run(*command: str | Path, path: Path | None = None, cwd: Path = ROOT, **options):
    """Run a command with `path` searched first; captures text."""
    prefix = f"{path}:" if path else ""
    return process.run(*command, cwd=cwd, **{"PATH": prefix + os.environ["PATH"], **options})


@pytest.fixture
def nothing_is_called(tmp_path: Path) -> Path:
    """Stand-ins for whatever installs, builds or measures; the file is there if one was called."""
    called = tmp_path / "called"
    for name in ("apt-get", "cmake", "python3", "ninja", "nvidia-smi", "debootstrap", "sbatch"):
        program(tmp_path / "stand-ins", name, f'echo "$0 $*" >>"{called}"; exit 9\n')
    return called


@pytest.mark.parametrize(
    "script",
    [path for path in SCRIPTS if path.name not in ("plots.sh", "record.sh")],
    ids=lambda path: path.name,
)
def test_arguments_are_read_before_anything_is_done(
    nothing_is_called: Path, tmp_path: Path, script: Path
) -> None:
    options = {"path": tmp_path / "stand-ins", "cwd": tmp_path}
    asked = run(script, "--help", status=0, **options)
    head = re.match(r"#!.*\n((?:#.*\n)*)", script.read_text())[1]
    assert asked.stdout == re.sub("^# ?", "", re.sub("#SBATCH.*\n", "", head), flags=re.MULTILINE)
    refused = run(script, "--nonsense", status=2, **options)
    assert refused.stdout == "" and re.fullmatch(".*help.*\n", refused.stderr)
    assert not nothing_is_called.exists(), nothing_is_called.read_text()


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
ONE = '<testsuite><testcase name="a" status="run"/></testsuite>'
FAILED = ONE.replace("run", "fail")
GTEST = """<testsuites><testsuite name="Suite">
  <testcase name="passes" status="run" result="completed" classname="Suite"/>
  <testcase name="skips" status="run" result="skipped" classname="Suite">
    <skipped message="no"/></testcase>
  <testcase name="is off" status="notrun" result="suppressed" classname="Suite"/>
</testsuite></testsuites>"""
GTEST_FAILED = GTEST.replace('"completed" classname="Suite"/>', '"completed"><failure/></testcase>')


@pytest.mark.parametrize(
    ("program", "cases", "reports", "counts", "said"),
    [
        ("", "", [CTEST, PYTEST], "3 passed, 3 failed, 4 skipped", "never_NOT_BUILT"),
        ("", "", [ONE], "1 passed, 0 failed, 0 skipped", ""),
        ("", "", [ONE, ""], "1 passed, 0 failed, 0 skipped", "no test ran"),  # a runner died
        ("", "", ["<testsuite/>"], "0 passed, 0 failed", "no test ran"),
        ("", "", ["<testsuite><testcase "], "0 passed, 0 failed", "no test ran"),
        ("", "", [PYTEST.replace("<error", "<skipped")], "2 passed, 0 failed, 2 skipped", ""),
        # Programs whose cases count.
        (ONE, GTEST, [ONE], "2 passed, 0 failed, 2 skipped", ""),
        (FAILED, GTEST_FAILED, [], "0 passed, 1 failed, 2 skipped", "passes"),
        (FAILED, "", [ONE], "1 passed, 1 failed, 0", "a ended without a report"),  # it crashed
        (ONE, "", [ONE], "1 passed, 1 failed, 0", "a ended without a report"),
        (FAILED, "<testsuites><testsuite", [ONE], "1 passed, 1 failed", "a ended without a report"),
        (FAILED, GTEST, [], "1 passed, 1 failed, 2 skipped", "a, but none of its cases"),
        (ONE, "<testsuites/>", [ONE], "1 passed, 1 failed", "a.xml has no cases"),
    ],
)
def test_the_summary_adds_reports_and_mistrusts_silence(
    tmp_path: Path, program: str, cases: str, reports: list[str], counts: str, said: str
) -> None:
    paths = [tmp_path / f"report-{number}.xml" for number in range(len(reports))]
    texts = {"ctest": program, "a": cases}
    texts |= {path.stem: report for path, report in zip(paths, reports, strict=True)}
    for name, text in texts.items():
        if text:
            (tmp_path / f"{name}.xml").write_text(text)
    programs = ["--programs", tmp_path / "ctest.xml", tmp_path] if program else []
    result = run(sys.executable, "scripts/test_summary.py", *programs, "--", *paths)
    assert result.stdout.startswith(counts), result
    assert said in result.stderr and result.returncode == bool(result.stderr) == bool(said)


# --- setup.sh -------------------------------------------------------------------------------------


def gpus(tmp_path: Path, *rows: str, driver: str = "13.0", parts: str = "") -> Path:
    """A stand-in for nvidia-smi: a row is "index, UUID, compute capability, name"."""
    listed = "\n".join(rows)
    program(
        tmp_path,
        "nvidia-smi",
        f"""if [[ "$*" == *query-gpu=index,uuid,compute_cap,name\\ * ]]; then echo "{listed}"
elif [[ "$*" == -L ]]; then echo "{parts}"
else echo "| NVIDIA-SMI 999.9   Driver Version: 999.9   CUDA Version: {driver}  |"; fi
""",
    )
    return tmp_path


def found_gpu(tmp_path: Path, status: int = 0, **environment: str):
    """What find_gpu finds with the stand-ins of the folder: name, capability, order of devices."""
    text, _, does = (ROOT / "scripts/setup.sh").read_text().partition("\n# --- All of it ---")
    assert "\nfind_gpu\n" in does
    copy = tmp_path / "clone" / "scripts" / "setup.sh"  # which only defines its functions
    copy.parent.mkdir(parents=True)
    copy.write_text(text)
    script = f"""source "{copy}"; find_gpu
echo "$gpu_name|$gpu_capability|$(bash -c 'echo $CUDA_DEVICE_ORDER')"
"""
    devices = {"AMASIA_DEVICE_ROOT": str(tmp_path / "devices"), "CUDA_VISIBLE_DEVICES": "0"}
    devices |= environment
    unset = [name for name, value in devices.items() if value == "unset"]
    clear = "".join(f"unset {name}; " for name in unset)
    return run("bash", "-c", clear + script, path=tmp_path, status=status, **devices)


MIXED = ("0, GPU-5a7c11aa-01, 7.5, NVIDIA T400", "1, GPU-2b00ffee-02, 9.0, NVIDIA H100, 80GB")
PARTS = """GPU 0: NVIDIA T400 (UUID: GPU-5a7c11aa-01)
GPU 1: NVIDIA H100, 80GB (UUID: GPU-2b00ffee-02)
  MIG 3g.40gb     Device  0: (UUID: MIG-7c99-aa)
  MIG 3g.40gb     Device  1: (UUID: MIG-8d00-bb)"""
T400, H100, NONE = (
    f"{gpu}|PCI_BUS_ID\n" for gpu in ("NVIDIA T400|75", "NVIDIA H100, 80GB|90", "|")
)


@pytest.mark.parametrize(
    ("visible", "gpu"),
    [
        ("unset", T400),
        ("0", T400),
        ("1", H100),
        ("1,0", H100),
        ("GPU-2b00ffee-02", H100),
        ("GPU-2b", H100),
        ("GPU-5,GPU-2b", T400),
        ("MIG-8d00-bb", H100),
        ("MIG-7c", H100),
        ("", NONE),
        ("-1", NONE),
        ("NoDevFiles", NONE),
    ],
)
def test_the_gpu_is_the_one_that_programs_run_on(tmp_path: Path, visible: str, gpu: str) -> None:
    """nvidia-smi and CUDA count alike, and a UUID may be short or that of a part."""
    gpus(tmp_path, *MIXED, parts=PARTS)
    result = found_gpu(tmp_path, CUDA_VISIBLE_DEVICES=visible)
    assert result.stdout == gpu
    assert ("of several kinds of GPU" in result.stderr) == (visible == "unset")


@pytest.mark.parametrize("visible", ["2", "GPU-77", "MIG-77", "first", ".*"])
def test_a_gpu_that_is_not_there_is_no_reason_to_take_another(tmp_path: Path, visible: str) -> None:
    gpus(tmp_path, *MIXED, parts=PARTS)
    result = found_gpu(tmp_path, status=3, CUDA_VISIBLE_DEVICES=visible)
    said = f"CUDA_VISIBLE_DEVICES={visible} names no GPU that nvidia-smi lists"
    assert result.stdout == "" and said in result.stderr


MISMATCH = "Failed to initialize NVML: Driver/library version mismatch"


def device(tmp_path: Path, kind: str) -> None:
    """A device file, or a PCI device by vendor and class."""
    root = tmp_path / "devices"
    files = {kind: ""} if kind.startswith("dev/") else {}
    if kind.startswith("0x"):
        pci = "sys/bus/pci/devices/0000:01:00.0"
        files = {f"{pci}/{n}": v for n, v in zip(("vendor", "class"), kind.split("/"), strict=True)}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("dev/nvidia0", f"echo {MISMATCH}; exit 18"),
        ("dev/dxg", f"echo {MISMATCH} >&2; exit 9"),
        ("0x10de/0x030200", f"echo {MISMATCH}; exit 9"),
        ("0x10de/0x030000", f"echo {MISMATCH} >&2; exit 18"),
    ],
)
def test_nvidia_smi_failing_beside_a_gpu_is_the_end(tmp_path: Path, kind: str, says: str) -> None:
    program(tmp_path, "nvidia-smi", says + "\n")
    device(tmp_path, kind)
    result = found_gpu(tmp_path, status=3)
    assert f"there is a GPU, but nvidia-smi fails: {MISMATCH}" in result.stderr
    assert "CUDA_VISIBLE_DEVICES= " in result.stderr
    assert result.stdout == "" and len(result.stderr.splitlines()) == 1
    assert found_gpu(tmp_path / "hidden", CUDA_VISIBLE_DEVICES="").stdout == NONE


@pytest.mark.parametrize(
    ("kind", "status"), [("", 0), ("", 9), ("0x10de/0x040300", 6), ("0x8086/0x030000", 9)]
)
def test_a_machine_without_gpu_may_have_nvidia_smi(tmp_path: Path, kind: str, status: int) -> None:
    """As a container has that got no device, and a machine whose sound is of NVIDIA."""
    program(tmp_path, "nvidia-smi", f"echo 'No devices were found'; exit {status}\n")
    device(tmp_path, kind)
    assert found_gpu(tmp_path).stdout == NONE


@pytest.mark.parametrize("script", ["run.sh", "test.sh"])
def test_the_two_commands_end_where_the_gpu_does_not_work(
    nothing_is_called: Path, tmp_path: Path, script: str
) -> None:
    """With status 3, before anything is installed, and with a way to go on without."""
    device(tmp_path, "dev/nvidia0")
    program(tmp_path / "stand-ins", "nvidia-smi", f"echo {MISMATCH}; exit 18\n")
    here = {"AMASIA_DEVICE_ROOT": str(tmp_path / "devices"), "CUDA_VISIBLE_DEVICES": "0"}
    result = run(ROOT / script, path=tmp_path / "stand-ins", status=3, **here)
    assert MISMATCH in result.stderr and script in result.stderr
    assert not nothing_is_called.exists()


def without_gpu(tmp_path: Path, status: int = 0, **environment: str):
    """Run a copy of run.sh without a GPU, where each program only says what it is asked."""
    copied = tmp_path / "copy"
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
  [[ "$*" != "-m pip"* || "$PIP_USER" == 0 ]] || exit 8 # refused in an environment
  {said}  [[ "$*" != *"${{FAILING:-none}}"* ]] || exit 9
else
  exec {sys.executable} "$@"
fi
"""
    program(tmp_path / "bin", "python3", python)
    program(tmp_path / "bin", "nvidia-smi", "exit 9\n")
    program(tmp_path / "bin", "nvcc", said + "exit 9\n")
    cmake = f"""[[ $* != --version ]] || {{ echo "cmake version 3.25.1"; exit; }}
{said}[[ $* != --build* ]] || [[ ${{FAILING:-}} != build ]] || exit 7
mkdir -p build/cpu
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >build/cpu/CMakeCache.txt
printf '#!/bin/sh\\necho "references $*" >>"%s"\\nexit ${{AMASIA_STATUS:-0}}\\n' "{log}" \\
  >build/cpu/amasia-references
chmod +x build/cpu/amasia-references
"""
    program(tmp_path / "bin", "cmake", cmake)
    changed = {"PIP_USER": "1", "AMASIA_DEVICE_ROOT": str(tmp_path / "no-devices"), **environment}
    result = run(copied / "run.sh", path=tmp_path / "bin", status=status, **changed)
    return result, log.read_text().splitlines() if log.exists() else []


needs_packages = pytest.mark.skipif(
    not shutil.which("ninja") or not Path("/usr/include/CLI/CLI.hpp").exists(),
    reason="needs the system packages: setup.sh would install them",
)


@needs_packages
def test_without_a_gpu_the_answer_needs_no_cuda(tmp_path: Path) -> None:
    """No nvcc is run or installed, no package for tests, and the second time pip is not asked."""
    result, calls = without_gpu(tmp_path)
    assert not any("nvcc" in call or "nvidia" in call or "pytest" in call for call in calls), calls
    assert "cmake --preset cpu -DAMASIA_TESTS=OFF -DAMASIA_GBENCH=OFF" in calls
    assert result.stderr.endswith("open report.html. For more of the same: ./plots.sh --help\n")
    assert "cmake --build build/cpu --target amasia-references" in calls
    assert "references " in calls
    assert "python -m plots report results --out report.html" in calls
    assert sum("-m pip" in call for call in calls) == 1

    again = without_gpu(tmp_path)[1][len(calls) :]
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
    result, _ = without_gpu(tmp_path, status, **environment)
    assert "done: open report.html" not in result.stderr


# --- plots.sh -------------------------------------------------------------------------------------


def test_plots_works_in_any_folder(tmp_path: Path) -> None:
    """By a link, too, and beside a folder of that name; without .venv it says what to do."""
    clone, elsewhere = tmp_path / "clone", tmp_path / "elsewhere"
    (elsewhere / "plots").mkdir(parents=True)
    (elsewhere / "plots" / "__init__.py").write_text("raise SystemExit('not this one')")
    clone.mkdir()
    shutil.copy(ROOT / "plots.sh", clone)
    for path in ROOT.iterdir():
        if path.name not in (".venv", "plots.sh"):
            (clone / path.name).symlink_to(path)
    (elsewhere / "my-plots").symlink_to(clone / "plots.sh")

    result = run(elsewhere / "my-plots", "--help", cwd=elsewhere, status=2)
    said = f"no Python packages in {clone}/.venv yet: run {clone}/run.sh first"
    assert result.stdout == "" and said in result.stderr
    program(clone / ".venv" / "bin", "python", f'exec "{sys.executable}" "$@"\n')
    (clone / ".venv" / "amasia-stamp").write_text("")
    assert "report" in run(elsewhere / "my-plots", "--help", cwd=elsewhere, status=0).stdout


# --- .ci/run --------------------------------------------------------------------------------------

CI = """[[ $PWD == "{clone}" ]] || exit 77
echo "what {name} says"
{says}
exit ${{{status}:-0}}
"""


@pytest.mark.parametrize(
    ("environment", "status", "where"),
    [
        ({"TEST": "1"}, 1, "ci: in a fresh root"),
        ({"RUN": "7", "TEST": "1"}, 7, "ci: in a fresh root"),
        ({"AMASIA_CI_IN_PLACE": "1"}, 0, "ci: in place, with what this machine has"),
        ({"NO_ROOT": "1"}, 125, ""),
    ],
)
def test_ci_counts_in_its_last_line(
    tmp_path: Path, environment: dict[str, str], status: int, where: str
) -> None:
    """And in no other; both commands run, and either's failure is CI's. Both are stand-ins."""
    clone = tmp_path / "clone"
    (clone / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", clone / ".ci")
    count = "echo '3 passed, 1 failed, 2 skipped'\necho 'and what it has to say then' >&2"
    for name, says, its in (("run.sh", "", "RUN"), ("test.sh", count, "TEST")):
        program(clone, name, CI.format(clone=clone, name=name, says=says, status=its))
    program(clone / "scripts", "fresh_root.sh", '[[ -z ${NO_ROOT:-} ]] || exit 125\nbash -c "$1"\n')
    environment = {"AMASIA_CI_IN_PLACE": "", **environment}
    lines = run(clone / ".ci" / "run", status=status, **environment).stdout.splitlines()
    assert sum("passed" in line for line in lines) == bool(where)
    if where:
        assert lines[-2:] == [where, "3 passed, 1 failed, 2 skipped"]
        assert lines[:2] == ["what run.sh says", "what test.sh says"]


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
    --help) exit ;;
    *) echo "unknown option $1" >&2; exit 1 ;;
  esac
done
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


def sanitize(tmp_path: Path, *arguments: str, **options) -> list[str]:
    """The rows of its table."""
    binary = program(tmp_path / "build", "amasia", AMASIA)
    program(tmp_path / "bin", "compute-sanitizer", SANITIZER)
    folders = {"CALLS": str(tmp_path / "calls"), "AMASIA_SANITIZE_FOLDER": str(tmp_path / "out")}
    command = (ROOT / "scripts/sanitize.sh", "-b", binary, *arguments)
    result = run(*command, path=tmp_path / "bin", **folders, **options)
    return [line for line in result.stdout.splitlines() if re.match(r"\| \w+/", line)]


def test_sanitize_runs_each_variant_under_each_tool(tmp_path: Path) -> None:
    table = sanitize(tmp_path, "-j", "2", status=0)
    assert table == ["| hotspot/tma | 0 | 0 | 0 | 0 |", "| hotspot/dsm | 0 | 0 | 0 | 0 |"]
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls.count("verify --in-process --preset smoke hotspot/tma") == 4
    assert len(calls) == 8


@pytest.mark.parametrize(
    ("environment", "cell", "status"),
    [
        ({"OUTCOME": "3 ok, 1 failed, 0 skipped", "STATUS": "1"}, "exit 1", 1),
        ({"OUTCOME": "0 ok, 0 failed, 0 skipped"}, "nothing ran", 1),
        ({"OUTCOME": "0 ok, 0 failed, 4 skipped"}, "skipped", 0),
        ({"SILENT": "1"}, "did not run", 1),
        ({"FAULTY": "hotspot/"}, "3 errors", 1),
    ],
)
def test_sanitize_reports_errors_and_mistrusts_silence(
    tmp_path: Path, environment: dict[str, str], cell: str, status: int
) -> None:
    """No error found is no proof: the variant must also have run, and been right."""
    table = sanitize(tmp_path, "-t", "memcheck", status=status, **environment)
    assert table == [f"| hotspot/tma | {cell} |", f"| hotspot/dsm | {cell} |"]
