"""One function on many things, on all cores."""

import contextlib
import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")


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
