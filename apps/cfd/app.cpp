// cfd as the harness sees it: parameters, sizes, work.
#include <memory>

#include "apps/cfd/cfd.hpp"
#include "apps/cfd/cpu_reference.hpp"
#include "apps/cfd/schedules.hpp"
#include "apps/common/parameters.hpp"
#include "inputs/formats/text_writer.hpp"

namespace amasia::cfd {

const std::vector<ParameterSpec>& parameter_specs() {
  using Kind = ParameterSpec::Kind;
  // 2^29 elements keep element arithmetic within 32 bits on the device; 2^17 iterations keep the
  // list of launches of a run reasonable.
  static const std::vector<ParameterSpec> specs = {
      {"elements", Kind::integer, "elements of the mesh", "193474", 1, 1 << 29},
      {"iterations", Kind::integer, "time steps of three stages each", "2000", 1, 1 << 17},
      {"order", Kind::choice, "of generated elements", "front", 1, 1, {"front", "scattered"}},
      {"mesh_file", Kind::file, "mesh in Rodinia's text format (default: generated)", ""},
      {"out_file", Kind::file, "for the variables of a run that was right", ""}};
  return specs;
}

namespace {

class Cfd final : public App {
 public:
  std::string_view name() const override { return "cfd"; }
  std::string_view summary() const override {
    return "compressible Euler equations on an unstructured mesh, finite volumes, fp32";
  }
  const std::vector<ParameterSpec>& parameters() const override { return parameter_specs(); }
  std::vector<Schedule> schedules() const override {
    return {std::begin(cfd::schedules), std::end(cfd::schedules)};
  }

  std::vector<Parameters> sizes(Preset preset) const override {
    using Sizes = std::vector<std::pair<int, int>>;  // elements, iterations
    constexpr int rodinia = 193474;                  // fvcorr.domn.193K
    Sizes front, scattered;
    switch (preset) {
      case Preset::smoke:
        // Degenerate; a cube; around the tiles of 192 and 256 elements and clusters of four of
        // them; primes; three elements a resident thread; more tiles than blocks that fit.
        front = {{1, 1},    {1, 5},    {2, 3},      {5, 2},     {6, 4},   {127, 2},
                 {191, 3},  {192, 2},  {193, 5},    {255, 1},   {256, 4}, {769, 3},
                 {1009, 7}, {9973, 3}, {180001, 2}, {350003, 1}};
        scattered = {{7, 1}, {257, 2}, {1025, 2}, {4099, 4}, {100003, 2}};
        break;
      case Preset::quick:
        front = {{rodinia, 100}, {6291456, 5}};
        scattered = {{rodinia, 100}};
        break;
      case Preset::paper:
        front = {{rodinia, 2000}};
        break;
      case Preset::sweep:
        for (int n : {6000, 24576, 48000, 97046, 193474, 393216, 786432, 1572864, 3145728, 6291456,
                      12582912, 25165824, 50331648}) {
          front.push_back({n, 10});
        }
        break;
    }
    std::vector<Parameters> all;
    const auto add = [&](const Sizes& sizes, const char* order) {
      for (const auto& [n, iterations] : sizes) {
        all.push_back(size_of(parameter_specs(),
                              {{"elements", n}, {"iterations", iterations}, {"order", order}}));
      }
    };
    add(front, "front");
    add(scattered, "scattered");
    return all;
  }

  Work work(const Parameters& p) const override {
    const auto elements = static_cast<double>(p.integer("elements"));
    const auto iterations = static_cast<double>(p.integer("iterations"));
    // An FMA is two: a face 28 and 18 of viscosity, the own half 25, the new record 16 and 11 of
    // the update; the step factor 2 an iteration; lengths of normals and the root of the area once.
    constexpr double stage = faces * (28 + 18) + 25 + 16 + 11, once = faces * 6 + 1;
    Work w;
    w.operations = elements * (iterations * (stages_of_iteration * stage + 2) + once);
    w.kind = Work::Kind::fp32;
    // Area, neighbours, normals, variables; variables.
    w.bytes_read = elements * sizeof(float) * (1 + faces + 3 * faces + variables);
    w.bytes_written = elements * sizeof(float) * variables;
    // From record to record: volume, twice the kinetic energy, pressure, two products, root, wave,
    // factor, flux, variable.
    w.dependent_operations = iterations * stages_of_iteration * 10;
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override {
    // Mesh, input, result, scratch; for either input what it is and what the result must be.
    constexpr std::int64_t floats =
        1 + faces + 3 * faces + 6 * variables + scratch_floats_per_element;
    return checked_product({pitch_of(p.integer("elements")), floats, sizeof(float)},
                           "the elements' arrays");
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_references(p, seed);
  }

  void export_outputs(const Parameters& p, Instance& instance) const override {
    const std::string& path = p.text("out_file");
    if (path.empty()) return;
    const HostVariables& all = dynamic_cast<const CfdInstance&>(instance).right_result();
    const auto elements = static_cast<std::int64_t>(all.size()) / variables;
    formats::TextWriter file(path);
    for (std::int64_t i = 0; i < elements; ++i) {
      for (int k = 0; k < variables; ++k) {
        file.number(all[k * elements + i], k + 1 < variables ? ' ' : '\n');
      }
    }
    file.finish();
  }
};

const bool registered = register_app(std::make_unique<Cfd>());

}  // namespace
}  // namespace amasia::cfd
