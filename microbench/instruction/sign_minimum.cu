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

const char* const selected = "and the select that makes a number of the predicate";
const char* const added = "input=add: an addition before each";

AMASIA_ROW(AbsS16, u16, "h", AMASIA_GUARDED("abs.s16 %0, %0;"), 32, "Abs", "abs.s16")
AMASIA_ROW(AbsS32, u32, "r", AMASIA_GUARDED("abs.s32 %0, %0;"), 128, "Abs", "abs.s32")
AMASIA_ROW(AbsS64, u64, "l", AMASIA_GUARDED("abs.s64 %0, %0;"), 32, "Abs", "abs.s64")
AMASIA_ROW(AbsF16, u16, "h", AMASIA_GUARDED("abs.f16 %0, %0;"), 128, "Abs", "abs.f16", "total",
           "abs", half)
AMASIA_ROW(AbsF32, float, "f", AMASIA_GUARDED("abs.ftz.f32 %0, %0;"), 128, "Abs", "abs.ftz.f32")
AMASIA_ROW(AbsF64, double, "d", AMASIA_GUARDED("abs.f64 %0, %0;"), 32, "Abs", "abs.f64")
AMASIA_ROW(AbsAddF32, float, "f", "{add.f32 %0, %0, %2; abs.f32 %0, %0;}", 128, "text",
           "add+abs.f32", "FADD", "abs", {}, added)

AMASIA_PAIR(CopysignF32, float, "f", "copysign.f32 %0, %1, %0;", 128, "copysign", "copysign.f32")
AMASIA_PAIR(CopysignF64, double, "d", "copysign.f64 %0, %1, %0;", 128, "copysign", "copysign.f64")

AMASIA_PAIR(MinU16, u16, "h", "min.u16 %0, %0, %1;", 128, "Min/Max", "min.u16")
AMASIA_PAIR(MinU32, u32, "r", "min.u32 %0, %0, %1;", 128, "Min/Max", "min.u32")
AMASIA_PAIR(MinU64, u64, "l", "min.u64 %0, %0, %1;", 32, "Min/Max", "min.u64")
AMASIA_PAIR(MinS16, u16, "h", "min.s16 %0, %0, %1;", 128, "Min/Max", "min.s16")
AMASIA_PAIR(MinS32, u32, "r", "min.s32 %0, %0, %1;", 128, "Min/Max", "min.s32")
AMASIA_PAIR(MinS64, u64, "l", "min.s64 %0, %0, %1;", 32, "Min/Max", "min.s64")
AMASIA_PAIR_FROM(80, MinF16, u16, "h", "min.f16 %0, %0, %1;", 128, "Min/Max", "min.f16", "total",
                 "min", half)
AMASIA_PAIR(MinF32, float, "f", "min.f32 %0, %0, %1;", 128, "Min/Max", "min.f32", "FMNMX", "min")
AMASIA_PAIR(MinF64, double, "d", "min.f64 %0, %0, %1;", 32, "Min/Max", "min.f64", "total", "min")

AMASIA_ROW(NegS16, u16, "h", AMASIA_GUARDED("neg.s16 %0, %0;"), 32, "Neg", "neg.s16")
AMASIA_ROW(NegS32, u32, "r", AMASIA_GUARDED("neg.s32 %0, %0;"), 128, "Neg", "neg.s32")
AMASIA_ROW(NegS64, u64, "l", AMASIA_GUARDED("neg.s64 %0, %0;"), 128, "Neg", "neg.s64")
AMASIA_ROW(NegF32, float, "f", AMASIA_GUARDED("neg.f32 %0, %0;"), 128, "Neg", "neg.f32")
AMASIA_ROW(NegF64, double, "d", AMASIA_GUARDED("neg.f64 %0, %0;"), 32, "Neg", "neg.f64")
AMASIA_ROW(NegAddF32, float, "f", "{add.f32 %0, %0, %2; neg.f32 %0, %0;}", 128, "text",
           "add+neg.f32", "FADD", "neg", {}, added)

AMASIA_ROW(NormalF32, float, "f", "{.reg .pred t; testp.normal.f32 t, %0; selp.f32 %0, %2, %3, t;}",
           32, "testp", "testp.normal.f32", "total", "testp", {}, selected)
AMASIA_ROW(SubnormalF32, float, "f",
           "{.reg .pred t; testp.subnormal.f32 t, %0; selp.f32 %0, %2, %3, t;}", 32, "testp",
           "testp.subnor.f32", "total", "testp", {}, selected)
AMASIA_ROW(NormalF64, double, "d",
           "{.reg .pred t; testp.normal.f64 t, %0; selp.f64 %0, %2, %3, t;}", 32, "testp",
           "testp.normal.f64", "total", "testp", {}, selected)
AMASIA_ROW(SubnormalF64, double, "d",
           "{.reg .pred t; testp.subnormal.f64 t, %0; selp.f64 %0, %2, %3, t;}", 32, "testp",
           "testp.subnor.f64", "total", "testp", {}, selected)

std::vector<Point> points(const Device&, Scope) {
  return points_of<AbsS16, AbsS32, AbsS64, AbsF16, AbsF32, AbsF64, AbsAddF32, CopysignF32,
                   CopysignF64, MinU16, MinU32, MinU64, MinS16, MinS32, MinS64, MinF16, MinF32,
                   MinF64, NegS16, NegS32, NegS64, NegF32, NegF64, NegAddF32, NormalF32,
                   SubnormalF32, NormalF64, SubnormalF64>();
}

const bool registered = register_microbenchmark(
    {"instruction/sign_minimum",
     "What do signs, minima and number classes cost, and what do they become?", chain_method,
     points});

}  // namespace
}  // namespace amasia::instruction
