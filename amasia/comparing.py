"""``compare``: callables that enqueue work on a CUDA stream, measured in this process by the
sampler of the suite: paired in rounds, the first against itself as well, verified before and after.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import operator
import os
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from amasia import library
from amasia.result import (
    AmasiaError,
    NoDevice,
    NotMeasured,
    NotSaved,
    Result,
    WrongResult,
    from_text,
)
from plots.output import check_writable

_MOST_ROUNDS = 301
_MOST = (1 << 31) - 1
_one_at_a_time = threading.Lock()
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"[A-Za-z0-9_.+-]+")
_WORK = ("operations", "bytes_read", "bytes_written")


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    """Notes on an exception that passes whose it is."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"amasia.compare: raised by {name}")
        raise


@dataclass
class _Calls:
    """What the library calls back. An exception is kept and ends the measurement."""

    implementations: list[tuple[str, Callable[[int], object]]]
    reset: Callable[[int], object] | None
    inputs: Callable[[int, int], object] | None
    verify: Callable[[], object] | None
    progress: Callable[[str], object] | None
    raised: BaseException | None = None
    _last: str = ""  # the implementation that ran last
    _inside: bool = False
    _pending: list[tuple[int, FrameType | None]] = field(default_factory=list)
    _handler: Any = None

    def interrupted(self, number: int, frame: FrameType | None) -> None:
        """Instead of the handler of SIGINT. What that raises while no callable runs would be lost
        between the library and Python, so it waits for the next call."""
        if self._inside:
            self._handler(number, frame)
        else:
            self._pending.append((number, frame))

    def deliver(self) -> None:
        """Gives interrupts that waited to the handler they were meant for."""
        while self._pending:
            self._handler(*self._pending.pop(0))

    def __enter__(self) -> _Calls:
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self.interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        if self.raised is None:
            self.deliver()

    def back(self, what: int, stream: int, text: int, size: int) -> int:
        if self.raised is not None:
            return library.STOP
        try:
            self._inside = True
            self.deliver()
            return self._do(what, stream, text, size)
        except BaseException as error:
            self.raised = error
            return library.STOP
        finally:
            self._inside = False

    def _do(self, what: int, stream: int, text: int, size: int) -> int:
        if what == library.PROGRESS:
            self.progress(ctypes.string_at(text).decode(errors="replace"))
        elif what == library.RESET:
            with _named("reset"):
                self.reset(stream)
        elif what == library.INPUTS:
            with _named("inputs"):
                self.inputs(stream, size)
        elif what == library.VERIFY:
            wrong = self._verdict()
            if wrong is not None:
                said = wrong.encode()[: size - 1]
                ctypes.memmove(text, said + b"\0", len(said) + 1)
                return library.WRONG
        else:
            name, implementation = self.implementations[what]
            self._last = name
            with _named(name):
                implementation(stream)
        return library.DONE

    def _verdict(self) -> str | None:
        """What is wrong with the outputs; None for nothing."""
        with _named(f"verify, after {self._last}" if self._last else "verify, before anything ran"):
            try:
                answer = self.verify()
            except AssertionError as error:
                return " ".join(str(error).split()) or "an assertion failed"
            if answer is None:
                raise TypeError("verify returned None: it must return True or False, or raise")
            return None if bool(answer) else "verify returned False"


def _positive(name: str, value: float, most: float = math.inf) -> float:
    number = float(value)
    if not 0 < number <= most or math.isinf(number):
        limit = "" if math.isinf(most) else f" and at most {most:g}"
        raise ValueError(f"{name} must be positive{limit}, not {value!r}")
    return number


def _count(name: str, value: int, least: int) -> int:
    number = operator.index(value)
    if number < least:
        raise ValueError(f"{name} must be {least} or more, not {value!r}")
    if number > _MOST:
        raise ValueError(f"{name} must be at most {_MOST}, not {value!r}")
    return number


def _callable(name: str, value: object) -> None:
    if not callable(value):
        raise TypeError(f"{name} must be callable, not {type(value).__name__}")


def raw_stream(stream: Any) -> int:
    """The handle of a stream: an integer, or a stream of CuPy, PyTorch, Numba, or of whatever else
    has ``__cuda_stream__``. Raises TypeError."""
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for member in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, Numba
        if hasattr(stream, member):
            handle = getattr(stream, member)
            return int(getattr(handle, "value", handle) or 0)
    try:
        found = operator.index(stream)
    except TypeError:
        raise TypeError(
            f"stream must be a raw handle or a stream of a framework, not {type(stream).__name__}"
        ) from None
    if not 0 <= found < 1 << 64:
        raise ValueError(f"stream must be a raw handle, a cudaStream_t, not {found}")
    return found


def _work_of(work: Mapping[str, float] | None) -> dict[str, float] | None:
    if work is None:
        return None
    unknown = sorted(set(work) - set(_WORK))
    if unknown or not work:
        raise ValueError(f"work has {', '.join(_WORK)}, not {', '.join(unknown) or 'nothing'}")
    found = {name: float(work.get(name, 0)) for name in _WORK}
    for name, value in found.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"work: {name} must be a finite number of 0 or more, not {value!r}")
    return found


def _size_of(size: Mapping[str, int | str] | None) -> dict[str, int | str]:
    if size is None:
        return {"case": 1}
    if not size:
        raise ValueError("size must have a member: it tells one case from another")
    found: dict[str, int | str] = {}
    for name, given in size.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"size: {name!r} is no name: use letters, digits and _")
        try:  # any integer, NumPy's as well
            value = str(given) if isinstance(given, str) else operator.index(given)
        except TypeError:
            value = False
        if isinstance(given, bool) or value is False:
            kind = type(given).__name__
            raise TypeError(f"size: {name} must be an integer or text, not {kind}")
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"size: {name} must fit in 64 bits, not {value}")
        if isinstance(value, str) and not _WORD.fullmatch(value):
            raise ValueError(f"size: {name} must be of letters, digits and _ - . +, not {value!r}")
        found[name] = value
    return found


def _saved_elsewhere(result: Result) -> Path | None:
    """The temporary file that holds a result which could not go where it should."""
    try:
        handle, name = tempfile.mkstemp(prefix="amasia-", suffix=".json")
        os.close(handle)
        return result.save(name)
    except OSError:
        return None


def _save(result: Result, out: Path) -> NotSaved | None:
    """Writes the result; what to raise where that is not possible."""
    try:
        result.save(out)
    except OSError as error:
        kept = _saved_elsewhere(result)
        where = "" if kept is None else f"in {kept} and "
        return NotSaved(
            f"{out}: cannot be written ({error.strerror or error}); the result is {where}in the "
            "member result of this exception, whose save() writes it",
            result,
            kept,
        )
    return None


def _check_rows(result: Result) -> None:
    """Raises what keeps a row from having a time, of the second row of the first as well."""
    kind: type[NotMeasured] = NotMeasured
    said: list[str] = []
    for row in result.document["groups"][0]["rows"]:
        if row["status"] == "ok":
            continue
        text = f"{row['config'] or row['variant']}: {row['reason']}"
        verdict = row.get("verdict")
        if verdict is not None and not verdict["passed"]:
            kind = WrongResult
            text += ": " + ", ".join(verdict.get("first_mismatches", []))
        if text not in said:
            said.append(text)
    if said:
        raise kind("; ".join(said), result)


def _check_callables(implementations: Any, **others: Any) -> None:
    if not isinstance(implementations, Mapping):
        raise TypeError(
            f"implementations must be a dict of name and callable, not "
            f"{type(implementations).__name__}"
        )
    for key, value in implementations.items():
        if not isinstance(key, str):
            raise TypeError(f"a name must be text, not {key!r}")
        _callable(f"implementation {key!r}", value)
    for what, function in others.items():
        if function is not None:
            _callable(what, function)


def compare(
    implementations: Mapping[str, Callable[[int], object]],
    *,
    reset: Callable[[int], object] | None = None,
    inputs: Callable[[int, int], object] | None = None,
    verify: Callable[[], object] | None = None,
    work: Mapping[str, float] | None = None,
    size: Mapping[str, int | str] | None = None,
    stream: Any = None,
    cache: str = "cold",
    seconds: float = 20.0,
    min_rounds: int = 15,
    max_rounds: int = _MOST_ROUNDS,
    precision: float = 0.005,
    confidence: float = 0.95,
    device: int = 0,
    name: str = "callables",
    out: str | os.PathLike[str] | None = None,
    progress: Callable[[str], object] | None = None,
) -> Result:
    """Measures callables against the first of them.

    Each is called as ``f(stream)`` with the raw handle of a CUDA stream (a ``cudaStream_t`` as an
    integer), must enqueue all of its work there, or on streams that are joined to it, and must not
    wait. It is called a few hundred times.

    ``reset(stream)`` enqueues what restores inputs and poisons outputs, before each run, not timed.
    ``inputs(stream, seed)`` enqueues other inputs for another seed, before each round, so that no
    round has inputs that an earlier call has seen; ``reset`` follows, and ``verify`` judges by
    them. Without it they are the same in every round.
    ``verify()`` is called when a run has ended and says whether its outputs are right: True, False,
    or an AssertionError that says what is wrong.
    ``work``: what one run must do at least, for rates: {"operations", "bytes_read",
    "bytes_written"}.
    ``size``: what tells this case from others in results, {"n": 1024, "type": "float32"}.
    ``stream``: to run on one of yours, a raw handle or a framework's object; else there is one of
    the library's own.
    ``cache``: "cold", the L2 is flushed before each run; "hot", a run went before it.
    It ends when every interval is within ``precision`` (a share, 0.005), after ``max_rounds``, or
    after ``seconds``, and not before ``min_rounds``. ``confidence`` is that of all intervals
    together. ``device`` is CUDA's index of the GPU, ``name`` what results call the problem, ``out``
    a result file to write, ``progress`` a function that is given a line now and then.

    What a callable raises is raised, with a note that names it. Raises WrongResult for outputs that
    ``verify`` refuses. Raises NotMeasured for work that is not on the stream or breaks the device.
    Raises NotSaved where ``out`` cannot be written after the measurement, though it could before.
    All three have a ``result``: what was measured. Raises NoDevice, LibraryMissing, and ValueError,
    TypeError and OSError for arguments that cannot be.
    """
    _check_callables(implementations, reset=reset, inputs=inputs, verify=verify, progress=progress)
    if cache not in ("cold", "hot"):
        raise ValueError(f"cache must be 'cold' or 'hot', not {cache!r}")
    confidence = _positive("confidence", confidence, most=0.999999)
    if confidence < 0.5:
        raise ValueError(f"confidence must be 0.5 or more, not {confidence!r}")
    max_rounds = _count("max_rounds", max_rounds, 1)
    min_rounds = _count("min_rounds", min_rounds, 1)
    if min_rounds > max_rounds:
        raise ValueError(f"min_rounds {min_rounds} is more than max_rounds {max_rounds}")
    request: dict[str, Any] = {
        "name": name,
        "names": list(implementations),
        "cache": cache,
        "seconds": _positive("seconds", seconds),
        "min_rounds": min_rounds,
        "max_rounds": max_rounds,
        "precision": _positive("precision", precision, most=1),
        "confidence": confidence,
        "device": _count("device", device, 0),
        # What is no UTF-8 cannot be in a result file.
        "argv": [os.fsencode(text).decode(errors="replace") for text in sys.argv],
        "reset": reset is not None,
        "inputs": inputs is not None,
        "verify": verify is not None,
        "progress": progress is not None,
        "stream": None if stream is None else raw_stream(stream),
        "work": _work_of(work),
        "size": _size_of(size),
    }
    if out is not None:
        check_writable(Path(out))

    calls = _Calls(list(implementations.items()), reset, inputs, verify, progress)
    if not _one_at_a_time.acquire(blocking=False):
        raise RuntimeError("a comparison is at work already, and a second one would disturb it")
    try:
        with calls:
            answer = library.call(request, calls.back)
    finally:
        _one_at_a_time.release()
    if calls.raised is not None:
        raise calls.raised
    if "error" in answer:
        kinds = {"usage": ValueError, "no device": NoDevice}
        raise kinds.get(answer["error"], AmasiaError)(answer["message"])
    result = from_text(answer["result"], answer["answers"], request["names"])
    not_saved = None if out is None else _save(result, Path(out))
    try:
        _check_rows(result)
    except NotMeasured as error:
        if not_saved is not None:
            error.add_note(f"amasia.compare: {not_saved}")
        raise
    if not_saved is not None:
        raise not_saved
    return result
