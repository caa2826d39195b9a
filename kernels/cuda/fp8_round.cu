// Numerical contract: that of kernels/fp8_round.h.
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"
#include "kernels/fp8_round.h"

namespace mpitron::kernels {
namespace cuda {
namespace {

template <class T>
struct RoundArguments {
  Rows<const T> x;
  Rows<T> y;
  float* largest;  // [chunks, across]
  Index t, h;
  Fp8Blocks blocks;
  Fp8Format format;
  int margin;
};

/// The largest value of each block of columns in each chunk of rows: a warp for a block.
template <class T>
__global__ void find_largest(RoundArguments<T> a) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.y;
  const Index count = a.blocks.chunks * a.blocks.across;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.y + threadIdx.y; i < count; i += step) {
    const Index row = i / a.blocks.across * a.blocks.rows;
    const Index column = i % a.blocks.across * a.blocks.columns;
    const Index columns = min(a.blocks.columns, a.h - column);
    const Index elements = min(a.blocks.rows, a.t - row) * columns;
    float largest = 0;
    for (Index j = threadIdx.x; j < elements; j += kWarp) {
      const float x = static_cast<float>(a.x[row + j / columns][column + j % columns]);
      largest = fmaxf(largest, finite_magnitude(x));
    }
    largest = warp_reduce(largest, Largest{});
    if (threadIdx.x == 0) {
      a.largest[i] = largest;
    }
  }
}

/// The same for blocks of one column: a thread for a block, so that neighbours read neighbours.
template <class T>
__global__ void find_largest_of_columns(RoundArguments<T> a) {
  const Worker worker = thread_of_grid();
  for (Index i = worker.index; i < a.blocks.chunks * a.h; i += worker.count) {
    const Index first = i / a.h * a.blocks.rows, column = i % a.h;
    float largest = 0;
    for (Index row = first; row < min(first + a.blocks.rows, a.t); ++row) {
      largest = fmaxf(largest, finite_magnitude(static_cast<float>(a.x[row][column])));
    }
    a.largest[i] = largest;
  }
}

/// Where all rows are one block: the largest of all chunks, in the place of the first.
__global__ void join_chunks(float* largest, Index chunks, Index across) {
  const Worker worker = thread_of_grid();
  for (Index i = worker.index; i < across; i += worker.count) {
    for (Index chunk = 1; chunk < chunks; ++chunk) {
      largest[i] = fmaxf(largest[i], largest[chunk * across + i]);
    }
  }
}

template <class T>
__global__ void round_elements(RoundArguments<T> a) {
  for_rows(a.t, a.h, false, [&](Index row, Index i, auto) {
    const float largest = a.largest[a.blocks.place(row, i)];
    const float x = static_cast<float>(a.x[row][i]);
    a.y[row][i] = static_cast<T>(round_in_block(x, largest, a.format, a.margin));
  });
}

template <class T>
void run_typed(device::CudaStream& stream, const Fp8Round& k) {
  constexpr const char* kName = Fp8Round::name;
  const RoundArguments<T> a{rows_of<T>(k.x), rows_of<T>(k.y), static_cast<float*>(k.workspace.data),
                            k.x.size(0),     k.x.size(1),     Fp8Blocks(k),
                            k.format,        k.margin};
  const Index count = a.blocks.chunks * a.blocks.across;
  if (a.blocks.columns == 1) {
    launch(stream, kName, {blocks_for(count, kThreads), kThreads}, find_largest_of_columns<T>, a);
  } else {
    constexpr int kWarps = kThreads / kWarp;
    launch(stream, kName, {blocks_for(count, kWarps), dim3(kWarp, kWarps)}, find_largest<T>, a);
  }
  if (a.blocks.one_block_of_rows) {
    launch(stream, kName, {blocks_for(a.blocks.across, kThreads), kThreads}, join_chunks, a.largest,
           a.blocks.chunks, a.blocks.across);
  }
  launch(stream, kName, row_shape(a.t, a.h), round_elements<T>, a);
}

}  // namespace
}  // namespace cuda

Index workspace_bytes(const device::CudaStream&, const Fp8Round& kernel) {
  const Fp8Blocks blocks(kernel);
  return blocks.chunks * blocks.across * 4;
}

void run(device::CudaStream& stream, const Fp8Round& kernel) {
  MPITRON_CHECK(kernel.workspace.bytes() >= workspace_bytes(stream, kernel));
  if (kernel.x.numel() > 0) {
    cuda::visit_element(kernel.x.dtype, [&]<class T>() { cuda::run_typed<T>(stream, kernel); });
  }
}

}  // namespace mpitron::kernels
