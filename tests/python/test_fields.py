"""A field is declared once: a second declaration is refused where it stands."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """#include "harness/results/field.hpp"
struct Probe {
  int count = 0;
  int other = 0;
};
template <>
struct amasia::Fields<Probe> {
  static constexpr auto list = amasia::fields(amasia::field("count", &Probe::count),
                                              amasia::field("SECOND", &Probe::other));
};
"""


@pytest.mark.parametrize("second", ["other", "count"])
def test_a_second_declaration_of_a_field_names_file_and_line(tmp_path, second):
    compiler = os.environ.get("CXX") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    source = tmp_path / "probe.cpp"
    source.write_text(SOURCE.replace("SECOND", second), encoding="utf-8")
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT}", str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if second == "other":
        assert result.returncode == 0, result.stderr
    else:
        assert result.returncode != 0
        assert f"{source}:8:" in result.stderr
        assert "a field is declared a second time" in result.stderr
