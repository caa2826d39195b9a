#include "kernels/linear/fp8_matmul.h"

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Returns the numbers of a factor, row-major; with one scale for all, before its division.
std::vector<double> load_factor(const Fp8Factor& factor) {
  const Reader bits(factor.values), amax(factor.amax);
  std::vector<double> numbers;
  for (Index row = 0; row < factor.values.size(0); ++row) {
    for (Index column = 0; column < factor.values.size(1); ++column) {
      const double largest = amax(factor.blocks.row(row), factor.blocks.column(column));
      const double scale =
          factor.blocks.whole()
              ? 1
              : static_cast<double>(fp8_scale(static_cast<float>(largest), factor.scaling));
      const auto number = static_cast<std::uint8_t>(bits(row, column));
      numbers.push_back(static_cast<double>(from_fp8(number, factor.scaling.format)) / scale);
    }
  }
  return numbers;
}

double scale_of(const Fp8Factor& factor) {
  const Reader amax(factor.amax);
  return factor.blocks.whole()
             ? static_cast<double>(fp8_scale(static_cast<float>(amax(0, 0)), factor.scaling))
             : 1;
}

}  // namespace

/// Decoded numbers in double, divided by both scales and rounded once.
void run(device::ReferenceStream&, const Fp8Matmul& kernel) {
  check(kernel);
  const Index k = kernel.a.values.size(1);
  const std::vector<double> a = load_factor(kernel.a), b = load_factor(kernel.b);
  const double scale = scale_of(kernel.a) * scale_of(kernel.b);
  const Reader bias(kernel.bias);
  const Writer c(kernel.c);
  for (Index row = 0; row < kernel.c.size(0); ++row) {
    for (Index column = 0; column < kernel.c.size(1); ++column) {
      double sum = 0;
      for (Index i = 0; i < k; ++i) {
        sum +=
            a[static_cast<std::size_t>(row * k + i)] * b[static_cast<std::size_t>(column * k + i)];
      }
      const double value = sum / scale + (bias ? bias(column) : 0);
      kernel.accumulate ? c.add(value, row, column) : c.set(value, row, column);
    }
  }
}

}  // namespace mpitron::kernels
