#include "kernels/linear/fp8_quantize.h"

#include <algorithm>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// Finds largest values, passing over infinities and NaN: their rounding keeps them.
void run(device::ReferenceStream&, const Fp8Amax& k) {
  check(k);
  const Reader x(k.x);
  const Writer amax(k.amax);
  const Index t = k.x.size(0), h = k.x.size(1);
  for (Index down = 0; down < k.amax.size(0); ++down) {
    for (Index across = 0; across < k.amax.size(1); ++across) {
      if (!k.accumulate) {
        amax.set(0, down, across);
      }
    }
  }
  for (Index row = 0; row < t; ++row) {
    for (Index column = 0; column < h; ++column) {
      const Index down = k.blocks.row(row), across = k.blocks.column(column);
      const float value = finite_magnitude(static_cast<float>(x(row, column)));
      amax.set(std::max(amax(down, across), static_cast<double>(value)), down, across);
    }
  }
}

/// y = fp8(x scale), by rows or transposed.
void run(device::ReferenceStream&, const Fp8Quantize& k) {
  check(k);
  const Reader x(k.x), amax(k.amax);
  const Writer y(k.y);
  const Index t = k.x.size(0), h = k.x.size(1);
  for (Index column = t; k.transpose && column < k.y.size(1); ++column) {
    for (Index row = 0; row < h; ++row) {
      y.set(0, row, column);
    }
  }
  for (Index row = 0; row < t; ++row) {
    for (Index column = 0; column < h; ++column) {
      const double largest = amax(k.blocks.row(row), k.blocks.column(column));
      const float scale = fp8_scale(static_cast<float>(largest), k.scaling);
      const std::uint8_t bits =
          to_fp8(static_cast<float>(x(row, column)) * scale, k.scaling.format);
      k.transpose ? y.set(bits, column, row) : y.set(bits, row, column);
    }
  }
}

void run(device::ReferenceStream&, const Fp8HistoryUpdate& kernel) {
  const Index size = kernel.rows.size(1);
  for (Index row = 0; row < kernel.rows.size(0); ++row) {
    advance_fp8_history(kernel.rows.as<float>() + row * size, size, kernel.amax.as<float>()[row],
                        kernel.largest);
  }
}

}  // namespace mpitron::kernels
