"""amasia.compare on the stub device: the product's library, loops and statistics, with callables
that are really called and times from a script."""

import contextlib
import ctypes
import ctypes.util
import gzip
import json
import locale
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import amasia
from amasia import library
from amasia.comparing import raw_stream
from plots.cli import main
from plots.data.documents import read_document
from plots.data.load import load
from tests.process import ROOT, built, cached, run

QUICK = {"min_rounds": 7, "max_rounds": 7}
STUB_STREAM = 0x57AB  # tests/harness/stub_device/stub_device.cpp

Script = Callable[..., None]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Compares on the stub device from here on, whose script this is: {"ms": ...} and what else
    belongs to a row by implementation, "old" being the first of them, and members of the script."""
    monkeypatch.setenv(library.VARIABLE, str(built("libamasia_compare_stub.so")))

    def write(rows: dict[str, Any] | None = None, **members: Any) -> None:
        names = {"old": "callables/baseline"}
        named = {names.get(k, f"callables/{k}"): v for k, v in (rows or {}).items()}
        text = {"nothing_ms": 1e-6, **members, "rows": named}
        monkeypatch.setenv("AMASIA_STUB", json.dumps(text))

    write({"old": {"ms": 2.0, "noise": 0.001}, "new": {"ms": 1.0, "noise": 0.001}})
    return write


class Problem:
    """An array on a device that is none: implementations write into it what they are to compute."""

    def __init__(self) -> None:
        self.output = "nothing yet"
        self.trace: list[str] = []
        self.streams: set[int] = set()

    def writes(self, name: str, value: str = "right") -> Callable[[int], None]:
        def implementation(stream: int) -> None:
            self.trace.append(name)
            self.streams.add(stream)
            if value != "":
                self.output = value

        return implementation

    def reset(self, stream: int) -> None:
        self.trace.append("reset")
        self.streams.add(stream)
        self.output = "poison"

    def verify(self) -> bool:
        self.trace.append("verify")
        return self.output == "right"

    def both(self) -> dict[str, Callable[[int], None]]:
        return {"old": self.writes("old"), "new": self.writes("new")}

    def compare(self, **options: Any) -> amasia.Result:
        """Compares both with what resets and verifies them, unless told otherwise."""
        given = {"reset": self.reset, "verify": self.verify, **options}
        return amasia.compare(given.pop("implementations", self.both()), **given)


@pytest.fixture
def problem(script: Script) -> Problem:
    """To be compared on the stub device."""
    return Problem()


# --- What is measured -----------------------------------------------------------------------------


def test_a_claim_with_its_interval_and_a_sentence(problem: Problem) -> None:
    result = problem.compare()
    assert result.ratio == pytest.approx(2, rel=1e-3)
    assert result.interval[0] <= result.ratio <= result.interval[1]
    assert (result.claim, result.warnings, result.invalid) == ("faster", (), ())
    assert re.fullmatch(r"new ran 2\S*x \[\S+, \S+\] faster than old", result.sentence)
    assert str(result) == str(result["new"]) == result.sentence
    assert result.control is not None
    assert result.control.ratio == pytest.approx(1, rel=1e-3)
    assert result.timings["old"].median_ms.value == pytest.approx(2, rel=1e-3)
    assert len(result.timings["new"].samples) == result.rounds >= 15


def test_rounds_are_paired_each_run_is_reset_and_the_first_runs_against_itself(
    problem: Problem,
) -> None:
    result = problem.compare(**QUICK)
    runs = problem.trace
    for place, name in enumerate(runs):
        if name in ("old", "new"):
            assert runs[place - 1] == "reset", place
    (group,) = result.document["groups"]
    rows = group["rows"]
    order = [("old", None), ("old", 1), ("new", None)]
    assert [(row["config"], row.get("repeat")) for row in rows] == order
    assert {len(row["samples"]["time_ms"]) for row in rows} == {7}
    called = [name for name in runs if name in ("old", "new")]
    afterwards = 4  # each row is verified once more, and the first again for what it may export
    timed = called[-21 - afterwards : -afterwards]
    rounds = [tuple(timed[i : i + 3]) for i in range(0, 21, 3)]
    assert {tuple(sorted(names)) for names in rounds} == {("new", "old", "old")}
    assert len(set(rounds)) > 1  # not always in the same order


@pytest.mark.parametrize("cache", ["cold", "hot"])
def test_each_round_has_inputs_that_no_call_has_seen(problem: Problem, cache: str) -> None:
    """What knows its inputs again never meets them in a timed run of another round."""
    there, seen = 0, []

    def inputs(stream: int, seed: int) -> None:
        nonlocal there
        assert stream == STUB_STREAM and 0 <= seed < 1 << 48
        there = seed

    def runs(name: str):
        def implementation(stream: int) -> None:
            seen.append((name, there))
            problem.output = there

        return implementation

    def compared(**implementations: Callable[[int], None]) -> amasia.Result:
        return amasia.compare(
            implementations, inputs=inputs, reset=problem.reset,
            verify=lambda: problem.output == there, cache=cache, **QUICK,
        )  # fmt: skip

    (group,) = compared(old=runs("old"), new=runs("new")).document["groups"]
    assert group["inputs"] == "new in every round"
    assert len({seed for _, seed in seen}) >= 8
    kept: list[int] = []

    def replays(stream: int) -> None:
        kept.append(there)
        problem.output = kept[0]

    with pytest.raises(amasia.WrongResult, match="replays: wrong result after timing") as caught:
        compared(old=runs("old"), replays=replays)
    rows = caught.value.result.document["groups"][0]["rows"]
    (round_,) = {row.get("verified_round") for row in rows}
    assert 0 <= round_ < 7


def test_callables_get_the_stream_and_a_stream_of_the_callers_is_used(problem: Problem) -> None:
    problem.compare(**QUICK)
    assert problem.streams == {STUB_STREAM}
    for stream, handle in (
        (77, 77),
        (0, 0),  # the default stream of a device has this handle
        (SimpleNamespace(cuda_stream=78), 78),  # PyTorch
        (SimpleNamespace(ptr=79), 79),  # CuPy
        (SimpleNamespace(handle=SimpleNamespace(value=80)), 80),  # Numba
        (SimpleNamespace(__cuda_stream__=lambda: (0, 81)), 81),
    ):
        problem.streams.clear()
        problem.compare(stream=stream, **QUICK)
        assert problem.streams == {handle}
    with pytest.raises(TypeError, match="stream must be a raw handle or a stream"):
        raw_stream("0x57ab")


def test_the_file_is_one_of_the_suite(problem: Problem, tmp_path: Path) -> None:
    # On a machine that becomes slower meanwhile the group is not valid, and is left out: once more.
    for attempt in range(5):
        folder = tmp_path / f"{attempt}"
        folder.mkdir()
        path = folder / "mine.json"
        result = problem.compare(
            out=path, name="mine", size={"n": np.int64(1 << 24), "type": np.str_("float32")}
        )
        loaded = load([path])
        if len(loaded.rows):
            break
    # Noise resembles itself from round to round in some runs by chance, and that is told.
    assert [note for note in loaded.notes if "rank correlation" not in note] == []
    assert set(loaded.rows["variant"]) == {"mine/baseline", "mine/new"}
    assert set(loaded.groups["size"]) == {"n=16777216,type=float32"}
    (compared,) = loaded.comparisons[~loaded.comparisons["control"]].to_dict("records")
    assert (compared["ratio"], compared["claim"]) == (result.ratio, result.claim)
    again = folder / "again.json.gz"
    assert result.save(again) == again
    assert gzip.decompress(again.read_bytes()) == path.read_bytes()
    assert sorted(p.name for p in folder.iterdir()) == ["again.json.gz", "mine.json"]
    assert main(["report", str(path), "-o", str(tmp_path / "report.html")]) == 0
    assert "mine" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_locale_of_the_program_changes_no_number(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locales: str
) -> None:
    monkeypatch.setenv("LOCPATH", locales)
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
        assert locale.str(0.5) == "0,5"
        result = amasia.compare(problem.both(), out=tmp_path / "x.json", **QUICK)
    finally:
        locale.setlocale(locale.LC_ALL, before)
    assert result.ratio == pytest.approx(2, rel=1e-2)
    assert re.search(r"x \[\d\.\d+, \d\.\d+\] faster", result.sentence)
    assert read_document(tmp_path / "x.json").groups


# --- Where it is written --------------------------------------------------------------------------


def test_a_result_that_cannot_be_written_any_more_is_kept(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    out = tmp_path / "x.json"

    def taken(line: str) -> None:
        out.mkdir(exist_ok=True)

    with pytest.raises(amasia.NotSaved, match=r"x\.json: cannot be written") as caught:
        amasia.compare(problem.both(), out=out, progress=taken, **QUICK)
    kept = caught.value.path
    assert kept.parent == tmp_path / "elsewhere" and str(kept) in str(caught.value)
    assert kept.read_text() == caught.value.result.text
    assert caught.value.result.comparisons


# --- What goes wrong in a callable ----------------------------------------------------------------


class Mine(Exception):
    """Of the caller's, so that it can be told from all others."""


@pytest.mark.parametrize("call", [1, 5, 40])
def test_an_exception_comes_back_as_it_is_with_the_name(problem: Problem, call: int) -> None:
    raised = Mine("no such kernel")
    calls = 0

    def broken(stream: int) -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            raise raised
        problem.output = "right"

    both = {"old": problem.writes("old"), "new": broken}
    with pytest.raises(Mine) as caught:
        problem.compare(implementations=both, min_rounds=60)
    assert caught.value is raised
    assert raised.__notes__ == ["amasia.compare: raised by new"]
    assert calls == call  # and nothing is called any more
    assert problem.trace[-1] == "reset"
    # The next comparison is not impressed.
    assert problem.compare().ratio


def test_so_do_those_of_reset_and_verify(problem: Problem) -> None:
    def broken(*_: object) -> None:
        raise Mine

    with pytest.raises(Mine) as caught:
        amasia.compare(problem.both(), reset=broken)
    assert caught.value.__notes__ == ["amasia.compare: raised by reset"]
    with pytest.raises(Mine) as caught:
        amasia.compare(problem.both(), verify=broken)
    assert caught.value.__notes__ == ["amasia.compare: raised by verify, after old"]
    with pytest.raises(TypeError, match="verify returned None: it must return True or False"):
        amasia.compare(problem.both(), verify=lambda: None)


@pytest.mark.parametrize("where", ["in a callable", "in the library"])
def test_an_interrupt_ends_it(script: Script, problem: Problem, where: str) -> None:
    handler = signal.getsignal(signal.SIGINT)

    def interrupting(stream: int) -> None:
        if where == "in a callable":
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                time.sleep(0.001)
            pytest.fail("nothing interrupted it")
        problem.output = "right"

    # The stub sleeps before each run, outside of any callable.
    script({"old": {"ms": 2.0, "sleep_s": 0.05}, "new": {"ms": 1.0, "sleep_s": 0.05}})
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    if where == "in the library":
        timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            amasia.compare({"old": interrupting, "new": interrupting}, min_rounds=100)
    finally:
        timer.cancel()
    assert signal.getsignal(signal.SIGINT) is handler


def test_another_thread_may_compare_and_two_at_once_may_not(problem: Problem) -> None:
    def nested(stream: int) -> None:
        amasia.compare(problem.both())

    with ThreadPoolExecutor() as pool:
        assert pool.submit(amasia.compare, problem.both(), **QUICK).result().claim == "faster"
    with pytest.raises(RuntimeError, match="a comparison is at work already"):
        amasia.compare({"old": nested, "new": nested})


# --- What an implementation does wrong ------------------------------------------------------------


def test_a_wrong_result_has_no_time_and_the_others_keep_theirs(
    script: Script, problem: Problem, tmp_path: Path
) -> None:
    def verify() -> bool:
        assert problem.output != "wrong", "element 3 is 4, not 5"
        return problem.verify()

    path = tmp_path / "result.json"
    three = {**problem.both(), "bad": problem.writes("bad", "wrong")}
    script({"old": {"ms": 2.0}, "new": {"ms": 1.0}, "bad": {"ms": 0.1}})
    with pytest.raises(amasia.WrongResult, match="bad: wrong result: element 3 is 4") as caught:
        amasia.compare(three, reset=problem.reset, verify=verify, out=path)
    result = caught.value.result
    assert result["new"].claim == "faster"
    assert result.timings["bad"].median_ms is None
    assert path.read_text() == result.text


def test_what_only_leaves_the_outputs_of_the_one_before_is_wrong(problem: Problem) -> None:
    idle = {"old": problem.writes("old"), "new": problem.writes("new", "")}
    with pytest.raises(amasia.WrongResult, match="new: wrong result: verify returned False"):
        problem.compare(implementations=idle)


def test_a_reset_that_poisons_nothing_is_found(problem: Problem) -> None:
    amasia.compare(problem.both(), verify=problem.verify, **QUICK)  # leaves right outputs
    with pytest.raises(amasia.NotMeasured, match="old: its verification passes what the reset"):
        amasia.compare(problem.both(), reset=lambda stream: None, verify=problem.verify)
    with pytest.raises(amasia.NotMeasured, match="or the verification looks at nothing"):
        amasia.compare(problem.both(), reset=problem.reset, verify=lambda: True)


def test_what_is_not_verified_is_said(problem: Problem) -> None:
    (warning,) = amasia.compare(problem.both(), **QUICK).warnings
    assert warning.startswith("nothing was verified")
    (warning,) = amasia.compare(problem.both(), verify=problem.verify, **QUICK).warnings
    assert "give a reset, which poisons the outputs" in warning


def test_work_on_another_stream_is_found(script: Script, problem: Problem) -> None:
    script({"old": {"ms": 2.0}, "new": {"ms": 1.0, "side_stream_ms": 0.7}})
    message = r"new: its work goes on for 0\.7 ms when the stream .* is done"
    with pytest.raises(amasia.NotMeasured, match=message):
        amasia.compare(problem.both())


def test_the_time_of_nothing_is_no_time(script: Script, problem: Problem) -> None:
    script({"old": {"ms": 0.01}, "new": {"ms": 0.002}}, nothing_ms=0.002)
    message = r"new: it takes no longer than nothing on the stream .*2 us, nothing up to 2 us"
    with pytest.raises(amasia.NotMeasured, match=message):
        amasia.compare(problem.both())
    script({"old": {"ms": 0.01}, "new": {"ms": 0.003}}, nothing_ms=0.002)
    assert amasia.compare(problem.both()).claim == "faster"


def test_what_waits_inside_is_measured_with_a_warning(script: Script, problem: Problem) -> None:
    script({"old": {"ms": 2.0}, "new": {"ms": 1.0, "waits": True}})
    result = problem.compare(**QUICK)
    (warning,) = result.warnings
    assert warning.startswith("new: it waits for the GPU while it enqueues")
    assert result.document["groups"][0]["launch_blocked"] is False


def test_disturbed_measurements_claim_nothing(script: Script, problem: Problem) -> None:
    drift = [1.0 + 0.02 * i for i in range(60)]
    script({"old": {"ms": 2.0}, "new": {"ms": 1.0}}, drift=drift)
    result = amasia.compare(problem.both(), min_rounds=60, max_rounds=60)
    assert result.claim == "measurement invalid"
    assert any(text.startswith("drift: ") for text in result.invalid)
    assert "\ninvalid: drift: " in str(result)


# --- Bad arguments and missing things -------------------------------------------------------------


def do_nothing(stream: int) -> None:
    pass


TWO = {"old": do_nothing, "new": do_nothing}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"implementations": {"old": do_nothing}}, ValueError, "a comparison needs two or more"),
        ({"implementations": {**TWO, "a b": do_nothing}}, ValueError, "'a b': letters, digits"),
        ({"implementations": {**TWO, "baseline": do_nothing}}, ValueError, "put this one first"),
        ({"implementations": {**TWO, 3: do_nothing}}, TypeError, "a name must be text, not 3"),
        ({"implementations": {**TWO, "x": 3}}, TypeError, "'x' must be callable, not int"),
        ({"implementations": [do_nothing]}, TypeError, "must be a dict of name and callable"),
        ({"inputs": 3}, TypeError, "inputs must be callable, not int"),
        ({"seconds": float("nan")}, ValueError, "seconds must be positive, not nan"),
        ({"min_rounds": 0}, ValueError, "min_rounds must be 1 or more, not 0"),
        ({"min_rounds": 302}, ValueError, "min_rounds 302 is more than max_rounds 301"),
        ({"precision": 2}, ValueError, "precision must be positive and at most 1, not 2"),
        ({"confidence": 1.0}, ValueError, "confidence must be positive and at most 0.999999"),
        ({"cache": "warm"}, ValueError, "cache must be 'cold' or 'hot', not 'warm'"),
        ({"device": 1 << 40}, ValueError, "device must be at most 2147483647"),
        ({"stream": -1}, ValueError, "stream must be a raw handle, a cudaStream_t, not -1"),
        ({"stream": "mine"}, TypeError, "stream must be a raw handle or a stream of a"),
        ({"device": 1}, ValueError, "this stub has one device"),
        ({"name": "two words"}, ValueError, "name of a problem 'two words'"),
        ({"work": {"flops": 1}}, ValueError, "work has operations, bytes_read, bytes_written"),
        ({"size": {}}, ValueError, "size must have a member"),
        ({"size": {"a b": 1}}, ValueError, "size: 'a b' is no name"),
        ({"size": {"n": 1.5}}, TypeError, "size: n must be an integer or text, not float"),
        ({"size": {"n": "1,m=2"}}, ValueError, "size: n must be of letters, digits"),
        ({"out": "/proc/no/such/x.json"}, FileNotFoundError, "/proc/no"),
        ({"out": "/"}, IsADirectoryError, "is a folder"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_bad_arguments_are_refused_in_one_line_before_anything_runs(
    script: Script, arguments: dict, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)) as caught:
        amasia.compare(**{"implementations": TWO, **arguments})
    assert "\n" not in str(caught.value)


def test_without_a_gpu_the_reason_is_said() -> None:
    # In a process of its own: CUDA asks only once which GPUs there are.
    code = "import amasia; amasia.compare({'old': print, 'new': print})"
    variables = {library.VARIABLE: str(built("libamasia_compare.so")), "CUDA_VISIBLE_DEVICES": ""}
    done = run(sys.executable, "-c", code, cwd=ROOT, status=1, **variables)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("amasia.result.NoDevice: "), done.stderr
    assert "CUDA" in said or "no NVIDIA driver is loaded" in said


def test_a_missing_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.VARIABLE, f"/no/such/{library.NAME}")
    with pytest.raises(amasia.LibraryMissing, match="was not found") as caught:
        amasia.compare(TWO)
    assert "--target amasia_compare" in str(caught.value) and "\n" not in str(caught.value)
    monkeypatch.setenv(library.VARIABLE, "libm.so.6")
    with pytest.raises(amasia.LibraryMissing, match=r"libm\.so\.6 is no libamasia_compare\.so"):
        amasia.compare(TWO)


def test_a_library_of_another_version_is_refused(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "__version__", "9.9.9")
    monkeypatch.setattr(library, "_loaded", {})
    with pytest.raises(amasia.LibraryMissing, match=r"is of version .*, this package of 9\.9\.9"):
        amasia.compare(TWO)


def test_the_library_is_installed_on_its_own_where_it_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if cached("AMASIA_INSTALL") != "ON":
        pytest.skip("this build folder installs nothing (AMASIA_INSTALL)")
    component = ("--component", "compare", "--prefix", tmp_path)
    run("cmake", "--install", built("."), *component, status=0)
    (installed,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    monkeypatch.delenv(library.VARIABLE, raising=False)
    monkeypatch.setattr(library.sys, "prefix", str(tmp_path))
    assert library.candidates() == [str(installed), library.NAME]
    assert library.load().amasia_compare_version().decode() == library.__version__


# --- The examples of docs/your-kernel.md ----------------------------------------------------------

PAGE = (ROOT / "docs" / "your-kernel.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```python file=(\S+)\n(.*?)\n```", PAGE, re.DOTALL))


class Streams:
    """The current stream of a framework."""

    def __init__(self) -> None:
        self.entered: list[int] = []

    @contextlib.contextmanager
    def enter(self, stream: int) -> Iterator[None]:
        self.entered.append(stream)
        yield


def module(name: str, monkeypatch: pytest.MonkeyPatch, **members: object) -> None:
    found = ModuleType(name)
    found.__dict__.update(members)
    monkeypatch.setitem(sys.modules, name, found)


def test_the_example_runs(
    script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    streams = Streams()

    def elementwise(inputs: str, outputs: str, operation: str, name: str):
        assert (inputs, outputs, operation) == ("float32 x", "float32 y", "y = 2 * x + 1")

        def kernel(x: np.ndarray, y: np.ndarray) -> None:
            y[:] = 2 * x + 1

        return kernel

    members = {name: getattr(np, name) for name in np.__all__ if hasattr(np, name)}
    cuda = SimpleNamespace(ExternalStream=streams.enter)
    module("cupy", monkeypatch, **{**members, "ElementwiseKernel": elementwise, "cuda": cuda})
    script({"one_pass": {"ms": 1.0}, "old": {"ms": 2.0}})
    monkeypatch.chdir(tmp_path)
    exec(BLOCKS["scale.py"].replace("1 << 24", "1 << 10"), {})
    printed = capsys.readouterr().out
    assert re.fullmatch(r"one_pass ran 2\.000x \[.*\] faster than two_passes\n", printed)
    assert set(streams.entered) == {STUB_STREAM}
    assert not load([Path("scale.json")]).rows["gbytes_per_s"].isna().any()


def test_the_other_frameworks_are_given_the_stream(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = Streams()
    torch = SimpleNamespace(ExternalStream=lambda handle: handle, stream=streams.enter)
    module("torch", monkeypatch, cuda=torch)
    launched: list[tuple] = []

    class Kernel:
        def __getitem__(self, configuration: tuple):
            return lambda *arguments: launched.append((*configuration, *arguments))

    module("numba", monkeypatch, cuda=SimpleNamespace(external_stream=lambda handle: handle))
    spaces: dict[str, dict] = {name: {} for name in BLOCKS}
    for name in ("with_torch.py", "with_numba.py"):
        exec(BLOCKS[name], spaces[name])
    of_torch = spaces["with_torch.py"]["on_stream"](lambda: None)
    of_numba = spaces["with_numba.py"]["on_stream"](Kernel(), 4, 128, "array")
    amasia.compare({"old": of_torch, "new": of_numba}, **QUICK)
    assert set(streams.entered) == {STUB_STREAM}
    assert set(launched) == {(4, 128, STUB_STREAM, "array")}


# --- On a real device, with CUDA's runtime through ctypes and nothing else ------------------------

BYTES = 64 << 20


class Runtime:
    """What these tests need of libcudart."""

    def __init__(self, cudart: ctypes.CDLL) -> None:
        self._cudart = cudart
        self._data = ctypes.c_void_p()
        self._call("cudaMalloc", ctypes.byref(self._data), ctypes.c_size_t(2 * BYTES))

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._cudart, name)(*arguments)
        assert status == 0, f"{name}: error {status}"

    def fill(self, stream: int, value: int, size: int) -> None:
        self._call(
            "cudaMemsetAsync", self._data, ctypes.c_int(value), ctypes.c_size_t(size),
            ctypes.c_void_p(stream),
        )  # fmt: skip

    def new_stream(self) -> int:
        stream = ctypes.c_void_p()
        without_the_default = 1  # cudaStreamNonBlocking
        self._call(
            "cudaStreamCreateWithFlags", ctypes.byref(stream), ctypes.c_uint(without_the_default)
        )
        return stream.value or 0

    def wait(self) -> None:
        self._call("cudaDeviceSynchronize")

    def first_and_last(self, size: int) -> tuple[int, int]:
        found = []
        for offset in (0, size - 1):
            byte = ctypes.c_ubyte()
            place = ctypes.c_void_p((self._data.value or 0) + offset)
            device_to_host = 2
            self._call("cudaMemcpy", ctypes.byref(byte), place, ctypes.c_size_t(1), device_to_host)
            found.append(byte.value)
        return found[0], found[1]


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    names = [
        ctypes.util.find_library("cudart"),
        "libcudart.so",
        "/usr/local/cuda/lib64/libcudart.so",
    ]
    for name in filter(None, names):
        try:
            cudart = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        pytest.skip("no libcudart to call")
    count = ctypes.c_int()
    if cudart.cudaGetDeviceCount(ctypes.byref(count)) != 0 or count.value == 0:
        pytest.skip("no CUDA device")
    monkeypatch.setenv(library.VARIABLE, str(built("libamasia_compare.so")))
    yield Runtime(cudart)


def test_half_the_bytes_take_half_the_time(cuda: Runtime) -> None:
    def verify() -> bool:
        assert cuda.first_and_last(BYTES) == (5, 5)
        return True

    result = amasia.compare(
        {
            "all": lambda stream: cuda.fill(stream, 5, 2 * BYTES),
            "half": lambda stream: cuda.fill(stream, 5, BYTES),
        },
        reset=lambda stream: cuda.fill(stream, 0xFF, 2 * BYTES),
        verify=verify,
        seconds=5,
    )
    assert result.claim == "faster" and 1.5 < result.ratio < 2.5
    assert result.warnings == ()


def test_the_same_is_not_told_apart(cuda: Runtime) -> None:
    def fill(stream: int) -> None:
        cuda.fill(stream, 5, BYTES)

    assert amasia.compare({"one": fill, "other": fill}, seconds=5).claim not in ("faster", "slower")


def test_nothing_another_stream_and_waiting_are_found(cuda: Runtime) -> None:
    aside = cuda.new_stream()

    def right(stream: int) -> None:
        cuda.fill(stream, 5, BYTES)

    def waits(stream: int) -> None:
        cuda.fill(stream, 5, BYTES)
        cuda.wait()

    with pytest.raises(amasia.NotMeasured, match="new: it takes no longer than nothing"):
        amasia.compare({"old": right, "new": lambda stream: None})
    with pytest.raises(amasia.NotMeasured, match="new: its work goes on for"):
        amasia.compare({"old": right, "new": lambda stream: cuda.fill(aside, 5, 2 * BYTES)})
    warnings = amasia.compare({"old": right, "new": waits}, seconds=2).warnings
    assert [w for w in warnings if w.startswith("new: it waits for the GPU")]
