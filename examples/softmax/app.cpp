// softmax as the harness sees it: parameters, sizes, work.
#include <memory>

#include "cpu_reference.hpp"
#include "harness/app.hpp"
#include "schedules.hpp"
#include "softmax.hpp"

namespace amasia::softmax {
namespace {

class Softmax : public App {
 public:
  std::string_view name() const override { return "softmax"; }
  std::string_view summary() const override { return "softmax of the rows of a matrix"; }
  const std::vector<ParameterSpec>& parameters() const override {
    static const std::vector<ParameterSpec> specs{
        {"rows", ParameterSpec::Kind::integer, "rows of the matrix", "32768", 1, 1 << 26},
        {"cols", ParameterSpec::Kind::integer, "columns of the matrix", "4096", 1, most_columns}};
    return specs;
  }
  std::vector<Schedule> schedules() const override { return all_schedules(); }
  std::vector<Parameters> sizes(Preset preset) const override {
    using Sizes = std::vector<std::pair<const char*, const char*>>;
    Sizes all{{"32768", "4096"}};
    if (preset == Preset::smoke) {
      // One element, rows that end in a chunk, in a run of a block of a cluster, and with the
      // longest; more rows than blocks stay.
      all = {{"1", "1"},    {"7", "3"},       {"1001", "1021"}, {"5", "1024"},
             {"3", "2053"}, {"1601", "4096"}, {"299", "4099"},  {"401", "16384"}};
    } else if (preset == Preset::paper) {
      all = {{"131072", "1024"}, {"32768", "4096"}, {"8192", "16384"}};
    } else if (preset == Preset::sweep) {
      all = {{"131072", "1024"},
             {"65536", "2048"},
             {"32768", "4096"},
             {"16384", "8192"},
             {"8192", "16384"}};
    }
    std::vector<Parameters> sizes;
    for (const auto& [rows, cols] : all) {
      sizes.emplace_back(parameters(),
                         std::map<std::string, std::string>{{"rows", rows}, {"cols", cols}});
    }
    return sizes;
  }
  Work work(const Parameters& p) const override {
    const double elements =
        static_cast<double>(p.integer("rows")) * static_cast<double>(p.integer("cols"));
    Work w;
    w.operations = 5 * elements;  // maximum, difference, exponential, sum, product
    w.bytes_read = w.bytes_written = 4 * elements;
    return w;
  }
  std::int64_t device_bytes(const Parameters& p) const override {
    return checked_product({p.integer("rows"), padded_pitch<float>(p.integer("cols")), 8},
                           "bytes of two matrices");
  }
  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_reference_rows(seed, p.integer("rows"), p.integer("cols"));
  }
};

const bool registered = register_app(std::make_unique<Softmax>());

}  // namespace
}  // namespace amasia::softmax
