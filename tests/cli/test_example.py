"""The app that docs/extending.md builds: it registers itself, and it is right."""

from __future__ import annotations

import json

import pytest
from programs import read_result, runner


@pytest.fixture(scope="session")
def example():
    return runner("amasia-example")


def test_the_example_registers_both_variants(example):
    listed = json.loads(example("list", "--json").stdout)
    assert [app["name"] for app in listed["apps"]] == ["saxpy"]
    variants = {v["name"]: [c["name"] for c in v["configs"]] for v in listed["apps"][0]["variants"]}
    assert variants == {"saxpy/baseline": ["iso", "256 threads"], "saxpy/tma": ["iso"]}


def test_its_reference_is_right(example):
    result = example("verify", "--reference", status=0)
    assert "4 references ok, 0 failed" in result.stdout


def test_it_verifies_and_compares_on_a_device(example, gpu, tmp_path):
    example("verify", status=0)
    out = tmp_path / "saxpy.json"
    example("run", "saxpy", "--roles", "iso", "--seconds", "2", "--out", str(out), status=0)
    rows = read_result(out)["groups"][0]["rows"]
    assert all(row["status"] == "ok" for row in rows)
