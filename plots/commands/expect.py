"""``python -m plots expect``: the speed-up of a GPU expected from data sheets and the papers."""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from plots.commands import command
from plots.commands.options import print_table
from plots.errors import PlotsError
from plots.papers import expect, specifications
from plots.papers.published import inconsistencies


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "gpus", nargs="*", metavar="OLD... NEW",
        help="GPUs by name, oldest first; none: the whole A100-over-V100 analysis of Svedin et al. "
        "2021",
    )  # fmt: skip


def _expect_specs(specs: Sequence[specifications.Spec]) -> None:
    new = specs[-1]
    for old in specs[:-1]:
        if new.year < old.year:
            print(
                f"{new.name} ({new.year}) is older than {old.name} ({old.year}): expect takes OLD "
                "NEW",
                file=sys.stderr,
            )
        if new == old:
            print(f"{new.name} on both sides: 1.00 is expected of itself", file=sys.stderr)
        for precision in ("fp32", "fp64"):
            expected = specifications.expect_specs(new, old, precision)
            if math.isfinite(expected.flop_ratio):  # else a source does not say
                print(f"{new.name} over {old.name}, {precision}: expected {expected}")
                print(f"  limited by {expected.limited_by}; source: {expected.source}")
        quoted = specifications.quoted_mean(new.name, old.name)
        if quoted:
            spread = f" ± {quoted[1]:.2f}" if pd.notna(quoted[1]) else ""
            print(
                "  measured mean over Rodinia (Svedin et al. 2021, section 6.1): "
                f"{quoted[0]}{spread}"
            )
    print_table(expect.specification_table((new, *reversed(specs[:-1]))))


def _paper() -> None:
    """Every value of the paper that needs no run."""
    print("Svedin et al. 2021: expected = min(FLOP ratio, bandwidth ratio), and quoted means")
    print_table(expect.published_table())
    print("\nA100 over V100: every ratio that the text quotes")
    print_table(expect.a100_over_v100())
    print("\nA100 over V100: what each ceiling lets one expect, by the V100 that is meant")
    print_table(expect.by_module())
    for sentence in (*expect.which_v100(), *expect.ceilings_of_programs()):
        print(f"  {sentence}")
    print("\nWhere the paper contradicts itself")
    for told in inconsistencies():
        if told.source.startswith("Svedin"):
            print(f"  {told.id}: {told.text}")
    print("\nMachine balance (bytes per FLOP) and compute density (GFLOP/s per mm2)")
    specs = (*specifications.paper_specs(), *specifications.datasheet_specs())
    print_table(expect.specification_table(specs))


@command(
    "expected speed-up between GPUs, as Svedin et al. 2021",
    _arguments,
    ("expect V100 A100", "what datasheets and the paper promise of NEW over OLD"),
    ("expect", "the A100-over-V100 analysis of Svedin et al. 2021"),
    order=20,
)
def _run(options: argparse.Namespace) -> int:
    names: list[str] = options.gpus
    for name in names:
        if Path(name).exists():
            raise PlotsError(
                f"{name} is a file or folder, and expect takes GPUs by name: python -m plots "
                "compare OLD NEW compares results"
            )
    if not names:
        _paper()
        return 0
    if len(names) == 1:
        raise PlotsError("expect needs two GPUs: OLD... NEW (or none at all)")
    _expect_specs([specifications.find_spec(name) for name in names])
    return 0
