// instruction/other: the special functions, conversions and what else is in section Other of
// Table V of Abdelkhalik et al. 2022.
//
// Method: chain.cuh. setp gives a predicate; the select that makes a number of it is part of the
// copy, and so is the addition that keeps each clock. A barrier of a warp has no result, so that
// nothing depends on it; its mask is an operand. The argument of ex2.approx.f32 is negated, which
// is free: of what is known to be positive the assembler leaves the scaling out.

#include "microbench/instruction/chain.cuh"

namespace amasia::instruction {
namespace {

const char* const other = "Other";
constexpr double all_lanes = 4294967295.0;

AMASIA_ROW(SinF32, float, "f", "sin.approx.f32 %0, %0;", 32, other, "sin.approx.f32", "MUFU", "sin")
AMASIA_ROW(CosF32, float, "f", "cos.approx.f32 %0, %0;", 32, other, "cos.approx.f32", "MUFU", "cos")
AMASIA_ROW(Lg2F32, float, "f", "lg2.approx.f32 %0, %0;", 32, other, "lg2.approx.f32", "MUFU", "lg2")
AMASIA_ROW(Ex2F32, float, "f", "{.reg .f32 t; neg.f32 t, %0; ex2.approx.f32 %0, t;}", 32, other,
           "ex2.approx.f32", "MUFU", "ex2")
AMASIA_ROW_FROM(75, Ex2F16, u16, "h", "ex2.approx.f16 %0, %0;", 32, other, "ex2.approx.f16", "MUFU",
                "ex2", half)
AMASIA_ROW_FROM(75, TanhF32, float, "f", "tanh.approx.f32 %0, %0;", 32, other, "tanh.approx.f32",
                "MUFU", "tanh")
AMASIA_ROW_FROM(75, TanhF16, u16, "h", "tanh.approx.f16 %0, %0;", 32, other, "tanh.approx.f16",
                "MUFU", "tanh", half)
AMASIA_ROW(BarWarpSync, u32, "r", "bar.warp.sync %2;", 32, other, "bar.warp.sync", "NOP",
           "bar.warp", {0, 0, all_lanes, all_lanes})
AMASIA_ROW(CvtRzi, float, "f", "{.reg .s32 t; cvt.rzi.s32.f32 t, %0; mov.b32 %0, t;}", 32, other,
           "cvt.rzi.s32.f32", "total", "cvt")
AMASIA_ROW(SetpNe, u32, "r", "{.reg .pred t; setp.ne.s32 t, %0, %1; selp.s32 %0, %2, %3, t;}", 128,
           other, "setp.ne.s32", "total", "setp", {},
           "and the select that makes a number of the predicate")
AMASIA_ROW(Clock, u32, "r", "{.reg .u32 t; mov.u32 t, %%clock; add.u32 %0, %0, t;}", 32, other,
           "mov.u32_clock", "total", "mov", {}, "and an addition")

std::vector<Point> points(const Device&, Scope) {
  return points_of<SinF32, CosF32, Lg2F32, Ex2F32, Ex2F16, TanhF32, TanhF16, BarWarpSync, CvtRzi,
                   SetpNe, Clock>();
}

const bool registered = register_microbenchmark(
    {"instruction/other",
     "What do special functions, conversions and warp barriers cost, and what are they?",
     chain_method, points});

}  // namespace
}  // namespace amasia::instruction
