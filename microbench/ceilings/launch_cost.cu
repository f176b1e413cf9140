// What one more kernel launch costs, in us: in a stream, and as a node of a graph.
//
// Method: an empty kernel of one thread is launched 200 and 1000 times back to back; the slope over
// the number is the cost of one. In a stream the host's work per launch is the limit and part of
// the value. In a graph of as many nodes, each dependent on the one before, the value is the
// device's time from the end of a kernel to the start of the next.

#include <memory>

#include "harness/ceiling.hpp"
#include "microbench/ceilings/timing.hpp"
#include "variants/device/prepared_run.hpp"

namespace amasia::ceilings {
namespace {

constexpr int few = 200;
constexpr int many = 1000;  // x 2 passes: the queue fills and throttles the host, as in a long run

__global__ void empty() {}

void launch_empty(cudaStream_t stream, int count) {
  for (int i = 0; i < count; ++i) empty<<<1, 1, 0, stream>>>();
}

double measure_stream(const Device&, Stream stream) {
  return 1e-3 * slope_ns(stream, few, many, [&](int count) { launch_empty(stream, count); });
}

double measure_graph(const Device&, Stream stream) {
  const auto prepared = [&](int count) {
    return std::make_unique<PreparedRun>([count](Stream s) { launch_empty(s, count); },
                                         LaunchMode::graph, stream);
  };
  const auto shorter = prepared(few), longer = prepared(many);
  return 1e-3 * slope_ns(stream, few, many,
                         [&](int count) { (count == few ? shorter : longer)->enqueue(stream); });
}

const bool registered =
    register_ceiling({"launch_stream_us", "us",
                      "An empty kernel launched in a stream: slope between 200 and 1000 launches, "
                      "host included",
                      false, 0, measure_stream}) &&
    register_ceiling(
        {"launch_graph_us", "us",
         "An empty kernel as a node of a linear graph: slope between 200 and 1000 nodes", false, 0,
         measure_graph});

}  // namespace
}  // namespace amasia::ceilings
