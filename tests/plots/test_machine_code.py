"""What machine code says of how tiles travel: of kernels compiled here, of which it is known, and
of listings for what a compiler does only sometimes."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from plots.advice.machine_code import (
    choose,
    find_cuobjdump,
    kernels_in,
    read_kernels,
    tile_loop,
)
from plots.advice.observed import from_cubin
from plots.errors import PlotsError

SOURCE = Path(__file__).with_name("kernels_to_read.cu")


def built(cubin: Path, architecture: str, *options: str) -> None:
    """Compiles kernels_to_read.cu, or skips where that cannot be."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.access(nvcc, os.X_OK):
        pytest.skip("needs nvcc")
    try:
        find_cuobjdump()
    except PlotsError as error:
        pytest.skip(str(error))
    command = [nvcc, f"-arch=sm_{architecture}", "-std=c++17", *options, "-cubin", "-o", cubin]
    command.append(SOURCE)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
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


def test_through_registers(compiled):
    kernel = compiled["staged"]
    loop = tile_loop(kernel)
    assert loop.ways == {"LDG->STS": 1} and loop.in_loop and not loop.has_loops
    assert (loop.brought, loop.read, loop.written, loop.fp32) == (16, 32, 16, 8)
    assert loop.barriers == 2 and loop.guarded == 0 and loop.tensor == 0
    assert kernel.static_shared == 256 * 16 and 8 <= kernel.registers <= 64


def test_code_without_a_loop_is_one_tile(compiled):
    loop = tile_loop(compiled["once"])
    assert loop.ways == {"LDG->STS": 1} and not loop.in_loop
    assert (loop.brought, loop.read, loop.written, loop.barriers) == (8, 8, 8, 1)


def test_asynchronous_copies_and_a_loop_of_unknown_length(compiled):
    loop = tile_loop(compiled["asynchronous"])
    assert loop.ways == {"LDGSTS": 1} and loop.in_loop
    assert loop.brought == 4 and loop.written == 4 and loop.barriers == 2
    assert loop.has_loops and loop.fp32 == 0  # what is in that loop is not counted


def test_a_bulk_copy_does_not_say_its_bytes(compiled):
    if "bulk" not in compiled:
        pytest.skip("sm_80 has no bulk copies")
    loop = tile_loop(compiled["bulk"])
    assert loop.ways == {"UBLKCP": 1} and loop.brought is None


# Listings.


def listing(*instructions, name="k", architecture=80):
    lines = [f"\tcode for sm_{architecture}", f"\t\tFunction : {name}"]
    lines += [
        f"        /*{16 * i:04x}*/   {text} ;  /* 0x00 */" for i, text in enumerate(instructions)
    ]
    return "\n".join(lines) + "\n"


def loop_of(*instructions):
    (kernel,) = kernels_in(listing(*instructions), "")
    return tile_loop(kernel)


PAIR = ("LDG.E.128 R4, [R2.64]", "STS.128 [R0], R4")
REST = ("BAR.SYNC 0x0", "LDS R8, [R1]", "FFMA R8, R8, R8, R9", "BAR.SYNC 0x0", "STG.E [R6.64], R8")


def test_a_store_of_what_was_computed_is_no_pair():
    assert loop_of("LDG.E R4, [R2.64]", "FADD R4, R4, 1", "STS [R0], R4", "EXIT") is None
    assert loop_of("LDG.E.64 R4, [R2.64]", "STS [R0], R5", "EXIT").ways == {"LDG->STS": 1}
    assert loop_of("LDG.E R4, [R2.64]", "STS [R0], R5", "EXIT") is None


def test_a_load_for_the_next_turn_is_paired_with_the_store_before_it():
    # The loop stores what the turn before loaded: software pipelining.
    loop = loop_of(
        "LDG.E.128 R4, [R2.64]", "STS.128 [R0], R4", "BAR.SYNC 0x0", "LDG.E.128 R4, [R2.64]",
        "LDS R8, [R1]", "BAR.SYNC 0x0", "@P0 BRA 0x10", "EXIT",
    )  # fmt: skip
    assert loop.in_loop and loop.ways == {"LDG->STS": 1} and loop.brought == 16


def test_tiles_that_the_compiler_took_into_one_turn_are_told_apart():
    one = loop_of(*PAIR, *REST, "@P0 BRA 0x0", "EXIT")
    four = loop_of(*(4 * (PAIR + REST)), "@P0 BRA 0x0", "EXIT")
    assert (one.tiles, four.tiles) == (1, 4)
    assert (four.brought, four.fp32, four.written, four.barriers) == (16, 1, 4, 2)
    assert (one.brought, one.fp32, one.written, one.barriers) == (16, 1, 4, 2)


def test_copies_that_not_every_turn_passes_have_no_known_bytes():
    # At 0x10 a branch over the pair.
    loop = loop_of("MOV R1, R2", "@P1 BRA 0x40", *PAIR, *REST, "@P0 BRA 0x0", "EXIT")
    assert loop.ways == {"LDG->STS": 1} and loop.brought is None and loop.fp32 == 1


def test_code_laid_out_of_line_is_no_loop():
    # Behind the exit a wait that jumps back to where the main path goes on.
    loop = loop_of(
        *PAIR, "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R9+URZ], R3", "@!P0 BRA 0x90", "BAR.SYNC 0x0",
        "LDS R8, [R1]", "FFMA R8, R8, R8, R9", "STG.E [R6.64], R8", "EXIT",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R9+URZ], R3", "@!P0 BRA 0x90", "BRA 0x40",
    )  # fmt: skip
    assert not loop.in_loop and not loop.has_loops and loop.fp32 == 1 and loop.brought == 16


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


@pytest.fixture
def fake_cuobjdump(tmp_path, monkeypatch):
    """Makes a cuobjdump that prints this and ends with that status."""

    def make(text, status=0):
        program = tmp_path / "cuobjdump"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("CUOBJDUMP", str(program))
        return program

    return make


def test_what_is_no_machine_code_is_said(tmp_path, fake_cuobjdump):
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
