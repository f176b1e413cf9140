"""The command line: ``python -m plots report|expect|advise|figure|readme|reproduction``.

Data go to stdout, what was written and what was left out to stderr. Exit status: 0 ok, 1 README
differs (``readme --check``), 2 a mistake in the command or in a file.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from plots import expect, figures, published, readme, report, reproduction, style
from plots.advise import advise, as_text
from plots.errors import PlotsError, nearest
from plots.figures.common import origin, times
from plots.load import Results, load, main_cache, main_launch, main_size
from plots.strategies import built_variants

COMMANDS = ("report", "expect", "advise", "figure", "readme", "reproduction")
_SUFFIXES = (".svg", ".png", ".pdf")


class _Parser(argparse.ArgumentParser):
    """One line on a mistake, like every other error of the package; usage only on --help."""

    def error(self, message: str) -> None:
        raise PlotsError(f"{message} (see {self.prog} --help)")


@dataclass(frozen=True)
class FigureKind:
    """A figure that the command line can draw."""

    summary: str
    draw: Callable[[argparse.Namespace], Figure]


def _load(paths: Sequence[str]) -> Results:
    results = load(paths)
    for note in results.notes:
        print(note, file=sys.stderr)
    return results


def _among(value: str | None, valid: Sequence[str], what: str) -> None:
    if value is not None and value not in valid:
        raise PlotsError(f'no {what} "{value}" in the result files; {nearest(value, valid)}')


def _selection(options: argparse.Namespace, modes: bool = True) -> Results:
    """The results chosen by --gpu, --app, --size, --cache and --launch; of a GPU, size or mode left
    open, with ``modes``, the one that single pictures show."""
    results = _load(options.results)
    if results.groups.empty:
        raise PlotsError("the result files hold no comparison group")
    _among(options.gpu, results.gpus, "GPU")
    results = results.where(gpu=options.gpu or results.gpus[0])
    _among(options.app, sorted(set(results.groups["app"])), "app")
    results = results.where(app=options.app)
    if modes:
        results = results.where(
            cache=options.cache or main_cache(results.groups),
            launch=options.launch or main_launch(results.groups),
        )
    else:
        results = results.where(cache=options.cache, launch=options.launch)
    if results.groups.empty:
        raise PlotsError("no comparison group matches the selection")
    return results


def _speedup(options: argparse.Namespace) -> Figure:
    return figures.speedup(_selection(options))


def _heatmap(options: argparse.Namespace) -> Figure:
    results = _selection(options)
    recorded = {name for p in results.files["provenance"] for name in p["sources"]}
    return figures.heatmap(results, built_variants() | recorded)


def _floor(options: argparse.Namespace) -> Figure:
    return figures.floor(_selection(options))


def _roofline(options: argparse.Namespace) -> Figure:
    return figures.roofline(_selection(options))


def _samples(options: argparse.Namespace) -> Figure:
    results = _selection(options)
    app = options.app or sorted(set(results.groups["app"]))[0]
    of_app = results.groups[results.groups["app"] == app]
    if options.size is None:
        chosen = of_app[of_app["size"] == main_size(of_app, app)]
    else:
        sizes = [*of_app["size"], *of_app["size_label"].str.replace(" ", ",")]
        _among(options.size, sizes, f"size of {app}")
        chosen = of_app[
            (of_app["size"] == options.size)
            | (of_app["size_label"].str.replace(" ", ",") == options.size)
        ]
    return figures.samples(results, chosen.iloc[0]["group"])


def _launch(options: argparse.Namespace) -> Figure:
    results = _selection(options, modes=False)
    return figures.launch(results.where(cache=options.cache or main_cache(results.groups)))


def _expectation(_: argparse.Namespace) -> Figure:
    return figures.expectation(
        expect.published_table(), "Svedin et al. 2021, Table 1 and section 6.1"
    )


def _balance(_: argparse.Namespace) -> Figure:
    specs = (*expect.paper_specs(), *expect.datasheet_specs())
    return figures.balance(specs, "Svedin et al. 2021, Table 1; datasheets of the vendor")


def _of_gpu(options: argparse.Namespace) -> Results:
    """All of one GPU: microbenchmarks belong to no group."""
    results = _load(options.results)
    _among(options.gpu, results.gpus, "GPU")
    with_points = [g for g in results.gpus if (results.points["gpu"] == g).any()]
    return results.where(gpu=options.gpu or (with_points or results.gpus)[0])


FIGURES = {
    "speedup": FigureKind("strategies x sizes, speed-up with intervals, iso and best", _speedup),
    "heatmap": FigureKind("apps x strategies", _heatmap),
    "floor": FigureKind("time against the floor", _floor),
    "roofline": FigureKind("all variants under the measured ceilings", _roofline),
    "samples": FigureKind("every sample of one group (--app, --size)", _samples),
    "launch": FigureKind("stream against graph", _launch),
    "latency": FigureKind(
        "cycles per dependent load against the footprint", lambda o: figures.latency(_of_gpu(o))
    ),
    "in_flight": FigureKind(
        "bandwidth against bytes in flight per SM", lambda o: figures.in_flight(_of_gpu(o))
    ),
    "persistence": FigureKind(
        "what a persisting window keeps in the L2", lambda o: figures.persistence(_of_gpu(o))
    ),
    "async_copy": FigureKind(
        "when an asynchronous copy pays: Fig. 3 of Svedin et al.",
        lambda o: figures.async_copy(_of_gpu(o)),
    ),
    "wgmma_n": FigureKind(
        "throughput and cycles of wgmma against its width", lambda o: figures.wgmma_n(_of_gpu(o))
    ),
    "tensor_energy": FigureKind(
        "energy per operation of the tensor cores", lambda o: figures.tensor_energy(_of_gpu(o))
    ),
    "dsm_ring": FigureKind(
        "ring copy between the SMs of a cluster: Fig. 8 of Luo et al.",
        lambda o: figures.dsm_ring(_of_gpu(o)),
    ),
    "dpx_blocks": FigureKind(
        "DPX throughput against the number of blocks", lambda o: figures.dpx_blocks(_of_gpu(o))
    ),
    "expectation": FigureKind("expected and measured speed-ups of Svedin et al.", _expectation),
    "balance": FigureKind("machine balance and compute density (needs no results)", _balance),
}


def _write_figure(figure: Figure, path: Path) -> None:
    if path.suffix.lower() not in _SUFFIXES:
        raise PlotsError(f"{path}: expected a file name that ends in {', '.join(_SUFFIXES)}")
    try:
        style.save(figure, path)
    except OSError as error:
        raise PlotsError(f"{path}: cannot be written ({error.strerror})") from None
    print(f"wrote {path}", file=sys.stderr)


def _run_report(options: argparse.Namespace) -> int:
    results = _load(options.results)
    # Whole or not at all: a reader never opens half a report. Opened before the work is done, so
    # that a place that cannot be written is said at once.
    temporary = options.out.with_name(options.out.name + ".tmp")
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8") as file:
            file.write(report.render(results))
        os.replace(temporary, options.out)
    except OSError as error:
        raise PlotsError(f"{options.out}: cannot be written ({error.strerror})") from None
    finally:
        # Gone already after success; the place itself may be no folder.
        with contextlib.suppress(OSError):
            temporary.unlink()
    print(f"wrote {options.out}", file=sys.stderr)
    return 0


def _run_figure(options: argparse.Namespace) -> int:
    if options.name not in FIGURES:
        raise PlotsError(f'no figure "{options.name}"; {nearest(options.name, FIGURES, 3)}')
    out = options.out or Path(f"{options.name}.svg")
    _write_figure(FIGURES[options.name].draw(options), out)
    return 0


def _run_advise(options: argparse.Namespace) -> int:
    results = _selection(options, modes=False)
    print(as_text(results, advise(results, role=options.role)), end="")
    return 0


def _plain(value: float) -> str:
    """Four significant digits, never an exponent."""
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def _print_table(frame: pd.DataFrame) -> None:
    with pd.option_context("display.width", 200, "display.max_columns", 30):
        print(frame.to_string(index=False, float_format=_plain, na_rep="–"))


def _is_path(name: str) -> bool:
    return name.endswith(".json") or Path(name).exists()


def _one_gpu(name: str, gpu: str | None, side: str) -> Results:
    results = _load([name])
    _among(gpu, results.gpus, "GPU")
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
    print("\nGeometric mean of the measured speed-ups")
    for record in report.mean_table(measured):
        print(
            f"  {record['role']:<10} {record['strategy']:<16} {times(record['mean']):>7}"
            f"  ({record['n']} rows)"
        )
    print("\nMeasured ceilings")
    _print_table(measured.ceilings)
    print("\nMatching rows (floor_ratio: the speed-up if both stay equally far from their floors)")
    columns = ["variant", "role", "size_label", "cache", "launch", "old_ms", "new_ms", "ratio",
               "low", "high", "resolved", "floor_ratio", "bound_by"]  # fmt: skip
    _print_table(measured.rows[columns])
    if options.out:
        dates = "; ".join(dict.fromkeys((origin(new.groups), origin(old.groups))))
        _write_figure(figures.generations(measured, dates), options.out)


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
    expected = expect.expect_specs(new, old, options.precision)
    print(f"{new.name} over {old.name}, {options.precision}: expected {expected}")
    print(f"  limited by {expected.limited_by}; source: {expected.source}")
    quoted = expect.quoted_mean(new.name, old.name)
    if quoted:
        spread = f" ± {quoted[1]:.2f}" if pd.notna(quoted[1]) else ""
        print(
            f"  measured mean over Rodinia (Svedin et al. 2021, section 6.1): {quoted[0]}{spread}"
        )
    _print_table(expect.specification_table((new, old)))
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
        _write_figure(figures.expectation(frame, expected.source), options.out)


def _run_expect(options: argparse.Namespace) -> int:
    if options.new is None:
        print("Svedin et al. 2021: expected = min(FLOP ratio, bandwidth ratio), and quoted means")
        _print_table(expect.published_table())
        print("\nMachine balance (bytes per FLOP) and compute density (GFLOP/s per mm2)")
        _print_table(expect.specification_table((*expect.paper_specs(), *expect.datasheet_specs())))
        if options.out:
            _write_figure(_expectation(options), options.out)
        return 0
    if options.old is None:
        raise PlotsError("expect needs two GPUs or two result files: NEW OLD (or none at all)")
    if _is_path(options.new) and _is_path(options.old):
        _expect_files(options)
    else:
        _expect_specs(options)
    return 0


def _run_readme(options: argparse.Namespace) -> int:
    results = _load(options.results)
    if not options.check:
        for path in readme.write(results, options.readme):
            print(f"wrote {path}", file=sys.stderr)
        return 0
    differences = readme.check(results, options.readme)
    if differences:
        print("\n".join(differences))
        print("README differs from the results; run: python -m plots readme", file=sys.stderr)
    return 1 if differences else 0


def _run_reproduction(options: argparse.Namespace) -> int:
    text = reproduction.render(
        published.recorded([Path(p) for p in options.results]),
        options.out.parent if options.out else Path(),
    )
    if options.out is None:
        print(text, end="")
        return 0
    try:
        options.out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PlotsError(f"{options.out}: cannot be written ({error.strerror})") from None
    print(f"wrote {options.out}", file=sys.stderr)
    return 0


def _parser() -> _Parser:
    parser = _Parser(prog="python -m plots", description="Figures, report and advice from results.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def results_of(command: argparse.ArgumentParser) -> None:
        command.add_argument(
            "results", nargs="*", default=["results"],
            help="result files, or folders searched for them (default: results)",
        )  # fmt: skip

    def selection_of(command: argparse.ArgumentParser) -> None:
        command.add_argument("--gpu", help="as the driver names it (default: the newest)")
        command.add_argument("--app")
        command.add_argument("--cache", choices=["cold", "hot"])
        command.add_argument("--launch", choices=["stream", "graph"])

    command = commands.add_parser("report", help="one self-contained HTML file")
    results_of(command)
    command.add_argument("--out", "-o", type=Path, default=Path("report.html"))
    command.set_defaults(run=_run_report)

    command = commands.add_parser("expect", help="expected and measured speed-up between two GPUs")
    command.add_argument("new", nargs="?", help="a GPU's name, a result file or a folder of them")
    command.add_argument("old", nargs="?", help="the same, of the GPU to compare with")
    command.add_argument("--precision", choices=["fp32", "fp64"], default="fp32")
    command.add_argument("--new-gpu", help="which GPU of NEW, when it holds several")
    command.add_argument("--old-gpu", help="which GPU of OLD, when it holds several")
    command.add_argument("--out", "-o", type=Path, help="a figure, .svg, .png or .pdf")
    command.set_defaults(run=_run_expect)

    command = commands.add_parser("advise", help="which strategy to choose, at what price")
    results_of(command)
    selection_of(command)
    command.add_argument("--role", choices=["iso", "best"], default="best")
    command.set_defaults(run=_run_advise)

    names = "; ".join(f"{name}: {kind.summary}" for name, kind in FIGURES.items())
    command = commands.add_parser("figure", help="one figure", epilog=names)
    command.add_argument("name", help=", ".join(FIGURES))
    results_of(command)
    selection_of(command)
    command.add_argument("--size", help='for samples, e.g. "rows=10000,cols=10000"')
    command.add_argument("--out", "-o", type=Path, help=".svg, .png or .pdf (default: NAME.svg)")
    command.set_defaults(run=_run_figure)

    command = commands.add_parser(
        "reproduction", help="every table of the source documents beside our results, as Markdown"
    )
    results_of(command)
    command.add_argument("--out", "-o", type=Path, help="a file (default: stdout)")
    command.set_defaults(run=_run_reproduction)

    command = commands.add_parser("readme", help="README's picture and table from the results")
    results_of(command)
    command.add_argument("--readme", type=Path, default=Path("README.md"))
    command.add_argument("--check", action="store_true", help="write nothing; exit 1 if different")
    command.set_defaults(run=_run_readme)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        first = next((a for a in arguments if not a.startswith("-")), None)
        if first is not None and first not in COMMANDS:
            raise PlotsError(f'no command "{first}"; {nearest(first, COMMANDS)}')
        options = _parser().parse_args(arguments)
        return options.run(options)
    except PlotsError as error:
        print(f"plots: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # | head
        return 0
