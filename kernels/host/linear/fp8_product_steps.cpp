// Makes the steps of an 8-bit product that its matrix product does not: decoding factors by a table
// of 256 numbers, and dividing fp32 sums by both scales.
#include "kernels/linear/fp8_product_steps.h"

#include <array>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

/// Returns the number that each of the 256 patterns of bits stands for.
std::array<float, 256> numbers_of(Fp8Format format) {
  std::array<float, 256> numbers{};
  for (std::size_t bits = 0; bits < numbers.size(); ++bits) {
    numbers[bits] = from_fp8(static_cast<std::uint8_t>(bits), format);
  }
  return numbers;
}

float largest_of(const In& amax, Index down, Index across) {
  return amax.as<float>()[down * amax.stride(0) + across * amax.stride(1)];
}

}  // namespace

void run(device::HostStream&, const Fp8Decode& k) {
  const std::array<float, 256> numbers = numbers_of(k.x.scaling.format);
  const Rows<const std::uint8_t> xs(k.x.values);
  const Rows<BFloat16> ys(k.y);
  const Index rows = k.y.size(0), columns = k.y.size(1);
  const Fp8Blocks& blocks = k.x.blocks;
  const Index width = std::max<Index>(blocks.columns_of(columns), 1);
  host::for_blocks(rows, rows * columns, [&](Index row) {
    const std::uint8_t* x = xs[row];
    BFloat16* y = ys[row];
    for (Index begin = 0; begin < columns; begin += width) {
      const float largest = largest_of(k.x.amax, blocks.row(row), blocks.column(begin));
      const float factor = blocks.whole() ? 1 : 1 / fp8_scale(largest, k.x.scaling);
      for (Index i = begin; i < std::min(begin + width, columns); ++i) {
        y[i] = BFloat16(numbers[x[i]] * factor);
      }
    }
  });
}

void run(device::HostStream&, const Fp8Finish& k) {
  const float factor =
      fp8_product_factor(*k.a_amax.as<float>(), k.a_scaling, *k.b_amax.as<float>(), k.b_scaling);
  const Index rows = k.c.size(0), columns = k.c.size(1);
  const Rows<const float> sums(k.sums);
  visit_dtype(k.c.dtype, [&]<class T>() {
    const Rows<T> cs(k.c);
    const T* bias = k.bias.as<T>();
    host::for_blocks(rows, 2 * rows * columns, [&](Index row) {
      const float* sum = sums[row];
      T* c = cs[row];
      for (Index i = 0; i < columns; ++i) {
        const float more = bias != nullptr ? static_cast<float>(bias[i])
                           : k.accumulate  ? static_cast<float>(c[i])
                                           : 0;
        c[i] = static_cast<T>(sum[i] * factor + more);
      }
    });
  });
}

}  // namespace mpitron::kernels
