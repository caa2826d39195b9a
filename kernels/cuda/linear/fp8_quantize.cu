#include "intrinsics.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/cuda/linear/fp8_blocks.cuh"
#include "kernels/linear/fp8_quantize.h"

// Numerical contract: that of kernels/linear/fp8_quantize.h. The largest value of a whole matrix is
// found in two steps, parts and their join, those of blocks in one: maxima need no order.
namespace mpitron::kernels {

namespace {

using namespace cuda;

constexpr unsigned kMostParts = 1024;  // whose largest values are joined by one block

/// Arguments of the search for largest values; `put` keeps the larger one where a step accumulates
/// over microbatches.
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

/// Finds the largest of all that a block of threads reads.
template <class T>
__global__ void find_largest_of_parts(const __grid_constant__ AmaxArguments<T> a) {
  __shared__ float partial[kMostWarps];
  float largest = 0;
  const Index step = static_cast<Index>(gridDim.x);
  for (Index row = blockIdx.x; row < a.t; row += step) {
    const Worker thread{threadIdx.x, kThreads};
    for_loaded(a.x[row], a.h, a.packed, thread, [&]<int N>(Index, const Floats<N>& x) {
      for (int j = 0; j < N; ++j) {
        largest = fmaxf(largest, finite_magnitude(x[j]));
      }
    });
  }
  largest = block_reduce(largest, partial, Largest{});
  if (threadIdx.x == 0) {
    a.amax[blockIdx.x] = largest;
  }
}

/// Joins the parts' largest values by one block.
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

/// Finds the largest of each scaling block, a warp to one.
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

/// Finds the largest of blocks of one column: a thread for a block, so that neighbours read
/// neighbours.
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

/// Writes the plain copy: a number times its scale, rounded to nearest even, beyond the range the
/// largest.
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
    for (int j = 0; j < width; j += 2) {
      const int next = j + 1 < width ? j + 1 : j;
      const std::uint32_t pair =
          fp8_pair(numbers[j] * scale, numbers[next] * scale, scales.scaling.format);
      bits.v[j] = static_cast<std::uint8_t>(pair);
      bits.v[next] = static_cast<std::uint8_t>(j < next ? pair >> 8 : pair);
    }
    store_raw(y[row] + i, bits);
  });
}

// A transposed copy goes tile by tile through shared memory: a thread reads a pack of each of
// kWordRows rows, which make a word of each of its columns, and writes kChunk rows of a column.
constexpr int kWordRows = 4, kChunk = 16;
constexpr int kTileColumns = 64, kTileRows = kThreads / (kTileColumns / kPack) * kWordRows;
constexpr int kChunks = kTileRows / kChunk;  // of a column of a tile

template <class T>
struct Transposition {
  Rows<const T> x;
  BlockScales scales;
  Rows<std::uint8_t> y;
  Index rows, n, width;  // of x, and how long the rows of y are: zeros behind those of x
  bool x_packed, y_aligned;

  /// Makes the bytes of kWordRows rows from `row`, a word for each column of a pack.
  __device__ void quantize(std::uint32_t (&words)[kPack], const BlockScales::Found& scale_of,
                           Index row, Index column) const {
    const auto columns_of = [&](int r) { return row + r < rows ? n - column : 0; };
    Raw<T, kPack> raw[kWordRows];
#pragma unroll
    for (int r = 0; r < kWordRows; ++r) {
      raw[r] = load_some(x[row + r] + column, columns_of(r), x_packed);
    }
    const bool rows_share = scales.blocks.rows % kWordRows == 0;
    const bool columns_share = scales.fit_packs();
    float numbers[kWordRows][kPack], scale[kPack];
#pragma unroll
    for (int r = 0; r < kWordRows; ++r) {
#pragma unroll
      for (int c = 0; c < kPack; ++c) {
        if (r == 0 || !rows_share) {
          scale[c] = c > 0 && columns_share ? scale[0]
                     : c < columns_of(r)    ? scale_of(row + r, column + c)
                                            : 0.f;
        }
        numbers[r][c] = static_cast<float>(raw[r].v[c]) * scale[c];
      }
    }
    const Fp8Format format = scales.scaling.format;
#pragma unroll
    for (int c = 0; c < kPack; ++c) {
      words[c] = fp8_pair(numbers[0][c], numbers[1][c], format) |
                 fp8_pair(numbers[2][c], numbers[3][c], format) << 16;
    }
  }
};

/// Writes the transposed copy of a tile. Chunk i of column c lies at i ^ c / kPack, so that words
/// and chunks that are written or read at once lie in different banks.
template <class T>
__global__ __launch_bounds__(kThreads) void quantize_transposed(
    const __grid_constant__ Transposition<T> a) {
  __shared__ uint4 tile[kTileColumns][kChunks];
  constexpr int kPacks = kTileColumns / kPack, kWords = kChunk / kWordRows;
  const Index across = (a.n + kTileColumns - 1) / kTileColumns;
  const Index count = (a.width + kTileRows - 1) / kTileRows * across;
  const int thread = static_cast<int>(threadIdx.x);
  const int pack = thread % kPacks, word = thread / kPacks;
  const BlockScales::Found scale_of(a.scales);
  for (Index i = blockIdx.x; i < count; i += gridDim.x) {
    const Index row = i / across * kTileRows, column = i % across * kTileColumns;
    std::uint32_t words[kPack];
    a.quantize(words, scale_of, row + kWordRows * word, column + kPack * pack);
    for (int c = 0; c < kPack; ++c) {
      (&tile[kPack * pack + c][word / kWords ^ pack].x)[word % kWords] = words[c];
    }
    __syncthreads();
    for (int j = thread; j < kTileColumns * kChunks; j += kThreads) {
      const int c = j / kChunks, chunk = j % kChunks;
      const Index first = row + kChunk * chunk, left = column + c < a.n ? a.width - first : 0;
      const auto* const from = reinterpret_cast<const std::uint8_t*>(&tile[c][chunk ^ c / kPack]);
      store_some(a.y[column + c] + first, left, a.y_aligned, load_raw(from, Width<kChunk>()));
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
      const Index tiles =
          (width + kTileRows - 1) / kTileRows * ((h + kTileColumns - 1) / kTileColumns);
      launch(stream, kName, {blocks_for(tiles, 1), kThreads}, quantize_transposed<T>,
             Transposition<T>{x, scales, y, t, h, width, all_packed(x), y.aligned(kChunk)});
    } else {
      launch(stream, kName, row_shape(t, h), quantize<T>, x, scales, y, t, h,
             all_packed(x, y) && scales.fit_packs());
    }
  });
}

namespace {

/// Advances histories, a thread for each: a few numbers.
__global__ void advance_histories(float* rows, float* amax, Index count, Index size, bool largest) {
  const Worker worker = thread_of_grid();
  for (Index row = worker.index; row < count; row += worker.count) {
    advance_fp8_history(rows + row * size, size, amax[row], largest);
  }
}

}  // namespace

void run(device::CudaStream& stream, const Fp8HistoryUpdate& k) {
  const Index count = k.rows.size(0);
  launch(stream, k.name, {blocks_for(count, kThreads), kThreads}, advance_histories,
         k.rows.as<float>(), k.amax.as<float>(), count, k.rows.size(1), k.largest);
}

}  // namespace mpitron::kernels
