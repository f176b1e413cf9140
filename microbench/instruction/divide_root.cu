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

AMASIA_ROW(DivU16, u16, "h", "div.u16 %0, %2, %0;")
AMASIA_ROW(DivS16, u16, "h", "div.s16 %0, %2, %0;")
AMASIA_ROW(RemU16, u16, "h", "{.reg .b16 t; or.b16 t, %0, %3; rem.u16 %0, %2, t;}")
AMASIA_ROW(DivU32, u32, "r", "div.u32 %0, %2, %0;")
AMASIA_ROW(DivS32, u32, "r", "div.s32 %0, %2, %0;")
AMASIA_ROW(RemU32, u32, "r", "{.reg .b32 t; or.b32 t, %0, %3; rem.u32 %0, %2, t;}")
AMASIA_ROW(RemS32, u32, "r", "{.reg .b32 t; or.b32 t, %0, %3; rem.s32 %0, %2, t;}")
AMASIA_ROW(DivU64, u64, "l", "div.u64 %0, %2, %0;")
AMASIA_ROW(DivS64, u64, "l", "div.s64 %0, %2, %0;")
AMASIA_ROW(RemU64, u64, "l", "{.reg .b64 t; or.b64 t, %0, %3; rem.u64 %0, %2, t;}")
AMASIA_ROW(DivF32, float, "f", "div.rn.f32 %0, %2, %0;")
AMASIA_ROW(DivF64, double, "d", "div.rn.f64 %0, %2, %0;")

AMASIA_ROW(SqrtF32, float, "f", "sqrt.rn.f32 %0, %0;")
AMASIA_ROW(SqrtApproxF32, float, "f", "sqrt.approx.f32 %0, %0;")
AMASIA_ROW(SqrtF64, double, "d", "sqrt.rn.f64 %0, %0;")
AMASIA_ROW(RsqrtF32, float, "f", "rsqrt.approx.f32 %0, %0;")
AMASIA_ROW(RsqrtF64, double, "d", "rsqrt.approx.f64 %0, %0;")
AMASIA_ROW(RcpF32, float, "f", "rcp.rn.f32 %0, %0;")
AMASIA_ROW(RcpApproxF32, float, "f", "rcp.approx.f32 %0, %0;")
AMASIA_ROW(RcpF64, double, "d", "rcp.rn.f64 %0, %0;")

std::vector<Point> points(const Device&, Scope) {
  const Ranges of16{50, 200, 10000, 30000};
  const Ranges of32{1e3, 6e4, 1e9, 2e9};
  const Ranges of64{1e9, 4e9, 4e18, 9e18};
  std::vector<Point> all;
  const char* const section = "Div/Rem";
  const char* const ored = "and an or before each";
  add_row<DivU16, 16>(all, {section, "div.u16", "total", "div", of16});
  add_row<DivS16, 16>(all, {section, "div.s16", "total", "div", of16});
  add_row<RemU16, 16>(all, {section, "rem.u16", "total", "rem", of16, ored});
  add_row<DivU32, 16>(all, {section, "div.u32", "total", "div", of32});
  add_row<DivS32, 16>(all, {section, "div.s32", "total", "div", of32});
  add_row<RemU32, 16>(all, {section, "rem.u32", "total", "rem", of32, ored});
  add_row<RemS32, 16>(all, {section, "rem.s32", "total", "rem", of32, ored});
  add_row<DivU64, 16>(all, {section, "div.u64", "total", "div", of64});
  add_row<DivS64, 16>(all, {section, "div.s64", "total", "div", of64});
  add_row<RemU64, 16>(all, {section, "rem.u64", "total", "rem", of64, ored});
  add_row<DivF32, 16>(all, {section, "div.rn.f32", "total", "div"});
  add_row<DivF64, 16>(all, {section, "div.rn.f64", "total", "div"});

  add_row<SqrtF32, 16>(all, {"Sqrt", "sqrt.rn.f32", "MUFU", "sqrt"});
  add_row<SqrtApproxF32, 32>(all, {"Sqrt", "sqrt.approx.f32", "MUFU", "sqrt"});
  add_row<SqrtF64, 16>(all, {"Sqrt", "sqrt.rn.f64", "MUFU", "sqrt"});
  add_row<RsqrtF32, 32>(all, {"Rsqrt", "rsqrt.approx.f32", "MUFU", "rsqrt"});
  add_row<RsqrtF64, 32>(all, {"Rsqrt", "rsqrt.approx.f64", "MUFU", "rsqrt"});
  add_row<RcpF32, 16>(all, {"Rcp", "rcp.rn.f32", "MUFU", "rcp"});
  add_row<RcpApproxF32, 32>(all, {"Rcp", "rcp.approx.f32", "MUFU", "rcp"});
  add_row<RcpF64, 16>(all, {"Rcp", "rcp.rn.f64", "MUFU", "rcp"});
  return all;
}

const bool registered = register_microbenchmark(
    {"instruction/divide_root", "What do divisions, remainders and roots cost, and what are they?",
     chain_method, points});

}  // namespace
}  // namespace amasia::instruction
