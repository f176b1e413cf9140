// cfd as the harness sees it: parameters, sizes, work.
#include <memory>

#include "apps/cfd/cfd.hpp"
#include "apps/cfd/cpu_reference.hpp"
#include "apps/cfd/instance.hpp"
#include "apps/cfd/schedules.hpp"
#include "inputs/formats/text_writer.hpp"

namespace amasia::cfd {

const std::vector<ParameterSpec>& parameter_specs() {
  using Kind = ParameterSpec::Kind;
  // 2^29 elements keep element arithmetic within 32 bits on the device; 2^17 iterations keep the
  // list of launches of a run reasonable.
  static const std::vector<ParameterSpec> specs = {
      {"elements", Kind::integer, "elements of the mesh", "193474", 1, std::int64_t{1} << 29, {}},
      {"iterations",
       Kind::integer,
       "time steps of three stages each",
       "2000",
       1,
       std::int64_t{1} << 17,
       {}},
      {"order",
       Kind::choice,
       "of the generated elements. 'front': neighbours near each other; 'scattered': at random",
       "front",
       1,
       1,
       {"front", "scattered"}},
      {"mesh_file", Kind::file, "mesh in Rodinia's text format (default: generated)", "", 1, 1, {}},
      {"out_file",
       Kind::file,
       "where to write the final variables of a run that was right (default: nowhere)",
       "",
       1,
       1,
       {}}};
  return specs;
}

Order order_of(const Parameters& p) {
  return p.text("order") == "scattered" ? Order::scattered : Order::front;
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
    using enum Order;
    struct Size {
      std::int64_t elements;
      int iterations;
      Order order;
    };
    constexpr std::int64_t rodinia = 193474;  // fvcorr.domn.193K
    std::vector<Size> sizes;
    switch (preset) {
      case Preset::smoke:
        // Degenerate; a cube; around the tiles of 192 and 256 elements and clusters of four of
        // them; primes; three elements a resident thread; more tiles than blocks that fit.
        sizes = {{1, 1, front},          {1, 5, front},        {2, 3, front},
                 {5, 2, front},          {6, 4, front},        {7, 1, scattered},
                 {127, 2, front},        {191, 3, front},      {192, 2, front},
                 {193, 5, front},        {255, 1, front},      {256, 4, front},
                 {257, 2, scattered},    {769, 3, front},      {1009, 7, front},
                 {1025, 2, scattered},   {4099, 4, scattered}, {9973, 3, front},
                 {100003, 2, scattered}, {180001, 2, front},   {350003, 1, front}};
        break;
      case Preset::quick:
        sizes = {{rodinia, 100, front}, {rodinia, 100, scattered}, {6291456, 5, front}};
        break;
      case Preset::paper:
        sizes = {{rodinia, 2000, front}};
        break;
      case Preset::sweep:
        for (std::int64_t n : {6000, 24576, 48000, 97046, 193474, 393216, 786432, 1572864, 3145728,
                               6291456, 12582912, 25165824, 50331648}) {
          sizes.push_back({n, 10, front});
        }
        break;
    }
    std::vector<Parameters> all;
    for (const Size& s : sizes) {
      all.emplace_back(parameter_specs(),
                       std::map<std::string, std::string>{
                           {"elements", std::to_string(s.elements)},
                           {"iterations", std::to_string(s.iterations)},
                           {"order", s.order == scattered ? "scattered" : "front"}});
    }
    return all;
  }

  Work work(const Parameters& p) const override {
    const auto elements = static_cast<double>(p.integer("elements"));
    const auto iterations = static_cast<double>(p.integer("iterations"));
    // kernel.cuh, an FMA is two: a face 28 and 18 of viscosity, the own half 25, the new record 16
    // and 11 of the update; the step factor 2 an iteration; lengths of normals and the root of the
    // area need no second time.
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
    // Inputs, result, scratch, and what the result must be.
    constexpr std::int64_t floats =
        1 + faces + 3 * faces + 3 * variables + scratch_floats_per_element;
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
