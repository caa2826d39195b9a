// Numerical contract: that of embedding.h, bit for bit: the backward pass sorts the tokens
// by row, keeping their order, and adds up each row in registers.
#include "device/cuda/cuda_handles.h"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/embedding.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr int kTokens = 1024;  // tokens, and threads, of a block that sorts
constexpr int kAhead = 8;      // tokens whose gradients are loaded at once

/// Rows of the table that this rank has.
struct OwnRows {
  Index first, count;

  /// The local row of an id; -1 where another rank has it.
  __device__ int operator()(Index id) const {
    return id >= first && id < first + count ? static_cast<int>(id - first) : -1;
  }
};

/// Arguments of a lookup; rows outside of OwnRows are zeros, which the sum over ranks fills in.
template <class T>
struct Lookup {
  const Index* ids;
  const Index* position_ids;
  Rows<const T> table, positions;
  Rows<T> y;
  OwnRows own;
  Index tokens, h;
};

template <class T>
__global__ void look_up(const __grid_constant__ Lookup<T> a, bool packed) {
  for_rows(a.tokens, a.h, packed, [&](Index token, Index i, auto width) {
    const int row = a.own(a.ids[token]);
    Floats<width> value{};
    if (row >= 0) {
      value = load(a.table[row] + i, width);
    }
    if (a.positions) {
      value = each([](float word, float position) { return word + position; }, value,
                   load(a.positions[a.position_ids[token]] + i, width));
    }
    store(a.y[token] + i, value);
  });
}

/// Tokens, stably sorted by row: those of row r are order[starts[r]] up to order[starts[r + 1]].
/// Four launches sort them: ranks within blocks of tokens, sums over blocks, sums over rows,
/// places.
struct SortedTokens {
  const Index* ids;
  int tokens, rows, blocks;
  OwnRows own;
  int* counts;  // [blocks, rows]: a block's tokens of a row; then those of the blocks before it
  int* starts;  // [rows + 1]
  int* ranks;   // [tokens]: how many tokens of the same block and row come before
  int* order;   // [tokens]

  static Index ints(Index tokens, Index rows) {
    return (tokens + kTokens - 1) / kTokens * rows + rows + 1 + 2 * tokens;
  }
};

/// Counts, for each token, those of the same row before it in its block: each thread compares its
/// row with all of the block, in shared memory.
__global__ __launch_bounds__(kTokens) void rank_tokens(SortedTokens a) {
  __shared__ int rows[kTokens];
  const int i = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * kTokens;
  const int left = a.tokens - first, count = left < kTokens ? left : kTokens;
  const int row = i < count ? a.own(a.ids[first + i]) : -1;
  rows[i] = row;
  __syncthreads();
  if (row < 0) {
    return;
  }
  int before = 0, all = 0;
  for (int j = 0; j < count; ++j) {
    before += rows[j] == row && j < i;
    all += rows[j] == row;
  }
  a.ranks[first + i] = before;
  if (before == 0) {
    a.counts[static_cast<Index>(blockIdx.x) * a.rows + row] = all;
  }
}

/// Turns each block's count of a row into the number that lies before the block; starts[r] becomes
/// the row's total.
__global__ __launch_bounds__(kTokens) void add_up_blocks(SortedTokens a) {
  for_packs(a.rows, false, thread_of_grid(), [&](Index row, auto) {
    int total = 0;
    for (int block = 0; block < a.blocks; ++block) {
      int& count = a.counts[static_cast<Index>(block) * a.rows + row];
      const int own = count;
      count = total;
      total += own;
    }
    a.starts[row] = total;
  });
}

/// Turns totals into starts, by one block whose threads have ranges of neighbouring rows.
__global__ __launch_bounds__(kTokens) void add_up_rows(SortedTokens a) {
  __shared__ int sums[kTokens];
  const int i = static_cast<int>(threadIdx.x), each = (a.rows + kTokens - 1) / kTokens;
  const int begin = std::min(a.rows, i * each), end = std::min(a.rows, begin + each);
  int sum = 0;
  for (int row = begin; row < end; ++row) {
    sum += a.starts[row];
  }
  sums[i] = sum;
  for (int step = 1; step < kTokens; step *= 2) {
    __syncthreads();
    const int before = i >= step ? sums[i - step] : 0;
    __syncthreads();
    sums[i] += before;
  }
  int start = sums[i] - sum;
  for (int row = begin; row < end; ++row) {
    const int total = a.starts[row];
    a.starts[row] = start;
    start += total;
  }
  if (i == kTokens - 1) {
    a.starts[a.rows] = start;
  }
}

/// Puts each token at its row's start + its block's start + its rank within the block.
__global__ __launch_bounds__(kTokens) void place_tokens(SortedTokens a) {
  const int token = static_cast<int>(blockIdx.x) * kTokens + static_cast<int>(threadIdx.x);
  const int row = token < a.tokens ? a.own(a.ids[token]) : -1;
  if (row >= 0) {
    const int before = a.counts[static_cast<Index>(blockIdx.x) * a.rows + row];
    a.order[a.starts[row] + before + a.ranks[token]] = token;
  }
}

/// Adds a row's gradients in the order of its tokens, in registers, loading some ahead. Nothing is
/// added by atomics, whose order would be open.
template <class T, class Td>
__global__ void add_gradients(const __grid_constant__ SortedTokens a,
                              const __grid_constant__ Rows<const T> dy,
                              const __grid_constant__ Rows<Td> dtable, Index h, bool accumulate,
                              bool packed) {
  for_rows(a.rows, h, packed, [&](Index row, Index i, auto width) {
    const int begin = a.starts[row], end = a.starts[row + 1];
    if (begin == end && accumulate) {
      return;
    }
    Floats<width> sum{};
    if (accumulate) {
      sum = load(dtable[row] + i, width);
    }
    for (int first = begin; first < end; first += kAhead) {
      Raw<T, width> gradients[kAhead];
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        if (first + j < end) {
          gradients[j] = load_raw(dy[a.order[first + j]] + i, width);
        }
      }
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        if (first + j < end) {
          sum = each([](float s, float g) { return static_cast<float>(static_cast<Td>(s + g)); },
                     sum, floats(gradients[j]));
        }
      }
    }
    store(dtable[row] + i, sum);
  });
}

/// The sorted tokens of a kernel, in its workspace.
SortedTokens sorted_tokens(const EmbeddingBackward& k) {
  const Index tokens = k.ids.numel(), rows = k.dtable.size(0);
  const Index blocks = (tokens + kTokens - 1) / kTokens;
  MPITRON_CHECK(tokens < INT32_MAX && rows < INT32_MAX, tokens, rows);
  int* const counts = static_cast<int*>(k.workspace.data);
  int* const starts = counts + blocks * rows;
  int* const ranks = starts + rows + 1;
  return {elements<Index>(k.ids),
          static_cast<int>(tokens),
          static_cast<int>(rows),
          static_cast<int>(blocks),
          {k.first_row, rows},
          counts,
          starts,
          ranks,
          ranks + tokens};
}

/// Runs the four launches of the sort, which is stable: equal rows keep the order of tokens.
void sort_tokens(device::CudaStream& stream, const SortedTokens& a) {
  const auto run_on = [&](unsigned blocks, void (*kernel)(SortedTokens)) {
    launch(stream, EmbeddingBackward::name, {blocks, kTokens}, kernel, a);
  };
  const unsigned blocks = blocks_for(a.tokens, kTokens);
  device::check(cudaMemsetAsync(a.counts, 0,
                                sizeof(int) * static_cast<std::size_t>(a.blocks) *
                                    static_cast<std::size_t>(a.rows),
                                stream.handle),
                EmbeddingBackward::name);
  run_on(blocks, rank_tokens);
  run_on(blocks_for(a.rows, kTokens), add_up_blocks);
  run_on(1, add_up_rows);
  run_on(blocks, place_tokens);
}

}  // namespace

void run(device::CudaStream& stream, const EmbeddingForward& k) {
  MPITRON_CHECK(k.table.dtype == k.y.dtype, name_of(k.table.dtype), name_of(k.y.dtype));
  visit_element(k.y.dtype, [&]<class T>() {
    const Lookup<T> a{elements<Index>(k.ids), elements<Index>(k.position_ids),
                      rows_of<T>(k.table),    rows_of<T>(k.positions),
                      rows_of<T>(k.y),        {k.first_row, k.table.size(0)},
                      k.ids.numel(),          k.y.size(-1)};
    launch(stream, EmbeddingForward::name, row_shape(a.tokens, a.h), look_up<T>, a,
           all_packed(a.table, a.positions, a.y));
  });
}

Index workspace_bytes(const device::CudaStream&, const EmbeddingBackward& k) {
  return static_cast<Index>(sizeof(int)) * SortedTokens::ints(k.ids.numel(), k.dtable.size(0));
}

void run(device::CudaStream& stream, const EmbeddingBackward& k) {
  const SortedTokens a = sorted_tokens(k);
  sort_tokens(stream, a);
  visit_element(k.dy.dtype, [&]<class T>() {
    const auto add = [&]<class Td>() {
      const auto dy = rows_of<T>(k.dy);
      const auto dtable = rows_of<Td>(k.dtable);
      const Index h = k.dy.size(-1);
      LaunchShape shape = row_shape(a.rows, h);  // all columns of a frequent row at once
      shape.grid.y = blocks_for(h, Index{shape.block.x} * kPack);
      launch(stream, EmbeddingBackward::name, shape, add_gradients<T, Td>, a, dy, dtable, h,
             k.accumulate, all_packed(dy, dtable));
    };
    if (k.dtable.dtype == DType::f32) {
      add.template operator()<float>();
    } else {
      add.template operator()<T>();
    }
  });
}

}  // namespace mpitron::kernels
