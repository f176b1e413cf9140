"""Traits of a user's kernel, from reports of Nsight Compute and machine code."""

import csv
import io
from pathlib import Path

import pytest
import test_twin

from plots.advice.machine_code import choose, find_cuobjdump, kernels_in, read_kernels, tile_loop
from plots.advice.ncu_report import read_report, value_of
from plots.advice.observed import BY_HAND, Observed, from_cubin, from_report, merged
from plots.advice.twin_traits import LIMITS, WORDS
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from tests.process import executable, nvcc, run

# --- Machine code ---------------------------------------------------------------------------------

SOURCE = Path(__file__).with_name("kernels_to_read.cu")


def built(cubin: Path, architecture: str, *options: str) -> None:
    """Compiles kernels_to_read.cu, or skips where that cannot be."""
    try:
        find_cuobjdump()
    except PlotsError as error:
        pytest.skip(str(error))
    to = ["-std=c++17", *options, "-cubin", "-o", cubin]
    done = run(nvcc(), f"-arch=sm_{architecture}", *to, SOURCE)
    if done.returncode != 0 and "Unsupported gpu architecture" in done.stderr:
        pytest.skip(f"this nvcc has no sm_{architecture}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module", params=["80", "90a"])
def compiled(request, tmp_path_factory):
    """name -> its tile loop, of kernels_to_read.cu."""
    cubin = tmp_path_factory.mktemp("cubins") / "kernels.cubin"
    built(cubin, request.param)
    return {kernel.name: kernel for kernel in read_kernels(cubin)}


@pytest.mark.parametrize("options", [["-G"], ["-Xptxas", "-O0"], ["-lineinfo"]])
def test_a_debug_build_is_no_kernel_to_advise_on(tmp_path, options):
    """What it says of shared memory is wrong: -G reaches it by generic addresses."""
    cubin = tmp_path / "kernels.cubin"
    built(cubin, "80", *options)
    if options == ["-lineinfo"]:
        assert from_cubin(cubin, "256", None, "staged").traits["threads"] == "256"
        return
    for name in ("staged", None):
        with pytest.raises(PlotsError, match=r"is from a debug build .*without -G"):
            from_cubin(cubin, "256", None, name)


# What of the kernels of kernels_to_read.cu is known.
IN_THE_CODE = {
    "staged": {
        "ways": {"LDG->STS": 1}, "in_loop": True, "has_loops": False, "brought": 16, "read": 32,
        "written": 16, "fp32": 8, "barriers": 2, "guarded": 0, "tensor": 0,
    },
    # Without a loop it is one tile.
    "once": {
        "ways": {"LDG->STS": 1}, "in_loop": False, "brought": 8, "read": 8, "written": 8,
        "barriers": 1,
    },
    # What is in a loop of unknown length is not counted.
    "asynchronous": {
        "ways": {"LDGSTS": 1}, "in_loop": True, "has_loops": True, "brought": 4, "written": 4,
        "fp32": 0, "barriers": 2,
    },
    "bulk": {"ways": {"UBLKCP": 1}, "brought": None},  # a bulk copy does not say its bytes
}  # fmt: skip


@pytest.mark.parametrize("name", IN_THE_CODE)
def test_what_a_kernel_does_for_a_tile_is_read(compiled, name):
    if name not in compiled:
        pytest.skip("sm_80 has no bulk copies")
    loop = tile_loop(compiled[name])
    assert {part: getattr(loop, part) for part in IN_THE_CODE[name]} == IN_THE_CODE[name]
    kernel = compiled["staged"]
    assert kernel.static_shared == 256 * 16 and 8 <= kernel.registers <= 64


# Listings.


def listing(*instructions, name="k", architecture=80):
    lines = [f"\tcode for sm_{architecture}", f"\t\tFunction : {name}"]
    lines += [
        f"        /*{16 * i:04x}*/   {text} ;  /* 0x00 */" for i, text in enumerate(instructions)
    ]
    return "\n".join(lines) + "\n"


PAIR = ("LDG.E.128 R4, [R2.64]", "STS.128 [R0], R4")
REST = ("BAR.SYNC 0x0", "LDS R8, [R1]", "FFMA R8, R8, R8, R9", "BAR.SYNC 0x0", "STG.E [R6.64], R8")
TRY = "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R9+URZ], R3"
ONE_TILE = {"brought": 16, "fp32": 1, "written": 4, "barriers": 2}
LISTED = {
    "a store of what was computed is no pair": (
        ("LDG.E R4, [R2.64]", "FADD R4, R4, 1", "STS [R0], R4", "EXIT"), None,
    ),
    "nor is one of a register beside": (("LDG.E R4, [R2.64]", "STS [R0], R5", "EXIT"), None),
    "but of the second of a wide load": (
        ("LDG.E.64 R4, [R2.64]", "STS [R0], R5", "EXIT"), {"ways": {"LDG->STS": 1}},
    ),
    "a load for the next turn and the store before it: software pipelining": (
        ("LDG.E.128 R4, [R2.64]", "STS.128 [R0], R4", "BAR.SYNC 0x0", "LDG.E.128 R4, [R2.64]",
         "LDS R8, [R1]", "BAR.SYNC 0x0", "@P0 BRA 0x10", "EXIT"),
        {"in_loop": True, "ways": {"LDG->STS": 1}, "brought": 16},
    ),
    "one tile a turn": ((*PAIR, *REST, "@P0 BRA 0x0", "EXIT"), {**ONE_TILE, "tiles": 1}),
    "tiles that the compiler took into one turn": (
        (*(4 * (PAIR + REST)), "@P0 BRA 0x0", "EXIT"), {**ONE_TILE, "tiles": 4},
    ),
    "copies behind a branch, which not every turn passes": (
        ("MOV R1, R2", "@P1 BRA 0x40", *PAIR, *REST, "@P0 BRA 0x0", "EXIT"),
        {"ways": {"LDG->STS": 1}, "brought": None, "fp32": 1},
    ),
    # A wait behind the exit jumps back to where the main path goes on.
    "code out of line is no loop": (
        (*PAIR, TRY, "@!P0 BRA 0x90", "BAR.SYNC 0x0", "LDS R8, [R1]", "FFMA R8, R8, R8, R9",
         "STG.E [R6.64], R8", "EXIT", TRY, "@!P0 BRA 0x90", "BRA 0x40"),
        {"in_loop": False, "has_loops": False, "fp32": 1, "brought": 16},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("instructions", "parts"), LISTED.values(), ids=LISTED)
def test_a_listing_is_read(instructions, parts):
    (kernel,) = kernels_in(listing(*instructions), "")
    loop = tile_loop(kernel)
    assert parts == (loop and {name: getattr(loop, name) for name in parts})


def test_resources_without_what_cuda_reserves():
    use = " Function k:\n  REG:28 STACK:0 SHARED:5120 LOCAL:16 CONSTANT[0]:548\n"
    (old,) = kernels_in(listing("EXIT", architecture=80), use)
    (new,) = kernels_in(listing("EXIT", architecture=90), use)
    assert (old.static_shared, new.static_shared) == (5120, 4096)
    assert (new.registers, new.local_bytes) == (28, 16)


def test_the_kernel_that_is_meant(tmp_path):
    path = tmp_path / "a.cubin"
    several = [*kernels_in(listing("EXIT", name="first_kernel"), ""),
               *kernels_in(listing("EXIT", name="second_kernel"), "")]  # fmt: skip
    assert choose(several, "second", path).name == "second_kernel"
    which = "which kernel? --kernel NAME, one of first_kernel; second_kernel"
    for name, said in ((None, which), ("kernel", which), ("third", "has no kernel 'third'")):
        with pytest.raises(PlotsError, match=said.replace("?", r"\?")):
            choose(several, name, path)
    newer = list(kernels_in(listing("EXIT", name="first_kernel", architecture=90), ""))
    assert choose([*several[:1], *newer], None, path).architecture == 90


def test_what_is_no_machine_code_is_said(tmp_path, monkeypatch):
    def fake_cuobjdump(text, status=0):
        said = f"cat <<'END'\n{text}\nEND\nexit {status}\n"
        monkeypatch.setenv("CUOBJDUMP", str(executable(tmp_path / "cuobjdump", said)))

    cubin = tmp_path / "a.cubin"
    with pytest.raises(PlotsError, match="expected a cubin, found nothing"):
        read_kernels(cubin)
    cubin.write_text("no ELF")
    fake_cuobjdump("cuobjdump fatal   : File 'a.cubin' does not contain device code", 255)
    with pytest.raises(PlotsError, match="cuobjdump ended with 255: cuobjdump fatal"):
        read_kernels(cubin)
    fake_cuobjdump("Fatbin ptx code:")
    with pytest.raises(PlotsError, match="no machine code of a kernel, PTX at most"):
        read_kernels(cubin)


# --- Reports, and advice --------------------------------------------------------------------------


GOLDEN = ROOT / "tests" / "golden" / "ncu"
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"


def raw_page(*kernels, units=None):
    """A raw page of kernels, each a name and its metrics as printed."""
    names = list(dict.fromkeys(m for _, metrics in kernels for m in metrics))
    text = io.StringIO()
    write = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow
    write(["ID", "Kernel Name", "Block Size", "Grid Size", *names])
    write(["", "", "", "", *((units or {}).get(name, "") for name in names)])
    for number, (name, metrics) in enumerate(kernels):
        write([number, name, "(32, 8, 1)", "(1, 1, 1)", *(metrics.get(n, "n/a") for n in names)])
    return "==PROF== Connected to process 1\n" + text.getvalue()


@pytest.fixture
def report(save):
    return lambda text, name="report.csv": save(text, name)


# Reports.


def test_a_report_of_an_h100_as_it_was_printed():
    kernels = read_report(GOLDEN / "h100.csv")
    assert [k.block for k in kernels] == [(256, 1, 1)] * 3
    tma = kernels[1]
    assert "tma_pyramid" in tma.name and tma.grid == (86, 86, 1)
    assert tma.metrics["smsp__inst_executed.sum"] == 7_053_483
    assert tma.metrics["launch__shared_mem_per_block_static"] == 3200
    assert "derived__local_spilling_requests_pct" not in tma.metrics  # "no data"
    assert "launch__cluster_scheduling_policy" not in tma.metrics


def test_both_pages_and_their_units():
    raw, details = read_report(GOLDEN / "raw.csv"), read_report(GOLDEN / "details.csv")
    assert raw[0].metrics["dram__bytes_read.sum"] == 4.21e6
    in_kbyte = raw[0].metrics["launch__shared_mem_per_block_dynamic"]
    assert in_kbyte == pytest.approx(16380)  # Kbyte/block
    assert "sm__warps_active.avg.pct_of_peak_sustained_active" not in raw[1].metrics
    assert details[0].metrics == {"dram__bytes_read.sum": 1.5e9, "gpu__time_duration.sum": 2.25e6}
    assert value_of("1,234.5", "usecond") == 1234500 and value_of("n/a") is None
    assert value_of("nan") is None and value_of("inf") is None


IN_ENGLISH = ("2.68", "1,234.5", "1,204,224", "8,000", "0.123", "45")


def _in_another(convention):
    """The same numbers as another locale writes them."""
    marks = {"German": ".,", "French": "\u202f,", "Swiss": "\u2019.", "plain": (None, ".")}
    thousands, decimal = marks[convention]
    for text in IN_ENGLISH:
        whole, _, rest = text.partition(".")
        whole = whole.replace(",", thousands or "")
        yield whole + decimal + rest if rest else whole


@pytest.mark.parametrize(
    ("convention", "encoding", "delimiter"),
    [
        ("German", "utf-8", ";"),
        ("French", "utf-8-sig", ","),
        ("Swiss", "utf-16", ";"),
        ("plain", "utf-16", ","),
    ],
)
def test_numbers_are_those_of_any_locale(tmp_path, convention, encoding, delimiter):
    names = [f"a__{i}" for i in range(len(IN_ENGLISH))]
    expected = [value_of(text) for text in IN_ENGLISH]
    assert expected == [2.68, 1234.5, 1204224, 8000, 0.123, 45]
    text = raw_page(("k", dict(zip(names, _in_another(convention), strict=True))))
    path = tmp_path / "report.csv"
    path.write_text(text.replace('","', f'"{delimiter}"'), encoding=encoding)
    (kernel,) = read_report(path)
    assert list(kernel.metrics.values()) == expected and kernel.block == (32, 8, 1)


def test_the_convention_is_found_in_other_columns_or_refused(report):
    def read(**metrics):
        ((kernel),) = read_report(report(raw_page(("k", metrics))))
        return kernel.metrics

    assert read(a__b="2,68")["a__b"] == 2.68
    assert read(a__b="1,234", c__d="0,5") == {"a__b": 1.234, "c__d": 0.5}
    assert read(a__b="1,234", c__d="1,234,567")["a__b"] == 1234
    assert read(a__b="1,234", launch__grid_size="2,048")["a__b"] == 1234
    assert read(a__b="1,234", launch__grid_size="2.048") == {
        "a__b": 1.234, "launch__grid_size": 2048
    }  # fmt: skip
    for metrics, said in (
        ({"a__b": "1,234"}, "'1,234' is a thousand times as much"),
        ({"a__b": "1.234"}, "'1.234' is a thousand times as much"),
        ({"a__b": "2,68", "c__d": "2.68"}, "has numbers with a decimal point ('2.68') and"),
    ):
        with pytest.raises(PlotsError) as error:
            read(**metrics)
        assert said in str(error.value) and "LC_ALL=C ncu" in str(error.value)


def test_what_the_program_prints_around_a_table_is_no_damage(report):
    page = raw_page(("k", {"a__b": "1.5"}), ("l", {"a__b": "2.5"}))
    rows = page[page.index('"ID"') :].splitlines(keepends=True)
    noise = ["3 iterations, 4 ms\n", '"quoted", they said\n', ",\n", "==PROF== more\n", "\n"]
    text = "".join(
        [*noise, "no end of line", rows[0], *noise, rows[1], rows[2], *noise, *rows[3:], *noise]
    )
    assert [k.metrics["a__b"] for k in read_report(report(text))] == [1.5, 2.5]
    with pytest.raises(PlotsError, match="cut off or damaged"):
        read_report(report(text.replace(rows[3], rows[3].rpartition(",")[0] + "\n")))


def test_the_details_page_of_sections_names_things_for_people(report):
    text = (
        '"ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"\n'
        '"0","k","(128, 1, 1)","(9, 1, 1)","Registers Per Thread","register/thread","40"\n'
        '"0","k","(128, 1, 1)","(9, 1, 1)","Static Shared Memory Per Block","Kbyte/block","8.19"\n'
        '"0","k","(128, 1, 1)","(9, 1, 1)","Dynamic Shared Memory Per Block","byte/block","0"\n'
    )
    of = from_report(report(text))
    assert of.traits == {"threads": "128", "registers": "40"}
    assert "8190 bytes of shared memory per block" in of.facts


def test_arithmetic_is_what_the_threads_did_for_what_came_in(report):
    counted = {
        FFMA: "8,000", FFMA.replace("ffma", "fadd"): "0", FFMA.replace("ffma", "fmul"): "0",
        "dram__bytes_read.sum": "4,000", "launch__registers_per_thread": "30",
    }  # fmt: skip
    of = from_report(report(raw_page(("k", counted))))
    assert of.traits["fma"] == "8" and of.traits["threads"] == "256"
    units = {"dram__bytes_read.sum": "byte"}
    of = from_report(report(raw_page(("k", {**counted, FFMA: "n/a"}), units=units)))
    assert "fma" not in of.traits


def test_which_kernel_of_a_report(report):
    path = report(raw_page(("first(int)", {"launch__registers_per_thread": "20"}),
                           ("second(int)", {"launch__registers_per_thread": "30"}),
                           ("second(int)", {"launch__registers_per_thread": "30"})))  # fmt: skip
    of = from_report(path, "second")
    assert of.traits["registers"] == "30" and "2 launches of it are in the report" in of.facts[0]
    with pytest.raises(PlotsError, match="which kernel"):
        from_report(path)


def test_reports_that_say_nothing_say_what_to_do(report, tmp_path):
    cases = {
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n": "it says: ERR_NVGPUCTR",
        "": "Export a report with: ncu -i report.ncu-rep --csv --page raw > report.csv",
        raw_page(("k", {"a__b": "1", "c__d": "2"}))[:-8]: "cut off or damaged; export it again",
        raw_page(("k", {"a__b": "1"})).replace('"(32, 8, 1)"', '"?"'): "ncu --set full",
    }
    for text, said in cases.items():
        with pytest.raises(PlotsError) as error:
            from_report(report(text))
        assert said in str(error.value) and "report.csv" in str(error.value)
    with pytest.raises(PlotsError, match="cannot be read"):
        from_report(tmp_path / "none.csv")


def test_a_binary_report_is_exported_by_ncu(report, tmp_path, monkeypatch):
    def ncu(script):  # on PATH; whatever else was there is not found
        program = executable(tmp_path / "bin" / "ncu", script)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    page = report(raw_page(("k", {"launch__registers_per_thread": "44", "a__b": "1,234.5"})))
    path = report("", "mine.ncu-rep")
    ncu(f'[ "$LC_ALL $*" = "C -i {path} --csv --page raw" ] && cat {page}\n')
    assert from_report(path).traits == {"threads": "256", "registers": "44"}
    ncu("echo '==ERROR== unsupported version 99' >&2; exit 1\n")
    with pytest.raises(PlotsError, match=r"ncu ended with 1: .*version 99; export it with .*raw >"):
        read_report(path)


# Machine code.


@pytest.fixture
def code(monkeypatch, tmp_path):
    """Makes machine code of these instructions what any cubin holds."""

    def make(*instructions, shared=4096):
        use = f" Function k:\n  REG:30 STACK:0 SHARED:{shared} LOCAL:0 CONSTANT[0]:1\n"
        kernels = list(kernels_in(listing(*instructions), use))
        monkeypatch.setattr("plots.advice.observed.machine_code.read_kernels", lambda path: kernels)
        return tmp_path / "k.cubin"

    return make


STAGED = (*PAIR, *REST, "@P0 BRA 0x0", "EXIT")


def test_traits_of_a_loop_over_tiles(code):
    of = from_cubin(code(*STAGED), "256", "64", None)
    assert of.traits == {
        "threads": "256", "registers": "30", "tile": "4096", "fma": "0", "reads": "1",
        "barriers": "0", "out_bytes": "1024", "workspace": "0",
    }  # fmt: skip
    assert any("tiles travel by 1 LDG->STS" in fact for fact in of.facts)
    assert any("9 instructions" in f or "8 instructions" in f for f in of.facts)
    assert {"layout", "halo", "chain", "stages"} <= of.unknown({}).keys()
    assert "layout" not in of.unknown({"layout": "box"})


def test_bytes_that_are_not_in_the_code_are_not_guessed(code):
    of = from_cubin(code("UTMALDG.2D [UR8], [UR4]", "LDS R8, [R1]", "EXIT"), "128", None, None)
    assert "tile" not in of.traits and "tile" in of.unknown({})
    assert any("stand in its tensor map" in fact for fact in of.facts)
    of = from_cubin(code("MOV R1, R2", "@P1 BRA 0x40", *PAIR, "EXIT"), "128", None, None)
    assert "tile" not in of.traits and any("not every tile" in fact for fact in of.facts)


# Advice.


@pytest.fixture
def twins(save):
    return save(test_twin.document(*test_twin.grid()), "r/twins.json")


def test_beyond_the_record_it_is_as_by_hand(ran, code, twins):
    """What is derived is refused as what is given, and the nearest is had in the same way."""
    path = code(*STAGED, shared=1 << 16)
    of = from_cubin(path, "128", None, None)
    assert (of.traits["threads"], of.traits["fma"], of.traits["tile"]) == ("128", "0", "2048")
    derived = ("advise", twins, "--cubin", path, "--block", "128")
    said = ran(2, *derived)
    by_hand = [f"--trait={n}={v}" for n, v in of.traits.items()]
    assert ran(2, "advise", twins, *by_hand).err == said.err
    assert "threads is 128, recorded are 256" in said.err
    assert "fma is 0, recorded are 1 to 128" in said.err and "fma=0, from" in said.out
    assert "The answer of ANOTHER kernel" in ran(0, *derived, "--nearest").out


def test_advice_from_machine_code(ran, code, twins):
    path = code(*STAGED)
    said = ran(
        0, "advise", twins, "--cubin", path, "--block", "256", "--grid", "64",
        "--trait", "out_bytes=4096", "--trait", "fma=1",
    )  # fmt: skip
    assert "tiles travel by 1 LDG->STS" in said.out and "tile=4096, from 16 bytes per" in said.out
    given = "out_bytes=1024, from STG in the machine code of the loop over tiles (given by"
    assert given in said.out
    assert "Not derived, so as in most recorded twins; better given by hand:" in said.out
    assert "A kernel with rows=8, row_bytes=512" in said.out and "Choose tma" in said.out


def test_a_tile_that_the_kernel_has_no_room_for_is_said(ran, twins):
    asked = ("--ncu", GOLDEN / "h100.csv", "--kernel", "tma_pyramid", "--tile", "8KiB")
    out = ran(0, "advise", twins, *asked).out
    assert "3200 bytes of shared memory per block" in out
    assert "A tile of 8192 bytes does not fit in the 3200 bytes of shared memory" in out
    assert Observed(shared_bytes=8192).doubt(8192) == "" == Observed().doubt(8192)


def test_without_a_tile_there_is_no_advice_but_what_is_known(ran, report, twins):
    path = report(raw_page(("k", {"launch__registers_per_thread": "30"})))
    said = ran(2, "advise", twins, "--ncu", path)
    assert "registers=30, from launch__registers_per_thread" in said.out
    assert said.err.strip() == (
        "plots: give the bytes of a tile (--tile 16KiB): nothing says how much a copy brings"
    )
    assert "Choose " in ran(0, "advise", twins, "--ncu", path, "--tile", "8KiB").out


def test_what_machine_code_and_a_report_say_of_one_kernel_comes_together():
    code = Observed("k", {"row_bytes": "512"}, {"row_bytes": "code"}, ["a loop"])
    derived = {"row_bytes": "64", "threads": "256"}
    report = Observed("k", derived, dict.fromkeys(derived, "ncu"), ["a run"], 4)
    both = merged(code, report)
    assert both.traits == {"row_bytes": "512", "threads": "256"}
    assert both.origins == {"row_bytes": "code", "threads": "ncu"}
    assert both.facts == ["a loop", "a run"] and both.shared_bytes == 4


def test_the_traits_that_are_asked_for_by_hand_are_those_of_the_twin():
    assert BY_HAND.keys() - {"tile"} == {*LIMITS, *WORDS} - {"rows"}
