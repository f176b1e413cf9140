// The app as the harness sees it, and its CPU references.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "apps/lud/lud.hpp"
#include "apps/lud/matrix_file.hpp"

namespace amasia::lud {
namespace {

// The second reference, built the other way round: Crout's, which finishes column k of L and row k
// of U by dot products with all that went before, and puts the unit diagonal into U. Scaled to the
// first one's normalisation at the end.
std::vector<double> reference_by_dot_products(const HostMatrix& matrix) {
  const std::int64_t n = matrix.n;
  std::vector<double> lu(matrix.elements.begin(), matrix.elements.end());
  const auto dot = [&](std::int64_t i, std::int64_t j, std::int64_t count) {
    double sum = 0;
    for (std::int64_t k = 0; k < count; ++k) sum += lu[i * n + k] * lu[k * n + j];
    return sum;
  };
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t i = k; i < n; ++i) lu[i * n + k] -= dot(i, k, k);
    for (std::int64_t j = k + 1; j < n; ++j) {
      lu[k * n + j] = (lu[k * n + j] - dot(k, j, k)) / lu[k * n + k];
    }
  }
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot = lu[k * n + k];
    for (std::int64_t i = k + 1; i < n; ++i) lu[i * n + k] /= pivot;
    for (std::int64_t j = k + 1; j < n; ++j) lu[k * n + j] *= pivot;
  }
  return lu;
}

std::int64_t pitch_of(const Parameters& p) {
  checked_product({p.integer("n"), 32}, "n");  // padded_pitch adds up to 31 columns
  return padded_pitch<float>(p.integer("n"));
}

// sum and sum of magnitudes of l(i,k) u(k,j) over k
struct ProductOfRow {
  double value = 0, magnitude = 0;
};
ProductOfRow product(const float* lu, std::int64_t pitch, std::int64_t i, std::int64_t j,
                     Normalisation which) {
  const std::int64_t last = std::min(i, j);
  ProductOfRow sum;
  for (std::int64_t k = 0; k <= last; ++k) {
    const double l = k == i && which == Normalisation::unit_lower ? 1.0 : lu[i * pitch + k];
    const double u = k == j && which == Normalisation::unit_upper ? 1.0 : lu[k * pitch + j];
    sum.value += l * u;
    sum.magnitude += std::abs(l * u);
  }
  return sum;
}

class Lud final : public App {
 public:
  std::string_view name() const override { return "lud"; }
  std::string_view summary() const override {
    return "LU decomposition without pivoting, in place, fp32";
  }
  const std::vector<ParameterSpec>& parameters() const override { return parameter_specs(); }

  std::vector<Parameters> sizes(Preset preset) const override {
    std::vector<std::pair<std::int64_t, const char*>> sizes;
    switch (preset) {
      case Preset::smoke:
        // Degenerate; around the 16-tile of iso; around the 128-block of the others and its
        // 32-sub-blocks; one, two and several blocks, with and without a remainder.
        for (std::int64_t n :
             {1, 2, 3, 15, 16, 17, 31, 37, 127, 128, 129, 131, 160, 255, 256, 257, 389, 512, 643}) {
          sizes.emplace_back(n, "random");
        }
        sizes.emplace_back(400, "rodinia");
        break;
      case Preset::quick:
        sizes = {{2048, "random"}};
        break;
      case Preset::paper:
        sizes = {{8192, "random"}, {2048, "random"}};
        break;
      case Preset::sweep:
        for (std::int64_t n : {512, 1024, 2048, 4096, 8192, 16384}) sizes.emplace_back(n, "random");
        break;
    }
    std::vector<Parameters> all;
    for (const auto& [n, input] : sizes) {
      all.emplace_back(parameter_specs(), std::map<std::string, std::string>{
                                              {"n", std::to_string(n)}, {"input", input}});
    }
    return all;
  }

  Work work(const Parameters& p) const override {
    const auto n = static_cast<double>(p.integer("n"));
    Work w;
    // n (n - 1) / 2 divisions, and a multiplication and a subtraction for each (n-1) n (2n-1) / 6
    // updates.
    w.operations = n * (n - 1) / 2 + (n - 1) * n * (2 * n - 1) / 3;
    w.kind = Work::Kind::fp32;
    w.bytes_read = n * n * sizeof(float);
    w.bytes_written = n * n * sizeof(float);
    w.dependent_operations = 3 * (n - 1);  // pivot to pivot: reciprocal, multiplication, FMA
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override {
    // The matrix, the copy it is restored from, and one row each for the two scratch blocks.
    const std::int64_t matrices = checked_product({p.integer("n"), pitch_of(p), 2, sizeof(float)},
                                                  "two matrices of n x n x 4 bytes");
    return matrices + 2 * panel_width * panel_width * static_cast<std::int64_t>(sizeof(float));
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    const HostMatrix matrix = host_matrix(p, seed);
    const std::vector<double> first = reference(matrix), second = reference_by_dot_products(matrix);
    // fp64 against fp64: n roundings of 2^-53 at worst, amplified by no more than the growth that a
    // trial elimination accepts.
    Verdict v{true,
              "max abs difference of the two references / max abs element",
              0,
              0,
              matrix.n * matrix.n,
              0};
    double largest = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      largest = std::max(largest, std::abs(first[i]));
      v.error = std::max(v.error, std::abs(first[i] - second[i]));
    }
    v.error /= largest;
    v.bound = std::ldexp(1.0, -53) * 100 * static_cast<double>(matrix.n + 1);
    v.passed = std::isfinite(v.error) && v.error <= v.bound;
    if (!v.passed) {
      v.mismatches = 1;
      v.first_mismatches.push_back("the two references differ");
    }
    return v;
  }

  void export_outputs(const Parameters& p, Instance& instance) const override {
    if (const std::string& path = p.text("out_file"); !path.empty()) {
      const HostMatrix lu = dynamic_cast<const LudInstance&>(instance).download_result();
      write_matrix_file(path, lu.n, lu.elements);
    }
  }
};

const bool registered = register_app(std::make_unique<Lud>());

}  // namespace

const std::vector<ParameterSpec>& parameter_specs() {
  using Kind = ParameterSpec::Kind;
  // 2^20 keeps the tiles of a matrix, and rows and columns, within 32 bits on the device.
  static const std::vector<ParameterSpec> specs = {
      {"n", Kind::integer, "order of the matrix", "8192", 1, std::int64_t{1} << 20, {}},
      {"input",
       Kind::choice,
       "'random': strictly diagonally dominant; 'rodinia': 10 exp(-0.001 |i - j|)",
       "random",
       1,
       1,
       {"random", "rodinia"}},
      {"matrix_file",
       Kind::file,
       "matrix in Rodinia's text format (default: generated)",
       "",
       1,
       1,
       {}},
      {"out_file",
       Kind::file,
       "where to write L and U in one matrix (default: nowhere)",
       "",
       1,
       1,
       {}}};
  return specs;
}

Input input_of(const Parameters& p) {
  return p.text("input") == "rodinia" ? Input::rodinia : Input::random;
}

std::vector<float> rodinia_table(std::int64_t n) {
  std::vector<float> table(static_cast<std::size_t>(n));
  constexpr float lambda = -0.001f;
  for (std::int64_t d = 0; d < n; ++d) {
    const float exponent = lambda * static_cast<float>(d);
    table[d] = static_cast<float>(10 * std::exp(static_cast<double>(exponent)));
  }
  return table;
}

HostMatrix host_matrix(const Parameters& p, std::uint64_t seed) {
  HostMatrix matrix{p.integer("n"), {}};
  const std::int64_t n = matrix.n;
  if (const std::string& path = p.text("matrix_file"); !path.empty()) {
    matrix.elements = read_matrix_file(path, n);
    if (const auto objection = objection_to(matrix)) throw UsageError(path + ": " + *objection);
    return matrix;
  }
  matrix.elements.resize(static_cast<std::size_t>(checked_product({n, n}, "n x n")));
  const bool rodinia = input_of(p) == Input::rodinia;
  const std::vector<float> table = rodinia ? rodinia_table(n) : std::vector<float>{};
  const float diagonal = least_diagonal(n, std::sqrt(static_cast<float>(n)));
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      matrix.elements[i * n + j] =
          rodinia ? table[std::abs(i - j)] : random_element(seed, n, i, j, diagonal);
    }
  }
  return matrix;
}

std::optional<std::string> objection_to(const HostMatrix& matrix) {
  const std::int64_t n = matrix.n;
  std::vector<double> of_row(n), of_column(n);  // magnitudes off the diagonal
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double a = std::abs(matrix.elements[i * n + j]);
      largest = std::max(largest, a);
      if (i == j) continue;
      of_row[i] += a;
      of_column[j] += a;
    }
  }
  bool rows = true, columns = true;
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = std::abs(matrix.elements[i * n + i]);
    rows = rows && a > of_row[i];
    columns = columns && a > of_column[i];
  }
  if (rows || columns) return std::nullopt;
  if (n > largest_trial) {
    return fmt::format(
        "the matrix is not diagonally dominant; a trial of elimination without pivoting is made up "
        "to order {} only",
        largest_trial);
  }
  const std::vector<double> lu = reference(matrix);
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot = lu[k * n + k];
    // A pivot that is rounding error only: the matrix is singular, or needs pivoting.
    if (!std::isfinite(pivot) || std::abs(pivot) <= std::ldexp(largest, -40)) {
      return fmt::format(
          "elimination without pivoting meets a zero pivot in row {}: the matrix is singular or "
          "needs pivoting",
          k + 1);
    }
  }
  // |L| |U| is at most n times max |L| max |U|, a bound too coarse to refuse with: rows of U and L.
  double growth = 0;
#pragma omp parallel for reduction(max : growth)
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> sums(n);
    for (std::int64_t k = 0; k <= i; ++k) {
      const double l = k == i ? 1 : std::abs(lu[i * n + k]);
      for (std::int64_t j = k; j < n; ++j) sums[j] += l * std::abs(lu[k * n + j]);
    }
    for (std::int64_t j = 0; j < n; ++j) growth = std::max(growth, sums[j] / largest);
  }
  if (growth > largest_growth) {
    return fmt::format(
        "the matrix is not diagonally dominant, and elements grow {:.3g}-fold in elimination "
        "without pivoting (at most {:.0f} is accepted): it needs pivoting",
        growth, largest_growth);
  }
  return std::nullopt;
}

std::vector<double> reference(const HostMatrix& matrix) {
  const std::int64_t n = matrix.n;
  std::vector<double> lu(matrix.elements.begin(), matrix.elements.end());
  for (std::int64_t k = 0; k < n; ++k) {
    const double* pivot_row = lu.data() + k * n;
#pragma omp parallel for if (n - k > 256)
    for (std::int64_t i = k + 1; i < n; ++i) {
      double* row = lu.data() + i * n;
      row[k] /= pivot_row[k];
      for (std::int64_t j = k + 1; j < n; ++j) row[j] -= row[k] * pivot_row[j];
    }
  }
  return lu;
}

double error_bound(std::int64_t n) {
  return std::ldexp(1.0, -24) * (32 + 4 * std::sqrt(static_cast<double>(n)));
}

Normalisation normalisation_of(const float* got, std::int64_t pitch, const HostMatrix& matrix) {
  double lower = 0, upper = 0;
  for (std::int64_t t = 0; t < matrix.n; ++t) {
    for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{0, t}, {t, 0}}) {
      const double a = matrix.elements[i * matrix.n + j];
      const auto error = [&](Normalisation which) {
        const double e = std::abs(a - product(got, pitch, i, j, which).value);
        return std::isfinite(e) ? e : std::abs(a);
      };
      lower += error(Normalisation::unit_lower);
      upper += error(Normalisation::unit_upper);
    }
  }
  return upper < lower ? Normalisation::unit_upper : Normalisation::unit_lower;
}

Verdict compare(const float* got, std::int64_t pitch, const HostMatrix& matrix,
                Normalisation which) {
  const std::int64_t n = matrix.n;
  Verdict v{
      true, std::string("max |A - LU| / (|L||U|), ") + name_of(which), 0, error_bound(n), n * n, 0};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double a = matrix.elements[i * n + j];
      const ProductOfRow p = product(got, pitch, i, j, which);
      const double error = a == p.value ? 0 : std::abs(a - p.value) / p.magnitude;
      if (std::isfinite(error)) v.error = std::max(v.error, error);
      if (std::isfinite(error) && error <= v.bound) continue;
      if (++v.mismatches <= 5) {
        v.first_mismatches.push_back(
            fmt::format("({}, {}): LU is {:.9g}, expected {:.9g}", i, j, p.value, a));
      }
    }
  }
  v.passed = v.mismatches == 0;
  return v;
}

}  // namespace amasia::lud
