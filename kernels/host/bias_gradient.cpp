#include "kernels/host/views.h"
#include "kernels/matmul.h"

namespace mpitron::kernels {
namespace host {
namespace {

/// Rows whose sum is one partial result, whatever the number of threads.
constexpr Index kBlockRows = 128;
/// Columns summed at a time: their sums stay in the first-level cache.
constexpr Index kChunk = 2048;

Index blocks_of(const BiasGradient& kernel) {
  const Index h = std::max<Index>(kernel.dy.size(-1), 1);
  return (kernel.dy.numel() / h + kBlockRows - 1) / kBlockRows;
}

template <class T, class Lanes>
inline void add_rows(const Rows<const T>& dy, Index row, Index count, Index column, float* sum,
                     Lanes lanes) {
  simd::Float total = simd::load(sum, lanes);
  for (Index i = 0; i < count; ++i) {
    total += simd::load(dy[row + i] + column, lanes);
  }
  simd::store(sum, total, lanes);
}

/// sum[n] = the rows [begin, end), eight at a time so that a sum is loaded once for eight elements.
template <class T>
void sum_block(const Rows<const T>& dy, Index begin, Index end, Index n, float* sum) {
  std::fill(sum, sum + n, 0.f);
  for (Index chunk = 0; chunk < n; chunk += kChunk) {
    const Index chunk_end = std::min(n, chunk + kChunk);
    for (Index row = begin; row < end; row += 8) {
      const Index count = std::min<Index>(8, end - row);
      Index column = chunk;
      for (; column + simd::kLanes <= chunk_end; column += simd::kLanes) {
        add_rows(dy, row, count, column, sum + column, simd::Full{});
      }
      if (column < chunk_end) {
        add_rows(dy, row, count, column, sum + column, simd::Part{chunk_end - column});
      }
    }
  }
}

template <class T>
void add_blocks(const float* sums, Index blocks, Index n, bool accumulate, T* db) {
  for (Index column = 0; column < n; ++column) {
    float total = accumulate ? static_cast<float>(db[column]) : 0.f;
    for (Index block = 0; block < blocks; ++block) {
      total += sums[block * n + column];
    }
    db[column] = T(total);
  }
}

}  // namespace
}  // namespace host

Index workspace_bytes(const device::HostStream&, const BiasGradient& kernel) {
  return host::blocks_of(kernel) * kernel.dy.size(-1) * static_cast<Index>(sizeof(float));
}

void run(device::HostStream& stream, const BiasGradient& kernel) {
  const Index n = kernel.dy.size(-1);
  const Index blocks = host::blocks_of(kernel);
  const Index rows = n == 0 ? 0 : kernel.dy.numel() / n;
  MPITRON_CHECK(kernel.workspace.bytes() >= workspace_bytes(stream, kernel));
  auto* sums = static_cast<float*>(kernel.workspace.data);
  visit_dtype(kernel.dy.dtype, [&]<class T>() {
    const host::Rows<const T> dy(kernel.dy);
    host::for_blocks(blocks, kernel.dy.numel(), [&](Index block) {
      const Index begin = block * host::kBlockRows;
      host::sum_block(dy, begin, std::min(rows, begin + host::kBlockRows), n, sums + block * n);
    });
  });
  visit_dtype(kernel.db.dtype, [&]<class T>() {
    host::add_blocks(sums, blocks, n, kernel.accumulate, static_cast<T*>(kernel.db.data));
  });
}

}  // namespace mpitron::kernels
