// Numerical contract: that of kernels/fp8_quantize.h.
#include "kernels/cuda/fp8_blocks.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/fp8_quantize.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr Index kTile = 64;            // of a transposed copy, rows and columns
constexpr unsigned kMostParts = 1024;  // whose largest values are joined by one block

template <class T>
struct AmaxArguments {
  Rows<const T> x;
  Index t, h;
  float* amax;  // of parts, or of blocks
  Index row_stride, column_stride;
  Fp8Blocks blocks;
  bool accumulate;
  bool packed;

  __device__ void put(Index down, Index across, float largest) const {
    float& place = amax[down * row_stride + across * column_stride];
    place = accumulate ? fmaxf(place, largest) : largest;
  }
};

/// Of all that a block of threads reads.
template <class T>
__global__ void find_largest_of_parts(const __grid_constant__ AmaxArguments<T> a) {
  __shared__ float partial[kMostWarps];
  float largest = 0;
  const Index step = static_cast<Index>(gridDim.x);
  for (Index row = blockIdx.x; row < a.t; row += step) {
    for_packs(a.h, a.packed, {threadIdx.x, kThreads}, [&](Index i, auto width) {
      const auto x = load(a.x[row] + i, width);
      for (int j = 0; j < width; ++j) {
        largest = fmaxf(largest, finite_magnitude(x[j]));
      }
    });
  }
  largest = block_reduce(largest, partial, Largest{});
  if (threadIdx.x == 0) {
    a.amax[blockIdx.x] = largest;
  }
}

__global__ void join_parts(const float* parts, Index count, float* amax, bool accumulate) {
  __shared__ float partial[kMostWarps];
  float largest = 0;
  for (Index i = threadIdx.x; i < count; i += kThreads) {
    largest = fmaxf(largest, parts[i]);
  }
  largest = block_reduce(largest, partial, Largest{});
  if (threadIdx.x == 0) {
    *amax = accumulate ? fmaxf(*amax, largest) : largest;
  }
}

/// A warp for a block.
template <class T>
__global__ void find_largest_of_blocks(const __grid_constant__ AmaxArguments<T> a) {
  const Index across = a.blocks.columns > 0 ? (a.h + a.blocks.columns - 1) / a.blocks.columns : 1;
  const Index rows = a.blocks.rows > 0 ? a.blocks.rows : a.t;
  const Index columns = a.blocks.columns > 0 ? a.blocks.columns : a.h;
  const Index count = (a.t + rows - 1) / rows * across;
  const Index step = static_cast<Index>(gridDim.x) * blockDim.y;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.y + threadIdx.y; i < count; i += step) {
    const Index first_row = i / across * rows, first = i % across * columns;
    const Index last_row = first_row + rows < a.t ? first_row + rows : a.t;
    const Index n = first + columns < a.h ? columns : a.h - first;
    float largest = 0;
    for (Index row = first_row; row < last_row; ++row) {
      for_packs(n, a.packed, {threadIdx.x, kWarp}, [&](Index j, auto width) {
        const auto x = load(a.x[row] + first + j, width);
        for (int e = 0; e < width; ++e) {
          largest = fmaxf(largest, finite_magnitude(x[e]));
        }
      });
    }
    largest = warp_reduce(largest, Largest{});
    if (threadIdx.x == 0) {
      a.put(i / across, i % across, largest);
    }
  }
}

/// Blocks of one column: a thread for a block, so that neighbours read neighbours.
template <class T>
__global__ void find_largest_of_columns(const __grid_constant__ AmaxArguments<T> a) {
  const Worker worker = thread_of_grid();
  const Index rows = a.blocks.rows > 0 ? a.blocks.rows : a.t;
  for (Index i = worker.index; i < (a.t + rows - 1) / rows * a.h; i += worker.count) {
    const Index first = i / a.h * rows, column = i % a.h;
    const Index last = first + rows < a.t ? first + rows : a.t;
    float largest = 0;
    for (Index row = first; row < last; ++row) {
      largest = fmaxf(largest, finite_magnitude(static_cast<float>(a.x[row][column])));
    }
    a.put(i / a.h, column, largest);
  }
}

template <class T>
__global__ void quantize(const __grid_constant__ Rows<const T> x,
                         const __grid_constant__ BlockScales scales,
                         const __grid_constant__ Rows<std::uint8_t> y, Index rows, Index n,
                         bool packed) {
  const BlockScales::Found scale_of(scales);
  for_rows(rows, n, packed, [&](Index row, Index i, auto width) {
    const float scale = scale_of(row, i);
    const auto numbers = load(x[row] + i, width);
    Raw<std::uint8_t, width> bits;
    for (int j = 0; j < width; ++j) {
      bits.v[j] = to_fp8(numbers[j] * scale, scales.scaling.format);
    }
    store_raw(y[row] + i, bits);
  });
}

/// Tile by tile through shared memory, so that neighbours read and write neighbours. y's rows are
/// `width` long, zeros behind those of x.
template <class T>
__global__ void quantize_transposed(const __grid_constant__ Rows<const T> x,
                                    const __grid_constant__ BlockScales scales,
                                    const __grid_constant__ Rows<std::uint8_t> y, Index rows,
                                    Index n, Index width) {
  __shared__ std::uint8_t tile[kTile][kTile + 4];
  const Index across = (n + kTile - 1) / kTile, count = (width + kTile - 1) / kTile * across;
  const auto lane = static_cast<Index>(threadIdx.x);
  const BlockScales::Found scale_of(scales);
  for (Index i = blockIdx.x; i < count; i += gridDim.x) {
    const Index row = i / across * kTile, column = i % across * kTile;
    for (Index j = threadIdx.y; j < kTile; j += blockDim.y) {
      tile[j][lane] = 0;
      if (row + j < rows && column + lane < n) {
        const auto number = static_cast<float>(x[row + j][column + lane]);
        tile[j][lane] = to_fp8(number * scale_of(row + j, column + lane), scales.scaling.format);
      }
    }
    __syncthreads();
    for (Index j = threadIdx.y; j < kTile && column + j < n; j += blockDim.y) {
      if (row + lane < width) {
        y[column + j][row + lane] = tile[lane][j];
      }
    }
    __syncthreads();
  }
}

unsigned parts_of(const Fp8Amax& k) {
  return std::min(blocks_for(k.x.size(0), 1), kMostParts);
}

}  // namespace

Index workspace_bytes(const device::CudaStream&, const Fp8Amax& k) {
  return k.blocks.whole() ? static_cast<Index>(parts_of(k) * sizeof(float)) : 0;
}

void run(device::CudaStream& stream, const Fp8Amax& k) {
  check(k);
  constexpr const char* kName = Fp8Amax::name;
  const Index t = k.x.size(0), h = k.x.size(1);
  MPITRON_CHECK(k.workspace.bytes() >= workspace_bytes(stream, k), k.workspace.bytes());
  visit_element(k.x.dtype, [&]<class T>() {
    AmaxArguments<T> a{.x = rows_of<T>(k.x),
                       .t = t,
                       .h = h,
                       .amax = elements<float>(k.amax),
                       .row_stride = k.amax.stride(0),
                       .column_stride = k.amax.stride(1),
                       .blocks = k.blocks,
                       .accumulate = k.accumulate,
                       .packed = k.blocks.columns % kPack == 0};
    a.packed = a.packed && all_packed(a.x);
    if (k.blocks.whole()) {
      float* const amax = a.amax;
      a.amax = static_cast<float*>(k.workspace.data);
      launch(stream, kName, {parts_of(k), kThreads}, find_largest_of_parts<T>, a);
      launch(stream, kName, {1, kThreads}, join_parts, a.amax, static_cast<Index>(parts_of(k)),
             amax, k.accumulate);
    } else if (k.blocks.columns == 1) {
      const Index count = k.blocks.down(t) * h;
      launch(stream, kName, {blocks_for(count, kThreads), kThreads}, find_largest_of_columns<T>, a);
    } else {
      constexpr int kWarps = kThreads / kWarp;
      const Index count = k.blocks.down(t) * k.blocks.across(h);
      launch(stream, kName, {blocks_for(count, kWarps), dim3(kWarp, kWarps)},
             find_largest_of_blocks<T>, a);
    }
  });
}

void run(device::CudaStream& stream, const Fp8Quantize& k) {
  check(k);
  constexpr const char* kName = Fp8Quantize::name;
  const Index t = k.x.size(0), h = k.x.size(1);
  const BlockScales scales(k.amax, k.blocks, k.scaling);
  const auto y = rows_of<std::uint8_t>(k.y);
  visit_element(k.x.dtype, [&]<class T>() {
    const auto x = rows_of<T>(k.x);
    if (k.transpose) {
      const Index width = k.y.size(1);
      const Index tiles = (width + kTile - 1) / kTile * ((h + kTile - 1) / kTile);
      launch(stream, kName, {blocks_for(tiles, 1), dim3(kTile, 4)}, quantize_transposed<T>, x,
             scales, y, t, h, width);
    } else {
      launch(stream, kName, row_shape(t, h), quantize<T>, x, scales, y, t, h,
             all_packed(x, y) && scales.fit_packs());
    }
  });
}

}  // namespace mpitron::kernels
