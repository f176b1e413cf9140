"""One function on many things."""

from __future__ import annotations

import os
from functools import partial

import pytest

from plots import parallel


def process_of(_):
    return os.getpid()


def half(n):
    if n % 2:
        raise ValueError(f"{n} is odd")
    return n // 2


def test_results_come_in_order_from_other_processes(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    assert parallel.on_all_cores(half, range(0, 40, 2)) == list(range(20))
    assert os.getpid() not in parallel.on_all_cores(process_of, [1, 2, 3])
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    assert set(parallel.on_all_cores(process_of, [1, 2, 3])) == {os.getpid()}


@pytest.mark.parametrize("cores", [1, 2])
def test_what_a_call_raises_is_raised_here(monkeypatch, cores):
    monkeypatch.setattr(parallel, "cores", lambda: cores)
    with pytest.raises(ValueError, match="3 is odd"):
        parallel.on_all_cores(half, [2, 3, 4])


@pytest.mark.parametrize("cores", [1, 2])
def test_functions_are_called_beside_what_else_is_done(monkeypatch, cores):
    monkeypatch.setattr(parallel, "cores", lambda: cores)
    functions = [os.getpid, partial(half, 4)]
    with parallel.beside(functions) as results:
        process, found = results()
    assert found == 2 and (process == os.getpid()) == (cores == 1)
    with (
        pytest.raises(ValueError, match="3 is odd"),
        parallel.beside([partial(half, 3)]) as results,
    ):
        results()
    with parallel.beside([]) as results:
        assert results() == []


def test_an_error_beside_does_not_hide_one_here(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    with pytest.raises(KeyError), parallel.beside([partial(half, 3)]):
        raise KeyError
    with (
        pytest.raises(RuntimeError, match="ended early"),
        parallel.beside([partial(os._exit, 1)]) as results,
    ):
        results()
