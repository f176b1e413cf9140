"""``python -m plots references``: where a new session of each recorded row falls, by the model of
plots/statistics/between.py, for a test that measures the row again (sites/reframe/)."""

import argparse
import json
from typing import Any

from plots.commands import command
from plots.commands.options import page_arguments, print_or_write
from plots.data.load import Results
from plots.data.selection import load_aloud
from plots.data.sessions import CONFIDENCE, rows_in, size_text
from plots.errors import PlotsError, nearest
from plots.statistics.between import Prediction

# The columns by which a line of amasia's CSV is recognised: rows of other code are other rows.
KEY = (
    "app", "size", "cache", "launch", "variant", "role", "config", "schedule", "source_digest",
)  # fmt: skip
_DIGITS = 6  # significant ones: a thousandth of the narrowest interval
_CASE = ("gpu", "app", "size", "cache", "launch")


def _interval(prediction: Prediction) -> dict[str, Any]:
    rounded = {n: float(f"{getattr(prediction, n):.{_DIGITS}g}") for n in ("value", "low", "high")}
    return {**rounded, "sessions": prediction.sessions, "gpus": prediction.gpus}


def references(results: Results, study: str) -> dict[str, Any]:
    """Of every GPU model the rows that this study has, with the interval of their time in ms and of
    their speed-up over the baseline. A row without a predictive interval is left out: of it nothing
    is known but one run. Raises PlotsError when no file is of the study."""
    files = results.files
    if study not in set(files["study"]):
        known = sorted({name for name in files["study"] if name})
        if not known:
            raise PlotsError(f"no result file is of a study; make one with: amasia study {study}")
        raise PlotsError(f'no result file is of the study "{study}"; {nearest(study, known)}')
    cases = {  # of a case that several files have, ``results`` holds one
        (f.device.name, key.app, size_text(key.size), key.cache, key.launch)
        for f in results.documents
        if f.document.provenance.study == study
        for key in (group.key for group in f.document.groups)
    }
    rows = results.rows[(results.rows["repeat"] == 0) & (results.rows["status"] == "ok")]
    rows = rows[[case in cases for case in rows[list(_CASE)].itertuples(index=False, name=None)]]
    rows = rows.drop_duplicates("identity")
    against = results.comparisons[~results.comparisons["control"]].drop_duplicates("identity")
    speedup_of = {}  # by the identity of the row, the first of the two that a ratio's has
    for comparison in against.to_dict("records"):
        if comparison["identity"] and comparison["against"].endswith("/baseline"):
            speedup_of[rows_in(comparison["identity"])[0]] = comparison["identity"]
    gpus: dict[str, list[dict[str, Any]]] = {}
    for row in rows.to_dict("records"):
        time = results.sessions.predicted(row["identity"])
        if time is None:
            continue
        entry = {name: row[name] or "" for name in KEY}
        entry["time_ms"] = _interval(time)
        ratio = results.sessions.predicted(speedup_of.get(row["identity"], ""))
        if ratio is not None:
            entry["speedup"] = _interval(ratio)
        gpus.setdefault(row["gpu"], []).append(entry)
    for entries in gpus.values():
        entries.sort(key=lambda entry: [entry[name] for name in KEY])
    return {"study": study, "confidence": CONFIDENCE, "gpus": dict(sorted(gpus.items()))}


def _text(results: Results, study: str) -> str:
    """The same as JSON, one row a line."""
    found = references(results, study)
    gpus = [
        f"  {json.dumps(gpu)}: [\n" + ",\n".join(f"   {json.dumps(e)}" for e in entries) + "\n  ]"
        for gpu, entries in found["gpus"].items()
    ]
    head = "".join(f' "{name}": {json.dumps(found[name])},\n' for name in ("study", "confidence"))
    return "{\n" + head + ' "gpus": {\n' + ",\n".join(gpus) + "\n }\n}\n"


def _arguments(parser: argparse.ArgumentParser) -> None:
    page_arguments(parser)
    parser.add_argument("--study", default="quick", help="whose rows (default: quick)")


@command(
    "prediction intervals of recorded rows, as JSON for ReFrame",
    _arguments,
    ("references results", "on the terminal"),
    (
        "references results -o sites/reframe/references.json",
        "for the repository; with your own results, for your site",
    ),
    order=58,
)
def _run(options: argparse.Namespace) -> int:
    print_or_write(_text(load_aloud(options.results), options.study), options.out)
    return 0
