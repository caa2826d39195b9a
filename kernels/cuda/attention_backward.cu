// Numerical contract: that of kernels/attention.h. No atomics: one kernel has dk and dv of some
// keys, summed over the heads of their group and the queries, in this order; another has dq of some
// queries, summed over the keys. Both compute P and dS anew, in fp32. Gradients of the bias are
// summed over the queries of a tile, then over tiles. For products see warp_product.cuh.
#include "kernels/cuda/attention_problem.cuh"
#include "kernels/cuda/launch.cuh"

namespace mpitron::kernels {
namespace cuda::attention {
namespace {

/// The gradients with respect to what lies in rows, a and b, from what passes by as columns: for
/// dq a is q, and b is d_o, which needs none; for dk and dv a is k, b is v.
template <class T>
struct GradientArguments {
  InputHeads<T> row_a, row_b, column_a, column_b;
  OutputHeads<T> gradient_a, gradient_b;
  const float* lse;
  Index lse_stride_sample, lse_stride_head;
  const float* delta;  // [b, n, s]: rowsum(o d_o)
  float* bias_sums;  // [b, n, tiles of queries, distances of a tile]; for dq where there is a bias
  Index queries_per_group, samples;
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
  __device__ GradientBlock(const GradientArguments<T>& a, Index index)
      : a_(a),
        panel_(static_cast<int>(index % kPanels)),
        row_head_(index / kPanels % heads()),
        rules_{a.rules, index / kPanels / heads() % a.samples, row_head_},
        first_(index / kPanels / heads() / a.samples * kRows),
        warp_row_(static_cast<int>(threadIdx.x) / 32 * 16),
        row_a_{dynamic_shared<T>()},
        row_b_{row_a_.data + kRows * D},
        statistics_(reinterpret_cast<float*>(row_b_.data + kRows * DV + 2 * kColumns * (D + DV))) {
    gradient_a_.clear();
    gradient_b_.clear();
  }

  __device__ void run() {
    const Index begin = rules_.columns_of(first_).begin / kColumns * kColumns;
    const Index end = rules_.columns_of(first_ + kRows - 1).end;
    const Index tiles = begin < end ? (end - begin + kColumns - 1) / kColumns : 0;
    const Index steps = kKeysAreRows ? tiles * a_.queries_per_group : tiles;
    clear_bias_sums();
    if (steps > 0) {
      a_.row_a.of(rules_.sample, row_head_).load(row_a_, kRows, first_);
      a_.row_b.of(rules_.sample, row_head_).load(row_b_, kRows, first_);
      if constexpr (!kKeysAreRows) {
        load_statistics(statistics_, kRows, first_, row_head_);
      }
      load_columns(0, 0, begin);
      copy_async_commit();
    }
    for (Index step = 0; step < steps; ++step) {
      const Index next = step + 1;
      if (next < steps) {
        load_columns(static_cast<int>(next % 2), next / tiles, begin + next % tiles * kColumns);
      }
      copy_async_commit();
      copy_async_wait<1>();
      __syncthreads();  // this step's columns are here
      add(static_cast<int>(step % 2), step / tiles, begin + step % tiles * kColumns);
      __syncthreads();  // nobody needs them any more
    }
    copy_async_wait<0>();
    store();
  }

 private:
  // Queries whose lse and delta are in shared memory.
  static constexpr int kStatistics = kKeysAreRows ? 2 * kColumns : kRows;
  static constexpr int kBiasStride = kColumns + 1;

  __device__ Index heads() const {
    return kKeysAreRows ? a_.rules.heads / a_.queries_per_group : a_.rules.heads;
  }
  /// The head of the columns: of the queries of a group of keys, number `member`; or of the keys.
  __device__ Index column_head(Index member) const {
    return kKeysAreRows ? row_head_ * a_.queries_per_group + member
                        : row_head_ / a_.queries_per_group;
  }
  __device__ SharedTile<T, D> column_a(int stage) const {
    return {row_b_.data + kRows * DV + stage * kColumns * (D + DV)};
  }
  __device__ SharedTile<T, DV> column_b(int stage) const {
    return {column_a(stage).data + kColumns * D};
  }

  /// lse in units of log 2, then delta. Queries that see nothing get +inf, which makes their P 0.
  __device__ void load_statistics(float* to, int count, Index first, Index head) const {
    const float* const lse =
        a_.lse + rules_.sample * a_.lse_stride_sample + head * a_.lse_stride_head;
    const Index s = a_.rules.s;
    const float* const delta = a_.delta + (rules_.sample * a_.rules.heads + head) * s;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
      const bool inside = first + i < s;
      const float x = inside ? lse[first + i] : 0.f;
      to[i] = x == -INFINITY ? INFINITY : x * kLog2e;
      to[count + i] = inside ? delta[first + i] : 0.f;
    }
  }

  __device__ void load_columns(int stage, Index member, Index column) const {
    const Index head = column_head(member);
    a_.column_a.of(rules_.sample, head).load(column_a(stage), kColumns, column);
    a_.column_b.of(rules_.sample, head).load(column_b(stage), kColumns, column);
    if constexpr (kKeysAreRows) {
      load_statistics(statistics_ + stage * 2 * kColumns, kColumns, column, head);
    }
  }

  /// Adds the contribution of one tile of columns.
  __device__ __forceinline__ void add(int stage, Index member, Index column) {
    rules_.head = kKeysAreRows ? column_head(member) : row_head_;
    const float* const lse = statistics_ + (kKeysAreRows ? stage * 2 * kColumns : 0);
    const float* const delta = lse + (kKeysAreRows ? kColumns : kRows);
    const auto statistic = [&](int i, int j) { return kKeysAreRows ? j : warp_row_ + i; };
    p_.clear();
    add_row_products(p_, row_a_, warp_row_, column_a(stage));
    probabilities(column, [&](int i, int j) { return lse[statistic(i, j)]; });
    ds_.clear();
    add_row_products(ds_, row_b_, warp_row_, column_b(stage));
    ElementBits<1> kept = {{~0u}};
    if (rules_.all.dropout.active()) {
      kept = rules_.template kept<1, kTiles>(first_ + warp_row_, column);
    }
    const float keep_scale = rules_.all.dropout.keep_scale();
    for_elements<1, kTiles>([&](int r, int n, int e, int i, int j) {
      float &p = p_.tile[r][n][e], &ds = ds_.tile[r][n][e];
      const bool keeps = kept(r, n, e);
      ds = p * ((keeps ? ds * keep_scale : 0.f) - delta[statistic(i, j)]);
      p = keeps ? p : 0.f;
    });
    add_bias_sums(column);
    if constexpr (kKeysAreRows) {
      add_value_products(gradient_b_, p_, column_b(stage), panel_ * kWidthB);
    }
    add_value_products(gradient_a_, ds_, column_a(stage), panel_ * kWidthA);
  }

  /// P = exp(scale score - lse); 0 where hidden.
  template <class Lse>
  __device__ __forceinline__ void probabilities(Index column, Lse&& lse) {
    const Index row = first_ + warp_row_;
    const float c = rules_.all.scale * kLog2e;
    if (rules_.all.bias != nullptr) {
      rules_.add_bias(p_, row, column);
    }
    for_elements<1, kTiles>([&](int r, int n, int e, int i, int j) {
      p_.tile[r][n][e] = exp2f(fmaf(p_.tile[r][n][e], c, -lse(i, j)));
    });
    if (!rules_.sees_all(first_, kRows, column, kColumns)) {
      const ElementBits<1> seen = rules_.template seen<1, kTiles>(row, column);
      for_elements<1, kTiles>([&](int r, int n, int e, int, int) {
        p_.tile[r][n][e] = seen(r, n, e) ? p_.tile[r][n][e] : 0.f;
      });
    }
  }

  /// The sums of the block over its queries, by key - query + (kRows - 1).
  __device__ float* bias_sums() const {
    const Index tiles = (a_.rules.s + kRows - 1) / kRows;
    const Index head = rules_.sample * a_.rules.heads + row_head_;
    return a_.bias_sums + (head * tiles + first_ / kRows) * distances(a_.rules.s_kv);
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
  __device__ __forceinline__ void add_bias_sums(Index column) const {
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
    const Index row = first_ + warp_row_;
    a_.gradient_a.store(gradient_a_, rules_.sample, row_head_, row, panel_ * kWidthA,
                        [&](int, int) { return rules_.all.scale; });
    if constexpr (kKeysAreRows) {
      const float keep_scale = rules_.all.dropout.keep_scale();
      a_.gradient_b.store(gradient_b_, rules_.sample, row_head_, row, panel_ * kWidthB,
                          [&](int, int) { return keep_scale; });
    }
  }

  const GradientArguments<T>& a_;
  const int panel_;
  const Index row_head_;  // of q, or of k and v
  HeadRules<T, kKeysAreRows> rules_;
  const Index first_;
  const int warp_row_;  // first row of the warp in the block
  const SharedTile<T, D> row_a_;
  const SharedTile<T, DV> row_b_;
  float* const statistics_;
  Accumulators<1, kTiles> p_;   // scores, then probabilities
  Accumulators<1, kTiles> ds_;  // dP, then dS without the scale
  Accumulators<1, kWidthA / 8> gradient_a_;
  Accumulators<1, kKeysAreRows ? kWidthB / 8 : 1> gradient_b_;
};

/// Under a causal mask the first keys and the last queries have most to do: they come first.
template <class T, int D, int DV, bool kKeysAreRows>
__global__ void attention_gradients(const __grid_constant__ GradientArguments<T> a) {
  const Index index = kKeysAreRows ? blockIdx.x : gridDim.x - 1 - blockIdx.x;
  GradientBlock<T, D, DV, kKeysAreRows>(a, index).run();
}

template <class T>
struct DeltaArguments {
  InputHeads<T> o, d_o;
  float* delta;  // [b, n, s]
  Index s, samples, heads;
};

/// delta = rowsum(o d_o): a warp sums a row.
template <class T>
__global__ void attention_deltas(const __grid_constant__ DeltaArguments<T> a) {
  const Index warps = blockDim.x / 32, lane = threadIdx.x % 32;
  for (Index row = blockIdx.x * warps + threadIdx.x / 32; row < a.s * a.samples * a.heads;
       row += gridDim.x * warps) {
    const Index head = row % a.heads, sample = row / a.heads % a.samples;
    const Index query = row / a.heads / a.samples;
    const T* const o = a.o.of(sample, head).data + query * a.o.strides.s;
    const T* const d_o = a.d_o.of(sample, head).data + query * a.d_o.strides.s;
    float sum = 0;
    for (Index i = lane; i < a.o.columns; i += 32) {
      sum += static_cast<float>(o[i]) * static_cast<float>(d_o[i]);
    }
    for (int step = 16; step > 0; step /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, step);
    }
    if (lane == 0) {
      a.delta[(sample * a.heads + head) * a.s + query] = sum;
    }
  }
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
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < a.samples * a.heads * distances; i += static_cast<Index>(gridDim.x) * blockDim.x) {
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

/// Calls f<T, D, DV>() with what the kernels are compiled for.
template <class F>
auto visit(const AttentionBackward& kernel, F&& f) {
  return visit_dtype(kernel.q.dtype, [&]<class T>() {
    return with_head_sizes(kernel.q.size(-1), kernel.v.size(-1), [&](auto d, auto dv) {
      return f.template operator()<T, decltype(d)::value, decltype(dv)::value>();
    });
  });
}

constexpr unsigned kMaximumBlocks = 1u << 16;  // of the kernels that stride over their grid
unsigned blocks_of(Index count, Index per_block) {
  return static_cast<unsigned>(
      std::min<Index>((count + per_block - 1) / per_block, kMaximumBlocks));
}

template <class T>
void run_deltas(device::CudaStream& stream, const AttentionBackward& kernel) {
  using Element = typename DeviceType<T>::type;
  const Index n = kernel.lse.size(1), rows = kernel.lse.numel();
  const DeltaArguments<Element> arguments{input_heads<T>(kernel.o),
                                          input_heads<T>(kernel.d_o),
                                          static_cast<float*>(kernel.workspace.data),
                                          kernel.lse.size(2),
                                          kernel.lse.size(0),
                                          n};
  launch(stream, "attention_backward: deltas", {blocks_of(rows, 4), 128}, attention_deltas<Element>,
         arguments);
}

template <class Block>
void run_bias(device::CudaStream& stream, const AttentionBackward& kernel, const float* sums) {
  const auto& to = kernel.dbias;
  const BiasArguments arguments{
      sums,       to.template as<float>(), to.stride(0),     to.stride(1), to.stride(2), to.size(0),
      to.size(1), kernel.q.size(0),        kernel.k.size(0), Block::kRows};
  launch(stream, "attention_backward: bias", {blocks_of(to.numel(), 256), 256}, add_bias_tiles,
         arguments);
}

template <class T, int D, int DV>
void run_sized(device::CudaStream& stream, const AttentionBackward& kernel) {
  using Element = typename DeviceType<T>::type;
  using Queries = GradientBlock<Element, D, DV, false>;
  using Keys = GradientBlock<Element, D, DV, true>;
  const Index s = kernel.q.size(0), s_kv = kernel.k.size(0), b = kernel.q.size(1);
  const Index n = kernel.lse.size(1), g = merged(kernel.k.shape)[2];
  auto* const delta = static_cast<float*>(kernel.workspace.data);
  float* const bias_sums = kernel.bias ? delta + b * n * s : nullptr;
  const auto arguments = [&](const auto& row_a, const auto& row_b, const auto& column_a,
                             const auto& column_b, const auto& gradient_a, const auto& gradient_b) {
    return GradientArguments<Element>{input_heads<T>(row_a),
                                      input_heads<T>(row_b),
                                      input_heads<T>(column_a),
                                      input_heads<T>(column_b),
                                      output_heads<T>(gradient_a),
                                      output_heads<T>(gradient_b),
                                      device_data<float>(kernel.lse),
                                      kernel.lse.stride(0),
                                      kernel.lse.stride(1),
                                      delta,
                                      bias_sums,
                                      n / g,
                                      b,
                                      score_rules<T>(kernel)};
  };
  if (b * n * s > 0) {
    run_deltas<T>(stream, kernel);
    launch(stream, "attention_backward: queries",
           {static_cast<unsigned>(Queries::blocks(s, b * n)), Queries::kThreads,
            Queries::shared_bytes(bias_sums != nullptr)},
           attention_gradients<Element, D, DV, false>,
           arguments(kernel.q, kernel.d_o, kernel.k, kernel.v, kernel.dq, kernel.dq));
  }
  if (b * g * s_kv > 0) {
    launch(stream, "attention_backward: keys",
           {static_cast<unsigned>(Keys::blocks(s_kv, b * g)), Keys::kThreads,
            Keys::shared_bytes(bias_sums != nullptr)},
           attention_gradients<Element, D, DV, true>,
           arguments(kernel.k, kernel.v, kernel.q, kernel.d_o, kernel.dk, kernel.dv));
  }
  if (bias_sums != nullptr && kernel.dbias.numel() > 0) {
    run_bias<Queries>(stream, kernel, bias_sums);
  }
}

}  // namespace
}  // namespace cuda::attention

Index workspace_bytes(const device::CudaStream&, const AttentionBackward& kernel) {
  using namespace cuda::attention;
  const Index rows = kernel.lse.numel(), s = kernel.q.size(0), s_kv = kernel.k.size(0);
  if (!kernel.bias) {
    return rows * 4;
  }
  return visit(kernel, [&]<class T, int D, int DV>() {
    using Block = GradientBlock<typename cuda::DeviceType<T>::type, D, DV, false>;
    const Index tiles = kernel.lse.size(0) * Block::blocks(s, kernel.lse.size(1));
    return (rows + tiles * Block::distances(s_kv)) * 4;
  });
}

void run(device::CudaStream& stream, const AttentionBackward& kernel) {
  using namespace cuda::attention;
  check_views(kernel);
  visit(kernel, [&]<class T, int D, int DV>() { run_sized<T, D, DV>(stream, kernel); });
}

}  // namespace mpitron::kernels
