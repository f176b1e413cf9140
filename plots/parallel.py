"""One function on many things, on all cores; or some functions beside what the caller does."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, TypeVar

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


def _call_all(functions: Sequence[Callable[[], Any]], answer: Connection) -> None:
    try:
        answer.send(([function() for function in functions], None))
    except Exception as error:  # raised again where the results are asked for
        answer.send(([], error))


@contextlib.contextmanager
def beside(functions: Sequence[Callable[[], Any]]) -> Iterator[Callable[[], list[Any]]]:
    """Calls the functions in a process of their own, where there is a core for it, while the caller
    does something else. Yields what waits for their results, in order, and raises what one raised.
    The process is forked, so that functions see what there is now and only results travel."""
    if cores() < 2 or not functions:
        yield lambda: [function() for function in functions]
        return
    fork = multiprocessing.get_context("fork")
    answer, to_answer = fork.Pipe(duplex=False)
    process = fork.Process(target=_call_all, args=(functions, to_answer), daemon=True)
    process.start()
    to_answer.close()  # the process has its own end; without this one its death is noticed

    def results() -> list[Any]:
        try:
            found, error = answer.recv()
        except EOFError:
            raise RuntimeError("a process that computed beside this one ended early") from None
        if error is not None:
            raise error
        return found

    try:
        yield results
    finally:
        process.terminate()  # it has answered, or nobody asks for what it does any more
        process.join()
        answer.close()
