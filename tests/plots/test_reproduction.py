"""The inventory of the source documents, docs/reproduction.md."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import planted
import pytest

from plots.data.load import load
from plots.errors import PlotsError
from plots.papers import expect, ours, published, reproduction, specifications
from plots.papers.ours import Own
from plots.papers.published import Comparison
from plots.papers.reproduction import Line, Verdict
from plots.tree import ROOT

H200 = SimpleNamespace(**planted.device())
A100 = SimpleNamespace(**planted.A100)
H800_CELL = Comparison("000-04", "latency", "H800", 40, 40, "point a b c=d", tolerance=10)


@pytest.fixture(scope="module")
def recorded(record):
    """Those of the GPU that the page tells in full."""
    return [f for f in record.recorded if f.device.name == record.gpus[0]]


def read(*paths):
    return load(paths).recorded


def entry(files, name):
    return next(e for e in reproduction.entries(files) if e.item.id == name)


# What the page is made of


def test_the_inventory_is_whole_and_every_id_is_mapped_or_says_why():
    items = published.inventory()
    ids = {i.id for i in items}
    assert len(items) == len(ids) == 107
    for item in items:
        assert item.kind in ("same", "other", "self", "none"), item.id
        assert (item.method == item.kind) == (item.kind == "same"), item.id
        assert item.by or item.remark, item.id
        for name in item.answers():
            app = name.removeprefix("app ")
            made = f"apps/{app}/baseline.cu" if app != name else f"microbench/{name}.cu"
            assert name == "ceilings" or (ROOT / made).exists(), item.id
    assert {c.id for c in published.comparisons()} <= ids
    assert all(0 < c.low <= c.high for c in published.comparisons())
    assert set(reproduction.notes()) <= ids
    assert {row["id"] for row in published.read_csv(published.FOLDER / "opcodes.csv")} <= ids
    for note in reproduction.notes().values():
        assert bool(note.outside) == bool(note.source), note.id


HEAD = "id,label,gpu,file,where,column,own,scale,relation,tolerance,basis\n"
L1 = "scope=L1 cache"
CHASE = "point memory/latency latency method=luo;level=l1"


@pytest.mark.parametrize(
    ("cell", "own", "said"),
    [
        ("s000_table4_memory_latency,scope=L9,H800_cycles", CHASE, "0 rows of s000_table4_"),
        ("s000_table7_mma,gpu=H800,latency_cycles", CHASE, "16 rows of s000_table7_mma match"),
        (f"s000_table4_memory_latency,{L1},scope", CHASE, "no unit and range of s000_table4_"),
        (f"slip,{L1},H800_cycles", CHASE, "slip, H800_cycles is 4070, not within 20 to 1000"),
        (f"s000_table4_memory_latency,{L1},H800_cycles", CHASE.replace("=l1", "=l9"), ""),
        (f"s000_table4_memory_latency,{L1},H800_cycles", "point memory/latency latency method=luo",
         "3 values in "),
        (f"s000_table4_memory_latency,{L1},H800_cycles",
         "derived device l2_bytes KiB 1024", "ours is in KiB, not in cycles"),
    ],
)  # fmt: skip
def test_a_slip_is_told_with_file_and_line(tmp_path, monkeypatch, memory_file, cell, own, said):
    """A cell or a selector that finds none or two, another unit, a value out of its range."""
    tables = published.printed_tables()
    slip = tables["s000_table4_memory_latency"].replace("40.7", "4070")
    monkeypatch.setattr(published, "printed_tables", lambda: tables | {"slip": slip})
    published.printed_rows.cache_clear()
    real, more = published.read_csv, {"table": "slip", "column": "*_cycles", "unit": "cycles"}
    more |= {"least": "20", "most": "1000"}

    def with_range(path):
        return [*real(path), more] if path.name == "columns.csv" else real(path)

    monkeypatch.setattr(published, "read_csv", with_range)
    path = tmp_path / "mine.csv"
    path.write_text(f"# head\n{HEAD}000-04,L1,H800,{cell},{own},1,equal,10,value\n")

    def compared():
        item = published.inventory()[3]
        return reproduction.entry_of(item, published.comparisons(path), read(memory_file))

    if said:
        with pytest.raises(PlotsError, match=r"mine\.csv:3: ") as told:
            compared()
        assert said in str(told.value)
    else:  # a row that nobody recorded is no slip
        assert compared().lines[0].verdict is Verdict.NOT_RECORDED


@pytest.mark.parametrize("cells", ["1,2,3", "1"], ids=["a comma too many", "one too few"])
def test_a_row_of_other_length_is_told_with_file_and_line(tmp_path, cells):
    path = tmp_path / "mine.csv"
    path.write_text(f"# head\nid,text\n1,2\n{cells}\n")
    with pytest.raises(PlotsError, match=r"mine\.csv:4: not as many cells as the head has"):
        published.located(path)


def test_a_unit_that_no_line_converts_is_told(tmp_path):
    path = tmp_path / "mine.csv"
    cell = f"s000_table4_memory_latency,{L1},H800_cycles"
    path.write_text(f"{HEAD}000-04,L1,H800,{cell},{CHASE},1000,equal,10,value\n")
    with pytest.raises(PlotsError, match=r'mine\.csv:2: units\.csv has nothing for "cycles" t'):
        published.comparisons(path)


# The cell: size, cache, launch mode, role, schedule

CELL = "rows=8192;cols=8192;steps=5;cache=cold;launch=stream"


def hotspot(save, *, size=None, name="a.json", **options):
    size = planted.hotspot_size(8192) | (size or {})
    speedups = {"baseline": (1, 1), "overlap": (1.2, 1.9), "register_bypass": (1.1, 1.5)}
    group = planted.group("hotspot", size, 2.0, speedups=speedups, **options)
    return save(planted.document([group]), name)


def test_a_speed_up_is_taken_from_the_cell_that_the_paper_states(save):
    files = read(hotspot(save))
    own, why = ours.own_value(files, f"speedup hotspot/overlap iso {CELL}")
    assert own.value == pytest.approx(1.2) and not why
    assert own.cell.startswith("rows=8192, cols=8192, steps=5, chip=scaled, cold, stream, iso, ")
    line = entry(files, "003-16").lines[0]
    assert line.verdict is Verdict.AGREES and line.own.value == pytest.approx(1.2)
    assert (line.low, line.high) == (1.12, 1.23)


@pytest.mark.parametrize(
    "wrong",
    [{"size": {"rows": 4096}}, {"size": {"steps": 20}}, {"cache": "hot"}, {"launch": "graph"}],
    ids=str,
)
def test_another_cell_is_not_taken_for_it(save, wrong):
    """Neither alone nor where it stands before the right one."""
    selector = f"speedup hotspot/overlap iso {CELL}"
    other = hotspot(save, **wrong, name="0.json")
    files = read(other)
    assert ours.own_value(files, selector) == (None, "")
    e = entry(files, "003-16")
    assert e.status == "not measured yet" and all(line.own is None for line in e.lines)
    command = "run hotspot --size rows=8192,cols=8192,steps=5 --roles iso --cache cold"
    assert e.lines[0].command == f"{command} --launch stream"
    right = read(other, hotspot(save, name="1.json"))
    for files in (right, right[::-1]):
        assert ours.own_value(files, selector)[0].value == pytest.approx(1.2)


def test_another_role_or_schedule_is_not_taken_for_it(save):
    files = read(hotspot(save))
    best = ours.own_value(files, f"speedup hotspot/overlap best {CELL}")[0]
    assert best.value == pytest.approx(1.9)
    assert ours.own_value(files, f"speedup hotspot/overlap matched {CELL}")[0] is None
    assert ours.own_value(files, f"speedup hotspot/overlap iso {CELL};schedule=tall")[0] is None
    crossed = {"baseline": {"a": 1.0, "b": 2.0}, "overlap": {"a": 2.0, "b": 2.5}}
    size = planted.hotspot_size(8192)
    group = planted.cross_group("hotspot", size, crossed=crossed, launch="stream")
    files = read(save(planted.cross_like(group), "cross.json"))
    for schedule, ratio in (("a", 0.5), ("b", 0.8)):
        own, _ = ours.own_value(files, f"speedup hotspot/overlap cross {CELL};schedule={schedule}")
        assert own.value == pytest.approx(ratio) and f"cross, {schedule}" in own.cell
    assert ours.own_value(files, f"speedup hotspot/overlap iso {CELL}")[0] is None


# The verdict follows from the figures


@pytest.mark.parametrize(
    ("changes", "own", "verdict"),
    [
        ({}, 40, "agrees"), ({}, 43.9, "agrees"), ({}, 44.1, "differs"),
        ({}, 36.4, "agrees"), ({}, 36.3, "differs"),
        ({"tolerance": 0}, 40.01, "differs"),
        ({"tolerance": 0, "relation": "at most"}, 39, "agrees"),
        ({"tolerance": 0, "relation": "at most"}, 41, "differs"),
        ({"tolerance": 0, "relation": "at least"}, 41, "agrees"),
        ({"tolerance": 0, "relation": "at least"}, 39, "differs"),
        ({"tolerance": 0, "relation": "within", "high": 50}, 39, "differs"),
        ({"tolerance": 0, "relation": "within", "high": 50}, 40, "agrees"),
        ({"tolerance": 0, "relation": "within", "high": 50}, 50, "agrees"),
        ({"tolerance": 0, "relation": "within", "high": 50}, 51, "differs"),
        # Of another GPU nothing is judged, unless the value has no unit.
        ({"gpu": "A100"}, 40, "other hardware"),
        ({"gpu": "A100", "basis": "ratio"}, 40, "agrees"),
        ({"gpu": "H100", "basis": "model"}, 40, "other hardware"),
        ({"basis": "beside"}, 40, "beside"),
    ],
)  # fmt: skip
def test_a_value_is_judged_by_relation_tolerance_and_hardware(changes, own, verdict):
    c = replace(H800_CELL, **changes)
    line = reproduction.judge(c, Own(own, "cycles", "f"), H200)
    assert line.verdict.value == verdict
    assert line.ratio == own / min(max(own, c.low), c.high)


def test_a_published_share_is_compared_with_a_share_beside_it_too():
    """Not with the value: 874.5 TFLOP/s over 0.95 were 920."""
    c = replace(H800_CELL, low=0.95, high=0.95, relation="at least", tolerance=0)
    own = Own(0.9 * published.theory("f16", H200), "TFLOP/s", "f")
    for basis, verdict in (("own share f16", "differs"), ("beside own share f16", "beside")):
        line = reproduction.judge(replace(c, basis=basis), own, H200)
        shown = (line.verdict.value, line.published_share, line.own_share, line.ratio)
        assert shown == (verdict, 0.95, pytest.approx(0.9), pytest.approx(0.9 / 0.95))


def test_what_is_made_of_several_values_has_their_interval_and_fewest_rounds(monkeypatch):
    values = {"a": Own(1.2, "x", "f", "", 1.1, 1.3, 31), "b": Own(1.0, "x", "f", "", 0.9, 1.25, 1)}
    monkeypatch.setattr(ours, "_first", lambda _, s: (values[s.name], ""))
    a, b = ("[point a q c=d]", "[point b q c=d]")
    for own, value, low, high in (
        (f"= {a} / {b} in x", 1.2, 1.1 / 1.25, 1.3 / 0.9),
        (f"= max({a}, {b})", 1.2, 1.1, 1.3),
        ("mean point a q k=1 over c=d,e", 1.2, 1.1, 1.3),
    ):
        made, _ = ours.own_value([], own)
        assert (made.value, made.low, made.high) == pytest.approx((value, low, high)), own
        assert made.n == (1 if "b" in own else 31)


def test_a_value_that_is_missing_says_why():
    assert reproduction.judge(H800_CELL, None, H200).verdict is Verdict.NOT_RECORDED
    line = reproduction.judge(H800_CELL, None, H200, "skipped: no such unit")
    assert line.verdict is Verdict.NOT_APPLICABLE and line.why == "skipped: no such unit"


@pytest.mark.parametrize(
    ("published_", "relation", "own", "verdict", "why"),
    [
        ((0.905, 0.905), "equal", (0.9936, 0.993, 0.994), "differs", ""),  # 0.64 % is not 9.5 %
        ((0.905, 0.905), "equal", (0.91, 0.905, 0.915), "agrees", ""),
        ((1.05, 1.05), "equal", (0.96, 0.955, 0.965), "differs", "other sign"),
        ((1.01, 1.08), "within", (1.016, 1.014, 1.017), "agrees", ""),
        ((1.01, 1.08), "within", (1.004, 0.999, 1.01), "differs", "not distinguishable from 1"),
        ((1.12, 1.23), "within", (1.0, None, None), "differs", ""),
        ((1.12, 1.23), "within", (1.10, 1.08, 1.11), "agrees", ""),  # within 10 % of 23 %
        ((1, 1), "at least", (0.9904, 0.985, 0.996), "differs", ""),  # a loss is no gain
        ((1, 1), "at least", (1.02, 1.01, 1.03), "agrees", ""),
        ((1, 1), "at most", (1.001, 0.998, 1.004), "agrees", ""),
        ((1, 1), "at most", (1.02, 1.01, 1.03), "differs", ""),
    ],
)
def test_effects_are_compared_with_their_sign_and_interval(published_, relation, own, verdict, why):
    low, high = published_
    c = replace(H800_CELL, gpu="A100", basis="effect", relation=relation, low=low, high=high)
    line = reproduction.judge(c, Own(own[0], "x", "f", "", *own[1:], 31), H200)
    assert (line.verdict.value, line.why) == (verdict, why)


def test_a_single_round_is_never_judged_and_more_rounds_are_preferred(monkeypatch, recorded):
    own = Own(40, "cycles", "f", n=1)
    assert reproduction.judge(H800_CELL, own, H200).verdict is Verdict.ONE_ROUND
    of_lud = "speedup lud/overlap iso n=8192;cache=cold;launch=graph"
    assert ours.own_value(recorded, of_lud)[0].n > 1
    monkeypatch.setattr(ours, "_select", lambda rounds, _: (Own(1, "x", "", n=rounds), ""))
    for rounds, taken in (((1,), 1), ((1, 9), 9), ((9, 1), 9), ((1, 1), 1)):
        assert ours.own_value(rounds, of_lud)[0].n == taken


@pytest.mark.parametrize(
    ("verdicts", "method", "waits", "status"),
    [
        ("AA", "same", "", "agrees"),
        ("DD", "same", "", "differs"),
        ("ADA", "same", "", "agrees in part: 2 of 3"),
        ("AOB", "same", "", "agrees"),
        ("DAO", "other: so", "", "other method: 1 of 2 within tolerance"),
        ("AA", "other: so", "", "other method: 2 of 2 within tolerance"),
        ("AN", "same", "", "agrees; not measured yet: 1 of 2 values"),
        ("A1", "same", "", "agrees; not measured yet: 1 of 2 values"),
        ("DN", "same", "tf32", "differs; not measured yet: tf32"),
        ("DB", "same", "tf32", "differs"),
        ("OB", "same", "", "other hardware"),
        ("BB", "same", "", "other hardware"),
        ("BN", "same", "tf32", "not measured yet: tf32"),
        ("APN", "same", "", "agrees; not measured yet: 1 of 3 values"),
        ("OB", "other: so", "", "other method"),
        ("AD", "self: so", "", "document against itself: 1 of 2 agree"),
        ("NN", "same", "", "not measured yet"),
        ("1", "other: so", "", "not measured yet"),
        ("PN", "same", "", "not reproducible here: no such unit"),
    ],
)
def test_a_status_counts_verdicts(verdicts, method, waits, status):
    kinds = dict(zip("ADOB1NP", Verdict, strict=True))
    item = replace(published.inventory()[3], method=method)
    lines = [Line("x", "H800", kinds[v], why="no such unit" * (v == "P")) for v in verdicts]
    assert reproduction.status_of(item, lines, waits) == status


def test_what_differs_says_why_and_what_would_decide(record):
    for gpu in record.gpus:
        for e in reproduction.entries([f for f in record.recorded if f.device.name == gpu]):
            differs = any(line.verdict is Verdict.DIFFERS for line in e.lines)
            assert differs == bool(e.note.reason), e.item.id
            if differs and e.item.kind != "self":
                assert e.note.decides, e.item.id


# Machine code


def test_machine_code_is_that_of_the_row():
    counted = {"HMMA": 64, "total": 99}
    proof = [SimpleNamespace(instruction=name, found=n) for name, n in counted.items()]
    for remark, of, code in (
        ("", "", "HMMA"), ("SASS: 2 SEL + LOP3.LUT", "", "2 SEL + LOP3.LUT"),
        ("emulated", "", "HMMA (emulated)"), ("", "HMMA", "64 HMMA"), ("", "MOVM", "(none)"),
        ("emulated; SASS: 2 HMMA.16816.F32", "", "2 HMMA.16816.F32 (emulated)"),
    ):  # fmt: skip
        assert reproduction.code_of(SimpleNamespace(remark=remark, proof=proof), of) == code
    codes = reproduction.opcodes("2*UIADD3.X+IMAD.MOV.U32 or SASS: PRMT")
    assert codes == {"UIADD3.X", "IMAD.MOV.U32", "PRMT"}


E4M3 = "QGMMA.64x256x32.F16.E4M3.E4M3"


@pytest.mark.parametrize(
    "ours, printed, same",
    [
        ("HMMA.16816.F16 + 0.5 MOV", "HMMA.16816.F16", True),
        ("HMMA.16816.F32", "HMMA.16816.F16", False),
        ("HMMA", "HMMA.16816.F16", False),
        ("VIMNMX3", "VIMNMX", False),
        (E4M3, f"{E4M3.replace('E4M3', 'E5M2')}; {E4M3}", True),
        ("0.5 IMAD.IADD + 0.5 IADD3", "IADD3 or IMAD.IADD", True),
        ("0.5 IMAD.IADD + 0.5 IADD3", "IADD", False),
        ("(none)", "(none)", True),
        ("HMMA", "(none)", False),
        ("(none)", "MOVM", False),
        ("16 MOVM", "MOVM", True),
        ("2 IMAD.MOV.U32 + CALL (emulated: ends in IMMA)", "IMAD.MOV.U32", False),
        ("2 IMAD.MOV.U32 (emulated: so)", "IMAD.MOV.U32", True),
    ],
)
def test_machine_code_is_compared_by_its_opcodes(ours, printed, same):
    assert reproduction._same_code(ours, printed) is same


def test_what_the_instruction_set_lacks_is_no_missing_measurement(recorded):
    table6 = {line.label: line for line in entry(recorded, "000-16").lines}
    assert table6["wgmma INT4/INT32"].verdict is Verdict.NOT_APPLICABLE
    assert table6["wgmma INT4/INT32"].why == "PTX has no wgmma of INT4"
    assert table6["mma FP8/FP16"].verdict is Verdict.DIFFERS  # emulated, as FP8 into FP32
    assert table6["mma INT4/INT32"].verdict is Verdict.DIFFERS


# The page


def test_statuses_pretend_nothing(memory_file):
    files = read(memory_file)
    l1 = entry(files, "000-04")
    assert l1.counted == "agrees" and len(l1.lines) == 6
    assert l1.lines[0].verdict is Verdict.AGREES and l1.lines[0].own.value == 41
    assert l1.lines[0].ratio == pytest.approx(41 / 40.7)
    assert {x.verdict for x in l1.lines if x.gpu == "A100" and x.own} == {Verdict.OTHER_HARDWARE}
    ratio = entry(files, "000-08")
    assert ratio.lines[0].own.value == pytest.approx(282 / 41) and ratio.lines[1].own is None
    memory = entry(files, "000-07")
    assert memory.counted == "not reproducible here" and "sm_90" in memory.status
    assert entry(files, "001-19").status == "not measured yet"
    peers = entry(files, "002-13")  # ran, and had nothing to measure on one GPU
    assert peers.counted == "not reproducible here" and "sm_90" in peers.status and not peers.link
    page = reproduction.render(load([memory_file]), memory_file.parent)
    command = "run hotspot --size rows=8192,cols=8192,steps=5 --roles iso --cache cold"
    assert f"not recorded: `amasia {command} --launch stream`" in page
    for e in reproduction.entries([]):
        if e.item.kind == "self":  # the document against itself needs no results
            assert e.lines and all(line.own for line in e.lines), e.item.id
            continue
        assert e.counted in ("not measured yet", "not reproducible here"), e.item.id
        assert all(line.own is None for line in e.lines)


HISTOGRAM = "point dsm/histogram rate cluster={};threads=512;bins=2048;copies=block"
IN_ORIGINAL = "speedup hotspot/overlap iso rows=8192;cols=8192;steps=5;cache=cold;launch=stream"
WALKING = (
    "speedup hotspot/overlap cross rows=8192;cols=8192;steps=5;cache=cold;launch=graph;"
    "schedule=iso-walk"
)


@pytest.mark.parametrize(
    "told",
    [
        f"Overlap has {{{IN_ORIGINAL}:.2f}} of baseline's speed",
        f"and {{{WALKING}:.2f}} with persistent blocks",
        f"{{{HISTOGRAM.format(1)}:.0f}} against {{{HISTOGRAM.format(2)}:.0f}} Gkeys/s",
    ],
)
def test_the_guide_of_the_papers_has_the_recorded_figures(recorded, told):
    assert ours.filled(told, recorded) in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_text_of_a_result_file_is_shown_as_it_is(memory_file, save):
    document = planted.memory_like()
    for m in document["microbenchmarks"]:
        for row in m["rows"]:
            if row["status"] == "skipped":
                row["reason"] = "<script>alert(1)</script> | *x*"
    text = reproduction.render(load([save(document)]), memory_file.parent)
    assert "<script>" not in text and "&lt;script&gt;" in text


# The same points elsewhere


def test_points_and_findings_are_loaded_once_each_the_latest(save):
    old = save(planted.memory_like(date="2026-11-20T10:00:00Z"), "old.json")
    document = planted.memory_like()
    first = document["microbenchmarks"][0]["rows"][0]
    first.update(planted.micro_row(first["at"], 33.0, first["quantity"], first["unit"]))
    results = load([old, save(document, "new.json")])
    points = results.points
    assert len(points) == sum(len(m["rows"]) for m in document["microbenchmarks"])
    assert 33.0 in set(points["median"])
    assert (points["proof"] == "32 LDG per iteration (sass)").all()
    assert len(results.findings) == 1
    assert results.where(gpu="another").points.empty


def test_a_study_measures_what_the_comparisons_take():
    """inventory.csv says it for the program, which does not read comparisons.csv."""
    for item in published.inventory():
        taken: dict[str, list[str]] = {}
        whole: set[str] = set()
        compared = [c for c in published.comparisons() if c.id == item.id]
        for own, s in ((c.own, s) for c in compared for s in ours.selectors(c.own)):
            if s.kind == "derived" or own.startswith("= "):  # of several rows: not said which
                whole.update(item.answers())
            elif s.kind == "point":
                at = ";".join(f"{name}={value}" for name, value in s.at.items())
                taken.setdefault(s.name, []).append(at)
            elif s.kind in ("finding", "best", "count"):
                whole.add(s.name)
        wanted = {f"{name}:{at}" for name in taken.keys() - whole for at in taken[name]} | whole
        found = set(filter(None, item.points.split("|")))
        assert found == (wanted if compared and wanted != set(item.answers()) else set()), item.id


# --- The expectation: golden numbers of Svedin et al. 2021, and any two result files --------------


def test_quoted_means_beside_expectations():
    table = expect.published_table().set_index(["new", "old"])
    golden = {
        ("P100", "K80"): (2.58, 3.04, 2.58, 3.95),
        ("RTX 2060 SUPER", "GTX 1050 Ti"): (3.36, 4.00, 3.36, 3.36),
        ("A100", "V100"): (1.38, 1.73, 1.38, 1.34),
        ("K80", "GTX 745"): (5.19, 8.35, 5.19, 4.28),
        ("V100", "RTX 2060 SUPER"): (1.97, 2.00, 1.97, 2.00),
        ("A100", "RTX 2060 SUPER"): (2.71, 3.47, 2.71, 2.66),
    }
    assert set(table.index) == set(golden)
    for pair, numbers in golden.items():
        found = table.loc[pair][["flop_ratio", "bandwidth_ratio", "expected", "measured_mean"]]
        assert [round(v, 2) for v in found] == list(numbers), pair
    assert table.loc[("K80", "GTX 745"), "std_dev"] == 1.83
    e = specifications.expect_specs(*map(specifications.find_spec, ("A100", "V100")))
    assert str(e) == "1.38 = min(FLOP 1.38, bandwidth 1.73)" and e.limited_by == "FLOP"


def test_every_ratio_of_a100_over_v100_is_told_with_its_share_of_the_expected():
    quoted = expect.a100_over_v100()
    assert len(quoted) == 11
    shares = quoted.dropna().set_index("what")["of expected"].round(2).to_dict()
    shares = {what.removesuffix(" speed-up"): share for what, share in shares.items()}
    assert shares == {"mean Rodinia": 0.97, "BFS": 2.00, "CFD": 1.37, "SRAD": 1.09}
    said = " ".join(expect.ceilings_of_programs())
    assert "SRAD (1.5) lies between" in said and "BFS (2.76) and CFD (1.89) are above" in said


def test_which_v100_decides_whether_the_mean_falls_short():
    table = expect.by_module().set_index("V100").round(2)
    columns = ["memory", "W", "FLOP fp32", "bandwidth", "expected", "mean / expected"]
    assert {name: row.tolist() for name, row in table[columns].iterrows()} == {
        "Table 1": ["16 GB HBM2", 300, 1.38, 1.73, 1.38, 0.97],
        "V100 PCIe": ["16 GB HBM2", 250, 1.39, 1.73, 1.39, 0.96],
        "V100 SXM2": ["16 GB HBM2", 300, 1.24, 1.73, 1.24, 1.08],
    }
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert "promises 1.38 over" in page and "1.39 over the V100 PCIe and 1.24 over the" in page


def test_balance_and_density_are_those_of_figure_1():
    specs = {s.name: s for s in specifications.paper_specs()}
    # Section 6: "often between 0.03 and 0.07" in fp32, 2.0 in fp64 for the RTX 2060; the P100 has
    # a slightly higher compute density than the V100.
    assert round(specs["GTX 745"].balance(), 3) == 0.036
    assert round(specs["P100"].balance(), 3) == 0.069
    assert round(specs["RTX 2060 SUPER"].balance("fp64"), 2) == 2.0
    assert round(specs["V100"].balance("fp64"), 2) == 0.13
    assert 1 < specs["P100"].density() / specs["V100"].density() < 1.01
    assert round(specs["A100"].density(), 1) == 23.6


def test_datasheets_are_plausible_and_cited():
    names = set()
    for spec in specifications.datasheet_specs():
        assert spec.name not in names
        names.add(spec.name)
        assert "NVIDIA" in spec.source and ("datasheet" in spec.source or "paper" in spec.source)
        assert 0.005 < spec.balance() < 0.2, spec.name
        assert np.isnan(spec.fp64_tflops) or spec.fp64_tflops < spec.fp32_tflops
    h200 = specifications.spec_of_driver("NVIDIA H200")
    assert (h200.bandwidth_gb_s, h200.fp32_tflops, h200.sms) == (4800, 67, 132)
    assert specifications.spec_of_driver("NVIDIA Nonesuch") is None


def test_two_result_files(two_gpus):
    (m,) = expect.compare_all([two_gpus()])
    assert (m.new_gpu, m.old_gpu) == ("NVIDIA H200", "NVIDIA A100-SXM4-40GB")
    assert len(m.rows) == 12
    assert m.rows["ratio"].tolist() == pytest.approx([2.0] * 12, rel=0.005)
    assert m.rows["resolved"].all()
    assert ((m.rows["low"] < m.rows["ratio"]) & (m.rows["ratio"] < m.rows["high"])).all()
    assert m.rows["floor_ratio"].tolist() == pytest.approx([2.5] * 12)  # of the ceilings
    # Datasheets: H200 SXM over A100 40GB SXM.
    assert m.datasheet.flop_ratio == pytest.approx(67 / 19.5)
    assert m.datasheet.expected == pytest.approx(4800 / 1555)
    # Measured ceilings: everything 2.5 times better, latencies too.
    assert m.measured_ceilings.expected == pytest.approx(2.5)
    assert m.ceilings["ratio"].tolist() == pytest.approx([2.5] * 6)


def test_only_matching_rows_count(two_gpus):
    fewer = {k: v for k, v in planted.TYPICAL.items() if k not in ("tma", "dsm")}
    (m,) = expect.compare_all([two_gpus(speedups=fewer)])
    assert len(m.rows) == 8
    assert set(m.rows["strategy"]) == set(fewer)


def test_matched_and_cross_rows_are_no_pairs(save):
    """Which schedules they have depends on what is best on each GPU."""

    def document(factor, **options):
        size = {"n": 512}
        groups = [planted.matched_group("nw", size, factor), planted.cross_group("nw", size)]
        return planted.document(groups, **options)

    new, old = save(document(1.0), "new.json"), save(document(2.0, gpu=planted.A100), "old.json")
    (m,) = expect.compare_all([(load([new]), load([old]))])
    assert set(m.rows["role"]) == {"iso", "best"} and len(m.rows) == 12
