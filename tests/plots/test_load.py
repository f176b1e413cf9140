"""Result files become frames; groups that are not valid, and the record of an earlier version."""

import copy
import gzip
import hashlib
import json
import re
import time
import zlib
from pathlib import Path
from unittest.mock import Mock

import msgspec
import numpy as np
import planted
import pytest

from plots import folders
from plots.advice.twin import twins_and_unseen
from plots.data import cases, documents
from plots.data import load as loading
from plots.data.documents import find_files, read_document
from plots.data.load import load, main_size, paired_times, sizes_of
from plots.data.schema import scalars
from plots.data.sessions import Measured, Sessions, SessionValue
from plots.errors import ResultFileError
from plots.papers.ours import own_value
from plots.statistics.claims import INVALID
from plots.tree import ROOT


def test_frames_hold_every_row_sample_comparison_and_ceiling(paper):
    document = planted.paper_like()
    rows = [row for group in document["groups"] for row in group["rows"]]
    assert len(paper.groups) == len(document["groups"]) == 20
    assert len(paper.rows) == len(rows)
    assert len(paper.samples) == sum(len(row["samples"]["time_ms"]) for row in rows)
    assert len(paper.comparisons) == sum(len(g["comparisons"]) for g in document["groups"])
    assert list(paper.ceilings["name"]) == [c["name"] for c in document["ceilings"]]
    first = paper.rows.iloc[0]
    assert first["median"] == rows[0]["time_ms"]["median"]
    assert first["strategy"] == "baseline" and first["registers"] == 32
    assert first["shared_bytes"] == 1024 + 8192
    assert first["instructions"] == "LDGSTS 12"  # no totals, no zeros
    assert first["floor_fraction"] == pytest.approx(
        document["groups"][0]["floor"]["floor_ms"] / first["median"]
    )


def test_files_from_before_a_parameter_have_its_value_of_then(save):
    sizes = [{"n": 64}, {"n": 64, "arithmetic": "tf32x3"}]
    groups = [planted.group("lud", size, 1.0) for size in sizes]
    found = load([save(planted.document(groups))]).groups["size"]
    assert list(found) == ["n=64,arithmetic=fp32", "n=64,arithmetic=tf32x3"]


def test_pairs_are_of_rounds_in_which_neither_was_throttled():
    def row(rounds, throttled):
        return np.array(rounds), 10.0 * np.array(rounds), np.array(throttled, dtype=bool)

    one, other = row([1, 2, 3, 4], [0, 1, 0, 0]), row([1, 3, 4, 5], [0, 1, 0, 0])
    assert [side.tolist() for side in paired_times(one, other)] == [[10, 40], [10, 40]]
    # Of a row that was throttled throughout there are no others.
    always = row([1, 2, 3, 4], [1, 1, 1, 1])
    assert [side.tolist() for side in paired_times(always, other)] == [[10, 40], [10, 40]]


def test_throttled_samples_are_kept_and_in_times_only_where_there_are_no_others(paper, load_groups):
    assert paper.samples["throttled"].sum() == 3 * 2 * 4  # dsm, iso and best, in four modes
    assert paper.samples["sm_clock_mhz"].isna().any()
    row = paper.rows[paper.rows["throttled"] > 0].iloc[0]
    assert row["samples"] == 21 and row["n"] == len(loading.usable_times(paper)[row["row"]]) == 18
    group = planted.group("nw", {"n": 64}, 1.0)
    group["rows"][0]["samples"]["throttled"] = [True] * 21
    results = load_groups(group)
    assert len(loading.usable_times(results)[results.rows.iloc[0]["row"]]) == 21


def test_a_ratio_inside_the_control_interval_is_no_claim(load_groups):
    group = planted.group("nw", {"n": 64}, 1.0)
    # The interval excludes 1, yet the ratio is within what baseline differs from itself.
    planted.set_ratio(group, "nw/register_bypass", "iso", 1.002, 0.001)
    frame = load_groups(group).comparisons
    inside = frame[(frame["strategy"] == "register_bypass") & (frame["role"] == "iso")].iloc[0]
    assert inside["resolved"] and inside["verdict"] == "faster"
    assert inside["claim"] == "within A/A noise"
    outside = frame[(frame["strategy"] == "tma") & (frame["role"] == "iso")].iloc[0]
    assert outside["claim"] == "faster"
    assert (outside["noise_low"], outside["noise_high"]) == pytest.approx(
        (1.0004 * np.exp(-0.003), 1.0004 * np.exp(0.003))
    )


def test_size_labels_name_what_differs(paper, load_groups):
    labels = set(paper.groups.loc[paper.groups["app"] == "hotspot", "size_label"])
    assert labels == {"rows=1024 cols=1024", "rows=4096 cols=4096", "rows=8192 cols=8192"}
    for app, size, label in (
        ("hotspot", planted.hotspot_size(64), "rows=64 cols=64"),
        ("nw", {"file": "a,b=c.txt"}, "file=a,b=c.txt"),  # separators in a value
    ):
        assert load_groups(planted.group(app, size, 1.0)).groups["size_label"].item() == label


def test_sizes_are_ordered_by_traffic_and_the_papers_first_size_is_main(paper, load_groups):
    assert sizes_of(paper.groups, "pathfinder") == [
        "rows=10000,cols=10000,pyramid=20,path=none",
        "rows=1000,cols=1000000,pyramid=20,path=none",
    ]
    assert main_size(paper.groups, "pathfinder").startswith("rows=1000,cols=1000000")
    assert main_size(paper.groups, "gemm") is None
    sweep = (planted.group("nw", {"n": n}, 1.0, preset="sweep") for n in (512, 4096, 1024))
    assert main_size(load_groups(*sweep).groups, "nw") == "n=4096"


FEW, MANY = {"rounds": 7}, {"rounds": 40}
LATER, MORE = "the later one (2026-02-01", "the one with more variants counts"


@pytest.mark.parametrize(
    ("early", "late", "counts", "why"),
    [
        ({}, {"preset": "quick"}, 3.0, LATER),
        (FEW, MANY, 3.0, LATER),
        (MANY, FEW, 5.0, "the one with more rounds (40) counts"),
        ({**MANY, "digest": "cd"}, FEW, 3.0, LATER),
        # As a later session has it that could repeat a library alone, the rest being of new code.
        ({}, {"part": True}, 5.0, MORE),
        ({"part": True}, {}, 3.0, MORE),
    ],
)
def test_of_the_same_group_in_two_files_one_counts(save, early, late, counts, why):
    def group(ms, part=False, **options):
        made = planted.group("nw", {"n": 64}, ms, **options)
        if part:
            made["rows"] = [row for row in made["rows"] if row["variant"] == "nw/tma"][:1]
        return made

    save(planted.document([group(3.0, **late)], date="2026-02-01T00:00:00Z"), "r/a.json")
    older = planted.document([group(5.0, **early)], date="2026-01-01T00:00:00Z")
    results = load([save(older, "r/b.json").parent])
    assert len(results.groups) == 1
    assert results.rows.iloc[0]["median"] == pytest.approx(counts, rel=0.02)
    assert results.groups.iloc[0]["preset"] == "paper"  # still one of the paper's sizes
    assert any(why in note for note in results.notes)


H200, H100 = "NVIDIA H200", "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(
    ("other", "apps", "other_apps", "ordered"),
    [
        # An older architecture, and one of the same with slower memory.
        (planted.A100, "n", "n", [H200, "NVIDIA A100-SXM4-40GB"]),
        ({**planted.device(H100), "memory_clock_mhz": 2619}, "n", "n", [H200, H100]),
        ({**planted.device(H100), "memory_clock_mhz": 2619}, "n", "nl", [H100, H200]),
    ],
)  # fmt: skip
def test_the_order_of_gpus(save, other, apps, other_apps, ordered):
    """By architecture, then by apps recorded or by memory."""
    for name, gpu, of in (("a", other, other_apps), ("b", None, apps)):
        names = {"n": "nw", "l": "lud"}
        groups = [planted.group(names[app], {"n": 64}, 5.0) for app in of]
        folder = save(planted.document(groups, gpu=gpu), f"r/{name}.json").parent
    results = load([folder])
    assert results.gpus == ordered
    assert set(results.where(gpu=H200).groups["gpu"]) == {H200}
    assert len(results.where(gpu=H200).ceilings) == len(results.ceilings) / 2


FRAMES = {
    "provenance": "files", "group": "groups", "work": "groups", "floor": "groups", "row": "rows",
    "median_interval": "rows", "comparison": "comparisons", "ratio_interval": "comparisons",
    "ceiling": "ceilings", "microbenchmark_row": "points", "finding": "findings",
}  # fmt: skip


@pytest.mark.parametrize("definition", FRAMES)
def test_every_value_of_the_schema_is_a_column(paper, definition):
    frame = getattr(paper, FRAMES[definition])
    assert scalars(definition) and set(scalars(definition)) <= set(frame.columns)


def test_schedules_and_movements_are_columns(matched_file, paper):
    results = load([matched_file])
    rows = results.rows[(results.rows["role"] == "matched") & (results.rows["size"] == "n=2048")]
    found = set(zip(rows["strategy"], rows["schedule"], strict=True))
    assert found == {
        ("baseline", "tall"), ("baseline", "iso"), ("baseline", "split"),
        ("overlap", "wide"), ("drop_off", "wide"), ("tma", "wide"), ("dsm", "wide"),
    }  # fmt: skip
    assert set(rows.loc[rows["status"] == "ok", "movement"]) == {"stages=3, producers=1"}
    c = results.comparisons
    own = c[(c["variant"] == "nw/tma") & (c["role"] == "matched") & (c["size"] == "n=2048")]
    assert list(zip(own["schedule"], own["against_schedule"], strict=True)) == [
        ("tall", "tall"), ("wide", "wide"),
    ]  # fmt: skip
    assert own["noise_high"].notna().all()  # that of best
    # Files that do not tell them apart: no text, as for any other absent one.
    assert set(paper.rows["schedule"]) == set(paper.rows["movement"]) == {""}
    assert set(paper.comparisons["against_schedule"]) == {""}
    assert paper.cross is None


def test_tables_of_amasia_cross_are_kept_apart(save):
    """They may be of the same app, size and modes as a comparison, and are later than it."""
    plain = planted.document([planted.matched_group("nw", {"n": 64}, 1.0)])
    table = planted.cross_like(
        planted.cross_group("nw", {"n": 64}, launch="stream"), date="2026-11-22T00:00:00Z"
    )
    alone = load([save(plain, "r/a.json")])
    both = load([save(plain, "r/a.json"), save(table, "r/b.json")])
    assert not both.notes and len(both.files) == 2
    for name in ("groups", "rows", "comparisons", "samples"):
        assert getattr(both, name).equals(getattr(alone, name)), name
    assert set(both.cross.rows["role"]) == {"cross"} and len(both.cross.groups) == 1
    assert both.cross.files["file"].tolist() == [1] and both.cross.gpus == ["NVIDIA H200"]
    assert len(both.where(app="nw").cross.rows) == len(both.cross.rows) > 0
    assert both.where(launch="graph").cross.rows.empty
    again = load([save(table, "r/b.json"), save(table, "r/c.json")])
    assert len(again.cross.groups) == 1 and "(cross) is in" in again.notes[0]


def test_a_date_that_cannot_be_is_said(save):
    dates = {
        "reset": "1970-01-01T00:03:20Z", "ahead": "2099-01-01T00:00:00Z",
        "right": "2024-02-29T12:00:00Z",
    }  # fmt: skip
    for n, (name, date) in enumerate(dates.items(), 64):
        group = planted.group("nw", {"n": n}, 1.0)
        right = save(planted.document([group], date=date), f"r/{name}.json")
    ahead, reset = sorted(load([right.parent]).notes)
    assert "ahead.json is dated 2099-01-01T00:00:00Z, in the future: the clock" in ahead
    assert "reset.json is dated 1970-01-01T00:03:20Z, before this suite existed" in reset
    assert load([right]).notes == []


# --- Not valid ------------------------------------------------------------------------------------

WHY = {
    "kind": "company",
    "reason": "another process computed on this GPU",
    "remedy": "end it and measure again",
}


def disturbed(document: dict) -> dict:
    """The document with one group that is not valid."""
    found = copy.deepcopy(document)
    group = found["groups"][0]
    group["invalid"] = [WHY]
    group["probe"] = {
        "round": [-1, 3], "wait_us": [6.5, 2400.0],
        "arithmetic_cycles": [8560, 8561], "memory_us": [11.3, 15.0],
    }  # fmt: skip
    for comparison in group["comparisons"]:
        comparison["claim"] = INVALID
    return found


@pytest.fixture
def two() -> dict:
    """A file of two groups of one app."""
    sizes = (planted.hotspot_size(n) for n in (1024, 8192))
    return planted.document([planted.group("hotspot", size, 1.0) for size in sizes])


def test_an_invalid_group_is_read_and_left_out_and_a_valid_one_stands_for_it(two, save):
    path = save(disturbed(two), "b/disturbed.json")
    assert msgspec.to_builtins(read_document(path).groups[0].invalid) == [WHY]
    results = load([path])
    assert list(results.groups["group"]) == ["0.1"]
    for frame in (results.rows, results.comparisons, results.samples):
        assert set(frame["group"]) == {"0.1"}
    notes = [note for note in results.notes if "is left out" in note]
    assert len(notes) == 1 and "rows=1024" in notes[0] and str(path) in notes[0]
    assert "another process computed on this GPU; end it and measure again." in notes[0]
    early = {**two, "provenance": {**two["provenance"], "date_utc": "2026-11-20T10:15:00Z"}}
    dates = load([path, save(early, "a.json")]).groups["date"]
    assert sorted(dates) == ["2026-11-20T10:15:00Z", "2026-11-21T10:15:00Z"]


def test_a_disturbed_microbenchmark_is_left_out_and_told(save):
    names = ("memory/latency", "twin/strategies")
    at = {"strategy": "tma", "rows": "16", "row_bytes": "512", "threads": "256"}
    rows = [planted.micro_row(at, 1.0, "speedup", "x")]
    made = planted.measured(*(planted.microbenchmark(name, rows) for name in names))
    whole = save(made, "whole.json")
    assert list(load([whole]).points["microbenchmark"]) == list(names)
    assert len(twins_and_unseen([whole])[0]) == 1
    for of in made["microbenchmarks"]:
        of["invalid"] = [WHY]
    path = save(made, "disturbed.json")
    results = load([path])
    assert results.points.empty and results.findings.empty
    assert [note for note in results.notes if "is left out" in note] == [
        f"{name} in {path} is left out, because its measurement is not valid: company: "
        "another process computed on this GPU; end it and measure again."
        for name in names
    ]
    assert twins_and_unseen([path])[0] == []


def test_no_published_value_is_compared_with_it(two, save):
    size = ";".join(f"{k}={v}" for k, v in two["groups"][0]["key"]["size"].items())
    wanted = f"speedup hotspot/tma best {size};cache=cold;launch=stream"
    assert own_value(load([save(two)]).recorded, wanted)[0] is not None
    assert own_value(load([save(disturbed(two))]).recorded, wanted)[0] is None


# --- The record of an earlier version -------------------------------------------------------------


@pytest.fixture
def results(tmp_path: Path, paper_file: Path) -> Path:
    """A record of GPU a by 0.1.0 and by the current code, of GPU b by 0.1.0 alone."""
    folder = tmp_path / "results"
    for place in ("a", "0.1.0/a", "0.1.0/b"):
        (folder / place).mkdir(parents=True)
        (folder / place / "paper.json").write_bytes(paper_file.read_bytes())
    listed = "".join(f"{'0' * 64}  {gpu}/paper.json\n" for gpu in "ab")
    listed += "a line of something else\n"
    (folder / "0.1.0" / folders.CHECKSUMS).write_text(listed)
    (folder / "0.1.0" / "a" / "foreign.json").write_text("{")  # not listed
    return folder


def test_the_current_record_of_a_gpu_stands_for_it(results: Path) -> None:
    a, b, named = (results / f"{of}/paper.json" for of in ("a", "0.1.0/b", "0.1.0/a"))
    for asked, found in ((results, [b, a]), (results / "0.1.0", [named, b]), (named, [named])):
        assert find_files([asked])[0] == found
    assert folders.version_of(named) == "0.1.0" and folders.version_of(results / "a" / "x") == ""
    (results / "0.1.0" / folders.CHECKSUMS).unlink()
    assert folders.version_of(named) == ""


def test_gpus_are_compared_as_one_version_recorded_them(results: Path) -> None:
    for folder, version in (("a", ""), ("0.1.0/b", "0.1.0")):
        read = load([results / folder])
        (side,) = read.of_one_version(*read.gpus)
        for frame in (read.files, side.files, side.rows):
            assert set(frame["version"]) == {version}
    assert set(load([results / "a"]).earlier.files["version"]) == {"0.1.0"}


def test_the_record_is_read_on_first_use(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=read_document)
    monkeypatch.setattr(cases, "read_document", read)
    current = load([results / "a"])
    read.assert_called_once_with(results / "a" / "paper.json")
    assert current.where(app="nw").earlier is not None and read.call_count == 3


def _sessions(gpus: int, spread: float, earlier: Sessions | None = None) -> Sessions:
    found = Sessions(earlier and (lambda gpu, app: earlier))
    for row in range(6):
        for gpu in range(gpus):
            value = SessionValue(str(gpu), spread * ((gpu * (row + 1)) % 3))
            found.add(Measured("time", "A", "nw", f"{row}", value, "2026"))
    return found


def test_until_three_gpus_are_measured_the_earlier_record_says_how_gpus_differ() -> None:
    alone, earlier = _sessions(2, 0.5), _sessions(4, 0.01)
    assert alone.borrowed() == []
    few = _sessions(2, 0.5, earlier)
    assert few.borrowed() == [
        "nw on A: how far times move from GPU to GPU is taken from the record of an earlier "
        "version, until the current code is measured on more GPUs."
    ]
    wide, narrow = alone.kind("time", "A", "nw"), few.kind("time", "A", "nw")
    assert narrow == earlier.kind("time", "A", "nw") and narrow != wide
    many = _sessions(3, 0.1, earlier)
    assert many.borrowed() == []
    assert many.kind("time", "A", "nw") == _sessions(3, 0.1).kind("time", "A", "nw")


# --- Files ----------------------------------------------------------------------------------------

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
           "(commit 8a85fa0f); this program reads 5") for version in (b"1", b"2", b"3", b"4")),
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
    assert read_document(path).groups[0].rows[0].samples.time_ms[0] == 0.019920000806450844
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
