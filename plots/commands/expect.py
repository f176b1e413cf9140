"""``python -m plots expect``: expected and measured speed-up between two GPUs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

from plots import expect
from plots.commands.options import print_table, write_figure
from plots.commands.registry import Command, register
from plots.errors import PlotsError
from plots.figures.common import origin
from plots.figures.expectation import SOURCE, expectation
from plots.figures.generations import generations
from plots.inconsistencies import inconsistencies
from plots.load import Results
from plots.selection import among, load_aloud
from plots.units import times


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", nargs="?", help="a GPU's name, a result file or a folder of them")
    parser.add_argument("new", nargs="?", help="the same, of the GPU that is compared with it")
    parser.add_argument(
        "--precision", choices=["fp32", "fp64"], default="fp32", help="of the FLOP ratio"
    )
    parser.add_argument("--old-gpu", help="which GPU of OLD, when it holds several")
    parser.add_argument("--new-gpu", help="which GPU of NEW, when it holds several")
    parser.add_argument("--out", "-o", type=Path, help="a figure, .svg, .png or .pdf")


def _is_path(name: str) -> bool:
    return name.endswith(".json") or Path(name).exists()


def _one_gpu(name: str, gpu: str | None, side: str) -> Results:
    results = load_aloud([name])
    among(gpu, results.gpus, "GPU")
    results = results.where(gpu=gpu)
    if len(results.gpus) > 1:
        raise PlotsError(
            f"{name} holds several GPUs ({', '.join(results.gpus)}); choose with --{side}-gpu"
        )
    return results


def _expect_files(options: argparse.Namespace) -> None:
    new = _one_gpu(options.new, options.new_gpu, "new")
    old = _one_gpu(options.old, options.old_gpu, "old")
    measured = expect.compare(new, old)
    print(f"{measured.new_gpu} over {measured.old_gpu}")
    for expected, text in (
        (measured.datasheet, "expected from datasheets"),
        (measured.measured_ceilings, "expected from the measured ceilings"),
    ):
        print(f"  {text}: " + (f"{expected}" if expected else "not known"))
    print(
        f"  {len(measured.rows)} rows match; {measured.only_new} only in {options.new}, "
        f"{measured.only_old} only in {options.old}"
    )
    print(f"  {expect.verdict(measured)}")
    print("\nGeometric mean of the measured speed-ups")
    for record in expect.mean_table(measured):
        print(
            f"  {record['role']:<10} {record['strategy']:<16} {times(record['mean']):>7}"
            f"  ({record['n']} rows)"
        )
    print("\nMeasured ceilings")
    print_table(measured.ceilings)
    print("\nMatching rows (floor_ratio: the speed-up if both stay equally far from their floors)")
    columns = ["variant", "role", "size_label", "cache", "launch", "old_ms", "new_ms", "ratio",
               "low", "high", "knows", "resolved", "floor_ratio", "bound_by"]  # fmt: skip
    print_table(measured.rows[columns])
    few = int(measured.rows["too_few_rounds"].sum())
    if few:
        print(f"  {few} rows have too few rounds to be told apart, however much they differ")
    one_run = int((measured.rows["knows"] == "one run each").sum())
    if one_run:
        print(
            f"  {one_run} rows are judged by one run on each side: a plain re-run may differ by "
            "more (amasia merge makes sessions of repeated runs)"
        )
    if options.out:
        dates = "; ".join(dict.fromkeys((origin(new.groups), origin(old.groups))))
        write_figure(generations(measured, dates), options.out)


def _expect_specs(options: argparse.Namespace) -> None:
    specs = []
    for name, gpu, side in (
        (options.new, options.new_gpu, "new"),
        (options.old, options.old_gpu, "old"),
    ):
        if _is_path(name):
            driver = _one_gpu(name, gpu, side).gpus[0]
            spec = expect.spec_of_driver(driver)
            if spec is None:
                raise PlotsError(f"{driver} of {name} is not in {expect.DATASHEETS.name}")
            specs.append(spec)
        else:
            specs.append(expect.find_spec(name))
    new, old = specs
    if new.year < old.year:
        print(
            f"{new.name} ({new.year}) is older than {old.name} ({old.year}): expect takes OLD NEW",
            file=sys.stderr,
        )
    expected = expect.expect_specs(new, old, options.precision)
    print(f"{new.name} over {old.name}, {options.precision}: expected {expected}")
    print(f"  limited by {expected.limited_by}; source: {expected.source}")
    quoted = expect.quoted_mean(new.name, old.name)
    if quoted:
        spread = f" ± {quoted[1]:.2f}" if pd.notna(quoted[1]) else ""
        print(
            f"  measured mean over Rodinia (Svedin et al. 2021, section 6.1): {quoted[0]}{spread}"
        )
    print_table(expect.specification_table((new, old)))
    if options.out:
        frame = pd.DataFrame(
            [
                {
                    "new": new.name,
                    "old": old.name,
                    "flop_ratio": expected.flop_ratio,
                    "bandwidth_ratio": expected.bandwidth_ratio,
                    "expected": expected.expected,
                    "measured_mean": quoted[0] if quoted else float("nan"),
                    "std_dev": quoted[1] if quoted else float("nan"),
                }
            ]
        )
        write_figure(expectation(frame, expected.source), options.out)


def _run(options: argparse.Namespace) -> int:
    if options.old is None:
        print("Svedin et al. 2021: expected = min(FLOP ratio, bandwidth ratio), and quoted means")
        print_table(expect.published_table())
        print("\nSingle programs, A100 over V100")
        print_table(expect.quoted_programs())
        print("\nWhere the paper contradicts itself")
        for told in inconsistencies():
            if told.source.startswith("Svedin"):
                print(f"  {told.id}: {told.text}")
        print("\nMachine balance (bytes per FLOP) and compute density (GFLOP/s per mm2)")
        print_table(expect.specification_table((*expect.paper_specs(), *expect.datasheet_specs())))
        if options.out:
            write_figure(expectation(expect.published_table(), SOURCE), options.out)
        return 0
    if options.new is None:
        raise PlotsError("expect needs two GPUs or two result files: OLD NEW (or none at all)")
    if _is_path(options.new) and _is_path(options.old):
        _expect_files(options)
    else:
        _expect_specs(options)
    return 0


register(
    Command(
        "expect",
        "expected and measured speed-up between two GPUs",
        _arguments,
        _run,
        (
            ("expect V100 A100", "what datasheets and the paper promise of NEW over OLD"),
            ("expect old.json new.json --out pair.svg", "and what two GPUs delivered, row by row"),
        ),
        order=20,
    )
)
