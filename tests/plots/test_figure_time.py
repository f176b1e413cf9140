"""What keeps `python -m plots figure` short: it imports what it draws with, and draws once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from matplotlib.figure import Figure
from whole_record import whole_record

from plots.data.strategies import ROOT
from plots.figures import style
from plots.figures.latency import latency

# Slow to import; a figure as SVG or PNG needs none.
_NOT_NEEDED = ("scipy", "matplotlib.backends.backend_pdf")


def test_a_figure_imports_nothing_that_it_does_not_need(paper_file, tmp_path):
    out = tmp_path / "speedup.svg"
    code = (
        "import sys; from plots.cli import main\n"
        f"main(['figure', 'speedup', {str(paper_file)!r}, '-o', {str(out)!r}])\n"
        f"print([name for name in {_NOT_NEEDED!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert out.is_file() and done.stdout.strip() == "[]"


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_a_figure_is_laid_out_and_drawn_once(tmp_path: Path, suffix):
    figure = latency(whole_record())
    with (
        patch.object(Figure, "draw", autospec=True, side_effect=Figure.draw) as draw,
        patch.object(
            type(figure.get_layout_engine()), "execute", autospec=True,
            side_effect=type(figure.get_layout_engine()).execute,
        ) as execute,
    ):  # fmt: skip
        style.save(figure, tmp_path / f"latency{suffix}")
    assert draw.call_count == 1 and execute.call_count == 1
