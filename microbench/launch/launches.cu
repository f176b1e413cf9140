// launch/launches: what one more kernel launch costs, by the way it is launched.
//
// Method: kernels that only store their number are launched 200 and 1,000 times back to back, each
// dependent on the one before. The slope over the number is the cost of one. `grid` is one block of
// 32 threads or one of 1024 threads per SM.
// `launch=stream`: the host's work per launch is the limit and part of the value.
// `launch=graph`: captured once and replayed; the device's time from the end of one kernel to the
//   next.
// `way=programmatic`: programmatic dependent launch. A kernel triggers the next one early, which
//   waits before its store for the end of the one before.
// `way=cluster`: clusters of two blocks. `way=cooperative`: a grid that may synchronise.
// The last store must be that of the last kernel. The ceilings launch_stream_us and launch_graph_us
// are the stream and the graph with an empty kernel.

#include "microbench/walks.cuh"
#include "variants/device/launch.hpp"
#include "variants/device/prepared_run.hpp"
#include "variants/ptx/guarded_asm.cuh"

namespace amasia {
namespace {

constexpr int few = 200, many = 1000;  // many x 2 passes: the queue fills and throttles the host

template <bool PROGRAMMATIC>
__global__ void store_number(int number, int* last) {
  if constexpr (PROGRAMMATIC) {
    AMASIA_SM90_ASM("griddepcontrol.launch_dependents;" ::: "memory");
    AMASIA_SM90_ASM("griddepcontrol.wait;" ::: "memory");
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *last = number;
}

enum class Way { plain, programmatic, cluster, cooperative };
constexpr const char* name_of(Way w) {
  return w == Way::plain          ? "plain"
         : w == Way::programmatic ? "programmatic"
         : w == Way::cluster      ? "cluster"
                                  : "cooperative";
}

using NumberKernel = void (*)(int, int*);
NumberKernel kernel_of(Way w) {
  return w == Way::programmatic ? store_number<true> : store_number<false>;
}

struct Case {
  LaunchMode mode;
  Way way;
  bool whole_device;
};

void launch_numbered(const Case& c, int sms, cudaStream_t stream, int count, int* last) {
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(c.whole_device          ? static_cast<unsigned>(sms) / 2 * 2
                        : c.way == Way::cluster ? 2
                                                : 1);
  config.blockDim = dim3(c.whole_device ? 1024 : 32);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = c.way == Way::plain ? 0 : 1;
  if (c.way == Way::programmatic) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  } else if (c.way == Way::cluster) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  } else if (c.way == Way::cooperative) {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  }
  const NumberKernel kernel = kernel_of(c.way);
  for (int i = 1; i <= count; ++i) {
    AMASIA_CUDA(cudaLaunchKernelEx(&config, kernel, i, last));
  }
}

Sampling chain(const Case& c, const Device& device, Stream stream) {
  auto last = std::make_shared<DeviceArray<int>>(1);
  const auto prepared = [&](int count) {
    return std::make_shared<PreparedRun>(
        [c, count, last, sms = device.sm_count](Stream s) {
          launch_numbered(c, sms, s, count, last->data());
        },
        c.mode, stream);
  };
  const auto shorter = prepared(few), longer = prepared(many);
  return [=] {
    const auto time_ns = [&](const PreparedRun& run, int count) {
      // Warm, and the host is ahead.
      const double ms = ceilings::warm_milliseconds(stream, [&] { run.enqueue(stream); });
      if (first_of(*last) != count) {
        throw std::runtime_error("the last store is not the last kernel's");
      }
      return 1e6 * ms;
    };
    const double less = time_ns(*shorter, few);
    const double one = (time_ns(*longer, many) - less) / (many - few);
    return of_time(one, 1e-3 * one);
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  for (const bool whole_device : {false, true}) {
    for (const LaunchMode mode : {LaunchMode::stream, LaunchMode::graph}) {
      for (const Way way : {Way::plain, Way::programmatic, Way::cluster, Way::cooperative}) {
        if (scope == Scope::quick && (whole_device || way == Way::cluster)) continue;
        const Case c{mode, way, whole_device};
        Point& p = add_point(all,
                             {{"launch", mode == LaunchMode::graph ? "graph" : "stream"},
                              {"way", name_of(way)},
                              {"grid", whole_device ? "device" : "one block"}},
                             "time per launch", "us");
        p.runs_from = way == Way::programmatic || way == Way::cluster ? 90 : 0;
        if (way == Way::cooperative && !device.cooperative_launch) {
          p.unsupported = "the device has no cooperative launch";
        }
        p.kernels = {
            kernel_use(kernel_of(way), whole_device ? 1024 : 32, 0, way == Way::cluster ? 2 : 1)};
        p.claims = {{"STG", "st.global", 1, false}};
        if (way == Way::programmatic) {
          p.claims.push_back({"PREEXIT", "griddepcontrol.launch_dependents", 1, false});
          p.claims.push_back({"ACQBULK", "griddepcontrol.wait", 1, false});
        }
        p.prepare = [c](const Device& d, Stream stream) { return chain(c, d, stream); };
      }
    }
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"launch/launches", "What does one more kernel launch cost?",
     "Kernels that store their number, each dependent on the one before, launched in a stream or "
     "replayed as a graph, plainly, as programmatic dependents, as clusters or cooperatively; "
     "slope over 200 and 1,000 launches, the host's work included in a stream.",
     points});

}  // namespace
}  // namespace amasia
