"""``python -m plots why``: what explains each resolved difference."""

import argparse
from pathlib import Path

from plots.commands import command
from plots.commands.options import results_argument, selection_arguments, selection_of
from plots.data.profiles import Profiles, load_profiles
from plots.data.selection import Selection, replace_selection
from plots.judge.attribution import attributions, sums_up


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    selection_arguments(parser, gpu="those of which counters are among the files")
    parser.add_argument(
        "--all", action="store_true", help="at every size and in every mode, not the main ones"
    )
    parser.add_argument(
        "--role", choices=["iso", "best", "matched"], help="one role (default: all)"
    )


def _gpus(selection: Selection, profiles: Profiles) -> tuple[list[str | None], list[str]]:
    """The GPUs to speak of, and those of the files that are left out since they were not profiled.
    Without a choice and without any that was profiled, the one that other commands take."""
    groups = selection.results.groups
    if selection.app is not None:
        groups = groups[groups["app"] == selection.app]
    measured = [gpu for gpu in selection.results.gpus if (groups["gpu"] == gpu).any()]
    profiled = [gpu for gpu in measured if gpu in profiles.gpus]
    if selection.gpu is not None or not profiled:
        return [selection.gpu], []
    return list(profiled), [gpu for gpu in measured if gpu not in profiled]


@command(
    "what explains each resolved difference, from the counters of both rows",
    _arguments,
    ("why results", "at the main size of each app, from the profiles beside the results"),
    ("why results out/profile.json --app hotspot --all", "one app, at every size"),
    order=32,
)
def _run(options: argparse.Namespace) -> int:
    selection = selection_of(options)
    profiles = load_profiles([Path(path) for path in options.results])
    chosen, others = _gpus(selection, profiles)
    of_gpus = [replace_selection(selection, gpu=gpu).all_modes() for gpu in chosen]
    every = options.all or bool(options.cache or options.launch)
    found = [
        a
        for results in of_gpus
        for a in attributions(results, profiles, every_size=every)
        if options.role in (None, a.role)
    ]
    heading = ""
    for a in found if len(profiles) else ():
        if a.verdict == "no counters":
            continue  # there is nothing to say but how many there are, which comes below
        where = f"{a.app} {a.size_label} on {a.gpu}, {a.cache}, {a.launch}"
        if where != heading:
            print(f"{where}:")
            heading = where
        print(f"  {a.sentence}")
    print(sums_up(found))
    if stale := profiles.of_other_code(selection.results):
        print(
            f"Profiles of other code than was measured, which explain nothing: {', '.join(stale)}."
        )
    shown = {gpu for results in of_gpus for gpu in results.gpus}
    if profiled := sorted(profiles.gpus - shown):
        print(f"Profiles of other GPUs: {', '.join(profiled)}; choose one with --gpu.")
    if others:
        print(f"Left out, since no counters of it are among these files: {', '.join(others)}.")
    if not len(profiles):
        print("No profile is among these files: make one with amasia profile.")
    return 0
