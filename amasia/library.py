"""libamasia_compare, the harness as a shared library: where it is found, and calling it
(harness/implementations/compare_library.cpp)."""

import ctypes
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amasia.result import LibraryMissing
from plots import __version__

VARIABLE = "AMASIA_COMPARE_LIBRARY"
NAME = "libamasia_compare.so"
RESET, VERIFY, PROGRESS, INPUTS = -1, -2, -3, -4  # what to do; 0 and more: an implementation
DONE, WRONG, STOP = 0, 1, 2

_HOW_TO_BUILD = (
    "build it in a clone of Amasia with: cmake --preset native && cmake --build build/native "
    "--target amasia_compare, then set " + VARIABLE + "=build/native/" + NAME + ", or cmake "
    "--install the build folder"
)

Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulong
)
_loaded: dict[str, ctypes.CDLL] = {}


def candidates() -> list[str]:
    """Where the library may be, first choice first: what the environment variable names and nothing
    else; beside this package; installed into this Python's prefix; wherever the loader looks."""
    named = os.environ.get(VARIABLE)
    if named:
        return [named]
    beside = Path(__file__).resolve().parent / NAME
    prefixes = [Path(sys.prefix) / folder / NAME for folder in ("lib", "lib64")]
    return [*(str(path) for path in (beside, *prefixes) if path.is_file()), NAME]


def load() -> ctypes.CDLL:
    """The library, loaded once. Raises LibraryMissing with one line that says what to do."""
    reasons = []
    for path in candidates():
        library = _loaded.get(path)
        if library is None:
            try:
                library = ctypes.CDLL(path)
            except OSError as error:
                reasons.append(str(error))
                continue
            try:
                library.amasia_compare_version.restype = ctypes.c_char_p
                library.amasia_compare.restype = ctypes.c_void_p
                library.amasia_compare.argtypes = [ctypes.c_char_p, Callback]
                library.amasia_compare_free.argtypes = [ctypes.c_void_p]
            except AttributeError as error:
                raise LibraryMissing(f"{path} is no {NAME} ({error}); {_HOW_TO_BUILD}") from None
            found = library.amasia_compare_version().decode()
            if found != __version__:
                raise LibraryMissing(
                    f"{path} is of version {found}, this package of {__version__}; {_HOW_TO_BUILD}"
                )
            _loaded[path] = library
        return library
    raise LibraryMissing(f"{NAME} was not found ({'; '.join(reasons)}); {_HOW_TO_BUILD}")


def call(request: dict[str, Any], back: Callable[[int, int, int, int], int]) -> dict[str, Any]:
    """Answers a request. ``back(what, stream, text, size)`` is called on this thread, with
    addresses as integers, and must not raise. Raises LibraryMissing, and MemoryError."""
    library = load()

    def called(what: int, stream: int | None, text: int | None, size: int) -> int:
        return back(what, stream or 0, text or 0, size)

    text = json.dumps(request, allow_nan=False).encode()
    answer = library.amasia_compare(text, Callback(called))
    if not answer:
        raise MemoryError("no memory for the answer of " + NAME)
    try:
        return json.loads(ctypes.string_at(answer))
    finally:
        library.amasia_compare_free(answer)
