// Launches of the kernels that walk tiles of C, and the kernel that adds what blocks share
// (`-shared`): each piece of a sum is stored as a tile of its own, and a second launch adds the
// pieces. No block waits for another: the order of the two launches is all the synchronisation
// there is, so that any number of resident blocks will do, and nothing has to be reset from launch
// to launch. The second launch depends on the first one from within (dependent_launch.cuh), so that
// its blocks are there when the last piece is. In mode tf32x3 two launches in front of them split
// the operands (tf32_parts.cuh), which counts.
#include "apps/gemm/launches.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "apps/common/tf32_parts.cuh"
#include "variants/device/dependent_launch.cuh"

namespace amasia::gemm {
namespace {

inline constexpr int adding_threads = 256;
/// Pieces that a thread asks for together: each by itself would take a way to the L2 and back.
inline constexpr int pieces_at_once = 8;

/// C of the shared tiles of m x n: blockIdx.y is a tile, blockIdx.x a share of its elements, four a
/// thread.
__global__ void __launch_bounds__(adding_threads)
    add_pieces(const Problem p, const SharedWalk walk, const float* pieces, int m, int n) {
  const int tile = static_cast<int>(blockIdx.y) >> walk.log2_cluster;
  const int rank = static_cast<int>(blockIdx.y) & (walk.cluster - 1);
  const int element = static_cast<int>(blockIdx.x * adding_threads + threadIdx.x) * 4;
  const TilePlace place = walk.Walk::place(walk.whole + tile, rank);
  const int row = place.row * m + element / n;
  const int column = place.column * n + element % n;
  const Range slots = walk.slots_of(tile);
  const std::int64_t stride = std::int64_t{walk.cluster} * (m * n);
  const float* piece = pieces + slots.first * stride + rank * (m * n) + element;
  wait_for_predecessor();
  if (row >= p.m || column >= p.n) return;
  float4 sum{};
#pragma unroll 1
  for (int left = slots.end - slots.first; left > 0; left -= pieces_at_once) {
    float4 next[pieces_at_once];
#pragma unroll
    for (int i = 0; i < pieces_at_once; ++i, piece += stride) {
      if (i < left) next[i] = *reinterpret_cast<const float4*>(piece);
    }
#pragma unroll
    for (int i = 0; i < pieces_at_once; ++i) {
      const float4& x = next[i];
      if (i < left) sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    }
  }
  // Four that begin inside may end in the padding.
  *reinterpret_cast<float4*>(&p.c.at(row, column)) = sum;
}

Walk walk_of(const TileKernel& kernel, const Problem& p) {
  return {p.m, p.n, p.k, kernel.m, kernel.n, kernel.k, kernel.cluster};
}

/// The shape of the kernel's launch, but for its grid; the device's resident blocks.
struct Residents {
  LaunchShape shape;
  int blocks;

  Residents(const TileKernel& kernel, const Device& d)
      : shape{dim3(1), dim3(static_cast<unsigned>(kernel.threads)), kernel.shared_bytes,
              static_cast<unsigned>(kernel.cluster)} {
    allow_launch(kernel.function, shape);
    blocks = resident_blocks(kernel.function, shape, d.sm_count);
  }
};

/// Tensor maps, where the kernel has any.
Maps maps_of(const TileKernel& kernel, const Problem& p) {
  return kernel.maps == nullptr ? Maps{} : kernel.maps(p);
}

/// kernel(maps, p, walk, pieces, stages) on the stream. Throws CudaError.
void launch_tiles(const TileKernel& kernel, const LaunchShape& shape, Stream stream,
                  const Maps& maps, const Problem& p, const void* walk, const float* pieces) {
  LaunchAttributes attributes = attributes_of(shape);
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.dynamic_shared_bytes;
  config.stream = stream;
  config.attrs = attributes.list;
  config.numAttrs = attributes.count;
  const void* arguments[] = {&maps, &p, walk, &pieces, &kernel.stages};
  AMASIA_CUDA(cudaLaunchKernelExC(&config, kernel.function, const_cast<void**>(arguments)));
}

/// What the kernel multiplies: the operands, or their parts and the launches that make them, with
/// the terms of a sum side by side in either layout. Rows of the parts of A come in groups as
/// row_of_hi() says.
class Operands {
 public:
  explicit Operands(const Problem& p) : given_(p), problem_(p) {
    if (p.mode != Mode::tf32x3) return;
    const std::int64_t rows_of_a = matrix::rows_of_parts(p.m),
                       rows_of_b = matrix::rows_of_parts(p.n);
    const std::int64_t pitch = padded_pitch<float>(p.k);
    const DeviceArray<float>& parts =
        p.pieces->parts(static_cast<std::size_t>((rows_of_a + rows_of_b) * pitch));
    a_ = {parts.data(), rows_of_a, pitch, pitch};
    b_ = {parts.data() + rows_of_a * pitch, rows_of_b, pitch, pitch};
    problem_.a = bytes_of(a_);
    problem_.b = bytes_of(b_);
  }
  const Problem& problem() const { return problem_; }
  void launch(Stream stream) const {
    if (given_.mode != Mode::tf32x3) return;
    matrix::launch_split(elements<float>(given_.a), a_, false, stream);
    matrix::launch_split(elements<float>(given_.b), b_, given_.layout == Layout::nn, stream);
  }

 private:
  static Operand bytes_of(const Grid<float>& x) {
    constexpr std::int64_t size = sizeof(float);
    return {reinterpret_cast<const unsigned char*>(x.data), x.rows, x.columns * size,
            x.pitch * size};
  }
  Problem given_, problem_;
  Grid<float> a_, b_;
};

template <class AnyWalk>
Launch launch_whole(const TileKernel& kernel, const Problem& p, const Device& d,
                    const AnyWalk& walk) {
  Residents residents(kernel, d);
  const std::int64_t blocks = std::int64_t{walk.steps()} * kernel.cluster;
  residents.shape.grid.x =
      static_cast<unsigned>(blocks < residents.blocks ? blocks : residents.blocks);
  const Operands operands(p);
  return [kernel, shape = residents.shape, maps = maps_of(kernel, operands.problem()), operands,
          walk](Stream stream) {
    operands.launch(stream);
    launch_tiles(kernel, shape, stream, maps, operands.problem(), &walk, nullptr);
  };
}

Launch launch_shared(const TileKernel& kernel, const Problem& p, const Device& d) {
  Residents residents(kernel, d);
  const SharedWalk walk(walk_of(kernel, p), residents.blocks / kernel.cluster,
                        shortest_share(kernel.mode));
  residents.shape.grid.x = static_cast<unsigned>(walk.workers * kernel.cluster);
  const int elements = kernel.m * kernel.n;
  const LaunchShape adding{dim3(static_cast<unsigned>(elements / (4 * adding_threads)),
                                static_cast<unsigned>(walk.shared * kernel.cluster)),
                           dim3(adding_threads)};
  const auto pieces = p.pieces->make(static_cast<std::size_t>(walk.pieces() * kernel.cluster) *
                                     static_cast<std::size_t>(elements));
  const bool early = d.compute_capability >= 90;
  const Operands operands(p);
  return [=, shape = residents.shape, maps = maps_of(kernel, operands.problem())](Stream stream) {
    operands.launch(stream);
    launch_tiles(kernel, shape, stream, maps, operands.problem(), &walk, pieces->data());
    if (walk.shared == 0) return;
    launch(add_pieces, FollowingShape{adding, early}, stream, p, walk, pieces->data(), kernel.m,
           kernel.n);
  };
}

/// Why a kernel does not serve a problem on a device.
std::optional<std::string> tile_objection(const TileKernel& kernel, const Problem& p,
                                          const Device& d) {
  if (p.mode != kernel.mode) {
    return std::string("computes in mode ") + name_of(kernel.mode) + ", not " + name_of(p.mode);
  }
  // Its operands are transposed when they are split.
  if (p.layout != kernel.layout && kernel.mode != Mode::tf32x3) {
    if (kernel.mode == Mode::fp32) {
      return "FFMA multiplies rows of B, which layout tn has as columns: no strategy transposes "
             "them on the way";
    }
    if (!kernel.wgmma) return "mma.sync is fed by rows of B, layout nn; wgmma takes both";
    return std::string("computes in layout ") + name_of(kernel.layout) + ", not " +
           name_of(p.layout);
  }
  const bool eight_bits = kernel.mode == Mode::e4m3;
  if (kernel.mode != Mode::fp32 && d.compute_capability < (eight_bits ? 89 : 80)) {
    return std::string("tensor cores have ") + name_of(kernel.mode) + " from compute capability " +
           (eight_bits ? "8.9" : "8.0");
  }
  if (kernel.for_90a && d.compute_capability != 90) {
    return kernel.wgmma ? "wgmma exists on compute capability 9.0 alone"
                        : "warps hand registers to others on compute capability 9.0 alone";
  }
  return std::nullopt;
}

/// Why sharing does not pay.
std::optional<std::string> sharing_objection(const TileKernel& kernel, const Problem& p,
                                             const Device& d) {
  const int shortest = shortest_share(kernel.mode);
  const SharedWalk walk(walk_of(kernel, p), d.sm_count * kernel.blocks_per_sm / kernel.cluster,
                        shortest);
  // A worker stores two pieces at most.
  if (walk.saved() >= 2 * shortest) return std::nullopt;
  if (walk.shared == 0) return "the tiles of C fill all SMs: there is nothing to share";
  return "sharing the last tiles would save less time than adding the pieces takes";
}

ConfigInfo info_of(std::string_view schedule, const TileKernel& kernel) {
  std::vector<KernelUse> kernels{{kernel.function, kernel.threads, kernel.shared_bytes,
                                  kernel.cluster, kernel.bytes_in_flight}};
  if (kernel.mode == Mode::tf32x3) {
    for (const auto split : {matrix::split_rows, matrix::split_transposed}) {
      kernels.push_back({reinterpret_cast<const void*>(split), matrix::splitting_threads, 0, 1, 0});
    }
  }
  return {std::string(schedule) + "/" + std::to_string(kernel.stages) + "-stages",
          {{"tile_m", kernel.m},
           {"tile_n", kernel.n},
           {"k_slice", kernel.k},
           {"stages", kernel.stages},
           {"cluster_blocks", kernel.cluster}},
          std::move(kernels),
          false,
          std::string(schedule),
          {{"stages", kernel.stages},
           {"stage_bytes", kernel.slice_bytes},
           {"producer_warps", kernel.producer_warps}}};
}

}  // namespace

std::shared_ptr<const DeviceArray<float>> Pieces::make(std::size_t elements) {
  const auto is_gone = [](const auto& array) { return array.expired(); };
  made_.erase(std::remove_if(made_.begin(), made_.end(), is_gone), made_.end());
  auto array = std::make_shared<const DeviceArray<float>>(elements);
  made_.push_back(array);
  return array;
}

const DeviceArray<float>& Pieces::parts(std::size_t elements) {
  if (parts_.size() != elements) parts_ = DeviceArray<float>(elements);
  return parts_;
}

void Pieces::poison(Stream stream) const {
  if (parts_.size() > 0) parts_.poison(stream);
  for (const auto& array : made_) {
    if (const auto alive = array.lock()) alive->poison(stream);
  }
}

ConfigOf<Problem> whole_tiles(std::string_view schedule, const TileKernel& kernel) {
  return {info_of(schedule, kernel),
          [kernel](const Problem& p, const Device& d) -> Launch {
            if (!kernel.plain_walk) {
              return launch_whole(kernel, p, d, SharedWalk(walk_of(kernel, p)));
            }
            return launch_whole(
                kernel, p, d,
                matrix::Walk(p.m, p.n, p.k, kernel.m, kernel.n, kernel.k, kernel.cluster));
          },
          [kernel](const Problem& p, const Device& d) { return tile_objection(kernel, p, d); }};
}

ConfigOf<Problem> shared_tiles(std::string_view schedule, const TileKernel& kernel) {
  ConfigInfo info = info_of(schedule, kernel);
  info.kernels.push_back({reinterpret_cast<const void*>(add_pieces), adding_threads, 0, 1, 0});
  return {std::move(info),
          [kernel](const Problem& p, const Device& d) { return launch_shared(kernel, p, d); },
          [kernel](const Problem& p, const Device& d) {
            auto objection = tile_objection(kernel, p, d);
            return objection ? objection : sharing_objection(kernel, p, d);
          }};
}

}  // namespace amasia::gemm
