// Numerical contract: that of matmul.h, BiasGradient. Eight threads of a block each sum
// every eighth of its rows in order, then the eight sums are added in order,
// and those of blocks in the order of column_sums.cuh.
#include "kernels/cuda/common/column_sums.cuh"
#include "kernels/linear/matmul.h"

namespace mpitron::kernels {
namespace cuda {
namespace {

constexpr int kRowThreads = 8;
constexpr int kAhead = 4;  // rows that a thread loads at once

/// Counts the rows that one block sums, by the shape alone: so many that all blocks are there at
/// once (four to each of the 132 multiprocessors of an H100 or H200).
Index rows_of_block(Index rows, Index n) {
  constexpr Index kLeastRows = 64, kBlocks = 4 * 132, kColumns = kWarp * kPack;
  const Index tiles = std::max<Index>(1, (n + kColumns - 1) / kColumns);
  const Index blocks = std::max<Index>(1, kBlocks / tiles);
  return std::max(kLeastRows, (rows + blocks - 1) / blocks);
}
Index block_count(Index rows, Index n) {
  return (rows + rows_of_block(rows, n) - 1) / rows_of_block(rows, n);
}

template <class T>
struct ColumnSums {
  Rows<const T> dy;
  Index rows, n, rows_of_block;
  float* sums;  // [blocks, n]
};

/// Sums columns by 32 threads side by side, each with N of them; blockIdx.y is the block of rows.
template <class T, int N>
__global__ void sum_columns(ColumnSums<T> a) {
  __shared__ float partial[kRowThreads][kWarp * N];
  const Index first = static_cast<Index>(blockIdx.x) * kWarp * N;
  const Index column = first + static_cast<Index>(threadIdx.x) * N;
  const Index begin = static_cast<Index>(blockIdx.y) * a.rows_of_block;
  const Index end = min(begin + a.rows_of_block, a.rows);
  Floats<N> sum{};
  for (Index row = begin + threadIdx.y; column < a.n && row < end; row += kRowThreads * kAhead) {
    Raw<T, N> packs[kAhead];
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      if (row + ahead * kRowThreads < end) {
        packs[ahead] = load_raw(a.dy[row + ahead * kRowThreads] + column, Width<N>());
      }
    }
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      if (row + ahead * kRowThreads < end) {
        sum = each(Sum{}, sum, floats(packs[ahead]));
      }
    }
  }
  for (int i = 0; i < N; ++i) {
    partial[threadIdx.y][threadIdx.x * N + i] = sum[i];
  }
  __syncthreads();
  for (Index i = threadIdx.y * kWarp + threadIdx.x; i < kWarp * N && first + i < a.n;
       i += kRowThreads * kWarp) {
    float total = 0;
    for (int y = 0; y < kRowThreads; ++y) {
      total += partial[y][i];
    }
    a.sums[static_cast<Index>(blockIdx.y) * a.n + first + i] = total;
  }
}

template <class T, int N>
void run_typed(device::CudaStream& stream, const ColumnSums<T>& arguments) {
  const auto tiles = static_cast<unsigned>((arguments.n + kWarp * N - 1) / (kWarp * N));
  const auto blocks = static_cast<unsigned>(block_count(arguments.rows, arguments.n));
  launch(stream, BiasGradient::name, {dim3(tiles, blocks), dim3(kWarp, kRowThreads)},
         sum_columns<T, N>, arguments);
}

}  // namespace
}  // namespace cuda

Index workspace_bytes(const device::CudaStream&, const BiasGradient& kernel) {
  const Index n = kernel.dy.size(-1);
  return cuda::block_count(row_count(kernel.dy), n) * n * 4;
}

void run(device::CudaStream& stream, const BiasGradient& kernel) {
  const Index n = kernel.dy.size(-1), rows = row_count(kernel.dy);
  MPITRON_CHECK(kernel.workspace.bytes() >= workspace_bytes(stream, kernel));
  auto* sums = static_cast<float*>(kernel.workspace.data);
  if (rows > 0 && n > 0) {
    cuda::visit_element(kernel.dy.dtype, [&]<class T>() {
      const cuda::ColumnSums<T> arguments{cuda::rows_of<T>(kernel.dy), rows, n,
                                          cuda::rows_of_block(rows, n), sums};
      if (n % cuda::kPack == 0 && cuda::packs_fit(arguments.dy)) {
        cuda::run_typed<T, cuda::kPack>(stream, arguments);
      } else {
        cuda::run_typed<T, 1>(stream, arguments);
      }
    });
  }
  cuda::add_partials(stream, BiasGradient::name, {sums, cuda::block_count(rows, n), n},
                     kernel.accumulate, kernel.db);
}

}  // namespace mpitron::kernels
