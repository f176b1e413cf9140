"""Everything in results/, loaded once for all tests of a process."""

from __future__ import annotations

import functools

from plots.data.load import Results, load
from plots.data.strategies import ROOT


@functools.cache
def whole_record() -> Results:
    return load([ROOT / "results"])
