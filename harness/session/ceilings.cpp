#include "harness/session/ceilings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "harness/conclusions/recomputed.hpp"
#include "harness/statistics/statistics.hpp"
#include "harness/text/file.hpp"

namespace amasia {

std::vector<CeilingProbe> in_measuring_order(std::vector<CeilingProbe> probes) {
  const auto heat = [](const CeilingProbe& probe) {
    return is_tensor_rate(probe.name) + (probe.name == rate_of(Work::Kind::e4m3));
  };
  std::stable_sort(probes.begin(), probes.end(),
                   [&](const CeilingProbe& a, const CeilingProbe& b) { return heat(a) < heat(b); });
  return probes;
}

std::vector<Ceiling> measure_ceilings(Instrument& instrument, int samples,
                                      const ProgressSink& progress) {
  const Device& device = instrument.device();
  std::vector<Ceiling> ceilings;
  for (const CeilingProbe& probe : in_measuring_order(ceiling_probes())) {
    if (instrument.code_capability() < probe.runs_from) continue;  // of the loaded code
    progress(-1, "ceiling " + probe.name);
    Ceiling c{probe.name, probe.unit, probe.method};
    // Unrecorded: allocation, module load, clocks.
    probe.measure(device, instrument.stream());
    for (int i = 0; i < samples; ++i) {
      c.samples.push_back(probe.measure(device, instrument.stream()));
    }
    c.value = median_interval(c.samples, 0.95).median;
    ceilings.push_back(std::move(c));
  }
  return ceilings;
}

namespace {

/// What stands in front of the groups of a result file; nothing of what is none.
ResultFile beginning_of(const std::string& path) {
  try {
    return read_beginning(path);
  } catch (const ResultError&) {
    return {};
  }
}

/// fp32 lanes of an SM; 0 where it is not known.
int lanes_of(int compute_capability) {
  switch (compute_capability) {
    case 70:
    case 72:
    case 75:
    case 80:
      return 64;
    case 86:
    case 87:
    case 89:
    case 90:
    case 100:
    case 103:
    case 120:
    case 121:
      return 128;
    default:
      return 0;
  }
}

bool is_memory_bandwidth(const std::string& ceiling) {
  return ceiling == "read_bandwidth" || ceiling == "write_bandwidth" ||
         ceiling == "copy_bandwidth" || ceiling == "triad_bandwidth";
}

double middle_of(const CeilingRecord& record) { return median_interval(record.values, 0.5).median; }

}  // namespace

std::vector<CeilingRecord> read_ceiling_records(const std::string& folder, const Device& device) {
  std::vector<CeilingRecord> records;
  for (const std::string& path : json_files_in(folder).files) {
    const ResultFile file = beginning_of(path);
    const Provenance& from = file.provenance;
    const auto mig = from.device_state.find("mig");
    const bool is_slice = mig != from.device_state.end() && mig->second == "on";
    if (from.device.name != device.name || from.device.sm_count != device.sm_count || is_slice) {
      continue;
    }
    for (const Ceiling& c : file.ceilings) {
      if (c.value <= 0) continue;
      auto record = std::find_if(records.begin(), records.end(),
                                 [&](const CeilingRecord& r) { return r.name == c.name; });
      if (record == records.end()) record = records.insert(record, {c.name});
      record->values.push_back(c.value);
    }
  }
  return records;
}

std::vector<CeilingRecord> ceilings_in_results(const Device& device) {
  const std::string gpu = device_slug(device.name);
  std::vector<CeilingRecord> records = read_ceiling_records("results/" + gpu, device);
  std::vector<std::pair<std::vector<int>, std::string>> versions;
  std::error_code error;
  for (std::filesystem::directory_iterator i("results", error), end; !error && i != end;
       i.increment(error)) {
    std::vector<int> version(3);
    char more = 0;
    const std::string name = i->path().filename().string();
    if (std::sscanf(name.c_str(), "%6d.%6d.%6d%c", &version[0], &version[1], &version[2], &more) ==
        3) {
      versions.emplace_back(version, name);
    }
  }
  std::sort(versions.rbegin(), versions.rend());
  for (const auto& [version, name] : versions) {
    if (records.empty()) records = read_ceiling_records("results/" + name + "/" + gpu, device);
  }
  return records;
}

double most_by_data_sheet(const std::string& ceiling, const Device& device) {
  if (is_memory_bandwidth(ceiling)) {  // two transfers per clock, 8 bits to a byte
    return 2e-3 * device.memory_clock_mhz * (device.memory_bus_bits / 8.0);
  }
  if (ceiling == "fp32_rate" || ceiling == "int32_rate") {
    return 2e-3 * device.max_clock_mhz * device.sm_count * lanes_of(device.compute_capability);
  }
  return 0;
}

double tolerance_of(const CeilingRecord& record) {
  if (record.values.size() < 3) return 0;
  const double middle = middle_of(record);
  double farthest = 0;
  for (const double value : record.values) {
    farthest = std::max(farthest, std::abs(value / middle - 1));
  }
  return std::max(0.06, 3 * farthest);
}

std::vector<CeilingDoubt> doubtful_ceilings(const std::vector<Ceiling>& ceilings,
                                            const Device& device,
                                            const std::vector<CeilingRecord>& records) {
  // Clocks are told in whole megahertz, and a boost may overshoot by a step.
  constexpr double rounding = 1.01;
  std::vector<CeilingDoubt> found;
  for (const Ceiling& c : ceilings) {
    const double most = most_by_data_sheet(c.name, device);
    if (most > 0 && c.value > rounding * most) {
      found.push_back(
          {{InvalidKind::ceiling,
            fmt::format("{} was measured as {:.4g} {}, and the clocks and widths of this "
                        "GPU allow {:.4g}",
                        c.name, c.value, c.unit, most),
            "measure again; if it stays so, the clock that times it is wrong: say so "
            "with the file"},
           c.name});
      continue;
    }
    const auto record = std::find_if(records.begin(), records.end(),
                                     [&](const CeilingRecord& r) { return r.name == c.name; });
    if (record == records.end()) continue;
    const double tolerance = tolerance_of(*record), middle = middle_of(*record);
    if (tolerance > 0 && std::abs(c.value / middle - 1) > tolerance) {
      found.push_back(
          {{InvalidKind::ceiling,
            fmt::format("{} was measured as {:.4g} {}, and in {} earlier runs on this model it was "
                        "{:.4g} with a tolerance of {:.1f} %",
                        c.name, c.value, c.unit, record->values.size(), middle, 100 * tolerance),
            "look for another process and for limits of power or clock (amasia doctor), and "
            "measure "
            "again; of a GPU that is set so, say --records none"},
           c.name});
    }
  }
  return found;
}

bool concerns(const std::string& ceiling, const Work& work) {
  return !is_tensor_rate(ceiling) || ceiling == rate_of(work.kind);
}

std::vector<CeilingDoubt> ceilings_in_doubt(const std::vector<Ceiling>& ceilings,
                                            const Device& device, const std::string& folder) {
  if (folder == "none") return doubtful_ceilings(ceilings, device, {});
  return doubtful_ceilings(
      ceilings, device,
      folder.empty() ? ceilings_in_results(device) : read_ceiling_records(folder, device));
}

}  // namespace amasia
