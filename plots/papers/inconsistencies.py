"""Where the source documents contradict themselves or each other: every figure is taken from the
published tables and texts (inputs/published/*.csv), and nothing is said that does not follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from plots.papers import specifications
from plots.papers.published import FOLDER, inventory, published_row, read_csv

_CHECKS: list[tuple[str, Callable[[], Iterator[str]]]] = []


@dataclass(frozen=True)
class Inconsistency:
    """What a document says against itself or another, under the id of the inventory it is about."""

    id: str
    source: str
    text: str


def _check(name: str) -> Callable[[Callable[[], Iterator[str]]], Callable[[], Iterator[str]]]:
    def add(function: Callable[[], Iterator[str]]) -> Callable[[], Iterator[str]]:
        _CHECKS.append((name, function))
        return function

    return add


def _cells(file: str, column: str, **conditions: str) -> list[float]:
    rows = read_csv(FOLDER / f"{file}.csv")
    return [float(r[column]) for r in rows if all(r[k] == v for k, v in conditions.items())]


def _cell(file: str, column: str, **conditions: str) -> float:
    where = ";".join(f"{k}={v}" for k, v in conditions.items())
    return float(published_row(file, where, file)[column])


def quoted(name: str) -> float:
    """A number of quoted.csv."""
    return _cell("quoted", "value", id=name)


def _text(name: str) -> float:
    return _cell("s000_dsm_text", "value", id=name)


def _svedin(name: str, column: str = "value_low") -> float:
    return _cell("s003_text_speedups", column, id=name)


def _mma(mode: str, column: str = "throughput_TFLOPS_or_TOPS") -> list[float]:
    return _cells("s000_table7_mma", column, gpu="H800", mode=mode)


@_check("000-19")
def _mma_share() -> Iterator[str]:
    shares = np.divide(_mma("dense"), _mma("dense", "peak_dense_TFLOPS_or_TOPS"))
    said, mean, larger = _text("mma_frac_H800"), 100 * np.mean(shares), 100 * np.mean(shares[1::2])
    if abs(said - mean) > 0.1:
        yield (
            f"The text gives mma {said:g} % of the peak on average; the table's "
            f"{len(shares)} dense "
            f"cells are {mean:.1f} %, the larger shape of each type {larger:.1f} %."
        )


@_check("000-20")
def _sparse_gain() -> Iterator[str]:
    said, mean = _text("sparse_gain_H800"), np.mean(np.divide(_mma("sparse"), _mma("dense")))
    if abs(said - mean) > 0.005:
        yield f"The text gives sparse over dense mma as {said:g}; the table's mean is {mean:.2f}."


@_check("000-09")
def _vectors_are_not_always_best() -> Iterator[str]:
    for level in ("L1 cache", "L2 cache"):
        for gpu in ("RTX4090", "A100", "H800"):
            of = {
                a: _cell("s000_table5_memory_throughput", gpu, level=level, access=a)
                for a in ("FP32", "FP64", "FP32.v4")
            }
            best = max(of, key=lambda a: of[a])
            if of["FP32.v4"] < quoted("l1_vector_best") * of[best]:
                yield (
                    f"The text says that vectorized access (FP32.v4) is always better; in Table V "
                    f"it is {of['FP32.v4']:g} and {best} {of[best]:g} (byte/clk) in the {level} of "
                    f"the {gpu}."
                )


def _gains(file: str, block: str) -> tuple[float, float]:
    fast, slow = (
        _cells(file, f"{k}_GFLOP_s", block_size=block) for k in ("AsyncPipe", "SyncShare")
    )
    said = _cells(file, "published_mean_gain_percent", block_size=block)[0]
    return said, 100 * (float(np.mean(np.divide(fast, slow))) - 1)


def _tiled_gemm(file: str, gpu: str) -> Iterator[str]:
    for block in ("8x8", "16x16", "32x32"):
        said, mean = _gains(file, block)
        if abs(said - mean) > 0.15:
            yield (
                f"The table prints a mean gain of {said:g} % for {block} on the {gpu}; its cells "
                f"give {mean:.1f} %."
            )
    for row in read_csv(FOLDER / f"{file}.csv"):
        fast, slow = float(row["AsyncPipe_GFLOP_s"]), float(row["SyncShare_GFLOP_s"])
        place = f"{row['block_size']} at {row['blocks_per_SM']} per SM"
        if fast == slow:
            yield f"The table prints {fast:g} GFLOP/s for both variants of {place} on the {gpu}."
        elif fast < 0.9 * slow:
            yield (
                f"The table has AsyncPipe {100 * (1 - fast / slow):.1f} % slower than "
                "SyncShare for "
                f"{place} on the {gpu}."
            )


@_check("000-38")
def _tiled_gemm_h800() -> Iterator[str]:
    yield from _tiled_gemm("s000_table13_async_H800", "H800")


@_check("000-39")
def _tiled_gemm_a100() -> Iterator[str]:
    yield from _tiled_gemm("s000_table14_async_A100", "A100")


@_check("000-22")
def _two_peaks() -> Iterator[str]:
    one = _cell(
        "s000_table7_mma", "peak_dense_TFLOPS_or_TOPS",
        gpu="H800", ab_type="TF32", shape="m16n8k8", mode="dense",
    )  # fmt: skip
    if one != quoted("tf32_peak"):
        yield (
            f"The TF32 peak of the H800 is {one:g} TFLOP/s in the caption of Table VII and "
            f"{quoted('tf32_peak'):g} in that of Table VIII."
        )


@_check("000-21")
def _latency_at_n() -> Iterator[str]:
    n = quoted("wgmma_stated_n")
    table = _cell("s000_table10_wgmma_n_sweep", "SS_latency_cycles", N=f"{n:g}", mode="dense")
    if table != quoted("wgmma_stated_latency"):
        yield (
            f"The text gives dense wgmma {quoted('wgmma_stated_latency'):g} cycles with N set to "
            f"{n:g}; Table X has {table:g} there, and {quoted('wgmma_stated_latency'):g} at "
            "N = 256."
        )
    sms, clock = (_cell("theory", "value", gpu="H800", quantity=q) for q in ("sms", "clock"))
    row = {"ab_type": "FP16", "cd_type": "FP32"}
    latency = _cell("s000_table8_wgmma_dense", "SS_latency_cycles", **row)
    rate = _cell("s000_table8_wgmma_dense", "SS_zero_TFLOPS_or_TOPS", **row)
    per_clock = 2 * 64 * 256 * 16 / latency
    implied = rate * 1e3 / (per_clock * sms)
    if implied < clock:
        yield (
            f"What is called latency is the time between two issues, not from issue to a readable "
            f"sum: one m64n256k16 in {latency:g} cycles is {per_clock:,.0f} operations per clock, "
            f"which on {sms:g} SMs is the table's {rate:g} TFLOP/s at {implied:.2f} GHz."
        )


@_check("000-25")
def _not_all_near_the_peak() -> Iterator[str]:
    first = quoted("wgmma_n_full")
    peak = 2 * _cell("theory", "value", gpu="H800", quantity="f16")
    column = "SS_zero_TFLOPS"
    rows = read_csv(FOLDER / "s000_table10_wgmma_n_sweep.csv")
    low = [r for r in rows if r["mode"] == "sparse" and float(r["N"]) >= first]
    slow = [(r["N"], float(r[column]) / peak) for r in low if float(r[column]) < 0.8 * peak]
    for n, share in slow:
        yield (
            f"The text says that from N = {first:g} on all wgmma come close to the peak; sparse SS "
            f"at N = {n} has {100 * share:.0f} % of it in Table X."
        )


@_check("000-44")
def _sparse_below_the_share() -> Iterator[str]:
    peak = {"FP16": "f16", "TF32": "tf32", "FP8": "fp8", "INT8": "s8"}
    shares = [
        float(r["SS_zero_TFLOPS_or_TOPS"])
        / (2 * _cell("theory", "value", gpu="H800", quantity=peak[r["ab_type"]]))
        for r in read_csv(FOLDER / "s000_table9_wgmma_sparse.csv")
    ]
    if min(shares) < quoted("wgmma_share"):
        yield (
            f"The text says of Tables VIII and IX together that zeros exceed "
            f"{100 * quoted('wgmma_share'):g} % of the peak; sparse SS has "
            f"{100 * min(shares):.0f} to "
            f"{100 * max(shares):.0f} % in Table IX."
        )


@_check("000-28")
def _ratios_of_means() -> Iterator[str]:
    column = "efficiency_TFLOPS_per_W"
    for mode in ("dense", "sparse"):
        ours = _cells("s000_table11_mma_energy", column, gpu="H800", mode=mode)
        for gpu, name in (("A100", "A100"), ("RTX4090", "4090")):
            theirs = _cells("s000_table11_mma_energy", column, gpu=gpu, mode=mode)
            said, mean = _text(f"energy_{mode}_{name}"), np.mean(np.divide(ours, theirs))
            if abs(said - mean) > 0.01:
                yield (
                    f"The average gain in efficiency over the {gpu}, {mode}, is printed as "
                    f"{said:g}: "
                    f"the ratio of the means ({np.mean(ours) / np.mean(theirs):.2f}); the mean of "
                    f"the ratios is {mean:.2f}."
                )


@_check("001-17")
def _two_documents_on_one_gpu() -> Iterator[str]:
    for here, there in (
        ("global (ld.cv, no caching)", "Global"),
        ("L2 cache (ld.cg)", "L2 cache"),
        ("L1 cache (ld.ca)", "L1 cache"),
        ("shared load", "Shared"),
    ):
        one = _cell("s001_table4_memory_latency", "A100_cycles", memory=here)
        other = _cell("s000_table4_memory_latency", "A100_cycles", scope=there)
        if abs(one - other) > 0.05 * other:
            yield (
                f"An A100's latency of {there.replace(' cache', '')} is {one:g} cycles here and "
                f"{other:g} in Luo et al. (000-04 to 000-07): the method decides."
            )
    total, walked = (_cell("s001_text", "value", id=f"ptr_chase_{k}") for k in ("total", "read"))
    step, sector = 8, 32  # bytes: of the listing, and of the L2
    yield (
        f"Fig 2 links {total:,.0f} bytes and walks {walked:,.0f} of them in steps of "
        f"{step}: all but "
        f"one of the {sector // step} loads of a sector find it in the L2, so that the figure is a "
        "mean over hits and misses."
    )


@_check("001-05")
def _narrow_division() -> Iterator[str]:
    narrow, wide = (
        _cell("s001_table5_instructions", "cycles_low", section="Div/Rem", ptx=p)
        for p in _division_rows()
    )
    if narrow > wide:
        yield (
            f"Division and remainder take {narrow:g} cycles for 16 bits and {wide:g} for 32 in "
            "Table V, though the former can be done by the latter."
        )


def _division_rows() -> tuple[str, str]:
    names = [r["ptx"] for r in read_csv(FOLDER / "s001_table5_instructions.csv")]
    narrow = next(n for n in names if n.startswith("rem/div.u16"))
    wide = next(n for n in names if n.startswith("rem/div") and "32" in n)
    return narrow, wide


@_check("001-12")
def _units() -> Iterator[str]:
    rows = read_csv(FOLDER / "s001_table3_wmma.csv")
    if all(r["unit_as_printed"] == "GB/s" for r in rows):
        first = rows[0]
        yield (
            f"Table III prints throughputs in GB/s ({first['measured']} of "
            f"{first['theoretical']}); "
            "they are TFLOP/s and TOP/s of the white paper."
        )


@_check("001-22")
def _sms_of_ampere() -> Iterator[str]:
    sms = _cell("s000_table3_devices", "A100_PCIe", property="SMs")
    if sms != quoted("sms_ampere"):
        yield f"The text gives Ampere {quoted('sms_ampere'):g} SMs; the A100 measured has {sms:g}."


def _spec(name: str) -> specifications.Spec:
    return next(s for s in specifications.paper_specs() if s.name == name)


@_check("003-03")
def _balance() -> Iterator[str]:
    for precision, key, said in (("fp32", "bf_fp32", "GPUs"), ("fp64", "bf_fp64", "Tesla GPUs")):
        low, high = _svedin(key), _svedin(key, "value_high")
        specs = (
            specifications.paper_specs()
            if precision == "fp32"
            else specifications.paper_specs()[:4]
        )
        for s in specs:
            if not low <= round(s.balance(precision), 2) <= high:
                yield (
                    f"The text puts {said} between {low:g} and {high:g} byte/flop in "
                    f"{precision}; by "
                    f"its Table 1 the {s.name} has {s.balance(precision):.4f}."
                )


@_check("003-04")
def _precisions_per_area() -> Iterator[str]:
    ratios = {s.name: s.fp32_tflops / s.fp64_tflops for s in specifications.paper_specs()}
    off = {n: r for n, r in ratios.items() if r > 1.2 * quoted("fp32_over_fp64")}
    if off:
        yield (
            f"The text says that fp32 is roughly {quoted('fp32_over_fp64'):g} times fp64 "
            "per area on "
            "consumer and Tesla GPUs; by Table 1 it is "
            + ", ".join(f"{r:.0f} on the {n}" for n, r in off.items())
            + "."
        )


@_check("003-07")
def _die() -> Iterator[str]:
    new, old = _spec("RTX 2060 SUPER"), _spec("GTX 1050 Ti")
    said, ratio = _svedin("rod_die_2060_1050"), new.die_mm2 / old.die_mm2
    if abs(said - ratio) > 0.25:
        yield (
            f"A die about {said:g} times as large is given as the reason for the RTX 2060's gain; "
            f"Table 1 has {new.die_mm2:g} and {old.die_mm2:g} mm2, {ratio:.2f} times."
        )


@_check("003-01")
def _sms_and_cores() -> Iterator[str]:
    new, old = _spec("A100"), _spec("V100")
    if new.sms - old.sms != quoted("a100_more_sms"):
        yield (
            f"The text gives the A100 {quoted('a100_more_sms'):g} SMs more than the V100; "
            "Table 1 has "
            f"{new.sms} and {old.sms}, {new.sms - old.sms} more."
        )
    per_sm = quoted("a100_cores") / new.sms
    ratio = quoted("a100_cores") / (per_sm * old.sms)
    if ratio < 0.9 * quoted("a100_more_cores"):
        yield (
            f"The A100's {quoted('a100_cores'):,.0f} CUDA cores are called nearly double "
            "the V100's; "
            f"with the same {per_sm:.0f} per SM the V100 has {per_sm * old.sms:,.0f}: {ratio:.2f} "
            "times."
        )


@_check("003-06")
def _gpus_of_the_figure() -> Iterator[str]:
    said, text = quoted("gpus_fig2"), 2 * quoted("gpus_text")
    if said != text:
        yield (
            f"The caption of Fig 2 names {said:g} GPUs, the text {quoted('gpus_text'):g} of "
            "each of "
            f"two categories; Table 1 has {len(specifications.paper_specs())}."
        )


@_check("003-18")
def _conclusion() -> Iterator[str]:
    said, most = _svedin("conclusion_max"), _svedin("app_lud_bypass_8192", "value_high")
    pipeline = _svedin("ub_pipeline_lowAI", "value_high")
    if said < max(most, pipeline):
        yield (
            f"The conclusion says that gains up to {said:g} were observed; section 6 has {most:g} "
            f"(LUD) and {pipeline:g} (microbenchmark, pipeline)."
        )
    yield "The caption of Fig 3, whose panels are of the microbenchmark, is that of Fig 4."


@cache
def inconsistencies() -> tuple[Inconsistency, ...]:
    """All that hold, in the order of the inventory."""
    sources = {item.id: item.source for item in inventory()}
    found = [Inconsistency(name, sources[name], text) for name, f in _CHECKS for text in f()]
    return tuple(sorted(found, key=lambda i: i.id))
