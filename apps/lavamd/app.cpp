// lavamd as the harness sees it: parameters, sizes, schedules, work.
#include <memory>

#include "apps/common/parameters.hpp"
#include "apps/lavamd/cpu_reference.hpp"
#include "apps/lavamd/lavamd.hpp"
#include "apps/lavamd/schedules.hpp"
#include "harness/registry.hpp"

namespace amasia::lavamd {

const std::vector<ParameterSpec>& parameter_specs() {
  using Kind = ParameterSpec::Kind;
  static const std::vector<ParameterSpec> specs{
      {"boxes1d", Kind::integer, "boxes along each edge of the cube", "80", 1, most_boxes1d},
      {"particles", Kind::integer, "particles in each box", "100", 1, most_particles},
  };
  return specs;
}

std::int64_t device_bytes(const Parameters& p) {
  const std::int64_t n = p.integer("boxes1d");
  const std::int64_t boxes = checked_product({n, n, n}, "boxes");
  const std::int64_t pitch = pitch_of(static_cast<int>(p.integer("particles")));
  // Positions, forces, charges, what forces must be for two inputs, with their scales; the table.
  constexpr std::int64_t force = 5 * sizeof(double);
  constexpr std::int64_t per_particle = 2 * std::int64_t{sizeof(Vector)} + 8 + 2 * force;
  return checked_product({boxes, pitch * per_particle + std::int64_t{sizeof(Neighbours)}},
                         "bytes of all boxes");
}

namespace {

class Lavamd final : public App {
 public:
  std::string_view name() const override { return "lavamd"; }
  std::string_view summary() const override {
    return "forces between particles in neighbouring boxes, found through a table, fp64";
  }
  const std::vector<ParameterSpec>& parameters() const override { return parameter_specs(); }
  std::vector<Schedule> schedules() const override { return all_schedules(); }

  std::vector<Parameters> sizes(Preset preset) const override {
    std::vector<std::pair<int, int>> sizes;
    switch (preset) {
      case Preset::smoke:
        // One box and one particle; primes; around groups of eight and half warps of seven; the
        // most; edges that clusters of two boxes cross.
        sizes = {{1, 1},  {1, 100}, {2, 2},   {2, 97}, {3, 7},  {3, 8},  {3, 9},  {3, 100},
                 {4, 31}, {5, 56},  {5, 104}, {7, 16}, {7, 99}, {11, 3}, {13, 41}};
        break;
      case Preset::quick:
        sizes = {{10, 100}, {20, 100}};
        break;
      case Preset::paper:
        sizes = {{10, 100}, {80, 100}};
        break;
      case Preset::sweep:
        for (const int n : {2, 3, 5, 8, 10, 13, 16, 20, 32, 40, 64, 80, 100}) {
          sizes.emplace_back(n, 100);
        }
        for (const int particles : {8, 32, 64}) sizes.emplace_back(40, particles);
        break;
    }
    std::vector<Parameters> all;
    for (const auto& [n, particles] : sizes) {
      all.push_back(size_of(parameters(), {{"boxes1d", n}, {"particles", particles}}));
    }
    return all;
  }

  // The exponential of each ordered pair, nine fp64 instructions with a table: everything else can
  // be done by tensor cores meanwhile. No GPU does fp64 outside them at more than half its fp32
  // rate, so each counts as two fp32 multiply-adds.
  Work work(const Parameters& p) const override {
    const auto particles = static_cast<double>(p.integer("particles"));
    const auto n = static_cast<double>(p.integer("boxes1d"));
    constexpr double operations_per_instruction = 2 * 2;
    Work w;
    w.operations =
        9 * operations_per_instruction * box_pairs(p.integer("boxes1d")) * particles * particles;
    w.bytes_read = n * n * n * (particles * (sizeof(Vector) + sizeof(double)) + sizeof(Neighbours));
    w.bytes_written = n * n * n * particles * sizeof(Vector);
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override { return lavamd::device_bytes(p); }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_references(p, seed);
  }
};

const bool registered = register_app(std::make_unique<Lavamd>());

}  // namespace
}  // namespace amasia::lavamd
