#include "apps/srad/cpu_reference.hpp"

#include <algorithm>
#include <cmath>

#include "apps/common/max_norm.hpp"

namespace amasia::srad {
namespace {

constexpr int one_thread = 65536;  // pixels that are not worth a second one

/// q0 of srad.hpp, with every pixel rounded to whole quanta.
double q0_of(const Image<double>& image) {
  long long values = 0, squares = 0;
#pragma omp parallel for reduction(+ : values, squares) if (image.pixels.size() > one_thread)
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const long long q = std::llrint((image.pixels[i] - 1.875) * 65536);
    values += q;
    squares += q * q;
  }
  const double n = static_cast<double>(image.pixels.size());
  const double mean = 1.875 + static_cast<double>(values) / n / 65536;
  const double offset = mean - 1.875;
  const double variance = static_cast<double>(squares) / n / 65536 / 65536 - offset * offset;
  return std::max(variance / (mean * mean), std::ldexp(1.0, -34));
}

/// C of every pixel, as in kernel.cuh but in fp64: from the mean of its neighbours.
std::vector<double> coefficients(const Image<double>& image) {
  const double q0 = q0_of(image);
  const std::int64_t rows = image.rows, columns = image.columns;
  const auto at = [&](std::int64_t r, std::int64_t c) {
    r = std::clamp<std::int64_t>(r, 0, rows - 1);
    c = std::clamp<std::int64_t>(c, 0, columns - 1);
    return image.pixels[r * columns + c];
  };
  std::vector<double> result(image.pixels.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const double neighbours[] = {at(r - 1, c), at(r + 1, c), at(r, c - 1), at(r, c + 1)};
      double sum = 0, squares = 0;
      for (const double n : neighbours) {
        sum += n - at(r, c);
        squares += (n - at(r, c)) * (n - at(r, c));
      }
      const double mean = at(r, c) + sum / 4;
      const double q = (squares / 2 - sum * sum / 16) / (mean * mean);
      result[r * columns + c] = std::min(1.0, q0 * (1 + q0) / (q0 * q0 + q));
    }
  }
  return result;
}

constexpr std::int64_t most_updates_on_cpu = std::int64_t{1} << 27;

}  // namespace

Image<float> host_image(const Parameters& p, std::uint64_t seed) {
  Image<float> image{p.integer("rows"), p.integer("cols"), {}};
  image.pixels.resize(checked_product({image.rows, image.columns}, "rows x cols"));
#pragma omp parallel for
  for (std::int64_t r = 0; r < image.rows; ++r) {
    for (std::int64_t c = 0; c < image.columns; ++c) {
      image.pixels[r * image.columns + c] = generated_pixel(seed, 0, r, c, image.columns);
    }
  }
  return image;
}

Image<double> iterate(const Image<double>& image, double quarter_lambda) {
  const std::int64_t rows = image.rows, columns = image.columns;
  const double q0 = q0_of(image);
  std::vector<double> coefficient(image.pixels.size());
  const auto differences = [&](std::int64_t r, std::int64_t c, auto&& use) {
    const double* own = image.pixels.data() + r * columns + c;
    return use(*own, (r > 0 ? own[-columns] : *own) - *own,
               (r < rows - 1 ? own[columns] : *own) - *own, (c > 0 ? own[-1] : *own) - *own,
               (c < columns - 1 ? own[1] : *own) - *own);
  };
#pragma omp parallel for if (rows * columns > one_thread)
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      coefficient[r * columns + c] =
          differences(r, c, [&](double own, double n, double s, double w, double e) {
            const double g = (n * n + s * s + w * w + e * e) / (own * own);
            const double l = (n + s + w + e) / own;
            const double root = 1 + l / 4;
            const double q = (g / 2 - l * l / 16) / (root * root);
            return std::clamp(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0.0, 1.0);
          });
    }
  }
  Image<double> next{rows, columns, std::vector<double>(image.pixels.size())};
#pragma omp parallel for if (rows * columns > one_thread)
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const double* k = coefficient.data() + r * columns + c;
      const double south = r < rows - 1 ? k[columns] : *k, east = c < columns - 1 ? k[1] : *k;
      next.pixels[r * columns + c] =
          differences(r, c, [&](double own, double n, double s, double w, double e) {
            return own + quarter_lambda * (*k * n + south * s + *k * w + east * e);
          });
    }
  }
  return next;
}

Image<double> iterate_by_flow(const Image<double>& image, double quarter_lambda) {
  const std::int64_t columns = image.columns;
  const std::vector<double> coefficient = coefficients(image);
  Image<double> next = image;
  const auto flow = [&](std::int64_t from, std::int64_t to) {
    // The coefficient of an edge is that of the pixel south or east of it.
    const double amount =
        quarter_lambda * coefficient[to] * (image.pixels[from] - image.pixels[to]);
    next.pixels[from] -= amount;
    next.pixels[to] += amount;
  };
  for (std::int64_t r = 0; r < image.rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t i = r * columns + c;
      if (c + 1 < columns) flow(i, i + 1);
      if (r + 1 < image.rows) flow(i, i + columns);
    }
  }
  return next;
}

Verdict check_step(const Image<float>& before, const Image<float>& after, double quarter_lambda) {
  const Image<double> exact{
      before.rows, before.columns, {before.pixels.begin(), before.pixels.end()}};
  return compare(after, iterate(exact, quarter_lambda), step_bound);
}

Verdict compare(const Image<float>& got, const Image<double>& expected, double bound) {
  return compare_in_max_norm(
      static_cast<std::int64_t>(expected.pixels.size()), expected.columns,
      [&](std::int64_t i) { return got.pixels[i]; },
      [&](std::int64_t i) { return expected.pixels[i]; }, bound);
}

std::vector<int> checked_iterations(int iterations, std::int64_t pixels) {
  const std::int64_t affordable = std::max<std::int64_t>(2, most_updates_on_cpu / pixels);
  const int count = static_cast<int>(std::min<std::int64_t>(iterations, affordable));
  std::vector<int> chosen;
  const std::int64_t apart = std::max(count - 1, 1), last = iterations - 1;
  for (int i = 0; i < count; ++i) chosen.push_back(static_cast<int>(i * last / apart));
  return chosen;
}

Verdict check_references(const Parameters& p, std::uint64_t seed) {
  const Image<float> input = host_image(p, seed);
  Image<double> expected{input.rows, input.columns, {input.pixels.begin(), input.pixels.end()}};
  Image<double> second = expected;
  for (std::int64_t i = 0; i < p.integer("iterations"); ++i) {
    expected = iterate(expected, quarter_lambda(p));
    second = iterate_by_flow(second, quarter_lambda(p));
  }
  const Image<float> rounded{
      second.rows, second.columns, {second.pixels.begin(), second.pixels.end()}};
  // Both are fp64, and one is rounded: half a unit in the last place, and room for as much again.
  return compare(rounded, expected, std::ldexp(1.0, -23));
}

}  // namespace amasia::srad
