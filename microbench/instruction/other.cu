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

AMASIA_ROW(SinF32, float, "f", "sin.approx.f32 %0, %0;")
AMASIA_ROW(CosF32, float, "f", "cos.approx.f32 %0, %0;")
AMASIA_ROW(Lg2F32, float, "f", "lg2.approx.f32 %0, %0;")
AMASIA_ROW(Ex2F32, float, "f", "{.reg .f32 t; neg.f32 t, %0; ex2.approx.f32 %0, t;}")
AMASIA_ROW_FROM(75, Ex2F16, u16, "h", "ex2.approx.f16 %0, %0;")
AMASIA_ROW_FROM(75, TanhF32, float, "f", "tanh.approx.f32 %0, %0;")
AMASIA_ROW_FROM(75, TanhF16, u16, "h", "tanh.approx.f16 %0, %0;")
AMASIA_ROW(BarWarpSync, u32, "r", "bar.warp.sync %2;")
AMASIA_ROW(CvtRzi, float, "f", "{.reg .s32 t; cvt.rzi.s32.f32 t, %0; mov.b32 %0, t;}")
AMASIA_ROW(SetpNe, u32, "r", "{.reg .pred t; setp.ne.s32 t, %0, %1; selp.s32 %0, %2, %3, t;}")
AMASIA_ROW(Clock, u32, "r", "{.reg .u32 t; mov.u32 t, %%clock; add.u32 %0, %0, t;}")

std::vector<Point> points(const Device&, Scope) {
  Ranges half;
  half.half = true;
  const char* const other = "Other";
  const double all_lanes = 4294967295.0;
  std::vector<Point> all;
  add_row<SinF32, 32>(all, {other, "sin.approx.f32", "MUFU", "sin"});
  add_row<CosF32, 32>(all, {other, "cos.approx.f32", "MUFU", "cos"});
  add_row<Lg2F32, 32>(all, {other, "lg2.approx.f32", "MUFU", "lg2"});
  add_row<Ex2F32, 32>(all, {other, "ex2.approx.f32", "MUFU", "ex2"});
  add_row<Ex2F16, 32>(all, {other, "ex2.approx.f16", "MUFU", "ex2", half});
  add_row<TanhF32, 32>(all, {other, "tanh.approx.f32", "MUFU", "tanh"});
  add_row<TanhF16, 32>(all, {other, "tanh.approx.f16", "MUFU", "tanh", half});
  add_row<BarWarpSync, 32>(
      all, {other, "bar.warp.sync", "NOP", "bar.warp", {0, 0, all_lanes, all_lanes}});
  add_row<CvtRzi, 32>(all, {other, "cvt.rzi.s32.f32", "total", "cvt"});
  add_row<SetpNe>(all, {other,
                        "setp.ne.s32",
                        "total",
                        "setp",
                        {},
                        "and the select that makes a number of the predicate"});
  add_row<Clock, 32>(all, {other, "mov.u32_clock", "total", "mov", {}, "and an addition"});
  return all;
}

const bool registered = register_microbenchmark(
    {"instruction/other",
     "What do special functions, conversions and warp barriers cost, and what are they?",
     chain_method, points});

}  // namespace
}  // namespace amasia::instruction
