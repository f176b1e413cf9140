#include "harness/session/ceilings.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

TEST(Ceilings, WhatHeatsIsMeasuredLast) {
  std::vector<CeilingProbe> probes;
  for (const char* name : {"bf16_rate", "copy_bandwidth", "e4m3_rate", "fp32_rate", "int32_rate",
                           "tf32_rate", "write_bandwidth"}) {
    CeilingProbe probe;
    probe.name = name;
    probes.push_back(probe);
  }
  std::vector<std::string> order;
  for (const CeilingProbe& probe : in_measuring_order(probes)) order.push_back(probe.name);
  EXPECT_EQ(order,
            (std::vector<std::string>{"copy_bandwidth", "fp32_rate", "int32_rate",
                                      "write_bandwidth", "bf16_rate", "tf32_rate", "e4m3_rate"}));
}

}  // namespace
}  // namespace amasia
