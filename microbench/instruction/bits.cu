// instruction/bits: logic, bit fields, counting and searching bits: sections Brev, and/or/xor, Not,
// lop3, cnot, bfe, Bfi, Pop, Clz and Bfind of Table V of Abdelkhalik et al. 2022, and fns.
//
// Method: chain.cuh. Where a result is narrower than the operand (popc.b64 and the like give 32
// bits) it becomes the low half of the next operand and the other operand's high half its high
// half. Of fns the mask is what was found xor a random word: an instruction more per copy.

#include "microbench/instruction/chain.cuh"

namespace amasia::instruction {
namespace {

constexpr Ranges fields{0, 0, 1, 12};  // position and length

/// A 64-bit operand, a 32-bit result.
#define AMASIA_NARROWS(OPERATION) \
  "{.reg .u32 t, lo, hi; " OPERATION " t, %0; mov.b64 {lo, hi}, %1; mov.b64 %0, {t, hi};}"

AMASIA_ROW(BrevB32, u32, "r", "brev.b32 %0, %0;", 128, "Brev", "brev.b32")
AMASIA_ROW(BrevB64, u64, "l", "brev.b64 %0, %0;", 32, "Brev", "brev.b64")
AMASIA_PAIR(AndB16, u16, "h", AMASIA_GUARDED("and.b16 %0, %0, %1;"), 128, "and/or/xor", "and.b16")
AMASIA_PAIR(AndB32, u32, "r", AMASIA_GUARDED("and.b32 %0, %0, %1;"), 128, "and/or/xor", "and.b32")
AMASIA_PAIR(AndB64, u64, "l", AMASIA_GUARDED("and.b64 %0, %0, %1;"), 128, "and/or/xor", "and.b64")
AMASIA_ROW(NotB16, u16, "h", AMASIA_GUARDED("not.b16 %0, %0;"), 128, "Not", "not.b16")
AMASIA_ROW(NotB32, u32, "r", AMASIA_GUARDED("not.b32 %0, %0;"), 128, "Not", "not.b32")
AMASIA_ROW(NotB64, u64, "l", AMASIA_GUARDED("not.b64 %0, %0;"), 128, "Not", "not.b64")
AMASIA_PAIR(Lop3B32, u32, "r", "lop3.b32 %0, %0, %1, %2, 0xe8;", 128, "lop3", "lop3.b32")
AMASIA_ROW(CnotB16, u16, "h", AMASIA_GUARDED("cnot.b16 %0, %0;"), 32, "cnot", "cnot.b16")
AMASIA_ROW(CnotB32, u32, "r", AMASIA_GUARDED("cnot.b32 %0, %0;"), 32, "cnot", "cnot.b32")
AMASIA_ROW(CnotB64, u64, "l", AMASIA_GUARDED("cnot.b64 %0, %0;"), 32, "cnot", "cnot.b64")
AMASIA_ROW(BfeU32, u32, "r", "bfe.u32 %0, %0, %2, %3;", 32, "bfe", "bfe.u32", "total", "bfe",
           fields)
AMASIA_ROW(BfeS32, u32, "r", "bfe.s32 %0, %0, %2, %3;", 32, "bfe", "bfe.s32", "total", "bfe",
           fields)
AMASIA_ROW(BfeU64, u64, "l",
           "{.reg .u32 p, n; cvt.u32.u64 p, %2; cvt.u32.u64 n, %3; bfe.u64 %0, %0, p, n;}", 32,
           "bfe", "bfe.u64", "total", "bfe", fields)
AMASIA_ROW(BfeS64, u64, "l",
           "{.reg .u32 p, n; cvt.u32.u64 p, %2; cvt.u32.u64 n, %3; bfe.s64 %0, %0, p, n;}", 32,
           "bfe", "bfe.s64", "total", "bfe", fields)
AMASIA_PAIR(BfiB32, u32, "r", "bfi.b32 %0, %0, %1, %2, %3;", 32, "Bfi", "bfi.b32", "total", "bfi",
            fields)
AMASIA_PAIR(BfiB64, u64, "l",
            "{.reg .u32 p, n; cvt.u32.u64 p, %2; cvt.u32.u64 n, %3; bfi.b64 %0, %0, %1, p, n;}", 32,
            "Bfi", "bfi.b64", "total", "bfi", fields)
AMASIA_ROW(PopcB32, u32, "r", "popc.b32 %0, %0;", 128, "Pop", "popc.b32", "POPC", "popc")
AMASIA_ROW(PopcB64, u64, "l", AMASIA_NARROWS("popc.b64"), 32, "Pop", "popc.b64", "POPC", "popc")
AMASIA_ROW(ClzB32, u32, "r", "clz.b32 %0, %0;", 32, "Clz", "clz.b32", "FLO", "clz")
AMASIA_ROW(ClzB64, u64, "l", AMASIA_NARROWS("clz.b64"), 32, "Clz", "clz.b64", "FLO", "clz")
AMASIA_ROW(BfindU32, u32, "r", "bfind.u32 %0, %0;", 32, "Bfind", "bfind.u32", "FLO", "bfind")
AMASIA_ROW(BfindS32, u32, "r", "bfind.s32 %0, %0;", 32, "Bfind", "bfind.s32", "FLO", "bfind")
AMASIA_ROW(BfindU64, u64, "l", AMASIA_NARROWS("bfind.u64"), 32, "Bfind", "bfind.u64", "FLO",
           "bfind")
AMASIA_ROW(BfindS64, u64, "l", AMASIA_NARROWS("bfind.s64"), 32, "Bfind", "bfind.s64", "FLO",
           "bfind")
// The n-th set bit, n from 1 to 5 by lane.
AMASIA_ROW(FnsB32, u32, "r", "{.reg .u32 t; xor.b32 t, %0, %2; fns.b32 %0, t, 0, %3;}", 16, "Other",
           "fns.b32", "total", "fns", {0, 31, 1, 6}, "and the xor before each")

std::vector<Point> points(const Device&, Scope) {
  return points_of<BrevB32, BrevB64, AndB16, AndB32, AndB64, NotB16, NotB32, NotB64, Lop3B32,
                   CnotB16, CnotB32, CnotB64, BfeU32, BfeS32, BfeU64, BfeS64, BfiB32, BfiB64,
                   PopcB32, PopcB64, ClzB32, ClzB64, BfindU32, BfindS32, BfindU64, BfindS64,
                   FnsB32>();
}

const bool registered = register_microbenchmark(
    {"instruction/bits", "What do logic, bit fields and bit searches cost, and what are they?",
     chain_method, points});

}  // namespace
}  // namespace amasia::instruction
