"""What the detection curve shows."""

from __future__ import annotations

import json

import known_effects
import pytest
import synthetic

from plots.advice.effects import RESOURCES
from plots.cli import main
from plots.data.load import load
from plots.figures import FIGURES, GpuSubject
from plots.figures.detection import detection


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "effects.json"
    groups = [known_effects.planted_group(i) for i in range(3)] + known_effects.dosed_groups()
    path.write_text(json.dumps(known_effects.recording(groups)), encoding="utf-8")
    return path


def test_shares_by_effect_and_responses_by_kernel(recorded):
    curve, responses = detection(load([recorded]).effects).axes
    shares = {
        container.get_label(): container.lines[0].get_ydata()
        for container in curve.containers
        if not container.get_label().startswith("_")
    }
    assert list(shares) == ["10 rounds", "15 rounds", "default"]
    assert shares["default"][1:] == pytest.approx([100, 100])  # of 1 and 3 per cent
    assert shares["10 rounds"][0] <= shares["default"][0]
    bars = {c.get_label(): [b.get_height() for b in c] for c in responses.containers[1::2]}
    assert list(bars) == [f"doses of {resource}" for resource in RESOURCES]
    for i, resource in enumerate(RESOURCES):
        assert bars[f"doses of {resource}"][i] == pytest.approx(1, abs=0.01)
    names = [t.get_text() for t in responses.get_xticklabels()]
    assert names[:2] == ["bytes\n(floor: bytes)", "operations\n(floor: operations)"]


def test_it_is_drawn_from_the_command_line_and_in_the_report(recorded, paper, tmp_path):
    out = tmp_path / "detection.svg"
    assert main(["figure", "detection", str(recorded), "-o", str(out)]) == 0
    assert out.stat().st_size > 10_000
    kind = FIGURES["detection"]

    def pictures(results):
        return kind.pictures(GpuSubject("NVIDIA H200", "h200", results, "cold", "stream", ()))

    assert pictures(paper) == []
    assert [p.name for p in pictures(load([recorded]))] == ["detection"]


def test_the_figure_is_of_one_gpu(recorded, tmp_path):
    document = json.loads(recorded.read_text(encoding="utf-8"))
    document["provenance"]["device"]["name"] = "NVIDIA A100-SXM4-40GB"
    document["provenance"]["device"]["compute_capability"] = 80
    other = tmp_path / "other.json"
    other.write_text(json.dumps(synthetic.signed(document)), encoding="utf-8")

    def titles(*choice):
        out = tmp_path / "detection.svg"
        arguments = ["figure", "detection", str(recorded), str(other), "-o", str(out), *choice]
        assert main(arguments) == 0
        return out.read_text(encoding="utf-8")

    newest = titles()
    assert "NVIDIA H200, " in newest and "A100" not in newest
    chosen = titles("--gpu", "NVIDIA A100-SXM4-40GB")
    assert "A100" in chosen and "H200" not in chosen


def test_without_the_study_it_says_so(paper_file, capsys):
    assert main(["figure", "detection", str(paper_file)]) == 2
    assert "hold no study of planted effects" in capsys.readouterr().err
