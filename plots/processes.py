"""Programs that the package runs, and one function on many things, on all cores."""

import contextlib
import gc
import multiprocessing
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

from plots.errors import PlotsError

_T = TypeVar("_T")
_R = TypeVar("_R")


def run(words: Sequence[str], **environment: str) -> str:
    """What a program prints. Raises PlotsError with its last line where it fails."""
    try:
        done = subprocess.run(
            words, capture_output=True, encoding="utf-8", errors="replace", check=False,
            env={**os.environ, **environment},
        )  # fmt: skip
    except OSError as error:
        raise PlotsError(f"{words[0]}: cannot be run ({error.strerror})") from None
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it printed nothing"]
        raise PlotsError(f"{words[0]} ended with {done.returncode}: {last[0]}")
    return done.stdout


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def on_all_cores(function: Callable[[_T], _R], things: Sequence[_T]) -> list[_R]:
    """The results in order; what a call raises is raised here. A forked worker finds what the
    module had when this was called, so that only the things and the results travel."""
    workers = min(cores(), len(things))
    if workers < 2:
        return [function(thing) for thing in things]
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=fork) as pool:
        return list(pool.map(function, things))


@contextlib.contextmanager
def no_search_for_garbage() -> Iterator[None]:
    """Nothing is searched for cycles: of results that are millions of small objects a search takes
    half a second, and in a forked worker it copies the memory that both share. Who leaves many
    behind calls gc.collect(), which finds those that are younger than this."""
    searched = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if searched:
            gc.enable()
