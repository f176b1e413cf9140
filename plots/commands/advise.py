"""``python -m plots advise``: which strategy to choose, and its cost."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from plots.advice import real_kernels, twin, twin_text, twin_traits
from plots.advice.advise import advise
from plots.advice.advise import as_text as as_choices
from plots.advice.observed import BY_HAND, Observed, from_cubin, from_report, merged
from plots.advice.observed import as_text as as_observed
from plots.advice.twin_text import as_text, given_to_amasia
from plots.commands import command
from plots.commands.options import RESULTS, results_argument, selection_arguments, selection_of
from plots.data.selection import gpu_named
from plots.errors import PlotsError
from plots.processes import run
from plots.tree import ROOT


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    selection_arguments(parser, gpu="the newest; for a kernel of your own, of the latest twins")
    parser.add_argument(
        "--role", choices=["iso", "best"], help="geometries to choose among (default: best)"
    )
    kernel = parser.add_argument_group(
        "a kernel of your own, by its traits (microbench/twin/traits.hpp)"
    )
    kernel.add_argument("--tile", metavar="BYTES", help="bytes of a tile: 16KiB")
    kernel.add_argument("--intensity", metavar="N", help="operations per byte of a tile")
    kernel.add_argument(
        "--trait", action="append", metavar="NAME=VALUE", help="any other trait (repeatable)"
    )
    kernel.add_argument("--traits", type=Path, metavar="FILE", help="TOML file of traits")
    kernel.add_argument(
        "--ncu", type=Path, metavar="REPORT",
        help="derive traits from a report of Nsight Compute: its CSV export, or the .ncu-rep",
    )  # fmt: skip
    kernel.add_argument(
        "--cubin", type=Path, metavar="FILE",
        help="derive traits from machine code: a cubin, an object file or a program",
    )  # fmt: skip
    kernel.add_argument("--block", metavar="X,Y,Z", help="threads of a block, for --cubin")
    kernel.add_argument("--grid", metavar="X,Y,Z", help="blocks of a launch, for --cubin")
    kernel.add_argument("--kernel", metavar="NAME", help="which kernel of the report or the cubin")
    kernel.add_argument(
        "--measure", metavar="AMASIA",
        help="measure on this GPU with this program, in place of the recorded twins",
    )  # fmt: skip
    kernel.add_argument(
        "--nearest", action="store_true",
        help="outside the measured range: answer for the nearest measured kernel",
    )  # fmt: skip


def _asked(options: argparse.Namespace) -> dict[str, str]:
    """The traits that are named, those on the command line before those of the file."""
    asked = twin_traits.asked_in_file(options.traits) if options.traits else {}
    named: dict[str, str] = {}

    def name_it(name: str, value: str) -> None:
        if named.setdefault(name, value) != value:
            raise PlotsError(f"{name} is {named[name]!r} and {value!r}: expected one of them")

    for text in options.trait or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise PlotsError(f"expected --trait NAME=VALUE, not {text!r}")
        name_it(name, value)
    for name in ("tile", "intensity"):
        if (value := getattr(options, name)) is not None:
            name_it(name, value)
    return {**asked, **named}


def _observed(options: argparse.Namespace) -> Observed | None:
    """What a report and machine code say of the kernel; of the launch, the report says more."""
    if options.cubin is None and (options.block or options.grid):
        raise PlotsError("--block and --grid are the launch shape of a --cubin")
    if options.ncu is None and options.cubin is None:
        if options.kernel:
            raise PlotsError("--kernel names one in a report (--ncu) or in a --cubin")
        return None
    counted = from_report(options.ncu, options.kernel) if options.ncu else None
    block = options.block or (counted and counted.traits.get("threads"))
    if options.cubin is None:
        return counted
    code = from_cubin(options.cubin, block, options.grid, options.kernel)
    return code if counted is None else merged(code, counted)


def _refuse_what_is_not_looked_at(options: argparse.Namespace) -> None:
    """A kernel of one's own is in no app and has no modes. Raises PlotsError."""
    for name in ("app", "cache", "launch", "role"):
        if getattr(options, name) is not None:
            raise PlotsError(
                f"--{name} selects among the suite's apps, and the traits of a kernel of your own "
                "are given too: expected one of them"
            )
    if options.nearest and options.measure:
        raise PlotsError(
            "--nearest asks what was recorded, --measure this GPU: expected one of them"
        )


def _measured(program: str, traits: twin.Traits) -> list[twin.Twin]:
    """Runs `amasia run twin` at these traits. Raises PlotsError."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "twin.json"
        command = [
            program, "run", twin.NAME, "--traits", given_to_amasia(traits), "--out", str(out),
        ]  # fmt: skip
        run(command)
        answering, aside = twin.twins_and_unseen([out])
        return answering + aside  # its own twin answers, whichever it is


def _of_gpu(twins: list[twin.Twin], gpu: str | None) -> list[twin.Twin]:
    """The twins of one GPU: the named one, else that of the latest file."""
    if not twins:
        raise PlotsError(f"no twin was recorded (amasia run {twin.NAME} --preset paper)")
    named = gpu_named(gpu, sorted({t.gpu for t in twins}))
    chosen = named or max(twins, key=lambda t: t.date).gpu
    return [t for t in twins if t.gpu == chosen]


def _with_twins(asked: Sequence[str]) -> list[Path]:
    """The files asked for; in a folder without results/, when none are, those of the repository,
    of which an installed package carries the twins."""
    recorded = ROOT / RESULTS
    if list(asked) == [RESULTS] and not Path(RESULTS).exists() and recorded.is_dir():
        print(f"no folder {RESULTS} here: the twins recorded with Amasia answer", file=sys.stderr)
        return [recorded]
    return [Path(path) for path in asked]


def _for_own_kernel(
    options: argparse.Namespace, asked: dict[str, str], observed: Observed | None
) -> str:
    recorded, unseen = twin.twins_and_unseen(_with_twins(options.results))
    # What nobody names is as in the record, whichever GPU that is of.
    of_gpu = _of_gpu(recorded, options.gpu)
    said = ""
    if observed is not None:
        said = as_observed(observed, asked) + "\n"
        # Two names of one trait: what is given by hand replaces what was derived.
        same = [{"tile", "rows"}, {"intensity", "fma"}]
        replaced = {name for pair in same if pair & asked.keys() for name in pair} | asked.keys()
        asked = {**{k: v for k, v in observed.traits.items() if k not in replaced}, **asked}
        if not {"tile", "rows"} & asked.keys():
            print(said, end="")
            raise PlotsError(f"give the {BY_HAND['tile']}")
    try:
        traits = twin_traits.traits_of(asked, of_gpu)
    except PlotsError:
        print(said, end="")
        raise
    if observed is not None and (doubt := observed.doubt(twin_traits.tile_bytes(traits))):
        said += f"{doubt}\n\n"
    if options.measure:
        return said + as_text(twin.answer(traits, _measured(options.measure, traits)), None)
    try:
        ask = twin_text.answer_of_nearest if options.nearest else twin.answer
        found = ask(traits, of_gpu, asked)
    except twin.OutsideRangeError as error:
        print(said, end="")
        raise twin_text.with_ways_out(error, traits) from None
    if found.exact:
        return said + as_text(found, None)
    known = twin.accuracy(of_gpu, unseen)
    return said + as_text(found, known, [real_kernels.sentence(real_kernels.all_cases())])


@command(
    "which strategy to choose, and its cost",
    _arguments,
    ("advise results --app hotspot", "one app, in every mode recorded"),
    (
        "advise --tile 16KiB --intensity 8 --trait halo=4 --trait layout=box",
        "a kernel of your own, from the recorded twins",
    ),
    order=30,
)
def _run(options: argparse.Namespace) -> int:
    asked = _asked(options)
    observed = _observed(options)
    if asked or options.measure or observed is not None:
        _refuse_what_is_not_looked_at(options)
        print(_for_own_kernel(options, asked, observed), end="")
        return 0
    if options.nearest:
        raise PlotsError("--nearest is of a kernel of your own: give its traits (--tile 16KiB)")
    results = selection_of(options).all_modes()
    print(as_choices(results, advise(results, role=options.role or "best")), end="")
    return 0
