// instruction/add_multiply: latency and issue interval of additions, multiplications,
// multiply-adds, sums of absolute differences and dot products. Source: Abdelkhalik et al. 2022,
// Table V, sections Add/sub, Mul, MAD, Sad, FMA, dp4a and dp2a, and the text on them.
//
// Method: chain.cuh. In mul.wide.u32 the halves of two results are the operands of the next. The
// 16-bit forms use the low halves; the carry of addc is that of a + b. dual.add+mad has an
// independent addition and multiply-add in each copy: do integer multiply-adds run beside the
// integer pipe? Some signed forms are added to the table's rows, to see whether they differ.

#include "microbench/instruction/chain.cuh"

namespace amasia::instruction {
namespace {

AMASIA_PAIR(AddU16, u16, "h", "add.u16 %0, %0, %1;", 128, "Add/sub", "add.u16")
AMASIA_PAIR(AddcU32, u32, "r", "{.reg .u32 t; add.cc.u32 t, %2, %3; addc.u32 %0, %0, %1;}", 128,
            "Add/sub", "addc.u32")
AMASIA_PAIR(AddU32, u32, "r", "add.u32 %0, %0, %1;", 128, "Add/sub", "add.u32")
AMASIA_PAIR(AddS32, u32, "r", "add.s32 %0, %0, %1;", 128, "Add/sub", "add.s32")
AMASIA_PAIR(AddU64, u64, "l", "add.u64 %0, %0, %1;", 128, "Add/sub", "add.u64")
AMASIA_PAIR(AddS64, u64, "l", "add.s64 %0, %0, %1;", 128, "Add/sub", "add.s64")
AMASIA_ROW(AddF16, u16, "h", "add.f16 %0, %0, %2;", 128, "Add/sub", "add.f16", "total", "add", half)
AMASIA_ROW(AddF32, float, "f", "add.f32 %0, %0, %2;", 128, "Add/sub", "add.f32", "FADD", "add")
AMASIA_ROW(AddF64, double, "d", "add.f64 %0, %0, %2;", 128, "Add/sub", "add.f64", "DADD", "add")

AMASIA_PAIR(MulWideU16, u32, "r",
            "{.reg .u16 s, t; cvt.u16.u32 s, %0; cvt.u16.u32 t, %1; mul.wide.u16 %0, s, t;}", 128,
            "Mul", "mul.wide.u16")
AMASIA_PAIR(MulWideU32, u64, "l",
            "{.reg .u32 s, t, u; mov.b64 {u, s}, %0; mov.b64 {t, u}, %1; mul.wide.u32 %0, s, t;}",
            128, "Mul", "mul.wide.u32", "IMAD", "mul")
AMASIA_PAIR(MulLoU16, u16, "h", "mul.lo.u16 %0, %0, %1;", 128, "Mul", "mul.lo.u16")
AMASIA_PAIR(MulLoU32, u32, "r", "mul.lo.u32 %0, %0, %1;", 128, "Mul", "mul.lo.u32", "IMAD", "mul")
AMASIA_PAIR(MulLoS32, u32, "r", "mul.lo.s32 %0, %0, %1;", 128, "Mul", "mul.lo.s32", "IMAD", "mul")
AMASIA_PAIR(MulLoU64, u64, "l", "mul.lo.u64 %0, %0, %1;", 32, "Mul", "mul.lo.u64", "IMAD", "mul")
AMASIA_PAIR(Mul24LoU32, u32, "r", "mul24.lo.u32 %0, %0, %1;", 128, "Mul", "mul24.lo.u32")
AMASIA_PAIR(Mul24HiU32, u32, "r", "mul24.hi.u32 %0, %0, %1;", 32, "Mul", "mul24.hi.u32")
AMASIA_ROW(MulF16, u16, "h", "mul.rn.f16 %0, %0, %2;", 128, "Mul", "mul.rn.f16", "total", "mul",
           half)
AMASIA_ROW(MulF32, float, "f", "mul.rn.f32 %0, %0, %2;", 128, "Mul", "mul.rn.f32", "FMUL", "mul")
AMASIA_ROW(MulF64, double, "d", "mul.rn.f64 %0, %0, %2;", 128, "Mul", "mul.rn.f64", "DMUL", "mul")

AMASIA_PAIR(MadLoU16, u16, "h", "mad.lo.u16 %0, %0, %2, %1;", 128, "MAD", "mad.lo.u16")
AMASIA_PAIR(MadLoU32, u32, "r", "mad.lo.u32 %0, %0, %2, %1;", 128, "MAD", "mad.lo.u32", "IMAD",
            "mad")
AMASIA_PAIR(MadLoS32, u32, "r", "mad.lo.s32 %0, %0, %2, %1;", 128, "MAD", "mad.lo.s32", "IMAD",
            "mad")
AMASIA_PAIR(MadLoU64, u64, "l", "mad.lo.u64 %0, %0, %2, %1;", 32, "MAD", "mad.lo.u64", "IMAD",
            "mad")
AMASIA_PAIR(Mad24LoU32, u32, "r", "mad24.lo.u32 %0, %0, %2, %1;", 128, "MAD", "mad24.lo.u32")
AMASIA_PAIR(Mad24HiU32, u32, "r", "mad24.hi.u32 %0, %0, %2, %1;", 32, "MAD", "mad24.hi.u32")
AMASIA_ROW(MadF32, float, "f", "mad.rn.f32 %0, %0, %2, %3;", 128, "MAD", "mad.rn.f32", "FFMA",
           "mad")
AMASIA_ROW(MadF64, double, "d", "mad.rn.f64 %0, %0, %2, %3;", 128, "MAD", "mad.rn.f64", "DFMA",
           "mad")

AMASIA_PAIR(SadU16, u16, "h", "sad.u16 %0, %0, %2, %1;", 32, "Sad", "sad.u16")
AMASIA_PAIR(SadS16, u16, "h", "sad.s16 %0, %0, %2, %1;", 32, "Sad", "sad.s16")
AMASIA_PAIR(SadU32, u32, "r", "sad.u32 %0, %0, %2, %1;", 128, "Sad", "sad.u32")
AMASIA_PAIR(SadS32, u32, "r", "sad.s32 %0, %0, %2, %1;", 128, "Sad", "sad.s32")
AMASIA_PAIR(SadU64, u64, "l", "sad.u64 %0, %0, %2, %1;", 32, "Sad", "sad.u64")
AMASIA_PAIR(SadS64, u64, "l", "sad.s64 %0, %0, %2, %1;", 32, "Sad", "sad.s64")

AMASIA_ROW(FmaF16, u16, "h", "fma.rn.f16 %0, %0, %2, %3;", 128, "FMA", "fma.rn.f16", "total", "fma",
           half)
AMASIA_ROW(FmaF32, float, "f", "fma.rn.f32 %0, %0, %2, %3;", 128, "FMA", "fma.rn.f32", "FFMA",
           "fma")
AMASIA_ROW(FmaF64, double, "d", "fma.rn.f64 %0, %0, %2, %3;", 128, "FMA", "fma.rn.f64", "DFMA",
           "fma")

AMASIA_PAIR(Dp4a, u32, "r", "dp4a.u32.u32 %0, %0, %2, %1;", 128, "dp4a", "dp4a.u32.u32")
AMASIA_PAIR(Dp2a, u32, "r", "dp2a.lo.u32.u32 %0, %0, %2, %1;", 128, "dp2a", "dp2a.lo.u32.u32")

/// An addition and a multiply-add on two halves of a register pair: independent of each other.
AMASIA_PAIR(AddAndMad, u64, "l",
            "{.reg .u32 s, t, u, v; mov.b64 {s, t}, %0; mov.b64 {u, v}, %1;"
            " add.u32 s, s, u; mad.lo.u32 t, t, v, v; mov.b64 %0, {s, t};}",
            128, "text", "dual.add+mad", "IMAD", "mad", {},
            "one copy is an addition and a multiply-add, independent")

std::vector<Point> points(const Device&, Scope) {
  return points_of<AddU16, AddcU32, AddU32, AddS32, AddU64, AddS64, AddF16, AddF32, AddF64,
                   MulWideU16, MulWideU32, MulLoU16, MulLoU32, MulLoS32, MulLoU64, Mul24LoU32,
                   Mul24HiU32, MulF16, MulF32, MulF64, MadLoU16, MadLoU32, MadLoS32, MadLoU64,
                   Mad24LoU32, Mad24HiU32, MadF32, MadF64, SadU16, SadS16, SadU32, SadS32, SadU64,
                   SadS64, FmaF16, FmaF32, FmaF64, Dp4a, Dp2a, AddAndMad>();
}

const bool registered = register_microbenchmark(
    {"instruction/add_multiply",
     "What do additions, multiplications and multiply-adds cost, and what do they become?",
     chain_method, points});

}  // namespace
}  // namespace amasia::instruction
