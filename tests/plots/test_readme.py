"""README's picture and verdicts are those of the recorded results, and its commands work."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
import synthetic
from drawn import table_rows
from whole_record import whole_record

from plots.data.load import load
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from plots.report import readme, verdicts
from plots.report.page import render

TEXT = f"# Title\n\nbefore\n\n{readme.BEGIN}\nold\n{readme.END}\n\nafter\n"


@pytest.mark.parametrize("text", ["", f"{readme.END}\n{readme.BEGIN}\n"])
def test_a_readme_without_the_markers_is_named(tmp_path, paper, text):
    path = tmp_path / "README.md"
    with pytest.raises(PlotsError, match="expected README's text"):
        readme.write(paper, path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PlotsError, match="expected one line <!-- generated:results"):
        readme.write(paper, path)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_writing_replaces_only_what_is_between_the_markers(file, paper):
    assert readme.write(paper, file) == [file, file.parent / readme.PICTURE]
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Title\n\nbefore\n") and text.endswith("\nafter\n")
    assert "\nold\n" not in text
    assert "![Speed-up of each strategy over baseline, NVIDIA H200, 2026-11-21; cold cache" in text
    before = file.read_bytes(), (file.parent / readme.PICTURE).read_bytes()
    readme.write(paper, file)
    assert before == (file.read_bytes(), (file.parent / readme.PICTURE).read_bytes())


def test_check_finds_a_changed_verdict_and_a_changed_picture(file, paper):
    readme.write(paper, file)
    assert readme.check(paper, file) == []
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("1.31×", "1.51×"), encoding="utf-8")
    assert any("1.51×" in line for line in readme.check(paper, file))
    file.write_text(text, encoding="utf-8")
    picture = file.parent / readme.PICTURE
    drawn = picture.read_bytes()
    picture.write_bytes(re.sub(rb"amasia-overview \w", b"amasia-overview x", drawn))
    assert readme.check(paper, file) == [
        f"{readme.PICTURE}: drawn from other results or by other code"
    ]
    picture.unlink()
    assert readme.check(paper, file) == [f"{readme.PICTURE}: missing"]


def test_names_from_a_file_cannot_become_html_or_markdown(save):
    group = synthetic.group("nw", {"file": "<img src=x>`|"}, 1.0)
    gpu = synthetic.device("<script>alert(1)</script> [a](b)")
    text = readme.generated(load([save(synthetic.document([group], gpu=gpu))]))
    assert "<script" not in text and "<img" not in text and "[a](b)" not in text
    assert "&lt;script&gt;" in text


# --- Verdicts -------------------------------------------------------------------------------------


def _nw(speedups):
    return synthetic.group("nw", {"n": 64}, 1.0, speedups={"baseline": (1, 1), **speedups})


@pytest.mark.parametrize(
    ("speedups", "text", "winners"),
    [
        (
            {"tma": (1.5, 1.4)},
            r"tma 1\.40× \[.*\] faster than the tuned baseline \(one run\)",
            ("tma",),
        ),
        (
            {"tma": (1.5, 1.4), "dsm": (1.5, 1.4)},
            r"(tma|dsm) 1\.40× .* ties with (tma|dsm) \(one run\)",
            ("tma", "dsm"),
        ),
        (
            {"tma": (0.7, 0.6)},
            "the tuned baseline wins: every other strategy is slower",
            ("baseline",),
        ),
        ({"tma": (1, 1)}, r"a tie: tma and the tuned baseline differ by at most [0-9.]+ %", ()),
        ({}, "not compared with baseline", ()),
    ],
)
def test_the_verdict_of_an_app(load_groups, speedups, text, winners):
    (verdict,) = verdicts.verdicts(load_groups(_nw(speedups)))
    assert re.fullmatch(f"nw: {text}", verdict.line), verdict.line
    assert sorted(verdict.winners) == sorted(winners)


def test_arithmetic_of_the_main_size_has_verdicts_of_its_own(load_groups):
    def gemm(n, mode):
        return synthetic.group("gemm", {"n": n, "mode": mode}, 1.0)

    results = load_groups(gemm(64, "fp32"), gemm(64, "bf16"), gemm(32, "tf32"))
    assert [v.label for v in verdicts.verdicts(results)] == ["gemm fp32", "gemm bf16"]


def test_the_sentence_of_a_gpu_counts_cases_and_names_the_winners(load_groups):
    hotspot = synthetic.group(
        "hotspot", {"n": 64}, 1.0, speedups={"baseline": (1, 1), "tma": (0.7, 0.6)}
    )
    results = load_groups(_nw({"tma": (1.5, 1.4)}), hotspot)
    assert verdicts.overall(results) == (
        "NVIDIA H200: a strategy beats the tuned baseline in 1 of 2 cases, by 1.40× (median). "
        "At the main size baseline wins hotspot; tma wins nw."
    )


def test_the_recorded_verdicts_are_short():
    results = whole_record()
    for gpu in results.gpus:
        of_gpu = results.where(gpu=gpu)
        for verdict in verdicts.verdicts(of_gpu):
            assert len(verdict.line.split()) <= 20, verdict.line
        for sentence in verdicts.overall(of_gpu).split(". "):
            assert len(sentence.split()) <= 40, sentence


# --- The page -------------------------------------------------------------------------------------


def test_the_record_makes_a_small_page():
    """A goal of the project, tested here because here the record is loaded."""
    if not (ROOT / "results" / "h200").is_dir():
        pytest.skip("nothing is recorded here")
    page = render(whole_record())
    assert len(page.encode()) < 1_500_000
    assert len(table_rows(page, "rows")) > 1000


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900


def _shown(text):
    """Each command of the console blocks, with the lines of its output that are shown."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield command, [line.removesuffix("…").strip() for line in lines]


def test_the_readmes_commands_print_what_it_shows(tmp_path):
    """As after ./run.sh, in a folder that has the names of the clone's."""
    if not (ROOT / ".venv" / "bin" / "python").exists():
        pytest.skip("./run.sh has not made .venv in this clone")
    shown = list(_shown((ROOT / "README.md").read_text(encoding="utf-8")))
    assert len(shown) == 3
    for name in ("plots.sh", "results"):
        (tmp_path / name).symlink_to(ROOT / name)

    def run(command):
        return subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    with ThreadPoolExecutor() as pool:
        done = list(pool.map(run, [command for command, _ in shown]))
    for (command, lines), result in zip(shown, done, strict=True):
        assert result.returncode == 0, (command, result.stderr)
        rest = iter(result.stdout.splitlines())
        for line in lines:  # in this order
            assert any(line in found for found in rest), f"{command}: {line}"


def test_the_page_of_choosing_cites_the_recorded_verdicts():
    page = (ROOT / "docs" / "choosing-a-strategy.md").read_text(encoding="utf-8")
    of_gpu = whole_record().where(gpu="NVIDIA H200")
    ratios = {v.label: v.advice.ratio for v in verdicts.verdicts(of_gpu)}
    for label in {"gemm bf16", "nw", "lud", "pathfinder"} & ratios.keys():
        assert f"{label} {ratios[label]:.2f}×" in page
