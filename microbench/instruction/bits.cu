// instruction/bits: logic, bit fields, counting and searching bits: sections Brev, and/or/xor, Not,
// lop3, cnot, bfe, Bfi, Pop, Clz and Bfind of Table V of Abdelkhalik et al. 2022, and fns.
//
// Method: chain.cuh. Where a result is narrower than the operand (popc.b64 and the like give 32
// bits) it becomes the low half of the next operand and the other operand's high half its high
// half. Of fns the mask is what was found xor a random word: an instruction more per copy.

#include "microbench/instruction/chain.cuh"

namespace amasia::instruction {
namespace {

/// A 64-bit operand, a 32-bit result.
#define AMASIA_NARROWS(OPERATION) \
  "{.reg .u32 t, lo, hi; " OPERATION " t, %0; mov.b64 {lo, hi}, %1; mov.b64 %0, {t, hi};}"

AMASIA_ROW(BrevB32, u32, "r", "brev.b32 %0, %0;")
AMASIA_ROW(BrevB64, u64, "l", "brev.b64 %0, %0;")
AMASIA_PAIR(AndB16, u16, "h", AMASIA_GUARDED("and.b16 %0, %0, %1;"))
AMASIA_PAIR(AndB32, u32, "r", AMASIA_GUARDED("and.b32 %0, %0, %1;"))
AMASIA_PAIR(AndB64, u64, "l", AMASIA_GUARDED("and.b64 %0, %0, %1;"))
AMASIA_ROW(NotB16, u16, "h", AMASIA_GUARDED("not.b16 %0, %0;"))
AMASIA_ROW(NotB32, u32, "r", AMASIA_GUARDED("not.b32 %0, %0;"))
AMASIA_ROW(NotB64, u64, "l", AMASIA_GUARDED("not.b64 %0, %0;"))
AMASIA_PAIR(Lop3B32, u32, "r", "lop3.b32 %0, %0, %1, %2, 0xe8;")
AMASIA_ROW(CnotB16, u16, "h", AMASIA_GUARDED("cnot.b16 %0, %0;"))
AMASIA_ROW(CnotB32, u32, "r", AMASIA_GUARDED("cnot.b32 %0, %0;"))
AMASIA_ROW(CnotB64, u64, "l", AMASIA_GUARDED("cnot.b64 %0, %0;"))
AMASIA_ROW(BfeU32, u32, "r", "bfe.u32 %0, %0, %2, %3;")
AMASIA_ROW(BfeS32, u32, "r", "bfe.s32 %0, %0, %2, %3;")
AMASIA_ROW(BfeU64, u64, "l",
           "{.reg .u32 p, n; cvt.u32.u64 p, %2; cvt.u32.u64 n, %3; bfe.u64 %0, %0, p, n;}")
AMASIA_ROW(BfeS64, u64, "l",
           "{.reg .u32 p, n; cvt.u32.u64 p, %2; cvt.u32.u64 n, %3; bfe.s64 %0, %0, p, n;}")
AMASIA_PAIR(BfiB32, u32, "r", "bfi.b32 %0, %0, %1, %2, %3;")
AMASIA_PAIR(BfiB64, u64, "l",
            "{.reg .u32 p, n; cvt.u32.u64 p, %2; cvt.u32.u64 n, %3; bfi.b64 %0, %0, %1, p, n;}")
AMASIA_ROW(PopcB32, u32, "r", "popc.b32 %0, %0;")
AMASIA_ROW(PopcB64, u64, "l", AMASIA_NARROWS("popc.b64"))
AMASIA_ROW(ClzB32, u32, "r", "clz.b32 %0, %0;")
AMASIA_ROW(ClzB64, u64, "l", AMASIA_NARROWS("clz.b64"))
AMASIA_ROW(BfindU32, u32, "r", "bfind.u32 %0, %0;")
AMASIA_ROW(BfindS32, u32, "r", "bfind.s32 %0, %0;")
AMASIA_ROW(BfindU64, u64, "l", AMASIA_NARROWS("bfind.u64"))
AMASIA_ROW(BfindS64, u64, "l", AMASIA_NARROWS("bfind.s64"))
AMASIA_ROW(FnsB32, u32, "r", "{.reg .u32 t; xor.b32 t, %0, %2; fns.b32 %0, t, 0, %3;}")

std::vector<Point> points(const Device&, Scope) {
  const Ranges fields{0, 0, 1, 12};  // position and length
  std::vector<Point> all;
  add_row<BrevB32>(all, {"Brev", "brev.b32"});
  add_row<BrevB64, 32>(all, {"Brev", "brev.b64"});
  add_row<AndB16>(all, {"and/or/xor", "and.b16"});
  add_row<AndB32>(all, {"and/or/xor", "and.b32"});
  add_row<AndB64>(all, {"and/or/xor", "and.b64"});
  add_row<NotB16>(all, {"Not", "not.b16"});
  add_row<NotB32>(all, {"Not", "not.b32"});
  add_row<NotB64>(all, {"Not", "not.b64"});
  add_row<Lop3B32>(all, {"lop3", "lop3.b32"});
  add_row<CnotB16, 32>(all, {"cnot", "cnot.b16"});
  add_row<CnotB32, 32>(all, {"cnot", "cnot.b32"});
  add_row<CnotB64, 32>(all, {"cnot", "cnot.b64"});
  add_row<BfeU32, 32>(all, {"bfe", "bfe.u32", "total", "bfe", fields});
  add_row<BfeS32, 32>(all, {"bfe", "bfe.s32", "total", "bfe", fields});
  add_row<BfeU64, 32>(all, {"bfe", "bfe.u64", "total", "bfe", fields});
  add_row<BfeS64, 32>(all, {"bfe", "bfe.s64", "total", "bfe", fields});
  add_row<BfiB32, 32>(all, {"Bfi", "bfi.b32", "total", "bfi", fields});
  add_row<BfiB64, 32>(all, {"Bfi", "bfi.b64", "total", "bfi", fields});
  add_row<PopcB32>(all, {"Pop", "popc.b32", "POPC", "popc"});
  add_row<PopcB64, 32>(all, {"Pop", "popc.b64", "POPC", "popc"});
  add_row<ClzB32, 32>(all, {"Clz", "clz.b32", "FLO", "clz"});
  add_row<ClzB64, 32>(all, {"Clz", "clz.b64", "FLO", "clz"});
  add_row<BfindU32, 32>(all, {"Bfind", "bfind.u32", "FLO", "bfind"});
  add_row<BfindS32, 32>(all, {"Bfind", "bfind.s32", "FLO", "bfind"});
  add_row<BfindU64, 32>(all, {"Bfind", "bfind.u64", "FLO", "bfind"});
  add_row<BfindS64, 32>(all, {"Bfind", "bfind.s64", "FLO", "bfind"});
  // The n-th set bit, n from 1 to 5 by lane.
  add_row<FnsB32, 16>(
      all, {"Other", "fns.b32", "total", "fns", {0, 31, 1, 6}, "and the xor before each"});
  return all;
}

const bool registered = register_microbenchmark(
    {"instruction/bits", "What do logic, bit fields and bit searches cost, and what are they?",
     chain_method, points});

}  // namespace
}  // namespace amasia::instruction
