"""What scripts/volta.sh compiled for sm_70 with CUDA 12 shows the signatures of baseline and of the
fallbacks; the script itself fails where something does not compile."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "build/volta/code"
CHECK = Path(os.environ.get("AMASIA_BUILD", ROOT / "build/ci")) / "tests/signature_test"

pytestmark = pytest.mark.skipif(
    not (CODE.is_dir() and CHECK.is_file()),
    reason="needs build/volta (scripts/volta.sh, which needs a CUDA 12 toolkit) and signature_test",
)


def test_every_variant_shows_its_signature_on_volta() -> None:
    result = subprocess.run(
        [CHECK, "--gtest_filter=EveryVariant/Signature.PtxFollowsTheStrategy/*"],
        env={**os.environ, "AMASIA_CODE": str(CODE), "AMASIA_CODE_ARCHITECTURES": "70-real"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout
    passed = re.search(r"PASSED\s+\] (\d+) tests", result.stdout)
    assert passed and int(passed[1]) >= 12, result.stdout
    assert "skipped" not in result.stdout.lower()


def test_it_is_code_for_volta() -> None:
    targets = {
        re.search(r"^\.target (\S+)", ptx.read_text(), re.MULTILINE)[1]
        for ptx in (CODE / "apps").glob("*/*.ptx")
    }
    assert targets == {"sm_70"}
