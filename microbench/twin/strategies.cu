// twin/strategies: which way of moving data suits a kernel with given traits?
//
// Method: a synthetic kernel, the twin, has the traits of a real one (traits.hpp): tile shape and
// layout in memory, arithmetic per tile, reads from shared memory, and launch geometry. Each of the
// six strategies moves its tiles. Computation and walk over the tiles are written once
// (kernel.cuh), and all store results by ordinary stores. The value is the speed-up over the
// strategy baseline with the same traits, from pairs of runs one right after the other with caches
// displaced (measure.cuh); that of baseline itself is baseline against baseline, the noise. Every
// strategy has as many blocks per SM as its shared memory and the registers of the real kernel
// allow.
//
// A grid of traits is recorded, and from the middle of two of its kinds every other trait one at a
// time. A user's own traits are measured by `amasia run twin --traits NAME=VALUE,...`.

#include "microbench/twin/measure.cuh"

namespace amasia::twin {
namespace {

const std::vector<Way>& ways() {
  static const std::vector<Way> all{
      baseline_way(), register_bypass_way(), overlap_way(), drop_off_way(), tma_way(), dsm_way()};
  return all;
}

/// Why a strategy cannot have these traits on this device, a sentence; "" when it can.
std::string obstacle(const Way& way, const Traits& t, const Device& d) {
  if (std::string why = way.objection(t); !why.empty()) return why;
  if (blocks_by_registers(t, d) < 1) {
    return "a block of " + std::to_string(t.threads) + " threads with " +
           std::to_string(t.registers) + " registers each does not fit on an SM";
  }
  if (const std::size_t needed = dynamic_bytes(way, t, d); needed > d.shared_per_block) {
    return "it needs " + std::to_string(needed) + " bytes of shared memory, a block can have " +
           std::to_string(d.shared_per_block);
  }
  return "";
}

Point point_of(const Way& way, const Traits& traits, const Device& device) {
  const Shape shape = shape_of(traits);
  Point p = new_point(coordinates_of(traits), "speedup", "x", Better::larger);
  p.at.insert(p.at.begin(), {"strategy", std::string(name_of(way.strategy))});
  p.runs_from = std::max(amasia::traits_of(way.strategy).runs_from,
                         amasia::traits_of(way.strategy).native_from);
  p.unsupported = obstacle(way, traits, device);
  const int chunks = chunks_per_thread(shape, traits.threads);
  const int ahead = way.stages(traits) > 1 ? way.stages(traits) - 1 : 1;
  p.kernels = {kernel_use(way.kernel_of(chunks), static_cast<int>(traits.threads),
                          dynamic_bytes(way, traits, device), static_cast<int>(way.cluster_blocks),
                          static_cast<std::size_t>(ahead) * way.stage_bytes(shape, traits))};
  p.claims = way.claims;
  const std::size_t tiles = way.shared_bytes(shape, traits) - way.extra_bytes;
  p.remark = std::to_string(tiles) + " bytes of tiles per block";
  if (const std::int64_t own = twin_registers(chunks); traits.registers < own) {
    p.remark += "; as many blocks per SM as with " + std::to_string(own) +
                " registers, which the twin may need";
  }
  p.prepare = [&way, traits](const Device& d, Stream stream) -> Sampling {
    auto twin = std::make_shared<Twin>(traits, way, ways().front(), d, stream);
    return [twin] { return twin->sample(); };
  };
  return p;
}

std::vector<Point> points_of(const Traits& traits, const Device& device) {
  std::vector<Point> all;
  for (const Way& way : ways()) all.push_back(point_of(way, traits, device));
  return all;
}

/// Kinds of tile that the grid has.
struct Kind {
  Layout layout;
  std::int64_t halo;
  bool half_in_common;
};
constexpr Kind kinds[] = {{Layout::run, 0, false},
                          {Layout::box, 0, false},
                          {Layout::box, 4, false},
                          {Layout::gather, 0, false},
                          {Layout::run, 0, true}};
constexpr int middle_kinds[] = {0, 2};  // where the other traits are varied

/// Rows of a tile, and the threads that suit it.
struct Size {
  std::int64_t rows, threads;
};
constexpr Size sizes[] = {{4, 128}, {16, 256}, {64, 256}};  // 2, 8 and 32 KiB
constexpr Size middle_size = sizes[1];
constexpr std::int64_t arithmetic[] = {1, 16, 128};
constexpr std::int64_t middle_arithmetic = arithmetic[1];
// Of 256 threads an SM then holds 4, 2 and 1 blocks.
constexpr std::int64_t registers_of_kernels[] = {64, 128, 255};
constexpr std::int64_t middle_registers = registers_of_kernels[0];

/// Traits other than those that span the grid, each with the values that it has from the middle on.
struct Varied {
  Member trait;
  std::vector<std::int64_t> values;
};
const std::vector<Varied>& varied() {
  static const std::vector<Varied> all{
      {&Traits::out_bytes, {0, 2048}}, {&Traits::reads, {3, 9}},
      {&Traits::chain, {1}},           {&Traits::barriers, {2, 8}},
      {&Traits::threads, {128, 512}},  {&Traits::stages, {2, 4}},
      {&Traits::workspace, {32768}},   {&Traits::tiles_per_block, {1, 8}},
      {&Traits::launches, {4}},        {&Traits::mebibytes, {32}}};
  return all;
}

Traits traits_of(const Kind& kind, const Size& size, std::int64_t fma, std::int64_t registers) {
  Traits t;
  t.rows = size.rows;
  t.threads = size.threads;
  t.registers = registers;
  t.layout = static_cast<std::int64_t>(kind.layout);
  t.halo = kind.halo;
  t.reads = kind.halo > 0 ? stencil_reads : 1;
  t.common = kind.half_in_common ? size.rows / 2 : 0;
  t.fma = fma;
  t.out_bytes = 16 * t.interior_chunks();
  return t;
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  const auto add = [&](const Traits& t) {
    for (Point& p : points_of(t, device)) all.push_back(std::move(p));
  };
  for (const Kind& kind : kinds) {
    if (scope == Scope::quick) {
      add(traits_of(kind, middle_size, middle_arithmetic, middle_registers));
      continue;
    }
    for (const Size& size : sizes) {
      for (const std::int64_t fma : arithmetic) {
        for (const std::int64_t registers : registers_of_kernels) {
          const Traits t = traits_of(kind, size, fma, registers);
          // With less registers than the twin needs it would be the twin of another point.
          const int chunks = chunks_per_thread(shape_of(t), t.threads);
          if (registers >= twin_registers(chunks)) add(t);
        }
      }
    }
  }
  if (scope == Scope::quick) return all;
  for (const int kind : middle_kinds) {
    for (const Varied& v : varied()) {
      for (const std::int64_t value : v.values) {
        Traits t = traits_of(kinds[kind], middle_size, middle_arithmetic, middle_registers);
        t.*v.trait = value;
        add(t);
      }
    }
  }
  return all;
}

std::vector<Point> asked(const Device& device, const Coordinates& traits) {
  return points_of(traits_from(traits), device);
}

const bool registered = register_microbenchmark(
    {"twin/strategies",
     "Which way of moving data suits a kernel with given traits?",
     "A synthetic kernel with the traits of a real one (tile, layout, halo, rows that neighbours "
     "share, reads from shared memory, multiply-adds, barriers, threads, stages, registers, "
     "launches) in all six strategies; computation and walk written once. Speed-up over the "
     "strategy baseline with the same traits, from pairs of runs one right after the other, caches "
     "displaced; every element verified.",
     points,
     {},
     asked});

}  // namespace
}  // namespace amasia::twin
