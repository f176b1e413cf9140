"""Files of results and of profiles as typed records.

A file whose digest is right is what the harness wrote, which computes what follows from the samples
and checks it when it reads; here it is taken as it is. Whatever is wrong with another one becomes
one ResultFileError line, ``file: what was expected``.
"""

import hashlib
import math
import re
import shlex
import stat
import zlib
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from plots.data import schema
from plots.errors import PlotsError, ResultFileError
from plots.folders import Note, is_superseded, json_files, what_it_is
from plots.processes import no_search_for_garbage

SCHEMA_NAME = "amasia-result"
PROFILE_NAME = "amasia-profile"  # of what stands beside results (plots/data/profiles.py)
TUNING_NAME = "amasia-tuning"  # likewise; only amasia reads it
SAMPLE_COLUMNS = ("round", "time_ms", "sm_clock_mhz", "throttled")

# Folders of results: of what is no part of the suite, and what was advised before measuring.
ASIDE = {"examples", "advice"}

# As the harness bounds what it reads (harness/results/envelope.cpp).
_MOST_BYTES = 1 << 28
_MOST_TEXT = 1 << 30
# Parameters that an app got later, with the value that says what older files measured.
_ADDED = {"lud": {"arithmetic": "fp32"}}
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


# --- The bytes ------------------------------------------------------------------------------------


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


def _unpacked(path: Path, packed: bytes) -> bytes:
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        text = unpacker.decompress(packed, _MOST_TEXT + 1)
    except zlib.error as error:
        raise ResultFileError(f"{path}: is no whole gzip file ({error})") from None
    if len(text) > _MOST_TEXT:
        raise ResultFileError(f"{path}: unpacks to more than {_MOST_TEXT >> 20} MiB")
    if not unpacker.eof:
        raise ResultFileError(f"{path}: ends in the middle of its gzip data")
    if unpacker.unused_data:
        raise ResultFileError(f"{path}: has more data after its gzip stream")
    return text


def text_of(path: Path) -> bytes:
    """The text of a file, unpacked where it is compressed. Raises ResultFileError."""
    _check_kind(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ResultFileError(f"{path}: expected a readable file ({error.strerror})") from None
    text = _unpacked(path, content) if content.startswith(_GZIP) else content
    return text.removeprefix(_BYTE_ORDER_MARK)


# --- What kind of file it is ----------------------------------------------------------------------

# The harness begins every file with the name of its schema, a line of a journal with a digest.
_BEGINNING = re.compile(
    rb'\s*\{\s*(?:"digest"\s*:\s*"[^"]*"\s*,\s*)?"schema"\s*:\s*"(amasia-[a-z]+)"'
)
_FIRST_LINE = re.compile(
    rb'\{"schema":"([a-z-]+)","version":(\d+),"digest":"(sha256:[0-9a-f]{64})",\n'
)


def _kind_of(text: bytes) -> str:
    match = _BEGINNING.match(text)
    return match[1].decode() if match else ""


def kind_by_beginning(path: Path) -> str:
    """SCHEMA_NAME or another of ours, by how a file begins; "" where it begins with none.
    What is wrong with a result its reader says."""
    try:
        if what_it_is(path):  # a pipe gives its beginning once
            return ""
        with path.open("rb") as file:
            beginning = file.read(400)
        if beginning.startswith(_GZIP):
            beginning = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(beginning, 400)
    except (OSError, zlib.error):
        return ""
    return _kind_of(beginning.removeprefix(_BYTE_ORDER_MARK))


class _Header(msgspec.Struct):
    schema: Any = None
    version: Any = None


def _check_header(path: Path, text: bytes, name: str, newest: int) -> None:
    """Says what a file is that does not begin as one of the newest version does."""
    what = name.removeprefix("amasia-")
    if not text.strip():
        raise ResultFileError(f"{path}: expected a {what} file, found an empty one")
    if _kind_of(text) == "amasia-journal":
        merge = shlex.join(("amasia", "merge", str(path), "--out", "FILE"))
        raise ResultFileError(
            f"{path}: is the journal of a run that did not finish: continue it (amasia run "
            f"--resume), or make a result file of what it holds: {merge}"
        )
    try:
        header = msgspec.json.decode(text, type=_Header)
    except msgspec.ValidationError:
        header = _Header()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultFileError(f"{path}: expected JSON: {error}") from None
    if header.schema != name:
        raise ResultFileError(f'{path}: expected an Amasia {what} file ("schema": "{name}")')
    version = header.version
    if type(version) is not int or version < 1:
        found = str(version)[:40]
        raise ResultFileError(f"{path}: expected {what} version {newest}, found {found}")
    if version > newest:
        raise ResultFileError(
            f"{path}: version {str(version)[:20]} is newer than this program, which reads "
            f"{newest}: read the file with the version of Amasia that wrote it, or a later one"
        )
    if version < newest:
        raise ResultFileError(
            f"{path}: is a {what} file of format {version}, which Amasia 0.1.0 reads (commit "
            f"8a85fa0f); this program reads {newest}"
        )


# --- The records ----------------------------------------------------------------------------------


@cache
def _decoder(name: str) -> tuple[Any, int]:
    """What decodes files of a schema, and their version."""
    if name == SCHEMA_NAME:
        version = schema.schema()["properties"]["version"]["const"]
        return msgspec.json.Decoder(schema.result_file()), version
    version = schema.members("profile_file")["version"]["const"]
    return msgspec.json.Decoder(schema.struct("profile_file")), version


def read(path: Path, name: str) -> Any:
    """A file of a schema as an instance of its class. Raises ResultFileError."""
    text = text_of(path)
    decoder, newest = _decoder(name)
    first = _FIRST_LINE.match(text)
    if first is None or (first[1].decode(), int(first[2])) != (name, newest):
        _check_header(path, text, name, newest)
    digest = "sha256:" + hashlib.sha256(memoryview(text)[text.find(b"\n") + 1 :]).hexdigest()
    if first is None or first[3].decode() != digest:
        found = first[3].decode() if first else "another first line"
        raise ResultFileError(
            f"{path}: digest: expected {digest}, as the bytes have it, found {found}: the file was "
            "changed or damaged after it was written; get it from where it came from again, or "
            "measure again"
        )
    try:
        with no_search_for_garbage():  # of thousands of lists, none of which has a cycle
            return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultFileError(f"{path}: {error}") from None


class Recorded(NamedTuple):
    """A result file and its path to link to."""

    path: str
    document: Any

    @property
    def device(self) -> Any:
        return self.document.provenance.device


class Samples:
    """The samples of a row; a clock that was not read is NaN. Arrays are made when they are asked
    for: of most rows of repeated sessions they are not."""

    def __init__(self, columns: Any) -> None:
        self._columns = columns
        clocks = sorted(clock for clock in columns.sm_clock_mhz if clock is not None)
        self.median_clock_mhz = clocks[len(clocks) // 2] if clocks else math.nan

    def __len__(self) -> int:
        return len(self._columns.time_ms)

    @cached_property
    def time_ms(self) -> np.ndarray:
        # A time is a float32, of which the file has the shortest decimal.
        return np.array(self._columns.time_ms, np.float32).astype(float)

    @cached_property
    def round(self) -> np.ndarray:
        return np.array(self._columns.round or range(len(self)), np.int64)

    @cached_property
    def sm_clock_mhz(self) -> np.ndarray:
        return np.array(self._columns.sm_clock_mhz or [None] * len(self), float)

    @cached_property
    def throttled(self) -> np.ndarray:
        throttled = np.zeros(len(self), bool)
        throttled[self._columns.throttled] = True
        return throttled


def _check_columns(columns: Any) -> None:
    """Raises ValueError for columns of several lengths, or indices of samples that are not."""
    count = len(columns.time_ms)
    for name in ("round", "position", "sm_clock_mhz"):
        if len(getattr(columns, name)) not in (0, count):
            raise ValueError(f"expected columns of one length, found others in {name}")
    if columns.throttled and max(columns.throttled) >= count:
        raise ValueError("expected indices of samples in throttled")


def read_document(path: Path) -> Any:
    """A result file, the samples of its rows as ``Samples`` and their evidence as the kernels
    themselves. Raises ResultFileError."""
    document = read(path, SCHEMA_NAME)
    where = ""
    try:
        for g, group in enumerate(document.groups):
            for name, value in _ADDED.get(group.key.app, {}).items():
                group.key.size.setdefault(name, value)
            for r, row in enumerate(group.rows):
                where = f"groups[{g}].rows[{r}]"
                _check_columns(row.samples)
                row.samples = Samples(row.samples)
                if row.repeat_samples is not None:
                    _check_columns(row.repeat_samples)
                    row.repeat_samples = Samples(row.repeat_samples)
                row.evidence = [document.kernels[k] for k in row.evidence]
            if group.session is not None:
                where = f"groups[{g}].session"
                document.provenance.sessions[group.session]
        for m, microbenchmark in enumerate(document.microbenchmarks):
            for r, row in enumerate(microbenchmark.rows):
                where = f"microbenchmarks[{m}].rows[{r}]"
                row.evidence = [document.kernels[k] for k in row.evidence]
    except (ValueError, IndexError) as error:
        raise ResultFileError(f"{path}: {error} at {where}") from None
    return document


# --- Files in folders -----------------------------------------------------------------------------


def find_files(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The result files named by ``paths``: files, or folders searched recursively for *.json.gz and
    *.json; and notes about other files of such names in folders (tuning tables, exports, what an
    editor left there). A path of a file must be a result file.

    Passed over are profiles, and frozen ones of a GPU that has current ones (plots/folders.py). So
    are those of examples, which are no part of the suite, and advice, unless their own folder is
    named.

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
            if is_superseded(candidate, path):
                continue
            if not ASIDE.isdisjoint(candidate.relative_to(path).parts[:-1]):
                continue
            kind = kind_by_beginning(candidate)
            if kind == SCHEMA_NAME:
                found.append(candidate)
            elif kind not in (PROFILE_NAME, TUNING_NAME):
                text = f"{candidate} is no result file and was left out."
                notes.append(Note(text, "foreign", str(candidate)))
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
    return list(dict.fromkeys(found)), notes
