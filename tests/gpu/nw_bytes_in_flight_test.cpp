// Bytes in flight of nw, whose wavefront has fewer blocks than the device has SMs
// (harness/gpu/preparation.cpp).
#include <algorithm>
#include <string>

#include "harness/gpu/preparation.hpp"
#include "tests/gpu/device_test.hpp"

namespace amasia {
namespace {

// No wavefront over so few rows fills the device: occupancy is not the grid.
using NwBytesInFlight = OnDevice<>;

TEST_F(NwBytesInFlight, AreThoseOfItsFewBlocks) {
  const OwnedStream stream;
  const auto i = instance("nw", {{"rows", "256"}, {"cols", "300"}});
  int kernels = 0;
  for (const Variant* variant : variants_of("nw")) {
    for (const Config& config : variant->configs) {
      SCOPED_TRACE(variant->name() + " " + config.info.name);
      std::string reason;
      if (choose_config(*variant, config.info.name, *i, device, reason) == nullptr) {
        continue;
      }
      const LaunchedBlocks found = launched_blocks(config.prepare(*i, device), stream);
      for (const KernelUse& k : config.info.kernels) {
        const KernelEvidence e = resources_of(k, device, found);
        ASSERT_TRUE(e.launched_blocks.has_value());
        if (*e.launched_blocks == 0) continue;  // a kernel for other sizes
        ++kernels;
        EXPECT_LE(*e.launched_blocks, 64);
        const auto fit = static_cast<std::int64_t>(e.blocks_per_sm) * device.sm_count;
        const auto most = static_cast<std::size_t>(std::min(*e.launched_blocks, fit));
        EXPECT_EQ(e.bytes_in_flight_per_sm,
                  k.bytes_in_flight_per_block * most / static_cast<std::size_t>(device.sm_count));
        // Without the launch all that fit are taken to be launched.
        EXPECT_GE(resources_of(k, device).bytes_in_flight_per_sm, e.bytes_in_flight_per_sm);
      }
    }
  }
  EXPECT_GT(kernels, 0);
}

}  // namespace
}  // namespace amasia
