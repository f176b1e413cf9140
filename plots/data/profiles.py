"""Profiles: what the hardware counted while variants ran (`amasia profile`), joined to the rows of
results by GPU, app, size, modes, variant, config and the digest of the code.

What the counters are called and mean is in the schema, which the harness makes of their
declarations.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plots.data import schema
from plots.data.documents import PROFILE_NAME, kind_by_beginning, read
from plots.data.load import Results
from plots.data.sessions import size_text
from plots.folders import JSON_NAMES, json_files

# GPU, app, size, cache mode, launch mode, variant, config, digest of the code.
Key = tuple[str, str, str, str, str, str, str, str]


@dataclass(frozen=True)
class Profile:
    """The counters of one row: name -> value, absent where it was not counted; ``stalls`` as shares
    of the time of the resident warps."""

    key: Key
    counters: dict[str, float]
    stalls: dict[str, float]

    def __getitem__(self, name: str) -> float | None:
        return self.counters.get(name)


def read_profile(path: Path) -> list[Profile]:
    """The rows of a profile that have counters. Raises ResultFileError."""
    document = read(path, PROFILE_NAME)
    found = []
    for group in document.groups:
        key = group.key
        case = document.provenance.device.name, key.app, size_text(key.size), key.cache, key.launch
        for row in (row for row in group.rows if row.counters is not None):
            counted = {name: getattr(row.counters, name) for name in schema.scalars("counters")}
            known = {name: value for name, value in counted.items() if value is not None}
            place = (*case, row.variant, row.config, row.source_digest)
            found.append(Profile(place, known, row.counters.stalls))
    return found


def find_profiles(paths: Iterable[Path | str]) -> list[Path]:
    """The profiles among files, and in folders searched for them."""
    found = []
    for path in map(Path, paths):
        candidates = json_files(path)[0] if path.is_dir() else [path]
        found += [c for c in candidates if kind_by_beginning(c) == PROFILE_NAME]
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Profiles:
    """The profiles of some files, of the same row the one of the last file."""

    by_key: dict[Key, Profile]

    def __len__(self) -> int:
        return len(self.by_key)

    def of(self, row: Any) -> Profile | None:
        """Of a row of a Results' frame, given as a named tuple."""
        return self.by_key.get(key_of(row))

    @property
    def gpus(self) -> set[str]:
        """Those that were profiled."""
        return {key[0] for key in self.by_key}

    def of_other_code(self, results: Results) -> list[str]:
        """The variants that were profiled on a GPU of the results, and of whose code there is no
        row."""
        recorded = {(r.gpu, r.variant, r.source_digest) for r in results.rows.itertuples()}
        measured = {(gpu, variant) for gpu, variant, _ in recorded}
        stale = {
            key[5]
            for key in self.by_key
            if (key[0], key[5]) in measured and (key[0], key[5], key[7]) not in recorded
        }
        return sorted(stale)


def key_of(row: Any) -> Key:
    """Where the counters of a row of a Results' frame are kept."""
    return (row.gpu, row.app, row.size, row.cache, row.launch, row.variant, row.config,
            row.source_digest)  # fmt: skip


def load_profiles(paths: Sequence[Path | str]) -> Profiles:
    """The profiles among files and in folders. Raises ResultFileError."""
    by_key = {}
    for path in find_profiles(paths):
        for profile in read_profile(path):
            by_key[profile.key] = profile
    return Profiles(by_key)


def paths_beside(results: Iterable[Path | str]) -> list[Path]:
    """The profiles in the folders of result files."""
    folders = sorted({Path(path).parent for path in results})
    return find_profiles(
        path for folder in folders for name in JSON_NAMES for path in sorted(folder.glob(name))
    )


def profiles_beside(results: Results) -> Profiles:
    """Those in the folders that the results were read from. Raises ResultFileError."""
    return load_profiles(paths_beside(results.files["path"]))
