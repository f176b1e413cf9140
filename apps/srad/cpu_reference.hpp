// The inputs of srad on the host, its CPU references, two of them, and how an iteration is judged.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/srad/srad.hpp"

namespace amasia::srad {

/// A dense image on the host: float as on the device, double in the references.
template <class T>
struct Image {
  std::int64_t rows = 0, columns = 0;
  std::vector<T> pixels;
};

/// The timed input, generated from the seed.
Image<float> host_image(const Parameters& p, std::uint64_t seed);

/// One iteration by the formula of srad.hpp, in fp64. OpenMP over rows.
Image<double> iterate(const Image<double>& image, double quarter_lambda);

/// The same built the other way round: what flows over each edge between two pixels leaves one and
/// reaches the other. No flow crosses the edge of the image, so clamping is implied.
Image<double> iterate_by_flow(const Image<double>& image, double quarter_lambda);

/// Largest accepted (max abs error) / (max abs reference) of one iteration in fp32: README.
inline constexpr double step_bound = 32.0 / 16777216;

/// Whether `after` is what one iteration makes of `before`.
Verdict check_step(const Image<float>& before, const Image<float>& after, double quarter_lambda);

/// Compares in the norm of check_step. Any non-finite pixel is a mismatch.
Verdict compare(const Image<float>& got, const Image<double>& expected, double bound);

/// Which iterations of a run the CPU checks, in increasing order: all if it may check that many,
/// else the first, the last, and others evenly between.
std::vector<int> checked_iterations(int iterations, std::int64_t pixels);

/// The verdict of comparing the two references with each other, which `verify --reference` reports.
Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::srad
