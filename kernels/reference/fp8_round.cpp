#include "kernels/fp8_round.h"

#include "kernels/reference/elements.h"

namespace mpitron::kernels {

void run(device::ReferenceStream&, const Fp8Round& k) {
  const Index t = k.x.size(0), h = k.x.size(1);
  const Index rows = k.block_rows > 0 ? k.block_rows : t;
  const Index columns = k.block_columns > 0 ? k.block_columns : h;
  const reference::Reader x(k.x);
  const reference::Writer y(k.y);
  const auto for_block = [&](Index row, Index column, auto&& visit) {
    for (Index i = row; i < std::min(row + rows, t); ++i) {
      for (Index j = column; j < std::min(column + columns, h); ++j) {
        visit(i, j, static_cast<float>(x(i, j)));
      }
    }
  };
  for (Index row = 0; row < t; row += rows) {
    for (Index column = 0; column < h; column += columns) {
      float largest = 0;
      for_block(row, column, [&](Index, Index, float value) {
        largest = std::max(largest, finite_magnitude(value));
      });
      for_block(row, column, [&](Index i, Index j, float value) {
        y.set(static_cast<double>(round_in_block(value, largest, k.format, k.margin)), i, j);
      });
    }
  }
}

}  // namespace mpitron::kernels
