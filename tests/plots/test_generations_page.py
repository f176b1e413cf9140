"""One GPU after another: hardware gain apart from software gain, causes, and the page."""

from __future__ import annotations

import pytest
import synthetic

from plots.cli import main
from plots.data.load import load
from plots.papers import expect
from plots.papers.generations import by_microbenchmark, point_ratios, steps
from plots.report import generations_page
from plots.statistics.intervals import geometric_mean

SIZE = {"n": 512}
OLDER = synthetic.device("Tesla V100-SXM2-16GB", 70)


@pytest.fixture
def file(save):
    """A result file of one GPU: (name, gpu, factor on the times, options of the group)."""

    def make(name, gpu=None, factor=1.0, ceiling_scale=1.0, sizes=(512,), **options):
        groups = [
            synthetic.group("nw", {"n": n}, factor, seed=i + 1, **options)
            for i, n in enumerate(sizes)
        ]
        return save(synthetic.document(groups, gpu=gpu, ceiling_scale=ceiling_scale), name)

    return make


@pytest.fixture
def step(file):
    def make(factor=2.0, ceiling_scale=0.4, **old_options):
        new = load([file("new.json")])
        old = load([file("old.json", synthetic.A100, factor, ceiling_scale, **old_options)])
        return steps([(new, old)])[0]

    return make


def test_best_on_best_is_hardware_times_software(step):
    fewer = {k: v for k, v in synthetic.TYPICAL.items() if k not in ("tma", "dsm")}
    (b,) = step(2.0, speedups=fewer).best.itertuples()
    assert (b.new_strategy, b.old_strategy) == ("tma", "overlap")
    assert b.hardware == pytest.approx(2.0, rel=0.005)
    assert b.new_software == pytest.approx(1.31, rel=0.005)
    assert b.old_software == pytest.approx(1.22, rel=0.005)
    assert b.ratio == pytest.approx(b.hardware * b.new_software / b.old_software)
    assert b.low < b.ratio < b.high and b.resolved


def test_the_sentences_hold_the_figures(step):
    found = step(2.0)
    text = " ".join(found.sentences())
    b = found.best
    assert f"{geometric_mean(b['ratio']):.2f} best on best" in text
    assert f"{geometric_mean(b['hardware']):.2f} by hardware" in text
    promised = 4800 / 1555
    assert f"delivers {2.0 / promised:.2f} of the {promised:.2f} that the data sheets" in text
    assert "0.80 of the 2.50 that the measured ceilings" in text
    assert "own floor it is 0.80" in text and "12 of 12 matching rows are told apart" in text
    assert "fall short of the data sheets: 1 partly" in text


@pytest.mark.parametrize(
    ("factor", "ceiling_scale", "outcome", "said"),
    [
        (2.5, 0.4, "explained", "its floor grew by 2.50 only"),
        (1.5, 0.4, "partly", "its floor grew by 2.50 only"),
        (1.5, 0.25, "not by its floor", "its floor allows 4.00"),
        (3.5, 0.4, None, ""),
    ],
)
def test_a_shortfall_is_held_against_the_floor_of_its_row(
    step, factor, ceiling_scale, outcome, said
):
    short = step(factor, ceiling_scale).short
    assert [s.outcome for s in short] == ([outcome] if outcome else [])
    for s in short:
        assert s.variant == "nw/baseline" and s.text.startswith(said)
        # nw is bound by a chain here, or by bytes: its ceilings are named with their ratios.
        assert f"{1 / ceiling_scale:.2f}" in s.text
        assert "dependent_op_ns" in s.text or "copy_bandwidth" in s.text


def with_points(save, name, scale, gpu=None):
    group = synthetic.group("nw", SIZE, 1.0 if gpu is None else 2.0)
    document = synthetic.document([group], gpu=gpu, ceiling_scale=1.0 if gpu is None else 0.3)
    rows = [
        synthetic.micro_row({"level": "L2"}, 200.0 * (scale if gpu else 1), "latency", "cycles"),
        synthetic.micro_row({"level": "L1"}, 30.0, "latency", "cycles"),
        synthetic.micro_row({"level": "L1"}, 192.0, "capacity", "KiB"),
    ]
    if gpu is None:
        rows.append(synthetic.micro_row({"level": "DSM"}, 180.0, "latency", "cycles"))
    rates = [synthetic.micro_row({"of": "x"}, 900.0 / (scale if gpu else 1), "bandwidth", "GB/s")]
    document["microbenchmarks"] = [
        synthetic.microbenchmark("memory/latency", rows, []),
        synthetic.microbenchmark("memory/bandwidth", rates, []),
    ]
    return save(document, name)


def test_microbenchmarks_are_compared_by_which_is_better(save):
    new = load([with_points(save, "new.json", 4.0)])
    old = load([with_points(save, "old.json", 4.0, synthetic.A100)])
    table = by_microbenchmark(point_ratios(new, old)).set_index("microbenchmark")
    assert set(table.index) == {"memory/latency", "memory/bandwidth"}
    latency = table.loc["memory/latency"]
    assert (latency["n"], latency["least"], latency["most"]) == (2, 1.0, 4.0)
    assert latency["ratio"] == pytest.approx(2.0)
    assert table.loc["memory/bandwidth", "ratio"] == pytest.approx(4.0)
    back = by_microbenchmark(point_ratios(old, new)).set_index("microbenchmark")
    assert back.loc["memory/latency", "ratio"] == pytest.approx(0.5)


def test_rows_of_all_pairs_are_corrected_together(file):
    """Alone, a pair of rows all of which differ is told apart with seven rounds; beside pairs that
    do not differ each needs more."""
    base = {"speedups": {"baseline": (1.0, 1.0)}, "rounds": 7, "control": False}
    new = load([file("new.json", **base)])
    old = load([file("old.json", synthetic.A100, 2.0, **base)])
    same = load([file("same.json", OLDER, 1.0, sizes=(512,), **base)])
    assert expect.compare(new, old).rows["resolved"].all()
    together = expect.compare_all([(new, old), *[(new, same)] * 5])
    assert not together[0].rows["resolved"].any()
    assert together[0].rows["too_few_rounds"].all()


def run(capsys, *arguments):
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_each_gpu_over_the_one_before_it(file):
    a = file("r/a.json", OLDER, 4.0, 0.2)
    b = file("r/b.json", synthetic.A100, 2.0, 0.4)
    c = file("r/c.json")
    page = generations_page.render(load([a, b, c]))
    names = "Tesla V100-SXM2-16GB", "NVIDIA A100-SXM4-40GB", "NVIDIA H200"
    places = [page.index(f"### {names[n]} over {names[o]}") for n, o in ((1, 0), (2, 1))]
    assert min(places) > 0 and "2.00 best on best" in page


def test_the_same_gpu_twice_is_a_repetition(capsys, file):
    (found,) = steps([(load([file("a.json")]), load([file("b.json")]))])
    text = " ".join(found.sentences())
    assert "this is a repetition, not a generation, and 1.00 is expected" in text
    assert "fall short" not in text and "of the 1.00 that" not in text
    status, _, err = run(capsys, "expect", "A100", "A100")
    assert status == 0 and "A100 on both sides" in err


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["T4", "A100"], "no source states the fp64 rate of T4, so no FLOP ratio is known"),
        (["T4", "A40"], "no source states the fp64 rate of T4 and A40, so no FLOP"),
        ([], "--precision is of GPUs by name"),
    ],
)
def test_a_precision_that_says_nothing_is_refused(capsys, names, why):
    status, out, err = run(capsys, "expect", *names, "--precision", "fp64")
    assert status == 2 and out == "" and why in err
    assert run(capsys, "expect", "V100", "A100", "--precision", "fp64")[0] == 0


@pytest.fixture
def without_common_rows(save):
    """Files of three GPUs, oldest first, of which the first has another app than the others."""

    def make(name, app, gpu=None, base_ms=1.0):
        group = synthetic.group(app, {"n": 512}, base_ms)
        return save(synthetic.document([group], gpu=gpu), f"apart/{name}.json")

    return (
        make("a", "lud", OLDER), make("b", "nw", synthetic.A100, 2.0), make("c", "nw"),
    )  # fmt: skip


def test_a_gpu_with_nothing_in_common_does_not_stop_the_others(without_common_rows):
    page = generations_page.render(load(without_common_rows))
    apart = page.split("### NVIDIA A100-SXM4-40GB over Tesla V100-SXM2-16GB\n")[1].split("###")[0]
    apart = " ".join(apart.split())
    assert "Not compared: no row of one matches" in apart and "has lud (cold stream)" in apart
    assert "2.00 best on best" in page.split("### NVIDIA H200 over NVIDIA A100-SXM4-40GB\n")[1]


def test_the_v100_of_the_paper_decides_its_verdict():
    module, printed, other = expect.which_v100()
    assert "14.13 TFLOP/s, near the 14 of the V100 PCIe" in module and "300 W" in module
    assert "expects 1.38 = " in printed and "1.34 is 0.97 of it, less than expected" in printed
    assert "expects 1.24 = min(FLOP 1.24" in other and "1.08 of it, as much as expected" in other


def test_the_paper_in_one_command(capsys, tmp_path):
    status, out, _ = run(capsys, "expect", "--out", tmp_path / "paper.svg")
    assert status == 0
    assert (tmp_path / "paper.svg").is_file() and (tmp_path / "paper-balance.svg").is_file()
    quoted = ("2.76", "1.89", "mean 4.28 ± 1.83", "0.7 to 17.19, mean 6.85", "A64FX", "BFS")
    contradictions = ("A100 has 0.0798", "K80 has 0.1755", "3.37 times", "28 more", "up to 1.25")
    for told in (*quoted, *contradictions):
        assert told in out, told
    assert "62.9" not in out  # another document's


def test_the_page_says_what_the_files_hold(file):
    new, old = file("r/new.json"), file("r/old.json", synthetic.A100, 2.0, 0.4)
    alone = generations_page.render(load([new]))
    assert "A step needs two" in alone and "`tma` 1.31×" in alone
    assert "| read_bandwidth | 4,690 GB/s | 4,800 GB/s | 98 % |" in alone
    both = generations_page.render(load([new, old]))
    assert "### NVIDIA H200 over NVIDIA A100-SXM4-40GB" in both and "A step needs two" not in both
    assert all(line.count("|") >= 4 for line in both.splitlines() if line.startswith("|"))
    assert "Nothing is recorded" not in both


def test_tensor_cores_are_no_movement(save):
    size = {"m": 512, "n": 512, "k": 512, "mode": "bf16"}
    group = synthetic.group("gemm", size, 1.0)
    group["work"]["kind"] = "bf16"
    document = synthetic.document([group, synthetic.group("nw", SIZE, 1.0)])
    for row in document["groups"][0]["rows"]:
        wgmma = row["variant"] in ("gemm/tma", "gemm/dsm")
        for kernel in row["evidence"]:
            kernel["instructions"]["HGMMA" if wgmma else "HMMA"] = 8
    document["ceilings"].append({**document["ceilings"][3], "name": "bf16_rate"})
    text = " ".join(generations_page.render(load([save(document)])).split())
    assert "gemm on tensor cores" in text and "tensor cores left out" in text
    assert "`tma`, `dsm` multiply with `wgmma`" in text
    assert "geometric means over 1 apps" in text


def test_names_from_a_file_stay_text(save):
    gpu = synthetic.device("NVIDIA <b>|H200")
    page = generations_page.render(
        load([save(synthetic.document([synthetic.group("nw", SIZE, 1.0)], gpu=gpu))])
    )
    assert "<b>" not in page and "### NVIDIA &lt;b&gt;\\|H200" in page


def test_what_is_resolved_is_not_called_too_few():
    """By the end that is known, where the other tells nothing."""
    assert generations_page._ratio(1.4, 1.1, 9.0, True) == "1.40×, at least 1.10"
    assert generations_page._ratio(0.7, 0.1, 0.9, True) == "0.70×, at most 0.90"
    assert generations_page._ratio(1.4, 0.5, 9.0, False) == "1.40×, too few rounds or GPUs to tell"
    assert generations_page._ratio(1.4, 1.3, 1.5, True) == "1.40× [1.30, 1.50]"
