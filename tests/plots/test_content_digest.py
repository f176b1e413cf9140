"""The digest over the content of a file is the one that the harness takes."""

from __future__ import annotations

import json

import pytest
import synthetic

from plots.data.content_digest import content_digest
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.errors import ResultFileError


def test_it_is_sha256_of_what_it_says_it_hashes():
    """By sha256sum, and the same texts as in tests/harness/results/content_digest_test.cpp."""
    assert content_digest({}) == (
        "sha256:6ca6486412ffd97e14bd93d83faa44cc5b39ddf8a945875c3dc9192193db2bad"
    )
    document = {"a": [1, -2, 2**64 - 1, 0.1, "€", None], "b": {"": True}}
    # o2:s1:aa6:i1;i-2;i18446744073709551615;d3fb999999999999a;s3:€ns1:bo1:s0:t
    assert content_digest(document) == (
        "sha256:aef5684940a73fcd409938b14f6a0893c9fbd62d374f3c953ccad46922f50d20"
    )
    assert content_digest({**document, "digest": "any"}) == content_digest(document)


def test_it_is_what_the_harness_wrote():
    golden = json.loads((ROOT / "tests" / "golden" / "result.json").read_text(encoding="utf-8"))
    assert golden["version"] == 4 and list(golden)[-1] == "digest"
    assert content_digest(golden) == golden["digest"]


def test_numbers_count_as_what_they_are():
    def digest(number):
        return content_digest({"x": json.loads(number)})

    assert digest("1") == digest("1.0") and digest("100") == digest("1e2")
    assert digest("0") == digest("-0.0") == digest("-0")
    assert digest("1") != digest('"1"') and digest("1") != digest("true")
    assert digest("18446744073709551615") != digest("18446744073709551614")
    assert digest("9007199254740993") != digest("9007199254740992")
    assert digest("1e300") == digest("1" + 300 * "0"), "beyond 64 bits both are doubles"


def test_a_change_that_the_samples_do_not_show_is_refused(save):
    document = synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)])
    written = document["digest"]
    assert load([save(json.dumps(document, indent=3))]).rows["registers"].iloc[0] == 32
    document["groups"][0]["rows"][0]["evidence"][0]["registers"] = 31
    with pytest.raises(ResultFileError) as caught:
        load([save(json.dumps(document))])
    message = str(caught.value)
    assert f"expected {content_digest(document)}, as the content has it, at digest" in message
    assert f"found {written}: the file was changed or damaged after it was written" in message
    assert "measure again" in message and "\n" not in message


@pytest.mark.parametrize(
    ("digest", "line"),
    [
        (..., 'expected member "digest" in the file'),
        (7, "expected type string at digest, found 7"),
        ("sha256:", "at digest"),
    ],
)
def test_a_file_of_this_version_must_have_one(save, digest, line):
    document = synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)])
    del document["digest"]
    if digest is not ...:
        document["digest"] = digest
    with pytest.raises(ResultFileError) as caught:
        load([save(json.dumps(document))])
    assert line in str(caught.value)


def test_how_many_files_have_none_is_said_once(save):
    document = synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)])
    save(document, "r/new.json")
    for n in (1, 2):
        old = synthetic.document([synthetic.group("nw", {"n": n}, 1.0)])
        old["version"] = 2
        del old["digest"]
        save(old, f"r/{n}.json")
    folder = save({"schema": "other"}, "r/other.json").parent
    (note,) = [n for n in load([folder]).notes if "digest" in n]
    assert note.startswith("2 of 3 files are from before files carried a digest of their content")
