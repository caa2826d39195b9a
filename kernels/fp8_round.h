#pragma once
#include <algorithm>

#include "device/streams.h"
#include "device/tensor_view.h"
#include "utils/float8.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

/// A factor of a product in 8 bits, as the numbers that it stands for: y = fp8(x scale) / scale,
/// with a scale for each block of x.
///
/// Numerical contract
///   types:  x and y fp32, bf16 or fp16, the same
///   scale:  the largest power of two by which the block's largest finite absolute value is a
///           number of the format, over 2^margin (utils/float8.h)
///   values: rounded to nearest even; exact in y's type, but for numbers that fp16 does not have
///   order:  none: the same bits on every device
struct Fp8Round {
  static constexpr const char* name = "fp8_round";
  In x;   // [t, h]
  Out y;  // [t, h]; may be x
  Out workspace;
  Index block_rows = 0, block_columns = 0;  // 0: all
  Fp8Format format = Fp8Format::e4m3;
  int margin = 0;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("y", y);
  }
};

void run(device::ReferenceStream&, const Fp8Round&);
void run(device::HostStream&, const Fp8Round&);
void run(device::CudaStream&, const Fp8Round&);
Index workspace_bytes(const device::HostStream&, const Fp8Round&);
Index workspace_bytes(const device::CudaStream&, const Fp8Round&);

/// The blocks of x as devices walk them: chunks of rows, in each of which every block of columns
/// has a largest value; where all rows are one block, the largest of all chunks' counts.
struct Fp8Blocks {
  Index rows, columns;   // of a chunk, of a block
  Index chunks, across;  // how many
  bool one_block_of_rows;

  explicit Fp8Blocks(const Fp8Round& k)
      : rows(k.block_rows > 0 ? k.block_rows : kChunkRows),
        columns(k.block_columns > 0 ? k.block_columns : std::max<Index>(k.x.size(1), 1)),
        chunks((k.x.size(0) + rows - 1) / rows),
        across((k.x.size(1) + columns - 1) / columns),
        one_block_of_rows(k.block_rows == 0) {}
  constexpr Index place(Index row, Index column) const {
    return (one_block_of_rows ? 0 : row / rows * across) + column / columns;
  }

 private:
  static constexpr Index kChunkRows = 64;
};

/// fp8(x scale) / scale in a block with this largest value.
constexpr float round_in_block(float x, float largest, Fp8Format format, int margin) {
  const int exponent = fp8_scale_exponent(largest, format, margin);
  return nearest_fp8(x * power_of_two(exponent), format) * power_of_two(-exponent);
}
constexpr float finite_magnitude(float x) {
  return !is_finite(x) ? 0 : x < 0 ? -x : x;
}

}  // namespace mpitron::kernels
