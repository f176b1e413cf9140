"""One function on many things."""

from __future__ import annotations

import os

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
