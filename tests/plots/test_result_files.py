"""A file whose digest is right is taken; whatever is wrong with another one is one line."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import time
import zlib

import planted
import pytest

from plots.data import documents
from plots.data.documents import find_files, read_document
from plots.data.load import load
from plots.errors import ResultFileError
from plots.tree import ROOT

TEXT = planted.sealed(planted.document([planted.group("nw", {"n": 64}, 1.0)])).encode()
PACKED = gzip.compress(TEXT, mtime=0)
OLD = b'{\n "schema": "amasia-result",\n "version": %s,\n "groups": []\n}\n'
LINE = '{"digest":"sha256:0","schema":"amasia-journal","version":5}\n'


def refused(path):
    with pytest.raises(ResultFileError) as caught:
        read_document(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and "\n" not in message and len(message) < 500
    return message


@pytest.mark.parametrize("content", [TEXT, PACKED, b"\xef\xbb\xbf" + TEXT])
def test_packed_and_plain_files_are_told_apart_by_their_first_bytes(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    assert len(read_document(path).groups) == 1
    assert find_files([tmp_path]) == ([path], [])


def resealed(change):
    """The text after a change behind its first line, with the digest of what is there now."""
    rest = change(TEXT.split(b"\n", 1)[1])
    digest = hashlib.sha256(rest).hexdigest().encode()
    return b'{"schema":"amasia-result","version":5,"digest":"sha256:%s",\n%s' % (digest, rest)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        *((OLD % version, f"is a result file of format {int(version)}, which Amasia 0.1.0 reads "
           "(tag v0.1.0); this program reads 5") for version in (b"1", b"2", b"3", b"4")),
        (OLD % b"6", "version 6 is newer than this program, which reads 5: read the file with"),
        (OLD % b"1e3", "expected result version 5, found 1000.0"),
        (OLD % b"0", "expected result version 5, found 0"),
        (OLD % b"null", "expected result version 5, found None"),
        (PACKED[:-9], "ends in the middle of its gzip data"),
        (PACKED[:30], "ends in the middle of its gzip data"),
        (PACKED + PACKED, "has more data after its gzip stream"),
        (PACKED + b"\0", "has more data after its gzip stream"),
        (PACKED[:40] + b"\xff\xff\xff" + PACKED[43:], "is no whole gzip file"),
        (b"", "expected a result file, found an empty one"),
        (b" \n", "expected a result file, found an empty one"),
        (gzip.compress(b"", mtime=0), "expected a result file, found an empty one"),
        (b"{", "expected JSON"),
        (b'{"schema": }', "expected JSON"),
        (b"[1, 2]", 'expected an Amasia result file ("schema": "amasia-result")'),
        (b'{"schema":"amasia-profile","version":2}', "expected an Amasia result file"),
        (b"[" * 100_000, "expected"),
        (b"\xff\xfe\x00", "expected JSON"),
        (TEXT.decode().encode("utf-16"), "expected JSON"),
        (LINE.encode(), "is the journal of a run that did not finish: continue it"),
        (TEXT[: len(TEXT) // 2], "the file was changed or damaged"),
        (TEXT.replace(b'"nw/tma"', b'"nw/tna"', 1), "the file was changed or damaged"),
        (TEXT.replace(b"}\n", b"} \n"), "the file was changed or damaged"),
        (json.dumps(json.loads(TEXT), indent=1).encode(), "the file was changed or damaged"),
        (resealed(lambda rest: rest.replace(b"GB/s", b"\xffB/s", 1)), "Invalid UTF-8"),
        (resealed(lambda rest: rest.replace(b'"status":"ok"', b'"status":"1"', 1)),
         "Invalid enum value '1' - at `$.groups[0].rows[0].status`"),
        (resealed(lambda rest: rest.replace(b'"wall_s"', b'"wall"', 1)), "unknown field `wall`"),
        (resealed(lambda rest: re.sub(rb'"commit":"\w+",', b"", rest, count=1)),
         "missing required field `commit` - at `$.provenance`"),
        (resealed(lambda rest: re.sub(rb'"time_ms":\[[\d.]+', b'"time_ms":[0', rest, count=1)),
         "`float` > 0.0 - at `$.groups[0].rows[0].samples.time_ms[0]`"),
        (resealed(lambda rest: re.sub(rb'"time_ms":\[[\d.]+,', b'"time_ms":[', rest, count=1)),
         "expected columns of one length, found others in sm_clock_mhz at groups[0].rows[0]"),
        (resealed(lambda rest: rest.replace(b'"time_ms":[', b'"throttled":[999],"time_ms":[', 1)),
         "expected indices of samples in throttled at groups[0].rows[0]"),
        (resealed(lambda rest: rest.replace(b'"evidence":[0]', b'"evidence":[99]', 1)),
         "at groups[0].rows[0]"),
        (resealed(lambda rest: rest.replace(b'"wall_s":', b'"session":3,"wall_s":', 1)),
         "at groups[0].session"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(tmp_path, content, line):
    path = tmp_path / "a.json.gz"
    path.write_bytes(content)
    assert line in refused(path)


def test_a_bomb_is_unpacked_no_further_than_a_result_can_be(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "_MOST_TEXT", 1 << 20)
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(bytes(50 << 20)))
    assert "unpacks to more than 1 MiB" in refused(path)
    monkeypatch.setattr(documents, "_MOST_BYTES", 1000)
    assert "is larger than 256 MiB" in refused(path)


def test_examples_are_found_where_they_are_asked_for(save):
    mine = save(planted.document([planted.group("nw", {"n": 64}, 1.0)]), "results/a.json")
    example = save(mine.read_text(), "results/examples/softmax/h200.json")
    assert find_files([mine.parent])[0] == [mine]
    assert find_files([example.parent.parent])[0] == find_files([example])[0] == [example]


def test_a_time_is_the_float32_that_the_shortest_decimal_gives(tmp_path):
    text = resealed(
        lambda rest: re.sub(rb'"time_ms":\[[\d.]+', b'"time_ms":[0.019920001', rest, count=1)
    )
    path = tmp_path / "a.json.gz"
    path.write_bytes(zlib.compress(text, wbits=31))
    row = read_document(path).groups[0].rows[0]
    assert row.samples.time_ms[0] == 0.019920000806450844
    assert load([path]).samples["time_ms"].iloc[0] == 0.019920000806450844


def test_the_whole_record_is_read_in_seconds():
    """Three on a core that nobody else uses; the bound is for busy machines and slow ones."""
    start = time.process_time()
    record = load([ROOT / "results"])
    assert time.process_time() - start < 15
    assert len(record.samples) > 100_000 and record.earlier is not None
    largest = max((ROOT / "results").rglob("*.json.gz"), key=lambda path: path.stat().st_size)
    start = time.process_time()
    read_document(largest)
    assert time.process_time() - start < 2
