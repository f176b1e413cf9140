// The problem on the device: allocation, inputs, verification.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "apps/common/device_instance.cuh"
#include "apps/common/tf32.hpp"
#include "apps/common/verification_report.cuh"
#include "apps/lud/cpu_reference.hpp"
#include "apps/lud/lud.hpp"
#include "apps/lud/matrices.hpp"
#include "variants/device/cuda.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::lud {
namespace {

__global__ void generate(Grid<float> matrix, Input input, std::uint64_t seed, float diagonal) {
  each_element(matrix.rows, matrix.columns, [&](std::int64_t i, std::int64_t j) {
    matrix.at(i, j) = generated_element(input, seed, matrix.columns, i, j, diagonal);
  });
}

__global__ void generate_toeplitz(Grid<float> matrix, const float* table) {
  each_element(matrix.rows, matrix.columns, [&](std::int64_t i, std::int64_t j) {
    matrix.at(i, j) = table[i > j ? i - j : j - i];
  });
}

// --- verification: every element of A - L U, in fp64

// 64 x 64 elements per block, 4 x 4 per thread, 16 of the sum's terms at a time: nothing in common
// with the kernels it judges. Where L or U has no element, zero stands in.
constexpr int check_tile = 64, check_depth = 16;

/// Over all elements; zero before the kernel. The largest of non-negative doubles, which order like
/// their bits, and the sum of the errors' squares.
struct Overall {
  unsigned long long product, element;  // of |L| |U|, and of |A|
  double squares;

  /// One warp, all lanes.
  static __device__ void add(double* to, double value) {
    for (int distance = 16; distance > 0; distance /= 2) {
      value += __shfl_down_sync(~0u, value, distance);
    }
    if (threadIdx.x % 32 == 0) atomicAdd(to, value);
  }

  static __device__ void raise(unsigned long long* to, double value) {
    if (!isfinite(value)) return;
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
    if (bits > *to) atomicMax(to, bits);
  }
  static double value(unsigned long long bits) {
    double v;
    std::memcpy(&v, &bits, sizeof v);
    return v;
  }
};

__global__ void __launch_bounds__(element_threads)
    check_product(Grid<const float> matrix, Grid<const float> lu, bool unit_lower, double bound,
                  VerificationReport* report, Overall* overall) {
  __shared__ double lower[check_depth][check_tile + 1];
  __shared__ double upper[check_depth][check_tile + 1];
  const std::int64_t n = lu.rows;
  const std::int64_t row = std::int64_t{blockIdx.y} * check_tile;
  const std::int64_t column = std::int64_t{blockIdx.x} * check_tile;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  double value[4][4] = {}, magnitude[4][4] = {};
  const std::int64_t last = (row < column ? row : column) + check_tile;
  for (std::int64_t k0 = 0; k0 < last && k0 < n; k0 += check_depth) {
    for (int e = threadIdx.x; e < check_tile * check_depth; e += element_threads) {
      const std::int64_t i = row + e / check_depth, ki = k0 + e % check_depth;
      double l = 0;
      if (i < n && ki < n && ki <= i) l = ki == i && unit_lower ? 1.0 : lu.at(i, ki);
      lower[e % check_depth][e / check_depth] = l;
      const std::int64_t j = column + e % check_tile, kj = k0 + e / check_tile;
      double u = 0;
      if (j < n && kj < n && kj <= j) u = kj == j && !unit_lower ? 1.0 : lu.at(kj, j);
      upper[e / check_tile][e % check_tile] = u;
    }
    __syncthreads();
    for (int k = 0; k < check_depth; ++k) {
      double l[4], u[4];
      for (int p = 0; p < 4; ++p) l[p] = lower[k][y + 16 * p];
      for (int q = 0; q < 4; ++q) u[q] = upper[k][x + 16 * q];
      for (int p = 0; p < 4; ++p) {
        for (int q = 0; q < 4; ++q) {
          value[p][q] += l[p] * u[q];
          magnitude[p][q] += fabs(l[p]) * fabs(u[q]);
        }
      }
    }
    __syncthreads();
  }
  double product = 0, element = 0, squares = 0;
  for (int p = 0; p < 4; ++p) {
    for (int q = 0; q < 4; ++q) {
      const std::int64_t i = row + y + 16 * p, j = column + x + 16 * q;
      if (i >= n || j >= n) continue;
      const double a = matrix.at(i, j);
      product = fmax(product, magnitude[p][q]);
      element = fmax(element, fabs(a));
      const double error = a == value[p][q] ? 0 : fabs(a - value[p][q]) / magnitude[p][q];
      squares += error * error;
      report->add(error, bound, {i, j, value[p][q], a});
    }
  }
  Overall::raise(&overall->product, product);
  Overall::raise(&overall->element, element);
  Overall::add(&overall->squares, squares);
}

// The CPU does the same sums for matrices up to this order: a second opinion that costs
// milliseconds.
constexpr std::int64_t largest_on_cpu = 256;

class DeviceInstance final : public LudInstance {
 public:
  DeviceInstance(const Parameters& p, std::uint64_t seed)
      : parameters_(p),
        seed_(seed),
        n_(p.integer("n")),
        pitch_(padded_pitch<float>(n_)),
        pristine_(cells()),
        matrix_(cells()),
        lower_(panel_width * panel_width),
        upper_(panel_width * panel_width),
        parts_(parts_rows() * parts_columns * 4) {
    problem_.matrix = {matrix_.data(), n_, n_, pitch_};
    problem_.lower = {lower_.data(), panel_width, panel_width, panel_width};
    problem_.upper = {upper_.data(), panel_width, panel_width, panel_width};
    problem_.arithmetic = arithmetic_of(p);
    const auto rows = static_cast<std::int64_t>(parts_rows());
    Grid<float>* const rooms[] = {problem_.left, problem_.left + 1, problem_.right,
                                  problem_.right + 1};
    for (int i = 0; i < 4; ++i) {
      *rooms[i] = {parts_.data() + i * rows * parts_columns, rows, parts_columns, parts_columns};
    }
    fill();
  }

  const Problem& problem() const override { return problem_; }

  void reset(Stream stream) override {
    AMASIA_CUDA(cudaMemcpyAsync(matrix_.data(), pristine_.data(), pristine_.bytes(),
                                cudaMemcpyDeviceToDevice, stream));
    lower_.poison(stream);
    upper_.poison(stream);
    if (parts_.size() > 0) parts_.poison(stream);
  }
  bool repeatable() const override { return false; }  // L and U are no matrix to decompose again

  /// On a dominant matrix a method that is not backward stable has the same errors as one that is.
  int challenges() const override { return input_of(parameters_) != Input::ill_conditioned; }
  void pose(int challenge) override {
    if (challenge == challenge_) return;
    challenge_ = challenge;
    fill();
  }

  Verdict verify() override {
    const Normalisation which = normalisation();
    Verdict v = on_device(which);
    if (n_ > largest_on_cpu || !v.passed) return v;
    return compare(download_result().elements.data(), n_, download(pristine_), which, slack(which));
  }

  HostMatrix download_result() const override { return download(matrix_); }

 private:
  std::size_t cells() const {
    return static_cast<std::size_t>(checked_product({n_, pitch_}, "n x pitch"));
  }
  static constexpr std::int64_t parts_columns = most_panels * panel_width;
  std::size_t parts_rows() const {
    if (arithmetic_of(parameters_) == Arithmetic::fp32) return 0;
    return static_cast<std::size_t>(matrix::rows_of_parts(round_up(n_, panel_width)));
  }
  Grid<const float> grid(const DeviceArray<float>& array) const {
    return {array.data(), n_, n_, pitch_};
  }

  bool from_file() const { return challenge_ == 0 && !parameters_.text("matrix_file").empty(); }
  Input input() const { return challenge_ > 0 ? Input::ill_conditioned : input_of(parameters_); }

  double slack(Normalisation which) const {
    return from_file() ? slack_of(which, given_) : slack_of(which, input());
  }

  // The padding stays NaN: a kernel that takes it for data fails verification.
  void fill() {
    pristine_.poison(nullptr);
    const Grid<float> to{pristine_.data(), n_, n_, pitch_};
    const dim3 blocks = blocks_over(n_, n_);
    if (from_file()) {
      if (given_.elements.empty()) given_ = host_matrix(parameters_, seed_);
      upload_rows(given_.elements.data(), to);
    } else if (input() == Input::rodinia) {
      const std::vector<float> table = rodinia_table(n_);
      const DeviceArray<float> on_device(table.size());
      on_device.upload(table.data());
      generate_toeplitz<<<blocks, element_threads>>>(to, on_device.data());
      AMASIA_CUDA(cudaGetLastError());
      AMASIA_CUDA(cudaDeviceSynchronize());  // before the table goes
    } else {
      generate<<<blocks, element_threads>>>(to, input(), seed_,
                                            least_diagonal(n_, std::sqrt(static_cast<float>(n_))));
      AMASIA_CUDA(cudaGetLastError());
    }
    AMASIA_CUDA(cudaDeviceSynchronize());
    // A whole run's row of blocks stays in the scratch and the matrix: nothing is uninitialised.
    reset(nullptr);
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  HostMatrix download(const DeviceArray<float>& from) const {
    HostMatrix host{n_, std::vector<float>(static_cast<std::size_t>(n_ * n_))};
    download_rows(grid(from), host.elements.data());
    return host;
  }

  // From the first 64 x 64 elements: their product needs no others.
  Normalisation normalisation() const {
    const std::int64_t corner = n_ < 64 ? n_ : 64;
    HostMatrix a{corner, std::vector<float>(corner * corner)}, lu = a;
    for (const auto& [to, from] : {std::pair{&a, &pristine_}, std::pair{&lu, &matrix_}}) {
      download_rows(Grid<float>{from->data(), corner, corner, pitch_}, to->elements.data());
    }
    return normalisation_of(lu.elements.data(), corner, a);
  }

  Verdict on_device(Normalisation which) const {
    const Verdict v{true, "", 0, slack(which) * error_bound(n_), n_ * n_, 0};
    const DeviceReport report;
    DeviceArray<Overall> overall(1);
    AMASIA_CUDA(cudaMemset(overall.data(), 0, sizeof(Overall)));
    const auto tiles = static_cast<unsigned>(ceil_div(n_, check_tile));
    check_product<<<dim3(tiles, tiles), element_threads>>>(grid(pristine_), grid(matrix_),
                                                           which == Normalisation::unit_lower,
                                                           v.bound, report.data(), overall.data());
    AMASIA_CUDA(cudaGetLastError());
    Overall found;
    overall.download(&found);
    const double rms = std::sqrt(found.squares / static_cast<double>(n_ * n_));
    return with_rms(report.complete(v, "LU is"), which, growth(found), rms, n_, slack(which));
  }

  Growth growth(const Overall& overall) const {
    std::vector<float> pivots(n_);
    download_rows(Grid<float>{matrix_.data(), n_, 1, pitch_ + 1}, pivots.data());  // the diagonal
    const auto least = std::min_element(pivots.begin(), pivots.end(),
                                        [](float a, float b) { return std::abs(a) < std::abs(b); });
    const double element = Overall::value(overall.element);
    return {Overall::value(overall.product) / element, std::abs(*least) / element,
            least - pivots.begin() + 1};
  }

  Parameters parameters_;
  std::uint64_t seed_;
  std::int64_t n_, pitch_;
  int challenge_ = 0;
  HostMatrix given_;  // from a file
  DeviceArray<float> pristine_, matrix_, lower_, upper_, parts_;
  Problem problem_;
};

const bool registered = register_instance<DeviceInstance>("lud");

}  // namespace
}  // namespace amasia::lud
