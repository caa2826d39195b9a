#include "kernels/linear/fp8_product_steps.h"

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// y = bits / scale of its block.
void run(device::ReferenceStream&, const Fp8Decode& k) {
  const Reader bits(k.x.values), amax(k.x.amax);
  const Writer y(k.y);
  const Fp8Blocks& blocks = k.x.blocks;
  for (Index row = 0; row < k.y.size(0); ++row) {
    for (Index column = 0; column < k.y.size(1); ++column) {
      const auto number = static_cast<std::uint8_t>(bits(row, column));
      const auto largest = static_cast<float>(amax(blocks.row(row), blocks.column(column)));
      const float scale = blocks.whole() ? 1 : fp8_scale(largest, k.x.scaling);
      y.set(static_cast<double>(from_fp8(number, k.x.scaling.format) / scale), row, column);
    }
  }
}

/// Applies scales and bias, with one rounding.
void run(device::ReferenceStream&, const Fp8Finish& k) {
  const Reader sums(k.sums), a_amax(k.a_amax), b_amax(k.b_amax), bias(k.bias);
  const Writer c(k.c);
  const auto scale = [](const Reader& amax, const Fp8Scaling& scaling) {
    return static_cast<double>(fp8_scale(static_cast<float>(amax(0, 0)), scaling));
  };
  const double factor = 1 / (scale(a_amax, k.a_scaling) * scale(b_amax, k.b_scaling));
  for (Index row = 0; row < k.c.size(0); ++row) {
    for (Index column = 0; column < k.c.size(1); ++column) {
      const double value = sums(row, column) * factor + (bias ? bias(column) : 0);
      k.accumulate ? c.add(value, row, column) : c.set(value, row, column);
    }
  }
}

}  // namespace mpitron::kernels
