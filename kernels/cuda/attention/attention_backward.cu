// Numerical contract: that of attention.h. No atomics: one kernel has dk and dv of some
// keys, summed over the heads of their group and the queries, in this order; another has dq of some
// queries, summed over the keys. Both compute P and dS anew, in fp32. Gradients of the bias are
// summed over the queries of a tile, then over tiles. For products see warp_product.cuh.
#include "kernels/cuda/attention/attention_gradients.cuh"
#include "kernels/cuda/attention/attention_kernels.h"
#include "kernels/cuda/common/launch.cuh"
#include "kernels/cuda/common/reduce.cuh"

namespace mpitron::kernels {
namespace cuda::attention {
namespace {

/// The gradients with respect to what lies in rows, a and b, from what passes by as columns: for
/// dq a is q, and b is d_o, which needs none; for dk and dv a is k, b is v.
template <class T>
struct GradientArguments {
  InputHeads<T> row_a, row_b, column_a, column_b;
  OutputHeads<T> gradient_a, gradient_b;
  QueryStatistics statistics;
  float* bias_sums;  // [b, n, tiles of queries, distances of a tile]; for dq where there is a bias
  int queries_per_group, samples;
  ScoreRules<T> rules;
};

template <class T, int D, int DV, bool kKeysAreRows>
class GradientBlock {
  static constexpr int kColumns = Tiling<T, D>::kColumns, kTiles = kColumns / 8;
  // Two accumulators of 256 columns are more than a thread's registers: two blocks have half each.
  static constexpr int kPanels = kKeysAreRows && D > 192 ? 2 : 1;
  static constexpr int kWidthA = D / kPanels, kWidthB = DV / kPanels;

 public:
  static constexpr int kThreads = Tiling<T, D>::kThreads;
  static constexpr int kRows = 16 * Tiling<T, D>::kWarps;

  static Index blocks(Index rows, Index heads) {
    return (rows + kRows - 1) / kRows * heads * kPanels;
  }
  static std::size_t shared_bytes(bool bias) {
    const int elements = (kRows + 2 * kColumns) * (D + DV);
    const int floats = 2 * kStatistics + (bias && !kKeysAreRows ? kRows * kBiasStride : 0);
    return static_cast<std::size_t>(elements) * sizeof(T) +
           static_cast<std::size_t>(floats) * sizeof(float);
  }
  static __device__ __host__ Index distances(Index s_kv) { return s_kv + kRows - 1; }

  /// Block `index` of blocks(rows, b heads).
  __device__ GradientBlock(const GradientArguments<T>& a, int index)
      : a_(a),
        panel_(index % kPanels),
        row_head_(index / kPanels % heads()),
        rules_{a.rules, index / kPanels / heads() % a.samples, row_head_},
        first_(index / kPanels / heads() / a.samples * kRows),
        seen_by_all_(rules_.columns_of_all(first_, kRows)),
        warp_row_(static_cast<int>(threadIdx.x) / 32 * 16),
        row_a_{dynamic_shared<T>()},
        row_b_{row_a_.data + kRows * D},
        statistics_(reinterpret_cast<float*>(row_b_.data + kRows * DV + 2 * kColumns * (D + DV))) {
    gradient_a_.clear();
    gradient_b_.clear();
  }

  /// Walks the tiles that a block of rows sees, in order: while one is multiplied the next is
  /// copied to shared memory, and the sums stay in registers to the end, where they are written
  /// once.
  __device__ void run() {
    const int begin = rules_.columns_of(first_).begin / kColumns * kColumns;
    const int end = rules_.columns_of(first_ + kRows - 1).end;
    const int tiles = begin < end ? (end - begin + kColumns - 1) / kColumns : 0;
    const int steps = kKeysAreRows ? tiles * a_.queries_per_group : tiles;
    clear_bias_sums();
    if (steps > 0) {
      a_.row_a.of(rules_.sample, row_head_).template load<kThreads>(row_a_, first_);
      a_.row_b.of(rules_.sample, row_head_).template load<kThreads>(row_b_, first_);
      if constexpr (!kKeysAreRows) {
        load_statistics(statistics_, kRows, first_, row_head_);
      }
      load_columns(0, 0, begin);
      copy_async_commit();
    }
    for (int step = 0; step < steps; ++step) {
      const int next = step + 1;
      if (next < steps) {
        load_columns(next % 2, next / tiles, begin + next % tiles * kColumns);
      }
      copy_async_commit();
      copy_async_wait<1>();
      __syncthreads();  // this step's columns are here
      add(step % 2, step / tiles, begin + step % tiles * kColumns);
      __syncthreads();  // nobody needs them any more
    }
    copy_async_wait<0>();
    store();
  }

 private:
  // Queries whose lse and delta are in shared memory.
  static constexpr int kStatistics = kKeysAreRows ? 2 * kColumns : kRows;
  static constexpr int kBiasStride = kColumns + 1;

  __device__ int heads() const {
    return kKeysAreRows ? a_.rules.heads / a_.queries_per_group : a_.rules.heads;
  }
  /// The head of the columns: of the queries of a group of keys, number `member`; or of the keys.
  __device__ int column_head(int member) const {
    return kKeysAreRows ? row_head_ * a_.queries_per_group + member
                        : row_head_ / a_.queries_per_group;
  }
  __device__ SharedTile<T, kColumns, D> column_a(int stage) const {
    return {row_b_.data + kRows * DV + stage * kColumns * (D + DV)};
  }
  __device__ SharedTile<T, kColumns, DV> column_b(int stage) const {
    return {column_a(stage).data + kColumns * D};
  }

  /// lse of the queries, then delta.
  __device__ void load_statistics(float* to, int count, int first, int head) const {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
      const auto query = a_.statistics.of(rules_.sample, head, first + i);
      to[i] = query.lse;
      to[count + i] = query.delta;
    }
  }

  __device__ void load_columns(int stage, int member, int column) const {
    const int head = column_head(member);
    a_.column_a.of(rules_.sample, head).template load<kThreads>(column_a(stage), column);
    a_.column_b.of(rules_.sample, head).template load<kThreads>(column_b(stage), column);
    if constexpr (kKeysAreRows) {
      load_statistics(statistics_ + stage * 2 * kColumns, kColumns, column, head);
    }
  }

  /// Adds the contribution of one tile of columns.
  __device__ __forceinline__ void add(int stage, int member, int column) {
    rules_.head = kKeysAreRows ? column_head(member) : row_head_;
    const float* const lse = statistics_ + (kKeysAreRows ? stage * 2 * kColumns : 0);
    const float* const delta = lse + (kKeysAreRows ? kColumns : kRows);
    const auto query = [&](int, int i, int j) {
      const int at = kKeysAreRows ? j : warp_row_ + i;
      return QueryStatistics::Query{lse[at], delta[at]};
    };
    p_.clear();
    add_row_products(p_, row_a_, warp_row_, column_a(stage));
    if (rules_.all.softcap > 0) {
      rules_.bound(p_);
    }
    if (rules_.all.bias != nullptr) {
      rules_.add_bias(p_, first_ + warp_row_, column);
    }
    probabilities(p_, rules_.all.scale, query);
    if (!seen_by_all_.holds(column, kColumns)) {
      rules_.hide(p_, first_ + warp_row_, column, 0.f);
    }
    ds_.clear();
    add_row_products(ds_, row_b_, warp_row_, column_b(stage));
    ElementBits<1> kept{};
    const bool drops = rules_.all.dropout.active();
    if (drops) {
      kept = rules_.template kept<1, kTiles>(first_ + warp_row_, column);
    }
    score_gradients(p_, ds_, drops, kept, {rules_.all.keep_scale, rules_.all.softcap}, query);
    add_bias_sums(column);
    if constexpr (kKeysAreRows) {
      add_value_products(gradient_b_, RowOperands<T, 1, kTiles>(p_), column_b(stage),
                         panel_ * kWidthB);
    }
    add_value_products(gradient_a_, RowOperands<T, 1, kTiles>(ds_), column_a(stage),
                       panel_ * kWidthA);
  }

  /// The sums of the block over its queries, by key - query + (kRows - 1).
  __device__ float* bias_sums() const {
    const int tiles = (a_.rules.s + kRows - 1) / kRows;
    const int head = rules_.sample * a_.rules.heads + row_head_;
    return a_.bias_sums + (Index{head} * tiles + first_ / kRows) * distances(a_.rules.s_kv);
  }
  __device__ void clear_bias_sums() const {
    if (!kKeysAreRows && a_.bias_sums != nullptr) {
      const Index count = distances(a_.rules.s_kv);
      for (Index i = threadIdx.x; i < count; i += kThreads) {
        bias_sums()[i] = 0;
      }
    }
  }
  /// Adds the diagonals of dS, each by one thread.
  __device__ __forceinline__ void add_bias_sums(int column) const {
    if (kKeysAreRows || a_.bias_sums == nullptr) {
      return;
    }
    float* const tile = statistics_ + 2 * kStatistics;
    for_elements<1, kTiles>([&](int r, int n, int e, int i, int j) {
      tile[(warp_row_ + i) * kBiasStride + j] = ds_.tile[r][n][e];
    });
    __syncthreads();
    static_assert(kRows + kColumns - 1 <= kThreads);
    const int diagonal = static_cast<int>(threadIdx.x);  // column - row + kRows - 1
    float sum = 0;
    for (int row = 0; row < kRows; ++row) {
      const int j = diagonal - (kRows - 1) + row;
      sum += j >= 0 && j < kColumns ? tile[row * kBiasStride + j] : 0.f;
    }
    if (diagonal < kRows + kColumns - 1 && column + diagonal < distances(a_.rules.s_kv)) {
      bias_sums()[column + diagonal] += sum;
    }
  }

  __device__ __forceinline__ void store() const {
    const int row = first_ + warp_row_;
    a_.gradient_a.of(rules_.sample, row_head_, row)
        .store(gradient_a_, panel_ * kWidthA, [&](int, int) { return rules_.all.scale; });
    if constexpr (kKeysAreRows) {
      a_.gradient_b.of(rules_.sample, row_head_, row)
          .store(gradient_b_, panel_ * kWidthB, [&](int, int) { return rules_.all.keep_scale; });
    }
  }

  const GradientArguments<T>& a_;
  const int panel_;
  const int row_head_;  // of q, or of k and v
  HeadRules<T, kKeysAreRows> rules_;
  const int first_;
  const Span seen_by_all_;  // columns that all rows of the block see
  const int warp_row_;      // first row of the warp in the block
  const SharedTile<T, kRows, D> row_a_;
  const SharedTile<T, kRows, DV> row_b_;
  float* const statistics_;
  Accumulators<1, kTiles> p_;   // scores, then probabilities
  Accumulators<1, kTiles> ds_;  // dP, then dS without the scale
  Accumulators<1, kWidthA / 8> gradient_a_;
  Accumulators<1, kKeysAreRows ? kWidthB / 8 : 1> gradient_b_;
};

/// Under a causal mask the first keys and the last queries have most to do: they come first.
template <class T, int D, int DV, bool kKeysAreRows>
__global__ void attention_gradients(const __grid_constant__ GradientArguments<T> a) {
  const auto index = static_cast<int>(kKeysAreRows ? blockIdx.x : gridDim.x - 1 - blockIdx.x);
  GradientBlock<T, D, DV, kKeysAreRows>(a, index).run();
}

struct BiasArguments {
  const float* sums;  // [b, n, tiles, distances of a tile]
  float* to;
  Index stride_sample, stride_head, stride_distance;
  Index samples, heads, s, s_kv, rows;
};

/// dbias: the sums of the tiles of `rows` queries, in the order of the tiles.
__global__ void add_bias_tiles(BiasArguments a) {
  const Index distances = a.s + a.s_kv - 1, tiles = (a.s + a.rows - 1) / a.rows;
  const Index of_tile = a.s_kv + a.rows - 1;
  const Worker worker = thread_of_grid();
  for (Index i = worker.index; i < a.samples * a.heads * distances; i += worker.count) {
    const Index distance = i % distances, head = i / distances;
    float sum = 0;
    for (Index tile = 0; tile < tiles; ++tile) {
      const Index at = distance - (a.s - 1) + (tile + 1) * a.rows - 1;
      sum += at >= 0 && at < of_tile ? a.sums[(head * tiles + tile) * of_tile + at] : 0.f;
    }
    a.to[head / a.heads * a.stride_sample + head % a.heads * a.stride_head +
         distance * a.stride_distance] = sum;
  }
}

template <class Block>
void run_bias(device::CudaStream& stream, const AttentionBackward& kernel, const float* sums) {
  const auto& to = kernel.dbias;
  const BiasArguments arguments{
      sums,       elements<float>(to), to.stride(0),     to.stride(1),     to.stride(2),
      to.size(0), to.size(1),          kernel.q.size(0), kernel.k.size(0), Block::kRows};
  launch(stream, "attention_backward: bias", {blocks_for(to.numel(), kThreads), kThreads},
         add_bias_tiles, arguments);
}

/// What forms the gradients with respect to the rows a and b.
template <class T>
GradientArguments<T> gradient_arguments(const AttentionBackward& kernel, bool keys_are_rows) {
  const InputHeads<T> q(kernel.q), k(kernel.k), v(kernel.v), d_o(kernel.d_o);
  const OutputHeads<T> dq(kernel.dq), dk(kernel.dk), dv(kernel.dv);
  auto* const delta = static_cast<float*>(kernel.workspace.data);
  return {keys_are_rows ? k : q,
          keys_are_rows ? v : d_o,
          keys_are_rows ? q : k,
          keys_are_rows ? d_o : v,
          keys_are_rows ? dk : dq,
          keys_are_rows ? dv : dq,
          query_statistics(kernel),
          kernel.bias ? delta + kernel.lse.numel() : nullptr,
          static_cast<int>(kernel.lse.size(1) / merged(kernel.k.shape)[2]),
          static_cast<int>(kernel.q.size(1)),
          score_rules<T>(kernel)};
}

/// Launches gradients of queries (rows are queries) or of keys and values (rows are keys): each
/// output has one block that sums it, so nothing is added by atomics.
template <class T, int D, int DV, bool kKeysAreRows>
void run_gradients(device::CudaStream& stream, const AttentionBackward& kernel) {
  using Block = GradientBlock<T, D, DV, kKeysAreRows>;
  const GradientArguments<T> arguments = gradient_arguments<T>(kernel, kKeysAreRows);
  const Index heads = arguments.rules.heads / (kKeysAreRows ? arguments.queries_per_group : 1);
  const Index blocks = Block::blocks(arguments.row_a.rows, arguments.samples * heads);
  if (blocks > 0) {
    launch(stream, kKeysAreRows ? "attention_backward: keys" : "attention_backward: queries",
           {static_cast<unsigned>(blocks), Block::kThreads,
            Block::shared_bytes(arguments.bias_sums != nullptr)},
           attention_gradients<T, D, DV, kKeysAreRows>, arguments);
  }
}

/// Calls f<T, D, DV>() with what the kernels are compiled for.
template <class F>
void visit(const AttentionBackward& kernel, F&& f) {
  visit_element(kernel.q.dtype, [&]<class T>() {
    with_head_sizes(kernel.q.size(-1), kernel.v.size(-1),
                    [&]<int D, int DV>() { f.template operator()<T, D, DV>(); });
  });
}

}  // namespace

/// Returns the bytes of delta of all rows and, with a bias, of the sums that each block of queries
/// has of its gradient, by distance.
Index mma_workspace_bytes(const device::CudaStream&, const AttentionBackward& kernel) {
  const Index s = kernel.q.size(0), s_kv = kernel.k.size(0);
  Index floats = kernel.lse.numel();
  visit(kernel, [&]<class T, int D, int DV>() {
    using Block = GradientBlock<T, D, DV, false>;
    if (kernel.bias) {
      floats += Block::blocks(s, kernel.lse.size(0) * kernel.lse.size(1)) * Block::distances(s_kv);
    }
  });
  return floats * static_cast<Index>(sizeof(float));
}

/// Runs the backward pass as launches in a row: delta = rowsum(dO O), gradients of queries,
/// gradients of keys and values, and last the sum of the bias's gradient over blocks, in order.
void run_mma(device::CudaStream& stream, const AttentionBackward& kernel) {
  check_views(kernel);
  run_deltas(stream, kernel);
  visit(kernel, [&]<class T, int D, int DV>() {
    run_gradients<T, D, DV, false>(stream, kernel);
    run_gradients<T, D, DV, true>(stream, kernel);
    if (kernel.bias && kernel.dbias.numel() > 0) {
      run_bias<GradientBlock<T, D, DV, false>>(
          stream, kernel, static_cast<float*>(kernel.workspace.data) + kernel.lse.numel());
    }
  });
}

}  // namespace cuda::attention
}  // namespace mpitron::kernels
