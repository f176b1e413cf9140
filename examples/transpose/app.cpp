// transpose as the harness sees it: parameters, sizes, work.
#include <memory>

#include "cpu_reference.hpp"
#include "harness/app.hpp"
#include "schedules.hpp"
#include "transpose.hpp"

namespace amasia::transpose {
namespace {

class Transpose : public App {
 public:
  std::string_view name() const override { return "transpose"; }
  std::string_view summary() const override { return "small matrices of a batch, each transposed"; }
  const std::vector<ParameterSpec>& parameters() const override {
    static const std::vector<ParameterSpec> specs{
        {"count", ParameterSpec::Kind::integer, "matrices of the batch", "131072", 1, 1 << 24},
        {"n",
         ParameterSpec::Kind::choice,
         "rows and columns of a matrix",
         "32",
         1,
         1,
         {"32", "64"}}};
    return specs;
  }
  std::vector<Schedule> schedules() const override { return all_schedules(); }
  std::vector<Parameters> sizes(Preset preset) const override {
    using Sizes = std::vector<std::pair<const char*, const char*>>;
    Sizes all{{"131072", "32"}};
    if (preset == Preset::smoke) {
      // One matrix, tiles that lack some, more tiles than blocks stay.
      all = {{"1", "32"}, {"1", "64"}, {"7", "32"}, {"3", "64"}, {"9001", "32"}, {"3001", "64"}};
    } else if (preset == Preset::paper) {
      all = {{"131072", "32"}, {"32768", "64"}};
    } else if (preset == Preset::sweep) {
      all = {{"4096", "32"}, {"32768", "32"}, {"131072", "32"}, {"1024", "64"}, {"32768", "64"}};
    }
    std::vector<Parameters> sizes;
    for (const auto& [count, n] : all) {
      sizes.emplace_back(parameters(),
                         std::map<std::string, std::string>{{"count", count}, {"n", n}});
    }
    return sizes;
  }
  Work work(const Parameters& p) const override {
    const double n = std::stod(p.text("n"));
    Work w;
    w.bytes_read = w.bytes_written = 4 * n * n * static_cast<double>(p.integer("count"));
    return w;
  }
  std::int64_t device_bytes(const Parameters& p) const override {
    const std::int64_t n = std::stoll(p.text("n"));
    return checked_product({p.integer("count"), n, n, 8}, "bytes of two batches");
  }
  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_reference_matrices(seed, p.integer("count"), std::stoi(p.text("n")));
  }
};

const bool registered = register_app(std::make_unique<Transpose>());

}  // namespace
}  // namespace amasia::transpose
