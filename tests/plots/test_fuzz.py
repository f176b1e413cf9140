"""Whatever a file holds, reading it ends with results or with one line that says what is wrong.

The examples are the same in every run; HYPOTHESIS_PROFILE=thorough tries many more.
"""

import copy
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from plots.advice.observed import from_report
from plots.data.documents import read_document
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.errors import PlotsError, ResultFileError
from tests.process import sealed

_KEPT = {
    "database": None,
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    "phases": [Phase.explicit, Phase.generate, Phase.shrink],
}
settings.register_profile("bounded", max_examples=150, **_KEPT)
settings.register_profile("thorough", max_examples=20_000, **_KEPT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "bounded"))

CORPUS = sorted((ROOT / "tests" / "fuzz" / "corpus" / "result").iterdir())
TEXTS = [path.read_text(encoding="utf-8") for path in CORPUS]
DOCUMENTS = [json.loads(text) for text in TEXTS]


def places(value, path=()):
    """Every place in a document, as a path."""
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


PLACES = [(number, path) for number, d in enumerate(DOCUMENTS) for path in places(d) if path]

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.sampled_from([0, -1, 2**31, 2**63, 2**64, 10**400, 5e-324, 1e308, -0.0, 0.5]),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
        st.sampled_from(["ok", "failed", "nw/baseline", "best", "iso", "faster", "0.95", ""]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


def tried(path: Path) -> bool:
    """Whether the file was taken; any other error than the one for people is one of the reader."""
    try:
        document = read_document(path)
    except ResultFileError as error:
        message = str(error)
        assert message.startswith(f"{path}: ") and "\n" not in message and len(message) < 2010
        return False
    try:
        assert len(load([path]).groups) <= len(document.groups)
    except PlotsError as error:
        assert "\n" not in str(error)
    return True


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_the_corpus_is_taken_as_it_is(path):
    assert tried(path)


@given(where=st.sampled_from(PLACES), value=VALUES, gone=st.booleans())
def test_any_value_anywhere(tmp_path, where, value, gone):
    number, path = where
    document = copy.deepcopy(DOCUMENTS[number])
    place = document
    for step in path[:-1]:
        place = place[step]
    if gone:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    file = tmp_path / "fuzzed.json"
    file.write_text(sealed(document), encoding="utf-8")
    tried(file)


@st.composite
def edited(draw, texts, words):
    """One of the texts, and the same with a part replaced."""
    text, length = draw(st.sampled_from(texts)), draw(st.integers(0, 60))
    at = draw(st.integers(0, len(text) - 1))
    put = draw(st.text(max_size=5) | st.sampled_from(words))
    return text, text[:at] + put + text[at + length :]


IN_JSON = [*'{}[],:"\\', "1e999", "NaN", "\\ud800", "-", "[" * 2000, "null"]


@given(edited(TEXTS, IN_JSON))
def test_any_text_anywhere(tmp_path, texts):
    text, changed = texts
    file = tmp_path / "fuzzed.json"
    file.write_bytes(changed.encode("utf-8", "surrogatepass"))
    assert not tried(file) or changed == text


@given(content=st.binary(max_size=200))
def test_any_bytes(tmp_path, content):
    file = tmp_path / "fuzzed.json"
    file.write_bytes(content)
    assert not tried(file)


REPORTS = sorted((ROOT / "tests/golden/ncu").iterdir())
NCU_TEXTS = [path.read_text(encoding="utf-8") for path in REPORTS]


IN_REPORTS = ['"ID"', '"', ",", "\n", "==ERROR== ", "n/a", "1e999", "(0, 0, 0)", "\0"]


@given(edited(NCU_TEXTS, IN_REPORTS))
def test_any_report_of_a_profiler(tmp_path, texts):
    file = tmp_path / "fuzzed.csv"
    file.write_text(texts[1], encoding="utf-8", errors="replace")
    try:
        for name in (None, "tma"):
            assert from_report(file, name).traits
    except PlotsError as error:
        assert "\n" not in str(error) and str(error).startswith(f"{file}: ")
