"""``python -m plots expect``: expected and measured speed-up between GPUs."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from plots.commands.options import print_table, write_figure
from plots.commands.registry import Command, register
from plots.data.load import Results
from plots.data.selection import among, load_aloud
from plots.errors import PlotsError
from plots.figures.balance import balance
from plots.figures.common import origin
from plots.figures.expectation import SOURCE, expectation
from plots.figures.generations import generations
from plots.papers import expect, specifications, styles
from plots.papers.generations import Step, steps
from plots.papers.inconsistencies import inconsistencies
from plots.units import times


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "gpus", nargs="*", metavar="OLD... NEW",
        help="GPUs by name, or result files or folders of one GPU each, oldest first; one folder "
        "of several GPUs is taken apart; of one GPU: what can be said of it alone; none: the whole "
        "A100-over-V100 analysis of Svedin et al. 2021",
    )  # fmt: skip
    parser.add_argument(
        "--precision",
        choices=["fp32", "fp64"],
        help="of the FLOP ratio of GPUs by name (default: fp32)",
    )
    parser.add_argument("--old-gpu", help="which GPU of the first, when it holds several")
    parser.add_argument("--new-gpu", help="which GPU of the last, when it holds several")
    parser.add_argument(
        "--out", "-o", type=Path, help="a figure, .svg, .png or .pdf (of each pair, numbered)"
    )


def _is_path(name: str) -> bool:
    return name.endswith(".json") or Path(name).exists()


def _one_gpu(name: str, gpu: str | None, side: str) -> Results:
    results = load_aloud([name])
    among(gpu, results.gpus, "GPU")
    results = results.where(gpu=gpu)
    if len(results.gpus) > 1:
        hint = f"choose with --{side}-gpu" if side else "give one file or folder for each"
        raise PlotsError(f"{name} holds several GPUs ({', '.join(results.gpus)}); {hint}")
    return results


def _numbered(path: Path, index: int, count: int) -> Path:
    return path if count == 1 else path.with_stem(f"{path.stem}-{index + 1}")


def _print_styles(results: Results) -> None:
    cases = styles.cases_of(results)
    if not cases:
        print("  no case with the baseline and another strategy at their best")
        return
    for question, text in styles.QUESTIONS.items():
        of = styles.summary(cases, question)
        if of is not None:
            print(
                f"  {text}: {times(of.mean)} (geometric mean of {of.n} cases, {of.least:.2f} to "
                f"{of.most:.2f}; {of.faster} faster, {of.slower} slower, {of.undecided} not "
                "resolved)"
            )


def _with_known_ends(best: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The table without the ends that tell nothing, and how many intervals lack one. From one or
    two runs and at the confidence of many cases an interval may well reach from 0 to 10^9. The end
    beside 1 of an interval that does not hold 1 is what resolves the case, and stays."""
    unknown = ~(best["high"] <= styles.WIDEST * best["low"])
    low = best["low"].mask(unknown & ~(best["low"] > 1))
    high = best["high"].mask(unknown & ~(best["high"] < 1))
    return best.assign(low=low, high=high), int(unknown.sum())


def _print_step(step: Step, new_name: str, old_name: str) -> None:
    measured = step.measured
    print(f"{measured.new_gpu} over {measured.old_gpu}")
    unlisted = specifications.without_datasheet(measured.old_gpu, measured.new_gpu)
    for expected, text, why in (
        (measured.datasheet, "expected from datasheets", unlisted),
        (measured.measured_ceilings, "expected from the measured ceilings", ""),
    ):
        unknown = f"not known: {why}" if why else "not known"
        print(f"  {text}: {expected or unknown}")
    print(
        f"  {len(measured.rows)} rows match; {measured.only_new} only in {new_name}, "
        f"{measured.only_old} only in {old_name}"
    )
    for sentence in step.sentences():
        print(f"  {sentence}")
    print("\nGeometric mean of the measured speed-ups, like with like")
    for record in expect.mean_table(measured):
        print(
            f"  {record['role']:<10} {record['strategy']:<16} {times(record['mean']):>7}"
            f"  ({record['n']} rows)"
        )
    if len(step.best):
        print(
            "\nBest on new over best on old: ratio = hardware (baseline on both) × new_software / "
            "old_software"
        )
        best, unknown = _with_known_ends(step.best)
        print_table(best)
        if unknown:
            print(
                f"  {unknown} intervals are not known (–), or only to the end beside 1 of a case "
                "that is resolved: too few runs, rounds or GPUs to speak of "
                f"{len(best)} cases together (amasia merge makes sessions of repeated runs)"
            )
    print("\nMeasured ceilings")
    print_table(measured.ceilings)
    if len(step.points):
        print("\nMicrobenchmarks of both (ratio: above 1 when new is better)")
        print_table(step.points)
    if step.short:
        print(f"\nRows of the baseline below the {step.short[0].expected:.2f} of the data sheets")
        for short in step.short:
            print(
                f"  {short.variant} {short.size_label} {short.cache} {short.launch}: "
                f"{short.ratio:.2f} [{short.low:.2f}, {short.high:.2f}], {short.outcome}: "
                f"{short.text}"
            )
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


def _expect_files(sides: Sequence[tuple[str, Results]], out: Path | None) -> None:
    """Each GPU over the one before it, then the last one over all others."""
    last = len(sides) - 1
    pairs = [(i + 1, i) for i in range(last)] + [(last, i) for i in range(last - 1)]
    found = steps([(sides[new][1], sides[old][1]) for new, old in pairs])
    reasons = [step for step in found if not isinstance(step, Step)]
    if len(reasons) == len(found):
        raise reasons[0]
    for index, (step, (new, old)) in enumerate(zip(found, pairs, strict=True)):
        if index:
            print()
        if not isinstance(step, Step):
            print(f"{sides[new][1].gpus[0]} over {sides[old][1].gpus[0]}\n  not compared: {step}")
            continue
        _print_step(step, sides[new][0], sides[old][0])
        if out is not None:
            both = (sides[new][1].groups, sides[old][1].groups)
            dates = "; ".join(dict.fromkeys(map(origin, both)))
            write_figure(generations(step.measured, dates), _numbered(out, index, len(found)))
    for name in dict.fromkeys(results.gpus[0] for _, results in sides):
        print(f"\nStyles on one chip, {name}")
        _print_styles(next(r for _, r in sides if r.gpus[0] == name))


def _one_file(results: Results) -> None:
    """What can be said of one GPU, and what is missing for the rest."""
    gpu = results.gpus[0]
    if results.groups.empty:
        raise PlotsError(f"the result files of {gpu} hold no comparison group to speak of")
    print(f"{gpu} alone: no generation to compare it with.")
    print(
        "  Missing: a result file of another GPU (amasia study quick there), then: "
        "python -m plots expect OLD NEW"
    )
    print("\nMeasured ceilings beside the data sheet")
    shares = expect.reached(results)
    for r in shares:
        print(f"  {r.name}: {r.measured:,.0f} of {r.promised:,.0f} {r.unit}, {100 * r.share:.0f} %")
    if not shares:
        print(
            f"  not known: {gpu} is not in {specifications.DATASHEETS.name}, or no ceiling was "
            "measured"
        )
    print("\nStyles on one chip")
    _print_styles(results)


def _spec(name: str, gpu: str | None, side: str) -> specifications.Spec:
    if not _is_path(name):
        if gpu:
            raise PlotsError(f"--{side}-gpu chooses among the GPUs of files, and {name} is a name")
        return specifications.find_spec(name)
    driver = _one_gpu(name, gpu, side).gpus[0]
    spec = specifications.spec_of_driver(driver)
    if spec is None:
        raise PlotsError(f"{driver} of {name} is not in {specifications.DATASHEETS.name}")
    return spec


def _expect_specs(specs: Sequence[specifications.Spec], options: argparse.Namespace) -> None:
    new = specs[-1]
    precision = options.precision or "fp32"
    unstated = [s.name for s in dict.fromkeys(specs) if math.isnan(s.tflops(precision))]
    if unstated:
        raise PlotsError(
            f"no source states the {precision} rate of {' and '.join(unstated)}, so no FLOP ratio "
            "is known"
        )
    frames, sources = [], []
    for old in specs[:-1]:
        if new.year < old.year:
            print(
                f"{new.name} ({new.year}) is older than {old.name} ({old.year}): expect takes OLD "
                "NEW",
                file=sys.stderr,
            )
        if new == old:
            print(f"{new.name} on both sides: 1.00 is expected of itself", file=sys.stderr)
        expected = specifications.expect_specs(new, old, precision)
        print(f"{new.name} over {old.name}, {precision}: expected {expected}")
        print(f"  limited by {expected.limited_by}; source: {expected.source}")
        quoted = specifications.quoted_mean(new.name, old.name)
        if quoted:
            spread = f" ± {quoted[1]:.2f}" if pd.notna(quoted[1]) else ""
            print(
                "  measured mean over Rodinia (Svedin et al. 2021, section 6.1): "
                f"{quoted[0]}{spread}"
            )
        sources.append(expected.source)
        frames.append(
            {
                "new": new.name,
                "old": old.name,
                "flop_ratio": expected.flop_ratio,
                "bandwidth_ratio": expected.bandwidth_ratio,
                "expected": expected.expected,
                "measured_mean": quoted[0] if quoted else float("nan"),
                "std_dev": quoted[1] if quoted else float("nan"),
            }
        )
    print_table(expect.specification_table((new, *reversed(specs[:-1]))))
    if options.out:
        source = "; ".join(dict.fromkeys(sources))
        write_figure(expectation(pd.DataFrame(frames), source), options.out)


def _paper(out: Path | None) -> None:
    """Every figure and quoted value of the paper that needs no run."""
    print("Svedin et al. 2021: expected = min(FLOP ratio, bandwidth ratio), and quoted means")
    print_table(expect.published_table())
    print("\nSingle programs, A100 over V100")
    print_table(expect.quoted_programs())
    print("\nWhich V100")
    for sentence in (expect.module_of_table1(), *expect.other_module().sentences()):
        print(f"  {sentence}")
    print("\nEvery value that the text quotes")
    print_table(expect.quoted_values())
    print("\nWhere the paper contradicts itself")
    for told in inconsistencies():
        if told.source.startswith("Svedin"):
            print(f"  {told.id}: {told.text}")
    print("\nMachine balance (bytes per FLOP) and compute density (GFLOP/s per mm2)")
    specs = (*specifications.paper_specs(), *specifications.datasheet_specs())
    print_table(expect.specification_table(specs))
    if out is not None:
        write_figure(expectation(expect.published_table(), SOURCE), out)
        beside = out.with_stem(f"{out.stem}-balance")
        write_figure(balance(specifications.paper_specs(), SOURCE), beside)


def _gpus_of(options: argparse.Namespace) -> list[str | None]:
    """The GPU chosen of each argument."""
    chosen: list[str | None] = [None] * len(options.gpus)
    chosen[0], chosen[-1] = options.old_gpu, options.new_gpu or chosen[-1]
    return chosen


def _run(options: argparse.Namespace) -> int:
    names: list[str] = options.gpus
    if options.precision and all(map(_is_path, names)):  # as of no names
        raise PlotsError(
            "--precision is of GPUs by name: rows of files are held against the ratio in fp32, and "
            "the paper is told as it is"
        )
    if not names:
        _paper(options.out)
        return 0
    last = len(names) - 1
    if all(map(_is_path, names)):
        if last == 0:
            results = load_aloud(names)
            # Of one architecture by name, so that the order is the same each time.
            gpus = results.by_generation[::-1]
            sides = [
                (f"{gpu} (Amasia {version})" if version else gpu, of)
                for gpu, of in zip(gpus, results.of_one_version(*gpus), strict=True)
                for version in (of.files["version"].iloc[0],)
            ]
            if options.new_gpu or options.old_gpu:
                raise PlotsError("--old-gpu and --new-gpu choose of OLD and NEW: give both")
            if len(sides) == 1:
                _one_file(sides[0][1])
                return 0
        else:
            ends = {0: "old", last: "new"}
            sides = [
                (name, _one_gpu(name, gpu, ends.get(i, "")))
                for i, (name, gpu) in enumerate(zip(names, _gpus_of(options), strict=True))
            ]
        _expect_files(sides, options.out)
        return 0
    if last == 0:
        raise PlotsError("expect needs two GPUs or result files: OLD... NEW (or none at all)")
    ends = {0: "old", last: "new"}
    chosen = zip(names, _gpus_of(options), strict=True)
    _expect_specs([_spec(n, gpu, ends.get(i, "")) for i, (n, gpu) in enumerate(chosen)], options)
    return 0


register(
    Command(
        "expect",
        "expected and measured speed-up between GPUs",
        _arguments,
        _run,
        (
            ("expect V100 A100", "what datasheets and the paper promise of NEW over OLD"),
            ("expect old.json new.json --out pair.svg", "and what GPUs delivered, row by row"),
        ),
        order=20,
    )
)
