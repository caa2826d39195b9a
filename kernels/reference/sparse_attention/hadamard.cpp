#include "kernels/sparse_attention/hadamard.h"

#include <bit>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

/// Multiplies each row with the whole matrix, by its definition.
void run(device::ReferenceStream&, const Hadamard& kernel) {
  const reference::Writer x(kernel.x);
  const Index d = kernel.x.size(-1);
  for (Index row = 0; row < reference::rows_of(kernel.x); ++row) {
    std::vector<double> sums(static_cast<std::size_t>(d));
    for (Index i = 0; i < d; ++i) {
      for (Index j = 0; j < d; ++j) {
        const bool odd = std::popcount(static_cast<std::uint64_t>(i & j)) % 2 != 0;
        sums[static_cast<std::size_t>(i)] += odd ? -x(row, j) : x(row, j);
      }
    }
    for (Index i = 0; i < d; ++i) {
      x.set(sums[static_cast<std::size_t>(i)] / std::sqrt(static_cast<double>(d)), row, i);
    }
  }
}

}  // namespace mpitron::kernels
