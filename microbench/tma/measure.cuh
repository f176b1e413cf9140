// How the copies of this folder are laid out, verified and timed.
//
// Arrays: hashed integers. With level=memory they have 1 GiB, an eighth of the memory where that is
// less. Every sample continues where the last one ended, so that nothing of it is in the L2. With
// level=l2 they have an eighth of the L2, written just before.
// Verified: by one pass of the whole device with the same ring. Loads: what arrived is written out
// by ordinary stores, in an instance of the kernel that does that too, and compared with the array.
// Stores and reductions: the array, poisoned or hashed before, is compared with what the copies
// must leave there. Multicasts: what arrived in each block. Peers: what each block got from the
// other.
#pragma once

#include "microbench/tma/expected.cuh"
#include "variants/device/launch.hpp"

namespace amasia::tma {

/// A step that scatters: by the golden ratio, any number of places in a row are far apart. (By
/// three eighths, boxes of 128 bytes came to lie 512 bytes apart, and loads from memory took 390
/// cycles.)
inline long long scattered(long long count) {
  return static_cast<long long>(0.6180339887 * static_cast<double>(count)) | 1;
}

inline std::size_t footprint_of(Level level, const Device& device) {
  return level == Level::l2 ? device.l2_bytes / 8
                            : std::min(std::size_t{1} << 30, device.memory_bytes / 8);
}

/// Copies of the walks of a latency, and the box after them.
constexpr Walks latency_walks{{16, 64, 64 + 1024}};
inline long long behind_latency_walks(const Work& work) {
  constexpr auto& links = latency_walks.links;
  return (work.first + (links[0] + links[1] + links[2]) * work.step) % work.boxes.count;
}

class Copies {
 public:
  /// Throws std::runtime_error when what was copied is not what should be there.
  Copies(const Plan& plan, const Device& device, Stream stream) : plan_(plan), stream_(stream) {
    const unsigned cluster = plan.clustered() ? 2 : 1;
    grid_ = static_cast<unsigned>(device.sm_count * plan.blocks_per_sm) / cluster * cluster;
    shape_.block = dim3(warp);
    shape_.dynamic_shared_bytes = plan.shared_bytes();
    shape_.cluster_blocks = cluster;
    shape_.grid = dim3(grid_);
    // A whole number of boxes for each block: nothing is copied twice.
    boxes_.count =
        static_cast<long long>(footprint_of(plan.level, device) / plan.bytes / grid_ * grid_);
    boxes_.bytes = plan.bytes;
    boxes_.step = plan.rank == 0
                      ? 1
                      : static_cast<int>(box_extents(
                            plan.rank, plan.bytes)[static_cast<unsigned>(plan.rank - 1)]);
    if (boxes_.count == 0) throw std::runtime_error("the L2 holds less than a box per SM");
    if (plan.clustered()) {  // room for what the check looks at
      boxes_.count = std::max<long long>(boxes_.count, 2 * grid_ * plan.in_flight);
    }
    array_bytes_ = static_cast<std::size_t>(boxes_.count) * plan.bytes;
    boxes_.data = reinterpret_cast<std::byte*>(buffer_of(2 * array_bytes_));
    map_ = map_of_boxes(boxes_.data, plan.rank, plan.bytes, static_cast<std::size_t>(boxes_.count));
    allow_launch(reinterpret_cast<const void*>(plan.kernel), shape_);
    allow_launch(reinterpret_cast<const void*>(plan.checked), shape_);
    verify();
  }

  /// Cycles of one copy after the other, from the slope between two walks of one block.
  Reading latency() {
    if (plan_.level == Level::l2) fill();
    LaunchShape one = shape_;
    one.grid = dim3(shape_.cluster_blocks);
    Work work = work_of();
    work.step = scattered(boxes_.count);
    work.first = first_;
    work.copies = latency_walks;
    run(plan_.kernel, one, work);
    first_ = behind_latency_walks(work);
    return slope_of_walks(stream_, *taken_, latency_walks);
  }

  /// GB/s of all SMs, from the slope between two launches.
  Reading bandwidth() {
    if (plan_.level == Level::l2) fill();
    const auto pass = static_cast<int>((std::size_t{1} << 30) / plan_.bytes / grid_);
    const int many = std::max(24, std::min(pass, 2000 * plan_.in_flight));
    const int few = many / 3;
    const double less = milliseconds_of(few), more = milliseconds_of(many);
    const Stamp longer = downloaded(*taken_)[2];
    const double time_ns = 1e6 * (more - less) / (many - few);
    Reading r = in_cycles(static_cast<double>(longer.cycles) / many,
                          static_cast<double>(longer.nanoseconds) / many);
    r.time_ns = time_ns;
    r.value = static_cast<double>(plan_.moved()) * grid_ / time_ns;
    return r;
  }

 private:
  Work work_of() const {
    Work work{};
    work.boxes = boxes_;
    work.in_flight = plan_.in_flight;
    work.step = static_cast<long long>(grid_);
    work.taken = taken_->data();
    return work;
  }
  void run(RingKernel kernel, const LaunchShape& shape, const Work& work) const {
    launch(kernel, shape, stream_, work, map_);
    AMASIA_CUDA(cudaStreamSynchronize(stream_));
  }
  void fill() const {
    fill_words<256>
        <<<1024, 256, 0, stream_>>>(reinterpret_cast<unsigned*>(boxes_.data), array_bytes_ / 4);
    AMASIA_CUDA(cudaGetLastError());
  }
  double milliseconds_of(int copies) {
    const auto enqueue = [&](int count) {
      Work work = work_of();
      work.first = first_;
      work.copies = {{0, 0, count}};
      launch(plan_.kernel, shape_, stream_, work, map_);
    };
    const double ms = milliseconds(
        stream_, [&] { enqueue(1); }, [&] { enqueue(copies); });
    first_ = (first_ + static_cast<long long>(copies) * grid_) % boxes_.count;
    return ms;
  }

  void verify() {
    fill();
    const bool into_array = plan_.kind == Kind::put;
    if (into_array && plan_.out == Out::store) {
      AMASIA_CUDA(cudaMemsetAsync(boxes_.data, 0xFF, array_bytes_, stream_));
    }
    Work work = work_of();
    std::byte* const copied = boxes_.data + array_bytes_;
    std::size_t checked = array_bytes_;
    const auto per_block = static_cast<int>(boxes_.count / grid_);
    work.copies = {{0, 0, per_block}};
    if (!into_array) {
      work.copied = copied;
      AMASIA_CUDA(cudaMemsetAsync(copied, 0xFF, array_bytes_, stream_));
    }
    if (plan_.clustered()) {  // as many as there are slots
      work.copies = {{0, 0, plan_.in_flight}};
      checked = 2 * std::size_t{grid_} * static_cast<unsigned>(plan_.in_flight) * plan_.bytes;
      if (checked > array_bytes_) throw std::logic_error("the array is too short for the check");
    }
    run(plan_.checked, shape_, work);
    const Expected expected{plan_.kind, plan_.out, plan_.bytes, plan_.in_flight, grid_};
    const DeviceArray<unsigned long long> wrong(1);
    const auto n = counted(stream_, wrong, [&](unsigned long long* count) {
      count_wrong_words<256><<<1024, 256, 0, stream_>>>(
          reinterpret_cast<const unsigned*>(into_array ? boxes_.data : copied), checked / 4,
          expected, count);
    });
    if (n != 0) {
      throw std::runtime_error(std::to_string(n) + " words are wrong after the copies");
    }
  }

  Plan plan_;
  Stream stream_;
  unsigned grid_ = 0;
  LaunchShape shape_;
  Boxes boxes_{};
  std::size_t array_bytes_ = 0;
  CUtensorMap map_{};
  long long first_ = 0;
  std::shared_ptr<DeviceArray<Stamp>> taken_ = std::make_shared<DeviceArray<Stamp>>(max_walks);
};

constexpr const char* way_of(int rank) {
  constexpr std::array ways{"flat", "1D", "2D", "3D", "4D", "5D"};
  return ways[static_cast<std::size_t>(rank)];
}

inline Point point_of(const Plan& plan, const char* completion, bool bandwidth) {
  Point p = new_point({{"operation", plan.operation},
                       {"way", way_of(plan.rank)},
                       {"box", std::to_string(plan.bytes)},
                       {"in_flight", std::to_string(plan.in_flight)},
                       {"blocks", bandwidth ? std::to_string(plan.blocks_per_sm) + " per SM" : "1"},
                       {"level", plan.kind == Kind::peer   ? "shared"
                                 : plan.level == Level::l2 ? "l2"
                                                           : "memory"},
                       {"completion", completion}},
                      bandwidth ? "bandwidth" : "latency", bandwidth ? "GB/s" : "cycles",
                      bandwidth ? Better::larger : Better::smaller);
  p.runs_from = 90;
  p.kernels = {kernel_use(plan.kernel, warp, plan.shared_bytes(), plan.clustered() ? 2 : 1,
                          std::size_t{plan.bytes} * static_cast<unsigned>(plan.in_flight))};
  const bool reduction = plan.kind == Kind::put && plan.out != Out::store;
  const bool tensor = plan.rank > 0;
  const char* const sass = reduction                ? (tensor ? "UTMAREDG" : "UBLKRED")
                           : !tensor                ? "UBLKCP"
                           : plan.kind == Kind::put ? "UTMASTG"
                                                    : "UTMALDG";
  const char* const ptx = reduction ? "cp.reduce.async.bulk"
                          : tensor  ? "cp.async.bulk.tensor"
                                    : "cp.async.bulk";
  // In the whole kernel: what waits for a barrier is moved behind the code, and a jump back looks
  // like a loop.
  p.claims = {{sass, ptx, 1, false}};
  p.prepare = [=](const Device& d, Stream stream) -> Sampling {
    auto copies = std::make_shared<Copies>(plan, d, stream);
    return [=] { return bandwidth ? copies->bandwidth() : copies->latency(); };
  };
  return p;
}

}  // namespace amasia::tma
