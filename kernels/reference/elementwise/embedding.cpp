#include "kernels/elementwise/embedding.h"

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// Rows outside this rank's part of the table are zero; positions are added before rounding.
void run(device::ReferenceStream&, const EmbeddingForward& kernel) {
  const Reader ids(kernel.ids), table(kernel.table);
  const Reader position_ids(kernel.position_ids), positions(kernel.positions);
  const Writer y(kernel.y);
  for (Index t = 0; t < kernel.ids.numel(); ++t) {
    const Index row = static_cast<Index>(ids(t)) - kernel.first_row;
    const bool mine = 0 <= row && row < kernel.table.size(0);
    const Index position = positions ? static_cast<Index>(position_ids(t)) : 0;
    for (Index column = 0; column < kernel.y.size(-1); ++column) {
      const double word = mine ? table(row, column) : 0;
      y.set(word + (positions ? positions(position, column) : 0), t, column);
    }
  }
}

/// Sums of equal ids in the order of tokens, in double.
void run(device::ReferenceStream&, const EmbeddingBackward& kernel) {
  const Reader ids(kernel.ids), dy(kernel.dy);
  const Writer dtable(kernel.dtable);
  const Index v = kernel.dtable.size(0);
  const Index h = kernel.dtable.size(1);
  for (Index i = 0; !kernel.accumulate && i < v * h; ++i) {
    dtable.set(0, i);
  }
  for (Index t = 0; t < kernel.ids.numel(); ++t) {
    const Index row = static_cast<Index>(ids(t)) - kernel.first_row;
    for (Index column = 0; 0 <= row && row < v && column < h; ++column) {
      dtable.add(dy(t, column), row, column);
    }
  }
}

}  // namespace mpitron::kernels
