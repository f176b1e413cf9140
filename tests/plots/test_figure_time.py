"""What keeps `python -m plots figure` short: it imports what it draws with, and draws once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from matplotlib.figure import Figure
from whole_record import whole_record

from plots.cli import main
from plots.data.selection import Selection
from plots.data.strategies import ROOT
from plots.figures import FIGURES, style
from plots.figures.latency import latency

# Seconds to import between them; a figure as SVG or PNG needs none.
_NOT_NEEDED = ("scipy", "fontTools.subset", "matplotlib.backends.backend_pdf")


def test_a_figure_imports_nothing_that_it_does_not_need(paper_file, tmp_path):
    out = tmp_path / "speedup.svg"
    code = (
        "import sys; from plots.cli import main\n"
        f"main(['figure', 'speedup', {str(paper_file)!r}, '-o', {str(out)!r}])\n"
        f"print([name for name in {_NOT_NEEDED!r} if name in sys.modules])"
    )
    # Twice, because only a file that was read before needs no schema.
    for _ in range(2):
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


@pytest.mark.parametrize("name", [k.name for k in FIGURES.values() if k.at_main_sizes])
def test_a_figure_of_every_app_shows_each_at_its_main_size(name):
    def panels(size: str | None) -> int:
        selection = Selection((), gpu="NVIDIA H200", size=size)
        selection.__dict__["results"] = whole_record()
        figure = FIGURES[name].of_selection(selection)
        return sum(ax.get_visible() for ax in figure.axes)

    assert panels(None) == 6
    assert panels("all") > 6
    assert panels("rows=8192,cols=8192") >= 1


def test_what_is_left_out_is_said(matched_file, tmp_path, capsys):
    command = ["figure", "matched", str(matched_file), "-o", str(tmp_path / "m.svg")]
    assert main(command) == 0
    assert "each app at its main size (--size all: at every)" in capsys.readouterr().err
    assert main([*command, "--size", "all"]) == 0
    assert "main size" not in capsys.readouterr().err
