// Ceilings: the measured limits of this GPU that the floors are made of. A probe is one
// measurement; the harness repeats it and keeps every sample.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "variants/host_device.hpp"

namespace amasia {

struct CeilingProbe {
  std::string name;    // "copy_bandwidth"
  std::string unit;    // "GB/s", "GFLOP/s", "Gop/s", "ns", "us"
  std::string method;  // one sentence
  bool larger_is_better = true;
  int runs_from = 0;  // least compute capability
  /// Takes one sample. Throws when it cannot be taken.
  std::function<double(const Device&, Stream)> measure;
};

bool register_ceiling(CeilingProbe probe);
const std::vector<CeilingProbe>& ceiling_probes();  // by name

}  // namespace amasia
