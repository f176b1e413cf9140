// convolution_1d as the harness sees it: parameters, sizes, work.
#include <memory>

#include "convolution_1d.hpp"
#include "cpu_reference.hpp"
#include "harness/app.hpp"
#include "schedules.hpp"

namespace amasia::convolution_1d {
namespace {

class Convolution : public App {
 public:
  std::string_view name() const override { return "convolution_1d"; }
  std::string_view summary() const override {
    return "rows of a matrix convolved with a filter of 17 taps";
  }
  const std::vector<ParameterSpec>& parameters() const override {
    static const std::vector<ParameterSpec> specs{
        {"rows", ParameterSpec::Kind::integer, "rows of the matrix", "4096", 1, 1 << 24},
        {"cols", ParameterSpec::Kind::integer, "columns of the matrix", "32768", 1, 1 << 24}};
    return specs;
  }
  std::vector<Schedule> schedules() const override { return all_schedules(); }
  std::vector<Parameters> sizes(Preset preset) const override {
    using Sizes = std::vector<std::pair<const char*, const char*>>;
    Sizes all{{"4096", "32768"}};
    if (preset == Preset::smoke) {
      // One element, less than a window, ends in a chunk, in a tile and behind one; more tiles
      // than blocks stay.
      all = {{"1", "1"},    {"3", "7"},      {"5", "1023"},
             {"2", "8197"}, {"611", "4099"}, {"1031", "4096"}};
    } else if (preset == Preset::paper) {
      all = {{"4096", "32768"}, {"65536", "4096"}};
    } else if (preset == Preset::sweep) {
      all = {{"256", "4096"}, {"1024", "8192"}, {"4096", "32768"}, {"16384", "32768"}};
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
    w.operations = 2 * taps * elements;
    w.bytes_read = w.bytes_written = 4 * elements;
    return w;
  }
  std::int64_t device_bytes(const Parameters& p) const override {
    return checked_product({p.integer("rows"), pitch_of(p.integer("cols")), 8},
                           "bytes of two matrices");
  }
  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_reference_rows(seed, p.integer("rows"), p.integer("cols"));
  }
};

const bool registered = register_app(std::make_unique<Convolution>());

}  // namespace
}  // namespace amasia::convolution_1d
