"""amasia bench around the stub: functions of a shared library that really run, on memory of the
host, and are judged by what they leave there. Times are the script's."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import time
from typing import Any

import pytest
from programs import Stubbed, built_with_cuda, program, read_result, runner, shared_library

from plots.data.documents import read_document
from plots.data.load import load
from plots.report.chapters import parts
from plots.report.embedded import Embedded
from tests.process import ROOT, nvcc

SOURCE = ROOT / "tests" / "cli" / "user_kernels.cpp"
ARGUMENTS = '[{ i32 = "n" }, { f32 = 2.5 }, "x", "y"]'
PROBLEM = """name = "saxpy"
summary = "y = a x + y"

[parameters]
n = 1000

[buffers.x]
type = "f32"
count = "n"
role = "input"
fill = "uniform"

[buffers.y]
type = "f32"
count = "n"
role = "in place"
fill = "uniform"
"""
FEW = ("--max-rounds", "15", "--min-rounds", "15")


def implementation(name: str, library: str = "kernels.so", function: str | None = None) -> str:
    return (
        f'[[implementation]]\nname = "{name}"\nlibrary = "{library}"\n'
        f'function = "{function or name}"\narguments = {ARGUMENTS}\n'
    )


TWO = (implementation("old", function="right"), implementation("right"))


def compiled(folder: pathlib.Path, name: str, *flags: str) -> None:
    shared_library(SOURCE, folder / name, *flags)


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("libraries")
    compiled(folder, "kernels.so")
    return folder


class Bench(Stubbed):
    command = ("bench",)

    def __init__(self, folder: pathlib.Path, libraries: pathlib.Path) -> None:
        super().__init__(folder)
        self.out = folder / "result.json"
        self.link(libraries)

    def link(self, files: pathlib.Path) -> None:
        for file in files.iterdir():
            (self.folder / file.name).symlink_to(file)

    def write(self, *implementations: str, problem: str = PROBLEM) -> str:
        """The file with these implementations; returns its text."""
        text = "\n".join([problem, *implementations])
        (self.folder / "saxpy.toml").write_text(text)
        return text

    def run(self, *arguments: str, program: str = "amasia-stub", **options: Any):
        self.name = program
        return super().run(*arguments, **options)

    def measure(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess:
        out = ("--out", "result.json", "--overwrite")
        return self.run("saxpy.toml", *out, *FEW, *arguments, **options)

    def group(self) -> dict:
        return read_result(self.out)["groups"][0]

    def rows(self) -> dict[str, dict]:
        return {
            row["variant"].removeprefix("saxpy/"): row
            for row in self.group()["rows"]
            if row["repeat"] == 0
        }


@pytest.fixture
def bench(tmp_path: pathlib.Path, libraries: pathlib.Path) -> Bench:
    return Bench(tmp_path, libraries)


def test_old_against_new(bench: Bench) -> None:
    bench.write(
        *(implementation(name, function="right") for name in ("old", "new")),
        '[work]\noperations = "2 * n"\nbytes_read = "8 * n"\nbytes_written = "4 * n"\n',
    )
    times = {"saxpy/baseline": {"ms": 2.0}, "saxpy/new": {"ms": 1.0}}
    result = bench.measure(script={"rows": times})
    assert "baseline is old, outputs are compared with those of old" in result.stderr
    assert re.search(r"new 2\.00× \[.*\] faster than old \(one run\)", result.stderr)
    rows = bench.rows()
    assert rows["baseline"]["config"] == "old" and rows["new"]["config"] == "new"
    assert rows["new"]["verdict"]["checked"] == 2000, "the timed input, and another one"
    claims = {c["variant"]: c["claim"] for c in bench.group()["comparisons"] if not c["control"]}
    assert claims == {"saxpy/new": "faster"}
    # The result is one like any other: digests, floor, exports, and the reader of the analysis.
    assert rows["baseline"]["source_digest"] != rows["new"]["source_digest"] != ""
    sources = json.loads(bench.out.read_text())["provenance"]["sources"]
    assert sources["saxpy/new"] == rows["new"]["source_digest"]
    assert read_document(bench.out).groups[0].key.app == "saxpy"
    chapter = next(part for part in parts() if part.name == "others")
    cells = re.findall(r"<td[^>]*>(.*?)</td>", chapter.body(load([bench.out]), Embedded()))
    assert cells[1:] == ["saxpy", "n=1000", "cold stream", "old", "new", "2", "1", *cells[8:]]
    assert cells[8].startswith("2.00") and cells[9] == "faster"


# What is wrong with each, as a person reads it. `{line}` is where it stands in the file. More of
# them are in tests/hostile.
CHEATS = {
    "does_nothing": (r"saxpy.toml:{line}: wrong result", r"y\[0\]: got .*, expected "),
    "off_by_a_byte": (r"saxpy.toml:{line}: wrong result", r"^y\[17\]: got "),
    "writes_before": (
        r"saxpy.toml:{line}: wrong result",
        r"wrote 4 bytes before the begin of 'x' \(saxpy.toml:7\), up to byte -1",
    ),
    "takes_all_memory": (r"saxpy.toml:{line}: wrong result", r"the others need as much"),
    "returns_seven": (r"saxpy.toml:{line}: 'returns_seven' of kernels.so returned 7", None),
    "throws": (r"saxpy.toml:{line}: the process was killed by signal 6", None),
    "aborts": (r"saxpy.toml:{line}: the process was killed by signal 6", None),
    "missing": (r"saxpy.toml:{line}: kernels.so has no function 'missing'", None),
}


def test_every_cheat_is_found_and_the_rest_goes_on(bench: Bench) -> None:
    text = bench.write(
        implementation("old", function="right"),
        *(implementation(name) for name in CHEATS),
        implementation("prints"),
        implementation("right"),
    )
    lines = text.split("\n")
    result = bench.measure(status=1)
    rows = bench.rows()
    for name, (reason, mismatch) in CHEATS.items():
        place = lines.index(f'name = "{name}"')  # the header is the line before; both count from 1
        row = rows[name]
        assert row["status"] == ("failed" if mismatch else "crashed"), name
        assert re.search(reason.format(line=place), row["reason"]), row["reason"]
        assert "\n" not in row["reason"]
        if mismatch:
            assert re.search(mismatch, row["verdict"]["first_mismatches"][0]), row["verdict"]
        assert not row["samples"]["time_ms"], f"{name} has a time"
    for name in ("baseline", "right", "prints"):
        assert rows[name]["status"] == "ok", rows[name]["reason"]
        assert len(rows[name]["samples"]["time_ms"]) >= 15
    place = lines.index('name = "prints"')
    expected = f'saxpy.toml:{place}: saxpy/prints printed to stdout, "hello from the library'
    assert any(w.startswith(expected) for w in bench.group()["warnings"]), bench.group()["warnings"]
    assert "compute-sanitizer amasia bench saxpy.toml --in-process" in result.stderr


@pytest.mark.parametrize("how", ["std::abort()", "std::_Exit(0)", "__builtin_trap()"])
def test_a_constructor_takes_nobody_along(bench: Bench, how: str) -> None:
    compiled(bench.folder, "constructor.so", f"-DIN_CONSTRUCTOR={how}")
    bad = implementation("bad", "./constructor.so", "right")
    bench.write(implementation("old", function="right"), bad, implementation("right"))
    bench.measure(status=1)
    rows = bench.rows()
    assert rows["right"]["status"] == "ok" and rows["bad"]["status"] == "crashed"
    said = r"saxpy.toml:\d+: constructor.so was being loaded \(its constructors ran\): the process "
    assert re.match(said, rows["bad"]["reason"]), rows["bad"]["reason"]
    # Without a baseline there is nothing to say of the others.
    bench.write(bad, implementation("right"))
    result = bench.measure(status=1)
    assert re.search("amasia: " + said + ".*; it is the baseline, so nothing", result.stderr)


def test_a_hang_costs_its_row(bench: Bench) -> None:
    bench.write(*TWO, implementation("hangs"))
    bench.measure("--seconds", "0.3", "--group-timeout", "1.5", status=1)
    rows = bench.rows()
    assert rows["hangs"]["status"] == "crashed" and "(hang)" in rows["hangs"]["reason"]
    assert rows["right"]["status"] == "ok"


def test_files_hold_what_is_expected(bench: Bench) -> None:
    problem = PROBLEM.replace('fill = "uniform"', 'fill = "index"', 1)  # y = 2.5 * 0, 2.5 * 1, ...
    problem = problem.replace('fill = "uniform"', 'fill = "zero"') + 'expected = "y.bin"\n'
    bench.write(*TWO, problem=problem)
    right = struct.pack("<1000f", *(2.5 * i for i in range(1000)))
    (bench.folder / "y.bin").write_bytes(right)
    bench.measure()
    assert bench.rows()["right"]["verdict"]["checked"] == 1000
    (bench.folder / "y.bin").write_bytes(right[:68] + struct.pack("<f", 1) + right[72:])
    bench.measure(status=1)
    assert "y[17]: got 42.5, expected 1" in bench.rows()["right"]["verdict"]["first_mismatches"]
    (bench.folder / "y.bin").write_bytes(right[:-1])
    said = "saxpy.toml:13: y.bin has 3999 bytes, what is expected in 'y' (at n=1000) takes 4000"
    assert said in bench.measure(status=2).stderr


def test_reading_a_large_file_can_be_interrupted(bench: Bench) -> None:
    count = 1 << 36  # 256 GiB of holes
    problem = PROBLEM.replace("n = 1000", f"n = {count}")
    problem = problem.replace('fill = "uniform"', 'file = "x.bin"', 1)
    scalar = ARGUMENTS.replace("i32", "i64")
    texts = [implementation(name, function="right").replace(ARGUMENTS, scalar) for name in "ab"]
    bench.write(*texts, problem=problem)
    with (bench.folder / "x.bin").open("wb") as file:
        file.truncate(4 * count)
    command = [program("amasia-stub"), "bench", "saxpy.toml", "--dry-run"]
    with subprocess.Popen(command, cwd=bench.folder, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    assert process.returncode == 130 and said == "amasia: interrupted\n"


def test_what_is_left_of_persisting_l2_is_said(bench: Bench) -> None:
    bench.write(*TWO)
    left = "cudaLimitPersistingL2CacheSize at 33554432 bytes"
    bench.measure(script={"rows": {"saxpy/right": {"left_set": left}}})
    assert bench.rows()["right"]["left_set"] == left
    assert "left_set" not in bench.rows()["baseline"]
    (warning,) = bench.group()["warnings"]
    assert warning == (
        f"saxpy/right left {left}: put back before each sample, so that it gains nothing from "
        "earlier runs"
    )


def test_without_child_processes_and_at_other_sizes(bench: Bench) -> None:
    bench.write(*TWO)
    bench.measure("--in-process")
    bench.measure("--size", "n=17", "--cache", "hot", "--launch", "graph")
    assert bench.group()["key"]["size"] == {"n": 17}
    result = bench.measure("--size", "n=0", status=2)
    assert "saxpy.toml:9: n is 0 at n=0, which is less than 1" in result.stderr


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            PROBLEM.replace('"saxpy"', '"stub"'),
            "cannot be called 'stub': an app of this program is",
        ),
        (PROBLEM.replace("n = 1000", "n = = 1000"), "saxpy.toml:5: "),
        (PROBLEM.replace("count", "cuont"), "saxpy.toml:9: buffer 'x' has no 'cuont'"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_runs(bench: Bench, problem: str, said: str) -> None:
    bench.write(*TWO, problem=problem)
    for arguments in ((), ("--dry-run",)):
        result = bench.measure(*arguments, status=2)
        assert said in result.stderr.splitlines()[-1]
    assert not bench.out.exists()
    for name in ("nix.toml", "."):
        result = bench.run(name, status=2)
        assert result.stderr.count("\n") == 1
        assert result.stderr.startswith(f"amasia: cannot read {name}")


PAGE = (ROOT / "docs" / "your-kernel.md").read_text()


def test_every_description_of_the_page_is_one(bench: Bench) -> None:
    """Against PTX with the signatures of the page's kernels: nvcc is not everywhere."""
    blocks = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 3
    entries = {"saxpy": "u32 a, .param .f32 b, .param .u64 c, .param .u64 d"}
    sums = "u64 a, .param .u64 b, .param .u32 c"
    entries |= {"partial_sums": sums, "sum_of_sums": sums}
    ptx = ".version 8.0\n.target sm_80\n" + "".join(
        f".entry {name}(.param .{takes}) {{ ret; }}\n" for name, takes in entries.items()
    )
    for block in blocks:
        for name in re.findall(r'^file = "(.*\.(?:cubin|ptx))"', block, re.MULTILINE):
            (bench.folder / name).write_text(ptx)
        for name in re.findall(r'^library = "(.*)"', block, re.MULTILINE):
            (bench.folder / name).write_text("only its digest is needed")
        for name in re.findall(r'^(?:file|expected) = "(.*\.bin)"', block, re.MULTILINE):
            count = re.search(r"^count = (\d+)", block, re.MULTILINE)
            assert count is not None
            (bench.folder / name).write_bytes(bytes(int(count[1])))  # the page's are of u8
        (bench.folder / "page.toml").write_text(block)
        bench.run("page.toml", "--dry-run")


# Against real machine code.


@pytest.fixture(scope="session")
def cubins(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The kernels of the page as cubins for two architectures and as PTX."""
    folder = tmp_path_factory.mktemp("cubins")
    fence = re.compile(r"^```(?:cuda|cpp)\n// saxpy_old\.cu\n(.*?)^```", re.DOTALL | re.MULTILINE)
    (code,) = fence.findall(PAGE)
    (folder / "k.cu").write_text(code)
    for arguments in (
        ("-cubin", "-arch=sm_90", "-o", "old.cubin"),
        ("-ptx", "-arch=compute_80", "-o", "new.ptx"),
    ):
        subprocess.run([nvcc(), *arguments, "k.cu"], cwd=folder, check=True)
    return folder


KERNELS = "".join(
    f"""
[[implementation]]
name = "{name}"
file = "{file}"
kernel = "saxpy"
grid = "(n + 255) / 256"
block = 256
arguments = {ARGUMENTS}
"""
    for name, file in (("old", "old.cubin"), ("new", "new.ptx"))
)


@pytest.mark.parametrize(
    ("part", "other", "said"),
    [
        ("", "", ""),
        ('= "saxpy"', '= "daxpy"', r":23: old.cubin has no kernel 'daxpy': there are sa"),
        (
            "{ f32 = 2.5 }, ",
            "",
            r":23: kernel 'saxpy' of old.cubin takes 4 parameters \(4, 4, 8, 8 ",
        ),
        ("f32 = 2.5", "f64 = 2.5", r":26: argument 2 of kernel 'saxpy' has 8 bytes \(f64\)"),
        ('"new.ptx"', '"k.cu"', r":28: k.cu is neither a cubin nor PTX"),
    ],
)
def test_real_cubins_are_held_against_the_description(
    bench: Bench, cubins: pathlib.Path, part: str, other: str, said: str
) -> None:
    bench.link(cubins)
    bench.write(KERNELS.replace(part, other, 1) if part else KERNELS)
    result = bench.run("saxpy.toml", "--dry-run", program="amasia", status=2 if said else 0)
    expected = f"saxpy.toml{said}" if said else "saxpy n=1000: "
    assert re.search(expected, result.stderr + result.stdout)


@pytest.mark.usefixtures("gpu")
def test_old_against_new_on_a_gpu(bench: Bench, cubins: pathlib.Path) -> None:
    """Modules are loaded, launches made ready and guards checked on the device."""
    old = "old.cubin" if "9.0" in runner("amasia")("doctor").stdout else "new.ptx"
    bench.link(cubins)
    beyond = KERNELS.split("\n\n")[1].replace('"new"', '"beyond"').replace('"n" }', '"n + 2" }')
    bench.write(KERNELS.replace("old.cubin", old) + "\n" + beyond)
    once = ("--out", "result.json", "--seconds", "1", "--cache", "cold")
    bench.run("saxpy.toml", *once, program="amasia", status=1)
    rows = bench.rows()
    assert rows["baseline"]["status"] == rows["new"]["status"] == "ok"
    assert rows["baseline"]["evidence"][0]["kernel"] == "saxpy"
    assert rows["baseline"]["evidence"][0]["registers"] > 0
    assert rows["beyond"]["status"] == "failed"
    assert "behind the end of 'y'" in rows["beyond"]["verdict"]["first_mismatches"][0]


def test_without_a_gpu_it_says_so(bench: Bench, cubins: pathlib.Path) -> None:
    if built_with_cuda() and shutil.which("nvidia-smi"):
        pytest.skip("there may be a GPU")
    bench.link(cubins)
    bench.write(KERNELS)
    result = bench.run("saxpy.toml", "--out", "result.json", program="amasia", status=3)
    assert "no usable GPU" in result.stderr
