// Sums the gradient of a bias over rows on the host, in fp32: rows of a block one after the other,
// then the blocks in order. Blocks depend on the shape alone, so threads change no bit.
#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/common/row_blocks.h"
#include "kernels/linear/matmul.h"

namespace mpitron::kernels {
namespace host {
namespace {

/// Columns summed at a time: their sums stay in the first-level cache.
constexpr Index kChunk = 4096;

/// Sums the rows [begin, end) into sum[n], one after the other as they lie in memory.
template <class T>
void sum_block(const Rows<const T>& dy, Index begin, Index end, Index n, float* sum) {
  std::fill(sum, sum + n, 0.f);
  for (Index chunk = 0; chunk < n; chunk += kChunk) {
    float* sums = sum + chunk;
    for (Index row = begin; row < end; ++row) {
      const T* x = dy[row] + chunk;
      simd::for_lanes(std::min(kChunk, n - chunk), [&](Index i, auto lanes) {
        fetch_ahead(x + i);
        simd::store(sums + i, simd::load(sums + i, lanes) + simd::load(x + i, lanes), lanes);
      });
    }
  }
}

}  // namespace
}  // namespace host

Index workspace_bytes(const device::HostStream&, const BiasGradient& kernel) {
  return host::BlockSums::workspace_bytes(row_count(kernel.dy), kernel.dy.size(-1));
}

void run(device::HostStream&, const BiasGradient& kernel) {
  const Index n = kernel.dy.size(-1), rows = row_count(kernel.dy);
  const Index height = host::BlockSums::rows_of(rows), blocks = host::BlockSums::count_of(rows);
  host::BlockSums sums(rows, n, kernel.workspace);
  visit_dtype(kernel.dy.dtype, [&]<class T>() {
    const Rows<const T> dy(kernel.dy);
    host::for_ranges(blocks, kernel.dy.numel(), [&](Index first, Index last) {
      for (Index block = first; block < last; ++block) {
        const Index begin = block * height;
        host::sum_block(dy, begin, std::min(rows, begin + height), n, sums[block]);
        sums.finish(block, first);
      }
    });
  });
  sums.total(0, kernel.db, kernel.accumulate);
}

}  // namespace mpitron::kernels
