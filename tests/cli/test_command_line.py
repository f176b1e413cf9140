"""Every mistake a user can make gets one clear line, the right exit status, and loses nothing.
What a person reads before measuring fits the page and names the next command."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import pty
import re
import shlex
import subprocess
import sys

import pytest
from programs import BUSY, NO_GPU, Run, one_line, program, runner

from tests.process import ROOT, run, sealed

# What a newcomer types, and what the answer has to name.
MISTAKES = [
    ("", "such as amasia list"),
    ("-v", "--version"),
    ("--verison", "--version"),
    ("rnu", "run"),
    ("help rnu", "run"),
    ("compare a.json b.json", "python -m plots compare"),
    ("advise", "python -m plots advise"),
    ("expect V100 A100", "python -m plots expect"),
    ("reproduction results", "python -m plots reproduction"),
    ("hotspot/tma", "amasia run hotspot/tma"),
    ("quick", "amasia study quick"),
    ("run quick", "amasia study quick"),
    ("list quick", "amasia study quick"),
    ("study hotspot", "amasia study quick hotspot"),
    ("study", "name is required"),
    ("study quik", "quick"),
    ("study seed000-tabl4", "seed000-table4"),
    ("study 000-99", "000-09"),
    ("study seed003-table1", "nothing to measure"),
    ("study seed000-table4 hotspot", "takes no patterns"),
    ("run pathfindr", "pathfinder"),
    ("run hotspot/tmaa", "hotspot/tma"),
    ("tune memory", "matches no variant"),
    ("run hotspot --cach=cold", "--cache"),
    ("run hotspot --cache warm", "cold, hot"),
    ("run hotspot --cache cold hot", "--cache cold,hot"),
    ("run hotspot --dryrun", "--dry-run"),
    ("run hotspot --rounds 9", "--max-rounds"),
    ("run hotspot --gpu 0", "--device"),
    ("run hotspot --output x.json", "--out"),
    ("run hotspot --out", "--out: 1 required FILE missing"),
    ("run hotspot --device H200", "no whole number from 0 to 1023"),
    ("run hotspot --seconds 5s", "'5s' is no number of seconds from 0.001"),
    ("run hotspot --seconds nan", "'nan' is no number of seconds"),
    ("run hotspot --seconds 0x10", "'0x10' is no number of seconds"),
    ("run hotspot --seconds 1,5", "'1,5' is no number of seconds"),
    (f"run hotspot --seconds {'9' * 5000}", "...' is no number of seconds"),
    ("run hotspot --shard 0/4", "1 <= i <= n"),
    ("run hotspot --shard 4294967297/4294967298", "1 <= i <= n"),
    ("run hotspot --min-rounds 50 --max-rounds 20", "--min-rounds 50 is more than"),
    ("study quick --min-rounds 500", "--max-rounds 51"),
    ("run hotspot --preset papr", "paper"),
    ("run hotspot --size 4096", "expected rows=8192,cols=8192"),
    ("run hotspot --size rows=4k cols=4k", "is one word"),
    ("run hotspot --size row=5", "rows"),
    ("run hotspot --size rows=4kb", "4096, 4k, 16 KiB, 2^20"),
    ("run hotspot --size rows=99999999999999999999", "64 bits"),
    ("run hotspot --size rows=1000M,cols=1000M", "63 bits"),
    ("run hotspot --size rows=5 --preset quick", "exclude"),
    ("run --size rows=5", "one app"),
    ("run gemm --size mode=fp16", "fp32 or bf16"),
    ("verify --seed -1", "'-1' is no whole number"),
    ("tune --out x.json", "amasia tune has no option '--out'"),
    ("bench kernel.cu", "a description in TOML"),
    ("export", "is required (amasia help export)"),
    ("export a.json b.json", "'b.json' is one argument too many"),
    ("export missing.json", "missing.json: cannot be read"),
    ("bench missing.cubin", "saxpy.toml of docs/your-kernel.md and name missing.cubin in it"),
    ("merge a.json b.json", "--out is required"),
]


@pytest.mark.parametrize(("typed", "expected"), MISTAKES)
def test_a_mistake_is_answered_with_what_is_expected(amasia, tmp_path, typed, expected):
    line = one_line(amasia(*typed.split(), cwd=tmp_path))
    assert line.startswith("amasia: ") and expected in line


@pytest.mark.parametrize("pattern", ["dsm/latency", "dsm", "microbench/dsm/*", "dsn/latency"])
def test_a_microbenchmark_that_was_left_out_is_told_from_none(tmp_path, pattern):
    line = one_line(runner("amasia-stub")("run", pattern, cwd=tmp_path), 2, 400)
    assert ("built without" in line) == ("-DAMASIA_MICROBENCHMARKS=all" in line)
    assert ("built without" in line) == ("dsn" not in pattern)


def test_every_command_has_a_page_with_defaults_and_two_examples(amasia):
    commands = re.findall(r"^  ([a-z]+)  +\S", amasia("--help").stdout, re.MULTILINE)
    files = (ROOT / "harness/cli/commands").glob("*.cpp")
    assert sorted(commands) == sorted(file.stem for file in files)
    for command in commands:
        page = amasia(command, "--help").stdout
        assert page.split("Examples:")[1].count(f"\n  amasia {command}") == 2
        for option in re.split(r"\n(?=  \S)", page.split("\nOptions:\n")[1].split("\n\n")[0]):
            name, takes, *words = re.match(r"  (\S+) ?(\S*) +(\S.*)", option, re.DOTALL).groups()
            assert words and (not takes or re.search(r"\(default:|\(required\)", option)), name


SIZE_BEFORE_PATTERN = ["--size", "rows=7,cols=5", "--size", "rows=3,cols=4", "pathfinder/tma"]


@pytest.mark.parametrize(
    "command",
    [
        ["run"],
        ["study", "quick"],
        ["tune"],
        ["verify", "--in-process", *SIZE_BEFORE_PATTERN],
        ["run", "memory/*"],
        ["study", "seed000-table4"],
    ],
)
def test_no_device_is_status_3_and_says_why(amasia, tmp_path, command):
    assert "no usable GPU" in one_line(amasia(*command, cwd=tmp_path, **NO_GPU), 3)
    assert list(tmp_path.iterdir()) == []


def test_doctor_explains_without_a_device(amasia):
    result = amasia("doctor", **NO_GPU, status=3)
    assert "no usable GPU" in result.stdout and "verify --reference" in result.stdout
    assert amasia().returncode == 2, "a command is required"


def test_list_names_every_variant_and_study(amasia, variants):
    listed = json.loads(amasia("list", "--json").stdout)
    sources = json.loads(amasia("list", "--sources").stdout)
    for app in listed["apps"]:
        strategies = {v["name"].split("/")[1] for v in app["variants"] if not v["comparator"]}
        assert strategies == {"baseline", "register_bypass", "overlap", "drop_off", "tma", "dsm"}
        for variant in app["variants"]:
            assert variant["comparator"] or variant["configs"][0]["name"] == "iso"
            assert len(sources[variant["name"]]) == 64
    assert {s["name"] for s in listed["studies"]} >= {"quick", "paper", "sweep"}

    folders = {m["name"].split("/")[0] for m in listed["microbenchmarks"]}
    text = " ".join(amasia("list", *(f"{f}/*" for f in folders)).stdout.split())
    for m in listed["microbenchmarks"]:
        assert m["name"] in text and m["question"].endswith("?") and m["question"] in text
    assert {m["name"] for m in listed["microbenchmarks"]} >= {"memory/latency", "memory/bandwidth"}
    lines = (ROOT / "inputs/published/inventory.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    assert [row["id"] for row in listed["inventory"]] == [row["id"] for row in rows]


GOLDEN = ROOT / "tests" / "golden" / "result.json"


def break_a_round(document):
    samples = document["groups"][0]["rows"][0]["samples"]
    samples["round"] = [0] * len(samples["time_ms"])


@pytest.mark.parametrize(
    ("edit", "text_of", "expected"),
    [
        (break_a_round, sealed, ": groups[0].rows[0].samples.round[1]: expected at least 1"),
        (break_a_round, json.dumps, ": digest: expected sha256:"),
        (lambda d: d.update(version=6), sealed, ": version: 6 is newer than this program, which "),
        (lambda d: d.update(version=4), sealed, ": is a result file of format 4, which Amasia "),
        (lambda d: None, lambda d: json.dumps(d, indent=1)[:65], ":4"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(amasia, tmp_path, edit, text_of, expected):
    document = json.loads(GOLDEN.read_text(encoding="utf-8"))
    edit(document)
    file = tmp_path / "edited.json"
    file.write_text(text_of(document), encoding="utf-8")
    for command in (("export", file), ("merge", file, "--out", "x")):
        assert f"{file}{expected}" in one_line(amasia(*command), 2, 600)


def test_nothing_is_reproduced_without_a_gpu_for_one_reason(amasia, tmp_path):
    recorded = ROOT / "results" / "h200" / "quick-histogram.json.gz"
    out = ("--out", str(tmp_path / "again.json"))
    line = one_line(amasia("reproduce", str(recorded), *out, **NO_GPU), 3)
    assert "no usable GPU" in line and not (tmp_path / "again.json").exists()
    # One line for each reason that a GPU would not change.
    result = amasia("reproduce", str(recorded), "--dry-run", **NO_GPU, status=0)
    reasons = [line.rsplit(": ", 1)[1] for line in result.stderr.splitlines()]
    assert len(reasons) == len(set(reasons)) > 0


def test_a_name_cannot_break_the_line(amasia, tmp_path):
    for arguments in (("list", "no\nsuch\x1b[2J"), ("export", str(tmp_path / "a\nb.json"))):
        line = one_line(amasia(*arguments), 2)
        assert "\x1b" not in line and "?" in line


# --- Values that nobody means, for every option that takes a number or a list ---------------------

ODD = ["", "-1", "0", "1e308", "nan", "9" * 20, "n=-1", "n=9223372036854775807", "1/0"]
# What a file or a folder is called may be anything.
NOT_ODD = ("FILE", "FOLDER")
LIBRARY_WORDS = re.compile(
    r"std::|vector|basic_|terminate|bad_alloc|what\(\)|stoi|stod|length_error|out_of_range|"
    r"json\.exception|Assertion"
)
# What a command cannot do without.
ARGUMENTS = {
    **dict.fromkeys(("export", "merge", "reproduce"), ("none.json",)),
    **dict.fromkeys(("profile", "run", "tune", "verify"), ("lud",)),
    "bench": ("none.toml",),
    "study": ("quick",),
}


def test_every_option(amasia: Run, tmp_path) -> None:
    tried = set()
    for command in re.findall(r"^  ([a-z]+)  +\S", amasia("--help").stdout, re.MULTILINE):
        text = amasia(command, "--help").stdout
        dry_run = ["--dry-run"] if "--dry-run" in text else []
        for option, takes in re.findall(r"^  (--[a-z-]+) ([A-Z][A-Z=/.,]*)", text, re.MULTILINE):
            for value in ODD if takes not in NOT_ODD else ():
                arguments = (command, *ARGUMENTS.get(command, []), f"{option}={value}", *dry_run)
                done = amasia(*arguments, cwd=tmp_path, **NO_GPU)
                told = (arguments, done.stderr)
                assert done.returncode in (0, 2, 3) and not LIBRARY_WORDS.search(done.stderr), told
                assert done.returncode != 2 or len(done.stderr.strip().splitlines()) == 1, told
                tried.add(command)
    assert {"run", "verify", "study"} <= tried


@pytest.mark.parametrize(
    "size",
    [
        ("lud", "n=1048576"),
        ("nw", "rows=1000000,cols=1000000"),
        ("hotspot", "rows=1000000,cols=1000000"),
        ("gemm", "m=1000000,n=1000000,k=16"),
    ],
)
def test_a_reference_beyond_the_memory(amasia: Run, size: tuple[str, str]) -> None:
    done = amasia("verify", "--reference", size[0], "--size", size[1], status=2)
    said = rf"amasia: {size[0]} \S*: out of host memory; choose a smaller --size\n"
    assert re.fullmatch(said, done.stderr)


# --- Before measuring: list, --dry-run, and the closing sentence that names the next command ------

PAGE = 100  # columns


def too_wide(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > PAGE]


def test_version_is_the_projects(amasia):
    version = re.search(r"project\(amasia VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    for asked in ("--version", "version"):
        result = amasia(asked)
        assert (result.returncode, result.stdout, result.stderr) == (0, f"amasia {version}\n", "")


@pytest.mark.parametrize(
    "arguments", [[], ["*/tma"], ["gemm", "nw/dsm"], ["--sources"], ["seed000"]]
)
def test_list_fits_the_page(amasia, arguments):
    result = amasia("list", *arguments, status=0)
    assert not too_wide(result.stdout)
    assert arguments or len(result.stdout.splitlines()) <= 44


@pytest.mark.parametrize(
    "command",
    [
        ["run", "hotspot", "nw/tma", "--cache", "cold,hot", "--energy"],
        ["run", "pathfinder", "--size", "rows=1000,cols=5000"],
        ["study", "quick"],
        ["study", "seed000-table4"],
        ["tune", "nw"],
        ["verify", "gemm"],
        ["verify", "--reference", "gemm"],
    ],
)
def test_dry_run_needs_no_device_and_writes_nothing(amasia, tmp_path, command):
    result = amasia(*command, "--dry-run", cwd=tmp_path, **NO_GPU, status=0)
    assert not too_wide(result.stdout)
    assert list(tmp_path.iterdir()) == []
    if "--reference" not in command:
        assert "no usable GPU: " in result.stdout
        assert "unknown without a GPU" in result.stdout
        assert "expected" in result.stdout
        assert last_line(result) == NEEDS_A_GPU
        memory = r": [\d.]+ .?B of device memory"
        assert "seed000-table4" in command or re.search(memory, " ".join(result.stdout.split()))


NEEDS_A_GPU = (
    "next: the same command without --dry-run, on a machine whose GPU this build can use, runs it"
)


def test_dry_run_on_a_device_shows_rows_and_time(tmp_path):
    stub = runner("amasia-stub")
    planned = ("run", "stub", "stub/points", "--size", "n=1000", "--dry-run")
    result = stub(*planned, cwd=tmp_path, status=0)
    assert "1 groups, 1 microbenchmarks" in result.stdout
    assert re.search(r"cold stream: \d+ rows, about \d+ s", result.stdout)
    assert result.stderr == "next: the same command without --dry-run runs it\n"
    assert list(tmp_path.iterdir()) == []


def last_line(result) -> str:
    return result.stderr.strip().splitlines()[-1]


def test_commands_end_with_the_next_one(amasia, tmp_path):
    stub = runner("amasia-stub")
    assert last_line(amasia("list")).startswith("next: amasia ")
    assert last_line(amasia("doctor", **NO_GPU)).startswith("next: amasia verify --reference")
    references = amasia("verify", "--reference", "nw", **NO_GPU, status=0)
    assert " 0 failed" in references.stdout and last_line(references).startswith("next: amasia ")
    ran = stub("run", "stub", "--size", "n=1000", "--out", "run.json", cwd=tmp_path, status=0)
    assert last_line(ran).startswith("next: python -m plots report run.json --out report.html ")
    assert last_line(stub("verify", "stub", cwd=tmp_path)).startswith("next: amasia study quick ")
    tuned = stub("tune", "stub/tma", "--size", "n=1000", "--tuning", "tuning.json", cwd=tmp_path)
    assert last_line(tuned).startswith("next: amasia run stub/tma ")


def test_the_recipe_of_two_gpus_runs_and_compares_them(tmp_path):
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    recipe = page.split("## Run here, run there, compare")[1].split("```sh\n")[1].split("```")[0]
    *studies, compare = (shlex.split(line, comments=True) for line in recipe.splitlines())
    times = {"Tesla V100-SXM2-16GB": 1.5, "NVIDIA A100-SXM4-40GB": 1.0}
    for command, (gpu, factor) in zip(studies, times.items(), strict=True):
        assert command[0].endswith("/amasia")
        script = json.dumps({"device": {"name": gpu}, "drift": [factor]})
        runner("amasia-stub")(*command[1:], cwd=tmp_path, status=0, AMASIA_STUB=script)
    assert compare[0] == "./plots.sh"
    command = (sys.executable, "-m", "plots", *compare[1:])
    done = run(*command, cwd=tmp_path, status=0, PYTHONPATH=str(ROOT))
    expected = "by the data sheets: 1.24 = min(FLOP 1.24, bandwidth 1.73)"
    assert f"expected of NVIDIA A100-SXM4-40GB {expected}" in done.stdout
    assert "stub: NEW is 1.500× as fast as OLD" in done.stdout


def on_a_terminal(*command: str, cwd=None, **environment: str) -> tuple[int, str]:
    """The status of a program, and its stderr where that is a terminal."""
    master, terminal = pty.openpty()
    environment = {n: v for n, v in os.environ.items() if n != "NO_COLOR"} | environment
    with subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=terminal, env=environment
    ) as process:
        os.close(terminal)
        said = b""
        with contextlib.suppress(OSError):  # at the end of a terminal
            while part := os.read(master, 1000):
                said += part
    os.close(master)
    return process.returncode, said.decode()


def test_progress_rewrites_one_line_of_a_terminal(tmp_path):
    """Cut where the terminal would wrap it: the warning of other processes on the GPU is long."""
    script = json.dumps({"probe": BUSY})
    run = ("run", "stub", "--roles", "iso", "--size", "n=1000", "--out", "run.json")
    environment = {"TERM": "dumb", "AMASIA_STUB": script}
    status, said = on_a_terminal(program("amasia-stub"), *run, cwd=tmp_path, **environment)
    assert status == 0 and "\r[2/2] stub n=1000 cold stream  ETA 0:" in said
    assert re.search(r"\r\x1b\[K\[2/2\] stub n=1000 cold stream: fastest .* \(ETA 0:00\)", said)
    assert max(map(len, re.findall(r"\r([^\r]+)\x1b\[K(?=\r)", said))) == 110


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_and_never_alone(environment, coloured):
    status, said = on_a_terminal(program("amasia"), "rnu", **environment)
    assert status == 2 and said.startswith("\x1b[31mamasia:\x1b[0m ") == coloured
    assert re.sub(r"\x1b\[\d+m", "", said).startswith("amasia: no command 'rnu'")
