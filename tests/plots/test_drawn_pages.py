"""Pages: up to date, examples and commands that run, numbers that are cited."""

import csv
import importlib
import json
import pkgutil
import re
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import planted
import pytest

import plots.report
from plots.commands import docs
from plots.data.documents import read_document
from plots.data.load import load
from plots.data.schema import SCHEMA_PATH
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from plots.papers import reproduction
from plots.report import readme, verdicts
from plots.report.embedded import Column
from tests import process

# --- README ---------------------------------------------------------------------------------------

TEXT = f"# Title\n\nbefore\n\n{readme.BEGIN}\nold\n{readme.END}\n\nafter\n"


@pytest.mark.parametrize("text", ["", f"{readme.END}\n{readme.BEGIN}\n"])
def test_a_readme_without_the_markers_is_named(tmp_path, paper, text):
    path = tmp_path / "README.md"
    with pytest.raises(PlotsError, match="expected README's text"):
        readme.write(paper, path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PlotsError, match="expected one line <!-- generated:results"):
        readme.write(paper, path)


def test_only_what_is_between_the_markers_is_replaced(tmp_path, paper):
    file = tmp_path / "README.md"
    file.write_text(TEXT, encoding="utf-8")
    assert readme.write(paper, file) == [file, file.parent / readme.PICTURE]
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Title\n\nbefore\n") and text.endswith("\nafter\n")
    assert "\nold\n" not in text
    assert "![Speed-up of each strategy over baseline, NVIDIA H200, 2026-11-21; cold cache" in text
    # Written again it would be the same, whatever was changed since.
    file.write_text(text.replace("1.31×", "1.51×"), encoding="utf-8")
    assert readme.text_with(paper, file) == text
    picture = (file.parent / readme.PICTURE).read_bytes()
    assert readme.picture_mark(paper).encode() in picture
    assert readme.picture_mark(paper.where(app="hotspot")).encode() not in picture


def test_names_from_a_file_cannot_become_html_or_markdown(save):
    group = planted.group("nw", {"file": "<img src=x>`|"}, 1.0)
    gpu = planted.device("<script>alert(1)</script> [a](b)")
    text = readme.generated(load([save(planted.document([group], gpu=gpu))]))
    assert "<script" not in text and "<img" not in text and "[a](b)" not in text
    assert "&lt;script&gt;" in text


# --- Verdicts -------------------------------------------------------------------------------------


def group(app, speedups):
    return planted.group(app, {"n": 64}, 1.0, speedups={"baseline": (1, 1), **speedups})


GAIN, LOSS = {"tma": (1.5, 1.4)}, {"tma": (0.7, 0.6)}


@pytest.mark.parametrize(
    ("speedups", "text", "winners"),
    [
        (GAIN, r"tma 1\.40× \[.*\] faster than the tuned baseline \(one run\)", ["tma"]),
        (
            {**GAIN, "dsm": (1.5, 1.4)},
            r"(tma|dsm) 1\.40× .* ties with (tma|dsm) \(one run\)",
            ["dsm", "tma"],
        ),
        (LOSS, "the tuned baseline wins: every other strategy is slower", ["baseline"]),
        ({"tma": (1, 1)}, r"a tie: tma and the tuned baseline differ by at most [0-9.]+ %", []),
        ({}, "not compared with baseline", []),
    ],
)
def test_the_verdict_of_an_app(load_groups, speedups, text, winners):
    (verdict,) = verdicts.verdicts(load_groups(group("nw", speedups)))
    assert re.fullmatch(f"nw: {text}", verdict.line), verdict.line
    assert sorted(verdict.winners) == winners


def test_the_sentence_of_a_gpu_counts_cases_and_names_the_winners(load_groups):
    results = load_groups(group("nw", GAIN), group("hotspot", LOSS))
    assert verdicts.overall(results) == (
        "NVIDIA H200: a strategy beats the tuned baseline in 1 of 2 cases, by 1.40× (median). "
        "At the main size baseline wins hotspot; tma wins nw."
    )


# --- The page -------------------------------------------------------------------------------------


def _shown(text):
    """Each command of the console blocks, with the lines of its output that are shown."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield command, [line.removesuffix("…").strip() for line in lines]


@pytest.mark.parametrize(("page", "count"), [("README.md", 3), ("docs/papers.md", 2)])
def test_a_pages_commands_print_what_it_shows(page, count, tmp_path):
    """As after ./run.sh, in a folder that has the names of the clone's."""
    if not (ROOT / ".venv" / "bin" / "python").exists():
        pytest.skip("./run.sh has not made .venv in this clone")
    shown = list(_shown((ROOT / page).read_text(encoding="utf-8")))
    assert len(shown) == count
    for name in ("plots.sh", "results"):
        (tmp_path / name).symlink_to(ROOT / name)

    def run(command):
        return process.run("bash", "-c", command, cwd=tmp_path, status=0)

    with ThreadPoolExecutor() as pool:
        done = list(pool.map(run, [command for command, _ in shown]))
    for (command, lines), result in zip(shown, done, strict=True):
        rest = iter(result.stdout.splitlines())
        for line in lines:  # in this order
            assert any(line in found for found in rest), f"{command}: {line}"


def test_the_page_of_choosing_cites_the_recorded_verdicts(record):
    page = (ROOT / "docs" / "choosing-a-strategy.md").read_text(encoding="utf-8")
    ratios = {v.label: v.advice.ratio for v in verdicts.verdicts(record.where(gpu="NVIDIA H200"))}
    for label in {"gemm bf16", "nw", "lud", "pathfinder"} & ratios.keys():
        assert f"{label} {ratios[label]:.2f}×" in page


# --- docs/ ----------------------------------------------------------------------------------------


def test_what_the_repository_keeps_is_of_the_recorded_results(record):
    """Else it is stale: python -m plots docs results."""
    page = ROOT / "README.md"
    assert readme.text_with(record, page) == page.read_text(encoding="utf-8")
    assert readme.picture_mark(record).encode() in (ROOT / readme.PICTURE).read_bytes()
    kept = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert reproduction.render(record, ROOT / "docs") == kept


def test_the_command_writes_all_that_is_kept(tmp_path, monkeypatch, paper_file, ran):
    """Into a clone that keeps nothing yet."""
    (tmp_path / "README.md").write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    kept = [tmp_path / name for name in ("README.md", readme.PICTURE, "docs/reproduction.md")]
    assert ran(0, "docs", paper_file).err == "".join(f"wrote {path}\n" for path in kept)
    assert kept[2].read_text(encoding="utf-8").startswith("# What of the source documents")


# --- docs/results.md ------------------------------------------------------------------------------

RESULTS_PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def test_the_examples_run(paper_file, matched_file, cross_file, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "results"
    folder.mkdir()
    for file in (paper_file, matched_file, cross_file):
        (folder / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"```python\n(from plots.*?)```", RESULTS_PAGE, re.DOTALL)
    names: dict = {}
    exec(compile(first, "docs/results.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "hotspot/tma" in printed and "floor_fraction" in printed and "not resolved" in printed
    names["cold"] = names["results"]  # of hotspot no gain was divided
    exec(compile(second, "docs/results.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "schedule ×" in printed and "wide" in printed and "baseline" in printed


def test_every_member_of_a_row_is_explained():
    row = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))["$defs"]["row"]["properties"]
    table = RESULTS_PAGE.split("## A row")[1].split("## A comparison")[0]
    first = " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))
    assert set(re.findall(r"`(\w+)`", first)) == set(row)


# --- docs/glossary.md -----------------------------------------------------------------------------


def test_every_column_of_the_report_is_in_the_glossary():
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    section = page.split("## A column of the report")[1]
    first = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = [name for cell in first for name in re.findall("`([^`]+)`", cell)]
    assert len(named) == len(set(named)), "a column stands there twice"
    there: set[str] = set()
    for module in pkgutil.walk_packages(plots.report.__path__, "plots.report."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, tuple):
                there |= {item.name for item in value if isinstance(item, Column)}
    assert len(there) > 40
    assert there - set(named) == set(), "columns that the glossary does not explain"
    assert set(named) - there == set(), "columns that the report does not have"


# --- Numbers that are cited -----------------------------------------------------------------------

_RECORD = ROOT / "results" / "h200"
_BOX = {"operation": "load", "way": "flat", "level": "memory"}
_FULL = {"how": "seen", "shared": "all of a block"}

# Of each page: the microbenchmark, coordinates of the point, how the value is printed.
_CITED = {
    "dependent-launch": [
        ("launch/launches", {"launch": launch, "way": way, **grid}, "{:.2f} µs")
        for launch in ("stream", "graph")
        for way in ("plain", "programmatic")
        for grid in ({"grid": "one block"}, {"grid": "device"})
    ],
    "choosing-a-strategy": [
        ("tma/latency", {**_BOX, "box": "1024"}, "to {:.0f} cycles"),
        ("dsm/handover", {"way": "st_async", "cluster": "8"}, "{:.0f} cycles"),
        ("dsm/handover", {"way": "cluster_barrier", "cluster": "8"}, "{:.0f}"),
        ("dsm/handover", {"way": "shared_flag", "cluster": "4"}, "{:.0f}"),
        ("dsm/active_clusters", {**_FULL, "cluster": "2"}, "{:.0f} blocks"),
        ("dsm/active_clusters", {**_FULL, "cluster": "8"}, "{:.0f} in clusters"),
        ("dsm/active_clusters", {**_FULL, "cluster": "16"}, "{:.0f} in cluster"),
        ("dsm/latency", {"pairs": "all", "statistic": "least"}, "{:.0f} to"),
        ("dsm/latency", {"statistic": "greatest"}, "{:.0f} cycles"),
        ("tma/issue", {"loader": "registers", "what": "registers_held"}, "{:,.0f}"),
        ("tma/issue", {"loader": "bulk", "what": "registers_held"}, "{:.0f} reg"),
    ],
}


@pytest.fixture(scope="module")
def points():
    if not _RECORD.is_dir():
        pytest.skip("nothing is recorded here")
    found = load([_RECORD / f"{name}.json.gz" for name in ("launch", "tma", "dsm")]).points
    return found[found["status"] == "ok"]


# Rows of the page on CUDA 12, and what they say, as rounded there.
_CUDA12 = {
    "histogram `cub_block`": ("histogram/cub_block", "1.50"),
    "nw tma `bands-128x32`": ("nw/tma bands-128x32", "1.38"),
    "nw `iso`, all but drop_off": (r"nw/(?!drop_off)\w+ iso$", "1.12 to 1.19"),
}


def test_what_cuda_12_costs_is_as_measured():
    known = {}
    for path in sorted((ROOT / "results" / "h200").glob("quick-*.json.gz")):
        for group in read_document(path).groups:
            size = ",".join(f"{k}={v}" for k, v in group.key.size.items() if v != "")
            for row in (r for r in group.rows if r.time_ms is not None and not r.repeat):
                at = row.variant, row.role, row.config, size, group.key.launch
                known.setdefault(at, []).append(row.time_ms.median)
    with (ROOT / "results" / "cuda12.csv").open(encoding="utf-8") as file:
        ratios = {
            at: float(row["median_ms"]) / median(known[at])
            for row in csv.DictReader(file)
            if (at := tuple(row[n] for n in ("variant", "role", "config", "size", "launch")))
        }
    off = sorted(max(r, 1 / r) - 1 for r in ratios.values())
    tall = [
        r for at, r in ratios.items() if re.match("pathfinder/(tma|dsm) tall", f"{at[0]} {at[2]}")
    ]
    thrust = [r for at, r in ratios.items() if at[0] == "histogram/thrust"]
    assert len(tall) == 4 and [min(tall), max(tall)] == pytest.approx([1.0, 1.03], abs=0.005)
    assert thrust == [pytest.approx(1.07, abs=0.005)]
    assert len(off) == 535 and off[267] < 0.01 and off[481] < 0.06
    page = (ROOT / "docs" / "add-your-gpu.md").read_text(encoding="utf-8")
    assert "A second run measured 1.00 to 1.03, and 1.07." in page
    for name, (pattern, said) in _CUDA12.items():
        of_it = [r for at, r in ratios.items() if re.match(pattern, f"{at[0]} {at[2]}") and r > 1.1]
        ends = list(dict.fromkeys(said.split(" to ")))
        assert f"| {name} | {said} |" in page
        assert min(of_it) == pytest.approx(float(ends[0]), abs=0.06), name
        assert max(of_it) == pytest.approx(float(ends[-1]), abs=0.06), name


@pytest.mark.parametrize(
    ("page", "microbenchmark", "at", "form"),
    [(page, *point) for page, of in _CITED.items() for point in of],
)
def test_a_cited_number_is_that_of_the_record(points, page, microbenchmark, at, form):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    of_it = points[points["microbenchmark"] == microbenchmark]
    values = of_it[[at.items() <= of.items() for of in of_it["at"]]]["median"]
    assert len(values), "the record has no such point"
    # Of several distances one is cited.
    printed = {form.format(value) for value in values}
    assert any(number in text for number in printed), printed
