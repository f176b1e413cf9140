// Matrices for the tensor cores: elements of every type they take, what their bits mean, and the
// product on the CPU that a multiplication is compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace amasia::tensor {

enum class Element { f16, bf16, tf32, e4m3, e5m2, s8, s4, b1 };
enum class Sum { f16, f32, s32 };

constexpr int bits_of(Element e) {
  constexpr int bits[] = {16, 16, 32, 8, 8, 8, 4, 1};
  return bits[static_cast<int>(e)];
}
constexpr bool is_integer(Element e) {
  return e == Element::s8 || e == Element::s4 || e == Element::b1;
}
constexpr bool is_fp8(Element e) { return e == Element::e4m3 || e == Element::e5m2; }

std::string name_of(Element e);
std::string name_of(Sum s);
/// "TFLOP/s" or "TOP/s".
std::string rate_unit(Element e);

enum class Fill { zero, random };
constexpr const char* name_of(Fill f) { return f == Fill::zero ? "zero" : "random"; }

/// Rows of k elements, packed: row m of A, row n of B (its column). 32-bit words, little-endian.
struct Matrix {
  Element element{};
  int rows = 0;
  int columns = 0;
  std::vector<std::uint32_t> words{};

  int row_words() const { return columns * bits_of(element) / 32; }
  std::uint32_t word(int row, int index) const { return words[row * row_words() + index]; }
  double at(int row, int column) const;
};

/// Random: floating point uniform in [-1, 1), integers of any bits. 32 must divide a row's bits.
Matrix matrix_of(Element element, int rows, int columns, Fill fill, unsigned seed);
/// Floating point: every sign turned. Integers stay, whose sums wrap around.
Matrix negated(Matrix m);

/// Which two of four elements of k (which one of two, for tf32) a sparse A keeps: the same
/// everywhere, so that a reference needs no layout of metadata.
struct Kept {
  int first = 0;  // 0: elements 0 and 1; 2: elements 2 and 3
  std::uint32_t metadata() const { return first == 0 ? 0x44444444U : 0xEEEEEEEEU; }
};
/// Metadata of 16 random choices that are allowed.
std::uint32_t random_metadata(Element element, unsigned seed);

/// One element of a product and the bound of its error: rounding grows with the sum of magnitudes.
struct Expected {
  double value = 0;
  double magnitude = 0;
};
/// Row m of A times row n of B, k by k. `kept`: A is the packed half of a matrix twice as wide.
Expected product(const Matrix& a, int m, const Matrix& b, int n, const Kept* kept = nullptr);

/// The value of element `index` of a row of sums that were stored packed.
double sum_at(Sum type, const std::uint32_t* words, std::size_t index);

/// Throws std::runtime_error naming the first element that is off, by more than the sums' and the
/// elements' precision explains.
void hold_to(double got, const Expected& expected, Element element, Sum type, int m, int n);

}  // namespace amasia::tensor
