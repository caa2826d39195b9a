// Emulates a matrix unit's sums in double, where products of bf16, fp16, tf32 and fp8 are exact and
// cutting off is a mask of bits.
#include "emulator/units/matrix_unit.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mpitron::emulator {
namespace {

constexpr int kPlacesOfDouble = 52;
constexpr std::int64_t kColumns = 64;  // that are worked on at once

/// Cuts off what lies behind so many binary places of a number.
double cut_off(double x, int places) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0}
                                                                     << (kPlacesOfDouble - places));
}

/// Some elements of a row of a and of columns of b, `stride` columns wide, that one instruction
/// multiplies.
struct Factors {
  const float *a, *b;
  std::int64_t depth, columns, stride;

  /// Calls f(j, product) for all of them, in double, where they are exact.
  template <class F>
  void for_products(F&& f) const {
    for (std::int64_t k = 0; k < depth; ++k) {
      const double factor = a[k];
      const float* const row = b + k * stride;
      for (std::int64_t j = 0; j < columns; ++j) {
        f(j, factor * row[j]);
      }
    }
  }
};

/// Executes one instruction, for some elements of a row of c.
void execute(const MatrixUnit& unit, float* c, const Factors& factors) {
  constexpr double kTiny = 0x1p-500;  // in place of zeros, whose reciprocal is infinite
  const double places = std::ldexp(1, unit.places);
  double scale[kColumns], sums[kColumns], plain[kColumns];
  for (std::int64_t j = 0; j < factors.columns; ++j) {
    scale[j] = std::max(kTiny, std::abs(double{c[j]}));
  }
  factors.for_products(
      [&](std::int64_t j, double product) { scale[j] = std::max(scale[j], std::abs(product)); });
  for (std::int64_t j = 0; j < factors.columns; ++j) {
    scale[j] = places / cut_off(scale[j], 0);  // makes whole numbers of what is kept
    sums[j] = std::trunc(c[j] * scale[j]);
    plain[j] = c[j];
  }
  factors.for_products([&](std::int64_t j, double product) {
    sums[j] += std::trunc(product * scale[j]);
    plain[j] += product;
  });
  for (std::int64_t j = 0; j < factors.columns; ++j) {
    c[j] = static_cast<float>(
        std::isfinite(plain[j]) ? cut_off(sums[j] / scale[j], unit.result_places) : plain[j]);
  }
}

}  // namespace

void add_products(const MatrixUnit& unit, float* c, const float* a, const float* b,
                  std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < depth; k += unit.depth) {
      for (std::int64_t j = 0; j < columns; j += kColumns) {
        execute(unit, c + row * columns + j,
                {a + row * depth + k, b + k * columns + j, std::min(unit.depth, depth - k),
                 std::min(kColumns, columns - j), columns});
      }
    }
  }
}

}  // namespace mpitron::emulator
