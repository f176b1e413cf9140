// instruction/sign_minimum: latency and issue interval of signs, minima and number classes. Source:
// Abdelkhalik et al. 2022, Table V, sections Abs, copysign, Min/Max, Neg and testp.
//
// Method: chain.cuh. All but testp are guarded, because a chain of one of them folds into a single
// one. A floating-point sign is a modifier of the instruction that reads it. Guarded, it becomes a
// select (f32), or is computed and selected (f64). With input=add an addition precedes each. The
// paper's remark on how the input is initialised (text 3) is about this: whether the modifier can
// become part of another instruction. testp gives a predicate; the select that makes a number of it
// is part of the copy.

#include "microbench/instruction/chain.cuh"

namespace amasia::instruction {
namespace {

AMASIA_ROW(AbsS16, u16, "h", AMASIA_GUARDED("abs.s16 %0, %0;"))
AMASIA_ROW(AbsS32, u32, "r", AMASIA_GUARDED("abs.s32 %0, %0;"))
AMASIA_ROW(AbsS64, u64, "l", AMASIA_GUARDED("abs.s64 %0, %0;"))
AMASIA_ROW(AbsF16, u16, "h", AMASIA_GUARDED("abs.f16 %0, %0;"))
AMASIA_ROW(AbsF32, float, "f", AMASIA_GUARDED("abs.ftz.f32 %0, %0;"))
AMASIA_ROW(AbsF64, double, "d", AMASIA_GUARDED("abs.f64 %0, %0;"))
AMASIA_ROW(AbsAddF32, float, "f", "{add.f32 %0, %0, %2; abs.f32 %0, %0;}")

AMASIA_PAIR(CopysignF32, float, "f", "copysign.f32 %0, %1, %0;")
AMASIA_PAIR(CopysignF64, double, "d", "copysign.f64 %0, %1, %0;")

AMASIA_PAIR(MinU16, u16, "h", "min.u16 %0, %0, %1;")
AMASIA_PAIR(MinU32, u32, "r", "min.u32 %0, %0, %1;")
AMASIA_PAIR(MinU64, u64, "l", "min.u64 %0, %0, %1;")
AMASIA_PAIR(MinS16, u16, "h", "min.s16 %0, %0, %1;")
AMASIA_PAIR(MinS32, u32, "r", "min.s32 %0, %0, %1;")
AMASIA_PAIR(MinS64, u64, "l", "min.s64 %0, %0, %1;")
AMASIA_PAIR_FROM(80, MinF16, u16, "h", "min.f16 %0, %0, %1;")
AMASIA_PAIR(MinF32, float, "f", "min.f32 %0, %0, %1;")
AMASIA_PAIR(MinF64, double, "d", "min.f64 %0, %0, %1;")

AMASIA_ROW(NegS16, u16, "h", AMASIA_GUARDED("neg.s16 %0, %0;"))
AMASIA_ROW(NegS32, u32, "r", AMASIA_GUARDED("neg.s32 %0, %0;"))
AMASIA_ROW(NegS64, u64, "l", AMASIA_GUARDED("neg.s64 %0, %0;"))
AMASIA_ROW(NegF32, float, "f", AMASIA_GUARDED("neg.f32 %0, %0;"))
AMASIA_ROW(NegF64, double, "d", AMASIA_GUARDED("neg.f64 %0, %0;"))
AMASIA_ROW(NegAddF32, float, "f", "{add.f32 %0, %0, %2; neg.f32 %0, %0;}")

AMASIA_ROW(NormalF32, float, "f", "{.reg .pred t; testp.normal.f32 t, %0; selp.f32 %0, %2, %3, t;}")
AMASIA_ROW(SubnormalF32, float, "f",
           "{.reg .pred t; testp.subnormal.f32 t, %0; selp.f32 %0, %2, %3, t;}")
AMASIA_ROW(NormalF64, double, "d",
           "{.reg .pred t; testp.normal.f64 t, %0; selp.f64 %0, %2, %3, t;}")
AMASIA_ROW(SubnormalF64, double, "d",
           "{.reg .pred t; testp.subnormal.f64 t, %0; selp.f64 %0, %2, %3, t;}")

std::vector<Point> points(const Device&, Scope) {
  Ranges half;
  half.half = true;
  const char* const selected = "and the select that makes a number of the predicate";
  const char* const added = "input=add: an addition before each";
  std::vector<Point> all;
  add_row<AbsS16, 32>(all, {"Abs", "abs.s16"});
  add_row<AbsS32>(all, {"Abs", "abs.s32"});
  add_row<AbsS64, 32>(all, {"Abs", "abs.s64"});
  add_row<AbsF16>(all, {"Abs", "abs.f16", "total", "abs", half});
  add_row<AbsF32>(all, {"Abs", "abs.ftz.f32"});
  add_row<AbsF64, 32>(all, {"Abs", "abs.f64"});
  add_row<AbsAddF32>(all, {"text", "add+abs.f32", "FADD", "abs", {}, added});
  add_row<CopysignF32>(all, {"copysign", "copysign.f32"});
  add_row<CopysignF64>(all, {"copysign", "copysign.f64"});
  add_row<MinU16>(all, {"Min/Max", "min.u16"});
  add_row<MinU32>(all, {"Min/Max", "min.u32"});
  add_row<MinU64, 32>(all, {"Min/Max", "min.u64"});
  add_row<MinS16>(all, {"Min/Max", "min.s16"});
  add_row<MinS32>(all, {"Min/Max", "min.s32"});
  add_row<MinS64, 32>(all, {"Min/Max", "min.s64"});
  add_row<MinF16>(all, {"Min/Max", "min.f16", "total", "min", half});
  add_row<MinF32>(all, {"Min/Max", "min.f32", "FMNMX", "min"});
  add_row<MinF64, 32>(all, {"Min/Max", "min.f64", "total", "min"});
  add_row<NegS16, 32>(all, {"Neg", "neg.s16"});
  add_row<NegS32>(all, {"Neg", "neg.s32"});
  add_row<NegS64>(all, {"Neg", "neg.s64"});
  add_row<NegF32>(all, {"Neg", "neg.f32"});
  add_row<NegF64, 32>(all, {"Neg", "neg.f64"});
  add_row<NegAddF32>(all, {"text", "add+neg.f32", "FADD", "neg", {}, added});
  add_row<NormalF32, 32>(all, {"testp", "testp.normal.f32", "total", "testp", {}, selected});
  add_row<SubnormalF32, 32>(all, {"testp", "testp.subnor.f32", "total", "testp", {}, selected});
  add_row<NormalF64, 32>(all, {"testp", "testp.normal.f64", "total", "testp", {}, selected});
  add_row<SubnormalF64, 32>(all, {"testp", "testp.subnor.f64", "total", "testp", {}, selected});
  return all;
}

const bool registered = register_microbenchmark(
    {"instruction/sign_minimum",
     "What do signs, minima and number classes cost, and what do they become?", chain_method,
     points});

}  // namespace
}  // namespace amasia::instruction
