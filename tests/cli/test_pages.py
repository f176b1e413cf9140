"""What a person reads before measuring: help, list, --dry-run, completion, and the
closing sentence that names the next command."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from programs import NO_GPU, ROOT, program, runner

PAGE = 100  # columns


def command_names(amasia) -> list[str]:
    text = amasia("--help").stdout
    listed = text.split("Measure:")[1].split("Options:")[0]
    return re.findall(r"^  (\w+)  ", listed, flags=re.MULTILINE)


def too_wide(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > PAGE]


def test_version_is_the_projects(amasia):
    text = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(amasia VERSION (\S+)", text)[1]
    result = amasia("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"amasia {version}\n", "")


@pytest.mark.parametrize("arguments", [[], ["*/tma"], ["gemm", "nw/dsm"], ["--sources"]])
def test_list_fits_the_page(amasia, arguments):
    result = amasia("list", *arguments, status=0)
    assert not too_wide(result.stdout)


def test_list_shows_the_sizes_of_every_preset(amasia):
    listed = json.loads(amasia("list", "--json").stdout)
    without = not any(app["variants"] for app in listed["apps"])
    assert ("built without CUDA" in amasia("list").stdout) == without
    for app in listed["apps"]:
        text = " ".join(amasia("list", app["name"]).stdout.split())
        for preset, sizes in app["sizes"].items():
            assert f" {preset} " in text
            for size in sizes:
                shown = [pair for pair in size.split(",") if not pair.endswith("=0")]
                assert shown[0] in text


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
        memory = r": [\d.]+ .?B of device memory"
        assert "seed000-table4" in command or re.search(memory, " ".join(result.stdout.split()))


def test_dry_run_on_a_device_shows_rows_and_time(tmp_path):
    stub = runner("amasia-stub")
    result = stub(
        "run", "stub", "stub/points", "--size", "n=1000", "--dry-run", cwd=tmp_path, status=0
    )
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
    assert last_line(amasia("verify", "--reference", "nw")).startswith("next: amasia ")
    ran = stub("run", "stub", "--size", "n=1000", "--out", "run.json", cwd=tmp_path, status=0)
    assert last_line(ran).startswith("next: python -m plots report run.json ")
    verified = stub("verify", "stub", cwd=tmp_path)
    assert last_line(verified).startswith("next: amasia study quick ")
    tuned = stub("tune", "stub/tma", "--size", "n=1000", "--tuning", "tuning.json", cwd=tmp_path)
    assert last_line(tuned).startswith("next: amasia run stub/tma ")


def test_verify_says_how_near_to_its_bound_the_least_exact_config_was(tmp_path):
    stub = runner("amasia-stub")
    script = {"rows": {"stub/tma": {"error": 0.25}, "stub/dsm": {"error": 0.5}}}
    for what, said in (
        ({}, ""),
        (script, r"\n  largest error 0\.5 of 1 accepted: stub/dsm \S+ \(r"),
    ):
        done = stub(
            "verify",
            "stub",
            "--size",
            "n=1000",
            cwd=tmp_path,
            AMASIA_STUB=json.dumps(what),
            status=0,
        )
        assert ("largest error" in done.stdout) == bool(said) and re.search(said, done.stdout)


def bash_completions(words: list[str]) -> set[str]:
    script = (
        f'source <("{program("amasia")}" completion bash)\n'
        f"COMP_WORDS=({' '.join(repr(w) for w in words)})\n"
        f"COMP_CWORD={len(words) - 1}\n_amasia\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    # compopt works inside a running completion only.
    shell = "compopt() { :; }\n" + script
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


def test_bash_completes_commands_options_values_and_names(amasia):
    assert set(command_names(amasia)) <= bash_completions(["amasia", ""])
    assert bash_completions(["amasia", "stu"]) == {"study"}
    assert {"--size", "--dry-run", "--help"} <= bash_completions(["amasia", "run", "--"])
    assert "--reference" not in bash_completions(["amasia", "run", "--"])
    assert bash_completions(["amasia", "run", "--cache", ""]) == {"cold", "hot"}
    assert bash_completions(["amasia", "tune", "--preset", "s"]) == {"smoke", "sweep"}
    assert "seed000-table4" in bash_completions(["amasia", "study", "seed000-t"])
    assert "hotspot" in bash_completions(["amasia", "verify", "hot"])
    assert bash_completions(["amasia", "completion", ""]) == {"bash", "fish", "zsh"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_their_script(amasia, tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / f"amasia.{shell}"
    script.write_text(amasia("completion", shell).stdout)
    subprocess.run([shell, "-n", str(script)], check=True, capture_output=True)
    if shell == "fish":
        asked = script.read_text() + "complete --do-complete 'amasia run --cache '\n"
        done = subprocess.run(["fish"], input=asked, capture_output=True, text=True, check=True)
        assert {line.split("\t")[0] for line in done.stdout.splitlines()} >= {"cold", "hot"}
