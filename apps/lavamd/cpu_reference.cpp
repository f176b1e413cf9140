#include "apps/lavamd/cpu_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "apps/common/max_norm.hpp"

namespace amasia::lavamd {
namespace {

std::int64_t particle(const Setup& s, int box, int i) {
  return std::int64_t{box} * s.particles + i;
}

}  // namespace

std::vector<Force> reference_forces(const Setup& s, int home) {
  std::vector<Force> forces;
  const Neighbours row = neighbours_of(home, s.boxes1d);
  for (int i = 0; i < s.particles; ++i) {
    const Vector a = input_position(s.seed, s.input, particle(s, home, i));
    long double sum[4] = {}, scale = 0;
    for (int k = 0; k < row.count; ++k) {
      for (int j = 0; j < s.particles; ++j) {
        const Vector b = input_position(s.seed, s.input, particle(s, row.box[k], j));
        const double q = input_charge(s.seed, s.input, particle(s, row.box[k], j));
        const double r2 = a.v + b.v - (a.x * b.x + a.y * b.y + a.z * b.z);
        const double vij = std::exp(-exponent_scale * r2);
        sum[0] += q * vij;
        sum[1] += q * 2 * vij * (a.x - b.x);
        sum[2] += q * 2 * vij * (a.y - b.y);
        sum[3] += q * 2 * vij * (a.z - b.z);
        scale += std::abs(q) * vij;
      }
    }
    Force f{{}, static_cast<double>(scale)};
    for (int c = 0; c < 4; ++c) f.component[c] = static_cast<double>(sum[c]);
    forces.push_back(f);
  }
  return forces;
}

std::vector<Force> reference_forces_from_sums(const Setup& s, int home) {
  const int n = s.boxes1d;
  std::vector<Vector> positions;
  std::vector<double> charges;
  for (int box = 0; box < n * n * n; ++box) {
    const bool near = std::abs(box % n - home % n) <= 1 &&
                      std::abs(box / n % n - home / n % n) <= 1 &&
                      std::abs(box / n / n - home / n / n) <= 1;
    for (int j = 0; near && j < s.particles; ++j) {
      positions.push_back(input_position(s.seed, s.input, particle(s, box, j)));
      charges.push_back(input_charge(s.seed, s.input, particle(s, box, j)));
    }
  }
  std::vector<Force> forces;
  for (int i = 0; i < s.particles; ++i) {
    const Vector a = input_position(s.seed, s.input, particle(s, home, i));
    long double s0 = 0, sx = 0, sy = 0, sz = 0, scale = 0;
    for (std::size_t j = 0; j < positions.size(); ++j) {
      const Vector& b = positions[j];
      const double t = b.v - a.x * b.x - a.y * b.y - a.z * b.z;
      const long double w = charges[j] * std::exp2(-exponent_scale * (a.v + t) / std::log(2.0));
      s0 += w;
      sx += w * b.x;
      sy += w * b.y;
      sz += w * b.z;
      scale += std::abs(w);
    }
    forces.push_back(
        {{static_cast<double>(s0), static_cast<double>(2 * (a.x * s0 - sx)),
          static_cast<double>(2 * (a.y * s0 - sy)), static_cast<double>(2 * (a.z * s0 - sz))},
         static_cast<double>(scale)});
  }
  return forces;
}

std::vector<int> sampled_boxes(int boxes1d, int most, std::uint64_t seed) {
  const int boxes = boxes1d * boxes1d * boxes1d;
  std::vector<int> sample;
  if (boxes <= most) {
    for (int box = 0; box < boxes; ++box) sample.push_back(box);
    return sample;
  }
  for (int corner = 0; corner < 8; ++corner) {
    const auto end = [&](int bit) { return corner >> bit & 1 ? boxes1d - 1 : 0; };
    sample.push_back(end(0) + boxes1d * (end(1) + boxes1d * end(2)));
  }
  for (std::uint64_t i = 0; static_cast<int>(sample.size()) < most; ++i) {
    sample.push_back(
        static_cast<int>(random_below(seed, 100, i, static_cast<std::uint32_t>(boxes))));
  }
  return sample;
}

double largest_error(const Force& got, const Force& right) {
  double worst = 0;
  for (int c = 0; c < 4; ++c) {
    const double error = std::abs(got.component[c] - right.component[c]) / right.scale;
    if (std::isnan(error)) return error;
    worst = std::max(worst, error);
  }
  return worst;
}

void compare_box(int box, const std::vector<Force>& got, const std::vector<Force>& right,
                 Verdict& v) {
  for (std::size_t i = 0; i < right.size(); ++i, ++v.checked) {
    const double error = largest_error(got[i], right[i]);
    count_element(v, error, [&] { return fmt::format("({}, {}): error {:.3g}", box, i, error); });
  }
  v.passed = v.mismatches == 0;
}

Verdict check_references(const Parameters& p, std::uint64_t seed) {
  const int boxes1d = static_cast<int>(p.integer("boxes1d"));
  Verdict v;
  v.norm = "max abs error / sum of magnitudes";
  const int particles = static_cast<int>(p.integer("particles"));
  v.bound = error_bound(double{most_neighbours} * particles);
  for (int input = 0; input < 2; ++input) {
    const Setup setup{seed, input, boxes1d, particles};
    for (const int box : sampled_boxes(boxes1d, 16, seed)) {
      compare_box(box, reference_forces_from_sums(setup, box), reference_forces(setup, box), v);
    }
  }
  return v;
}

}  // namespace amasia::lavamd
