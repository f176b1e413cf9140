"""Result files as JSON documents of the newest version, valid by the schema.

A file is hostile until it has passed: whatever is wrong with it becomes one ResultFileError line,
``file: what was expected``.
"""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import itertools
import json
import re
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from plots import shell
from plots.data import checked, recomputed, schema
from plots.data.cache import Cache, default_folder
from plots.data.content_digest import MEMBER, content_digest
from plots.data.frozen import is_superseded
from plots.data.validation import first_error
from plots.errors import PlotsError, ResultFileError
from plots.folders import json_files, shortened, what_it_is
from plots.statistics.claims import claim_of

SCHEMA_NAME = "amasia-result"
PROFILE_NAME = "amasia-profile"  # of what stands beside results (plots/data/profiles.py)
SAMPLE_COLUMNS = tuple(schema.members("samples"))
_WORDS = schema.members("group")["stop_reason"]["enum"]


def _are_positive(values: np.ndarray) -> bool:
    return bool(np.all((values > 0) & (values < np.inf)))


_MOST = 2**31 - 1  # as the harness counts them

# What a column of samples may hold, by the type the schema gives its items: types, what the values
# as an array must be, how that is said, and the type of the array.
_ITEMS: dict[str, tuple[set[type], Callable[[np.ndarray], bool], str, type]] = {
    "integer": (
        {int},
        lambda values: bool(np.all((values >= 0) & (values <= _MOST))),
        f"integers of at least 0, at most {_MOST},",
        np.int64,
    ),
    "boolean": ({bool}, lambda values: True, "true or false", bool),
    "number": ({int, float}, _are_positive, "positive numbers", float),
    # null becomes NaN
    "number or null": (
        {int, float, type(None)},
        lambda values: _are_positive(values[~np.isnan(values)]),
        "positive numbers or null",
        float,
    ),
}


def _column(values: list[Any], item_type: str) -> np.ndarray | None:
    """The values as an array; None where one is not what the schema asks of it."""
    types, fit, _, dtype = _ITEMS[item_type]
    if not set(map(type, values)) <= types:
        return None
    try:
        array = np.asarray(values, dtype=dtype)
    except OverflowError:
        return None
    return array if fit(array) else None


def _item_type(column: str) -> str:
    types = schema.members("samples")[column]["items"]["type"]
    return types if isinstance(types, str) else " or ".join(types)


_SAMPLES = ("samples", "repeat_samples")  # members of a row that hold columns


def _are_columns(samples: Any, names: Sequence[str]) -> bool:
    """Whether these are lists of one length, with these names."""
    return (
        isinstance(samples, dict)
        and samples.keys() == set(names)
        and all(isinstance(column, list) for column in samples.values())
        and len(set(map(len, samples.values()))) == 1
    )


def _all_samples(several: Sequence[Any]) -> list[dict[str, np.ndarray]] | None:
    """The sample columns of all rows of a file as arrays, None where one is not what it should be.
    Checked here and not by the schema validator, which is too slow for hundreds of thousands of
    numbers, and together, because a row has few; the constraints are the schema's."""
    if not all(_are_columns(samples, SAMPLE_COLUMNS) for samples in several):
        return None
    lengths = (len(samples[SAMPLE_COLUMNS[0]]) for samples in several)
    ends = list(itertools.accumulate(lengths, initial=0))
    cut: dict[str, list[np.ndarray]] = {}
    for name in SAMPLE_COLUMNS:
        of_all = list(itertools.chain.from_iterable(samples[name] for samples in several))
        array = _column(of_all, _item_type(name))
        if array is None:
            return None
        cut[name] = [array[begin:end] for begin, end in itertools.pairwise(ends)]
    return [dict(zip(cut, arrays, strict=True)) for arrays in zip(*cut.values(), strict=True)]


def _check_samples(path: Path, where: str, samples: Any) -> dict[str, np.ndarray]:
    """The sample columns of one row as arrays. Raises ResultFileError, which says where one is not
    what it should be."""

    def fail(wanted: str) -> ResultFileError:
        return ResultFileError(f"{path}: expected {wanted} at {where}")

    if not isinstance(samples, dict) or set(samples) != set(SAMPLE_COLUMNS):
        raise fail("the columns " + ", ".join(SAMPLE_COLUMNS))
    for name in SAMPLE_COLUMNS:
        if not isinstance(samples[name], list):
            raise fail(f"a list in column {name}")
    if len({len(samples[name]) for name in SAMPLE_COLUMNS}) != 1:
        raise fail("columns of one length")
    arrays = {}
    for name in SAMPLE_COLUMNS:
        array = _column(samples[name], _item_type(name))
        if array is None:
            raise fail(f"{_ITEMS[_item_type(name)][2]} in column {name}")
        arrays[name] = array
    return arrays


_PROBE_COLUMNS = tuple(schema.members("probe"))


def _is_sound_probe(probe: Any) -> bool:
    """Whether a probe of the GPU is what the schema asks of it; where it is not, or in a way that
    is not asked for here, the validator says so."""
    if not _are_columns(probe, _PROBE_COLUMNS):
        return False
    for name, values in probe.items():
        item = schema.members("probe")[name]["items"]
        if item.keys() != {"type", "minimum"}:
            return False
        types = {int} if item["type"] == "integer" else {int, float}
        if not set(map(type, values)) <= types or min(values, default=0) < item["minimum"]:
            return False
    return True


@contextlib.contextmanager
def _without_sound_probes(document: dict[str, Any]) -> Iterator[None]:
    """Takes the items of sound probes away from the validator, which asks each of half a million by
    itself; the probes are back afterwards."""
    groups = document.get("groups")
    taken = [
        (group, group["probe"])
        for group in (groups if isinstance(groups, list) else ())
        if isinstance(group, dict) and _is_sound_probe(group.get("probe"))
    ]
    for group, _ in taken:
        group["probe"] = {name: [] for name in _PROBE_COLUMNS}
    try:
        yield
    finally:
        for group, probe in taken:
            group["probe"] = probe


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


_MOST_BYTES = 1 << 28  # as read_json_file() of the harness
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _check_kind(path: Path) -> None:
    """Raises ResultFileError for what is not to be opened: a pipe would wait for its writer, a
    device may never end."""
    try:
        kind, size = what_it_is(path), path.stat().st_size
    except FileNotFoundError:
        raise ResultFileError(f"{path}: expected a result file, found nothing") from None
    except OSError as error:
        raise ResultFileError(f"{path}: expected a readable file ({error.strerror})") from None
    if kind:
        raise ResultFileError(
            f"{path}: is {kind}; expected a regular file, which can be read more than once"
        )
    if size > _MOST_BYTES:
        raise ResultFileError(f"{path}: is larger than 256 MiB")


def text_of(path: Path) -> str:
    """The text of a JSON file in UTF-8; a byte-order mark before it is passed over, as the harness
    does. Raises ResultFileError."""
    _check_kind(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ResultFileError(f"{path}: expected a readable file ({error.strerror})") from None
    if content.startswith(_UTF_16):
        raise ResultFileError(f"{path}: expected JSON text in UTF-8, found UTF-16: convert it")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ResultFileError(f"{path}: expected JSON text in UTF-8") from None
    if not text.strip():
        raise ResultFileError(f"{path}: expected a result file, found an empty one")
    return text


def _double(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:20]} is a number that no double can hold")
    return value


def _integer(text: str) -> int:
    float(value := int(text))  # OverflowError
    return value


# Every digit as 0 and both letters of an exponent as e.
_AS_ZEROS = bytes.maketrans(b"123456789E", b"000000000e")
_MANTISSA_ENDS = b"0."
# A colon behind anything but a name is within a text, as in "sha256:".
_BEFORE_NUMBER = re.compile(rb"([-\[, \n\t\r]|(^|[\" \n\t\r]):)\Z")


def _may_be_too_large(text: str) -> bool:
    """Whether a number may be more than a double holds: to ask each takes as long as to read the
    whole file. What looks like an exponent stands in digests, too, but not behind a number."""
    zeros = text.encode("utf-8", "surrogatepass").translate(_AS_ZEROS)
    if 300 * b"0" in zeros:
        return True
    for mark in (b"e000", b"e+000"):
        at = zeros.find(mark)
        while at >= 0:
            before = zeros[max(0, at - 40) : at]
            number = before.rstrip(_MANTISSA_ENDS)  # without it what stands before its digits
            if number != before and (not number or _BEFORE_NUMBER.search(number)):
                return True
            at = zeros.find(mark, at + 1)
    return False


_JOURNAL = re.compile(r'\s*\{\s*"schema"\s*:\s*"amasia-journal"')


def parse(path: Path, text: str) -> Any:
    """A JSON document. Raises ResultFileError; so it does for a journal, which is several."""
    if _JOURNAL.match(text):
        merge = shell.command("amasia", "merge", path, "--out", "FILE")
        raise ResultFileError(
            f"{path}: is the journal of a run that did not finish: continue it (amasia run "
            f"--resume), or make a result file of what it holds: {merge}"
        )
    large = _may_be_too_large(text)
    try:
        return json.loads(
            text,
            parse_constant=_no_constant,
            parse_float=_double if large else None,
            parse_int=_integer if large else None,
        )
    except json.JSONDecodeError as error:
        if not text[error.pos :].strip() or error.msg.startswith("Unterminated"):
            raise ResultFileError(
                f"{path}: expected the rest of the JSON, but the file ends in line {error.lineno} "
                "(truncated)"
            ) from None
        raise ResultFileError(
            f"{path}: expected JSON, but line {error.lineno} column {error.colno}: {error.msg}"
        ) from None
    except (ValueError, OverflowError, RecursionError) as error:
        raise ResultFileError(f"{path}: expected JSON: {error}") from None


# An escape of half a character, which JSON can spell and no text can hold.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _check_characters(path: Path, document: Any, text: str) -> None:
    if _SURROGATE.search(text):
        try:
            json.dumps(document, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ResultFileError(
                f"{path}: expected text in Unicode, found half of a surrogate pair"
            ) from None


def _check_version(path: Path, document: Any) -> int:
    if not isinstance(document, dict) or document.get("schema") != SCHEMA_NAME:
        raise ResultFileError(f'{path}: expected an Amasia result file ("schema": "{SCHEMA_NAME}")')
    version, newest = document.get("version"), schema.version()
    if type(version) is int and version > newest:
        raise ResultFileError(
            f"{path}: result schema version {str(version)[:20]} is newer than this program, which "
            f"reads 1 to {newest}: read the file with the version of Amasia that wrote it, or a "
            "later one"
        )
    if type(version) is not int or version < 1:
        found = json.dumps(version)[:40]
        raise ResultFileError(
            f"{path}: expected result schema version 1 to {newest}, found {found}"
        )
    return version


_NONE = "sha256:" + 64 * "0"  # where the schema wants a digest and the version had none


def upgrade(document: dict[str, Any]) -> dict[str, Any]:
    """A document of an older version as one of the newest, in place. Of version 1: claims are
    computed, other words than those of version 2 for why a group stopped are none; its digests of
    the code are by path and stay what they are, they say nothing about digests by content. What is
    malformed stays for the validator.
    """
    version = document["version"]
    document["version"] = schema.version()
    if version < 3:
        document[MEMBER] = _NONE
    for group in document.get("groups", ()) if version < 4 else ():
        # No members of those versions: whoever wrote them in changes nothing by it.
        group.pop("interval_rule", None)
        for item in [*group["rows"], *group["comparisons"]]:
            for member in ("repeat_samples", "itself"):
                item.pop(member, None)
    for group in document.get("groups", ()) if version == 1 else ():
        if group.get("stop_reason") not in _WORDS:
            group["stop_reason"] = ""
        for comparison in group.get("comparisons", ()):
            comparison["claim"] = claim_of(group["comparisons"], comparison)
    return document


def _check_dates(path: Path, provenance: dict[str, Any]) -> None:
    """The schema asks for the form of a date, in which February has 30 days."""
    dates = {"provenance.date_utc": provenance["date_utc"]}
    for s, session in enumerate(provenance.get("sessions") or ()):
        dates[f"provenance.sessions[{s}].date_utc"] = session["date_utc"]
    for where, date in dates.items():
        try:
            datetime.fromisoformat(date)
        except ValueError:
            raise ResultFileError(
                f"{path}: expected a date and time that exist at {where}, found {date[:40]}"
            ) from None


def _check_content(path: Path, document: dict[str, Any], digest: str | None) -> None:
    """What the schema does not ask: that the dates exist, that all follows from the samples, and
    that nothing else was changed, either."""
    _check_dates(path, document["provenance"])
    try:
        recomputed.check(document)
    except recomputed.Difference as difference:
        raise ResultFileError(f"{path}: {difference}") from None
    if digest is not None and digest != document[MEMBER]:
        raise ResultFileError(
            f"{path}: expected {digest}, as the content has it, at {MEMBER}, found "
            f"{document[MEMBER]}: the file was changed or damaged after it was written; get it "
            "from where it came from again, or measure again"
        )


def read_document(path: Path, anew: bool = False) -> dict[str, Any]:
    """The JSON of one result file, brought up to the newest version and valid by its schema.

    Samples are arrays, one per column; "digests" says by what those of the code are taken,
    "has_digest" whether the file has one of its content. A content that was found sound before is
    looked through again only where that is asked for, ``anew``.

    Raises ResultFileError.
    """
    text = text_of(path)
    document = parse(path, text)
    version = _check_version(path, document)
    has_digest = version >= 3
    remembered = Cache(default_folder())
    content = hashlib.sha256(text.encode("utf-8")).digest()
    key = remembered.key("sound", schema.SCHEMA_PATH.read_bytes(), content)
    of_record = not anew and content in checked.contents()
    known = of_record or (not anew and remembered.find(key) is not None)
    digest = None
    if has_digest and not known:
        try:
            digest = content_digest(document)
        except UnicodeEncodeError:
            digest = ""  # half a character: what follows says so
    taken: list[tuple[str, dict[str, Any], str]] = []
    groups = document.get("groups")
    for g, group in enumerate(groups if isinstance(groups, list) else []):
        rows = group.get("rows") if isinstance(group, dict) else None
        for r, row in enumerate(rows if isinstance(rows, list) else []):
            for member in _SAMPLES if isinstance(row, dict) else ():
                if member in row:
                    taken.append((f"groups[{g}].rows[{r}].{member}", row, member))
    samples = _all_samples([row[member] for _, row, member in taken])
    if samples is None:
        samples = [_check_samples(path, where, row[member]) for where, row, member in taken]
    for _, row, member in taken:
        row[member] = {name: [] for name in SAMPLE_COLUMNS}
    if version < schema.version():
        with contextlib.suppress(AttributeError, KeyError, TypeError):
            upgrade(document)  # malformed: the validator says what and where
    if not of_record:
        with _without_sound_probes(document):
            error = first_error(document, content, schema.SCHEMA_PATH)
        if error is not None:
            raise ResultFileError(f"{path}: {schema.explain(error)}")
    _check_characters(path, document, text)
    for (_, row, member), columns in zip(taken, samples, strict=True):
        if member in row:  # which an older version may not have
            row[member] = columns
    if not known:
        _check_content(path, document, digest)
        remembered.keep(key, b"sound")
    confidence = recomputed.asked_confidence(document["provenance"])
    for group in document["groups"]:
        recomputed.judge_anew(group, confidence)
    document["digests"] = "by path" if version == 1 else "by content"
    document["has_digest"] = has_digest
    return document


# How the harness begins a file. It need not be read to the end to be known, which of thirty
# megabytes takes a second; what else is wrong with a result read_document() says.
_BEGINNING = re.compile(rf'\s*\{{\s*"schema"\s*:\s*"({SCHEMA_NAME}|{PROFILE_NAME})"\s*,')


def kind_at_beginning(text: str) -> str:
    """SCHEMA_NAME or PROFILE_NAME, by how the text begins; "" where it is no such beginning."""
    match = _BEGINNING.match(text)
    return match[1] if match else ""


def _kind(path: Path) -> str:
    if kind := kind_by_beginning(path):
        return kind
    version = 0, 0
    with contextlib.suppress(OSError):  # which text_of() puts into words
        status = path.stat()
        version = status.st_size, status.st_mtime_ns
    return _kind_as_written(path, version)


@lru_cache(maxsize=64)  # a report asks several times what the files in a folder are
def _kind_as_written(path: Path, version: tuple[int, int]) -> str:
    """What a file is that has to be read to the end to be known. ``version``, its size and when it
    was changed, tells it from another one in its place."""
    text = text_of(path)
    document = parse(path, text)
    return str(document.get("schema", "")) if isinstance(document, dict) else ""


def kind_by_beginning(path: Path) -> str:
    """The same of a file; what is wrong with one that cannot be read, its reader says."""
    try:
        # A pipe gives its beginning once.
        if not what_it_is(path):
            with path.open(encoding="utf-8-sig", errors="replace") as file:
                return kind_at_beginning(file.read(200))
    except OSError:
        pass  # read_document() says what is wrong with it
    return ""


EXAMPLES = "examples"  # a folder of results of what is no part of the suite


def find_files(
    paths: Sequence[Path], without: Collection[Path] = ()
) -> tuple[list[Path], list[str]]:
    """The result files named by ``paths`` (files, or folders searched recursively for *.json) and
    notes about what else of that name is in folders: tuning tables, exports, what an editor or
    another system left there, and what is no file. What is named by itself must be a result file.
    Profiles, which stand beside results, are passed over, and so are files ``without`` which is
    asked for, and frozen ones of a GPU that has current ones (plots/data/frozen.py).

    Raises PlotsError when a path does not exist or nothing was found.
    """
    found: list[Path] = []
    notes: list[str] = []
    for path in paths:
        try:
            status = path.stat()
        except FileNotFoundError:
            raise PlotsError(
                f"{path}: expected a result file or a folder of them, found nothing"
            ) from None
        except OSError as error:
            raise PlotsError(f"{path}: cannot be read ({error.strerror})") from None
        if not stat.S_ISDIR(status.st_mode):
            _check_kind(path)
            if kind_by_beginning(path) != PROFILE_NAME:
                found.append(path)
            continue
        candidates, foreign = json_files(path)
        notes += foreign
        for candidate in candidates:
            if candidate in without or is_superseded(candidate, path):
                continue
            if EXAMPLES in candidate.relative_to(path).parts[:-1]:
                continue
            try:
                kind = _kind(candidate)
            except ResultFileError as error:  # a damaged result still begins as one
                notes.append(f"{error}; it was left out.")
                continue
            if kind == SCHEMA_NAME:
                found.append(candidate)
            elif kind != PROFILE_NAME:
                notes.append(f"{candidate} is no result file and was left out.")
    profiles = [str(path) for path in paths if path.is_file()]
    if not found and profiles:
        raise PlotsError(
            f"{', '.join(profiles)}: a profile, which python -m plots why reads beside the results "
            "that it explains: name those, too"
        )
    if not found:
        where = ", ".join(str(path) for path in paths)
        raise PlotsError(
            "; ".join([f"no result files under {where}", *(n.rstrip(".") for n in notes[:3])])
            + "; make one with: amasia study quick"
        )
    return list(dict.fromkeys(found)), shortened(notes)


def what_is_wrong(path: Path) -> str:
    """What is wrong with a JSON file in a folder of results, "" if nothing is or it is no result
    file."""
    try:
        if _kind(path) != SCHEMA_NAME:
            return ""
    except ResultFileError:
        return ""  # of which find_files() makes a note
    try:
        read_document(path)
    except ResultFileError as error:
        return str(error)
    return ""
