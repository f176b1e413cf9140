// instruction/divide_root: divisions, remainders, roots, reciprocals: sections Div/Rem, Sqrt, Rsqrt
// and Rcp of Table V of Abdelkhalik et al. 2022.
//
// Method: chain.cuh. A division is x = a / x, which swings between two values for ever, a remainder
// x = a mod (x or b): with a divisor that stays, its reciprocal leaves the loop. Roots settle at 1,
// reciprocals swing. Nothing takes a slow path for special
// numbers. 64-bit dividends have more than 32 bits, which is what takes the long way. Most of these
// become calls of a subroutine: the list of machine code names the call and not what it runs.

#include "microbench/instruction/chain.cuh"

namespace amasia::instruction {
namespace {

constexpr Ranges of16{50, 200, 10000, 30000};
constexpr Ranges of32{1e3, 6e4, 1e9, 2e9};
constexpr Ranges of64{1e9, 4e9, 4e18, 9e18};
const char* const section = "Div/Rem";
const char* const ored = "and an or before each";

AMASIA_ROW(DivU16, u16, "h", "div.u16 %0, %2, %0;", 16, section, "div.u16", "total", "div", of16)
AMASIA_ROW(DivS16, u16, "h", "div.s16 %0, %2, %0;", 16, section, "div.s16", "total", "div", of16)
AMASIA_ROW(RemU16, u16, "h", "{.reg .b16 t; or.b16 t, %0, %3; rem.u16 %0, %2, t;}", 16, section,
           "rem.u16", "total", "rem", of16, ored)
AMASIA_ROW(DivU32, u32, "r", "div.u32 %0, %2, %0;", 16, section, "div.u32", "total", "div", of32)
AMASIA_ROW(DivS32, u32, "r", "div.s32 %0, %2, %0;", 16, section, "div.s32", "total", "div", of32)
AMASIA_ROW(RemU32, u32, "r", "{.reg .b32 t; or.b32 t, %0, %3; rem.u32 %0, %2, t;}", 16, section,
           "rem.u32", "total", "rem", of32, ored)
AMASIA_ROW(RemS32, u32, "r", "{.reg .b32 t; or.b32 t, %0, %3; rem.s32 %0, %2, t;}", 16, section,
           "rem.s32", "total", "rem", of32, ored)
AMASIA_ROW(DivU64, u64, "l", "div.u64 %0, %2, %0;", 16, section, "div.u64", "total", "div", of64)
AMASIA_ROW(DivS64, u64, "l", "div.s64 %0, %2, %0;", 16, section, "div.s64", "total", "div", of64)
AMASIA_ROW(RemU64, u64, "l", "{.reg .b64 t; or.b64 t, %0, %3; rem.u64 %0, %2, t;}", 16, section,
           "rem.u64", "total", "rem", of64, ored)
AMASIA_ROW(DivF32, float, "f", "div.rn.f32 %0, %2, %0;", 16, section, "div.rn.f32", "total", "div")
AMASIA_ROW(DivF64, double, "d", "div.rn.f64 %0, %2, %0;", 16, section, "div.rn.f64", "total", "div")

AMASIA_ROW(SqrtF32, float, "f", "sqrt.rn.f32 %0, %0;", 16, "Sqrt", "sqrt.rn.f32", "MUFU", "sqrt")
AMASIA_ROW(SqrtApproxF32, float, "f", "sqrt.approx.f32 %0, %0;", 32, "Sqrt", "sqrt.approx.f32",
           "MUFU", "sqrt")
AMASIA_ROW(SqrtF64, double, "d", "sqrt.rn.f64 %0, %0;", 16, "Sqrt", "sqrt.rn.f64", "MUFU", "sqrt")
AMASIA_ROW(RsqrtF32, float, "f", "rsqrt.approx.f32 %0, %0;", 32, "Rsqrt", "rsqrt.approx.f32",
           "MUFU", "rsqrt")
AMASIA_ROW(RsqrtF64, double, "d", "rsqrt.approx.f64 %0, %0;", 32, "Rsqrt", "rsqrt.approx.f64",
           "MUFU", "rsqrt")
AMASIA_ROW(RcpF32, float, "f", "rcp.rn.f32 %0, %0;", 16, "Rcp", "rcp.rn.f32", "MUFU", "rcp")
AMASIA_ROW(RcpApproxF32, float, "f", "rcp.approx.f32 %0, %0;", 32, "Rcp", "rcp.approx.f32", "MUFU",
           "rcp")
AMASIA_ROW(RcpF64, double, "d", "rcp.rn.f64 %0, %0;", 16, "Rcp", "rcp.rn.f64", "MUFU", "rcp")

std::vector<Point> points(const Device&, Scope) {
  return points_of<DivU16, DivS16, RemU16, DivU32, DivS32, RemU32, RemS32, DivU64, DivS64, RemU64,
                   DivF32, DivF64, SqrtF32, SqrtApproxF32, SqrtF64, RsqrtF32, RsqrtF64, RcpF32,
                   RcpApproxF32, RcpF64>();
}

const bool registered = register_microbenchmark(
    {"instruction/divide_root", "What do divisions, remainders and roots cost, and what are they?",
     chain_method, points});

}  // namespace
}  // namespace amasia::instruction
