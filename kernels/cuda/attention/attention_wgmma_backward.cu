// Numerical contract: that of attention.h, as in attention_backward.cu: one kernel has dk
// and dv of some keys, summed over the heads of their group and the queries, in this order; another
// has dq of some queries, summed over the keys. For products see warpgroup_product.cuh.
//
// A block has 128 rows, 64 for each of two warpgroups, and a third warpgroup that has the columns
// copied, 64 at a time; while one warpgroup forms P and dS, the other has the matrix units.
//   registers      240 for each thread that multiplies: 32 S, 32 dP, 32 both as operands, D / 2 and
//                  DV / 2 of gradients; 24 for the others: one block on each multiprocessor
//   shared memory  rows, and two stages of columns: 130 KiB for head size 128, 66 KiB for 64
#include "kernels/cuda/attention/attention_gradients.cuh"
#include "kernels/cuda/attention/attention_kernels.h"
#include "kernels/cuda/attention/warpgroup_pipeline.cuh"
#include "kernels/cuda/common/launch.cuh"
#include "kernels/cuda/linear/tensor_map.h"

namespace mpitron::kernels::cuda::attention {
namespace {

/// The gradients with respect to what lies in rows, a and b, from what passes by as columns: for
/// dq a is q, and b is d_o, which needs none; for dk and dv a is k, b is v.
template <class T>
struct WgmmaGradients {
  HeadMap row_a, row_b, column_a, column_b;
  OutputHeads<T> gradient_a, gradient_b;
  QueryStatistics statistics;
  int queries_per_group, samples;
  ScoreRules<T> rules;
};

template <class T, int D, int DV, bool kKeysAreRows>
class WgmmaGradientBlock {
  static constexpr int kGroups = 2, kGroupRows = 64;
  static constexpr unsigned kStages = 2;

 public:
  static constexpr int kRows = kGroups * kGroupRows, kColumns = 64;

 private:
  static constexpr int kTiles = kColumns / 8;
  using RowA = PanelTile<T, kRows, D>;
  using RowB = PanelTile<T, kRows, DV>;
  using ColumnA = PanelTile<T, kColumns, D>;
  using ColumnB = PanelTile<T, kColumns, DV>;
  static constexpr int kStageElements = ColumnA::kElements + ColumnB::kElements;

  struct Shared {  // behind the tiles
    TileRing<kStages> ring;
    CopyBarrier rows;
    float lse[kStages][kColumns], delta[kStages][kColumns];  // where columns are queries
  };

 public:
  static constexpr int kThreads = (1 + kGroups) * kWarpgroup;
  static constexpr std::size_t kSharedBytes = RowA::kBytes + RowB::kBytes +
                                              kStages * (ColumnA::kBytes + ColumnB::kBytes) +
                                              sizeof(Shared) + kSharedSlack;

  /// Block `index` of (tiles of rows) x samples x (heads of the rows).
  __device__ WgmmaGradientBlock(const WgmmaGradients<T>& a, int index)
      : a_(a),
        row_head_(index % heads()),
        rules_{a.rules, index / heads() % a.samples, row_head_},
        first_(index / heads() / a.samples * kRows),
        first_column_(rules_.columns_of(first_).begin / kColumns * kColumns),
        tiles_(tiles_between(first_column_, rules_.columns_of(first_ + kRows - 1).end)),
        steps_(tiles_ * (kKeysAreRows ? static_cast<unsigned>(a.queries_per_group) : 1)),
        row_a_{aligned_dynamic_shared<T>()},
        row_b_{row_a_.data + RowA::kElements},
        shared_(*reinterpret_cast<Shared*>(column_a(kStages).data)) {}

  /// Splits the block's warpgroups: one copies tiles by the copy engine into a ring, the others
  /// multiply. Barriers in shared memory count copied bytes on the way there and arrivals on the
  /// way back, so a slot is filled again only when all have read it.
  __device__ __forceinline__ void run() {
    if (threadIdx.x == 0) {
      barrier_init(shared_.rows, 1);
      shared_.ring.init(kKeysAreRows ? 1 + 32 : 1, kGroups * kWarpgroup / 32);
      fence_barriers();
    }
    __syncthreads();
    if (threadIdx.x < kWarpgroup) {
      give_up_registers<24>();
      if (threadIdx.x < 32) {
        fetch(static_cast<int>(threadIdx.x));
      }
    } else {
      take_registers<240>();
      add_all(warpgroup_index() - 1);
    }
  }

 private:
  using Scores = Accumulators<1, kTiles>;
  using Operand = RowOperands<T, 1, kTiles>;
  using GradientA = Accumulators<1, D / 8>;
  using GradientB = Accumulators<1, DV / 8>;

  static __device__ unsigned tiles_between(int begin, int end) {
    return begin < end ? static_cast<unsigned>(end - begin + kColumns - 1) / kColumns : 0;
  }
  __device__ int heads() const {
    return kKeysAreRows ? a_.rules.heads / a_.queries_per_group : a_.rules.heads;
  }
  /// The head of a step's columns: of the queries of a group of keys, one after another; or of the
  /// keys.
  __device__ int column_head(unsigned step) const {
    return kKeysAreRows ? row_head_ * a_.queries_per_group + static_cast<int>(step / tiles_)
                        : row_head_ / a_.queries_per_group;
  }
  __device__ int column_of(unsigned step) const {
    return first_column_ + static_cast<int>(kKeysAreRows ? step % tiles_ : step) * kColumns;
  }
  /// Stage kStages is what follows the tiles.
  __device__ ColumnA column_a(unsigned stage) const {
    return {row_b_.data + RowB::kElements + stage * kStageElements};
  }
  __device__ ColumnB column_b(unsigned stage) const {
    return {column_a(stage).data + ColumnA::kElements};
  }

  /// Has the rows copied, and the columns step by step. One warp, whose first lane has copies made
  /// while all bring what the queries of columns need besides; that is asked for before the stage
  /// is free.
  __device__ __forceinline__ void fetch(int lane) const {
    if (lane == 0 && steps_ > 0) {
      barrier_arrive_expecting(shared_.rows, RowA::kBytes + RowB::kBytes);
      copy_tile(row_a_, a_.row_a, row_head_, rules_.sample, first_, shared_.rows);
      copy_tile(row_b_, a_.row_b, row_head_, rules_.sample, first_, shared_.rows);
    }
    for (unsigned step = 0; step < steps_; ++step) {
      const unsigned stage = step % kStages;
      const int head = column_head(step), column = column_of(step);
      QueryStatistics::Query queries[kColumns / 32];
      if constexpr (kKeysAreRows) {
#pragma unroll
        for (int i = 0; i < kColumns / 32; ++i) {
          queries[i] = a_.statistics.of(rules_.sample, head, column + 32 * i + lane);
        }
      }
      shared_.ring.wait_until_free(step);
      CopyBarrier& filled = shared_.ring.filled[stage];
      if (lane == 0) {
        barrier_arrive_expecting(filled, ColumnA::kBytes + ColumnB::kBytes);
        copy_tile(column_a(stage), a_.column_a, head, rules_.sample, column, filled);
        copy_tile(column_b(stage), a_.column_b, head, rules_.sample, column, filled);
      }
      if constexpr (kKeysAreRows) {
#pragma unroll
        for (int i = 0; i < kColumns / 32; ++i) {
          shared_.lse[stage][32 * i + lane] = queries[i].lse;
          shared_.delta[stage][32 * i + lane] = queries[i].delta;
        }
        barrier_arrive(filled);
      }
    }
  }

  /// The 64 rows of one warpgroup.
  __device__ __forceinline__ void add_all(int group) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = kGroupRows * group + static_cast<int>(threadIdx.x) % kWarpgroup / 32 * 16;
    const Span seen_by_all = rules_.columns_of_all(first_ + kGroupRows * group, kGroupRows);
    QueryStatistics::Query own[2];  // where rows are queries
    if constexpr (!kKeysAreRows) {
      own[0] = a_.statistics.of(rules_.sample, row_head_, first_ + row + lane / 4);
      own[1] = a_.statistics.of(rules_.sample, row_head_, first_ + row + lane / 4 + 8);
    }
    GradientA gradient_a;
    GradientB gradient_b;
    gradient_a.clear();
    gradient_b.clear();
    if (steps_ > 0) {
      barrier_wait(shared_.rows, 0);
    }
    for (unsigned step = 0; step < steps_; ++step) {
      const unsigned stage = step % kStages;
      Scores p, ds;
      shared_.ring.wait_until_filled(step);
      wgmma_fence();
      begin_row_products(p, row_a_, kGroupRows * group, column_a(stage));
      wgmma_commit();
      wgmma_fence();
      begin_row_products(ds, row_b_, kGroupRows * group, column_b(stage));
      wgmma_commit();
      wgmma_wait<1>();
      const auto query = [&](int half, int, int j) {
        return kKeysAreRows ? QueryStatistics::Query{shared_.lse[stage][j], shared_.delta[stage][j]}
                            : own[half];
      };
      const int column = column_of(step);
      probabilities(p, a_.rules.scale, query);
      if (!seen_by_all.holds(column, kColumns)) {
        rules_.hide(p, first_ + row, column, 0.f);
      }
      ElementBits<1> kept{};
      const bool drops = rules_.all.dropout.active();
      if (drops) {
        rules_.head = kKeysAreRows ? column_head(step) : row_head_;
        kept = rules_.template kept<1, kTiles>(first_ + row, column);
      }
      wgmma_wait<0>();
      score_gradients(p, ds, drops, kept, {rules_.all.keep_scale}, query);
      const Operand p_rows(p), ds_rows(ds);
      wgmma_fence();
      if constexpr (kKeysAreRows) {
        begin_value_products(gradient_b, p_rows, column_b(stage));
      }
      begin_value_products(gradient_a, ds_rows, column_a(stage));
      wgmma_commit();
      wgmma_wait<0>();
      shared_.ring.release(step);
    }
    named_barrier_sync(1 + group, kWarpgroup);  // its products read the rows no more
    const int first = first_ + row;
    a_.gradient_a.of(rules_.sample, row_head_, first)
        .store_by_way_of(row_a_, row, gradient_a, [&](int, int) { return rules_.all.scale; });
    if constexpr (kKeysAreRows) {
      a_.gradient_b.of(rules_.sample, row_head_, first)
          .store_by_way_of(row_b_, row, gradient_b,
                           [&](int, int) { return rules_.all.keep_scale; });
    }
  }

  const WgmmaGradients<T>& a_;
  const int row_head_;  // of q, or of k and v
  HeadRules<T, kKeysAreRows> rules_;
  const int first_, first_column_;
  const unsigned tiles_, steps_;  // of columns; for all heads of columns
  const RowA row_a_;
  const RowB row_b_;
  Shared& shared_;
};

/// Under a causal mask the first keys and the last queries have most to do: they come first.
template <class T, int D, int DV, bool kKeysAreRows>
__global__ void __launch_bounds__(WgmmaGradientBlock<T, D, DV, kKeysAreRows>::kThreads, 1)
    attention_wgmma_gradients(const __grid_constant__ WgmmaGradients<T> a) {
  const auto index = static_cast<int>(kKeysAreRows ? blockIdx.x : gridDim.x - 1 - blockIdx.x);
  WgmmaGradientBlock<T, D, DV, kKeysAreRows>(a, index).run();
}

/// Calls f<T, D, DV>() with what the kernels are compiled for; false where they are not.
template <class F>
bool visit(const AttentionBackward& kernel, F&& f) {
  const Index d = std::max(kernel.q.size(-1), kernel.v.size(-1));
  const auto with_sizes = [&]<class T>() {
    return d <= 64    ? f.template operator()<T, 64, 64>()
           : d <= 128 ? f.template operator()<T, 128, 128>()
                      : false;
  };
  return kernel.q.dtype == DType::bf16  ? with_sizes.template operator()<__nv_bfloat16>()
         : kernel.q.dtype == DType::f16 ? with_sizes.template operator()<__half>()
                                        : false;
}

/// The tensors in boxes of so many queries and keys.
struct GradientMaps {
  HeadMap q, k, v, d_o;

  bool make(const AttentionBackward& kernel, int queries, int keys) {
    return make_head_map(q, kernel.q, queries) && make_head_map(d_o, kernel.d_o, queries) &&
           make_head_map(k, kernel.k, keys) && make_head_map(v, kernel.v, keys);
  }
};

template <class T, int D, int DV, bool kKeysAreRows>
void run_gradients(device::CudaStream& stream, const AttentionBackward& kernel) {
  using Block = WgmmaGradientBlock<T, D, DV, kKeysAreRows>;
  GradientMaps maps;
  MPITRON_CHECK(maps.make(kernel, kKeysAreRows ? Block::kColumns : Block::kRows,
                          kKeysAreRows ? Block::kRows : Block::kColumns),
                to_string(kernel.q.shape));
  const OutputHeads<T> dq(kernel.dq), dk(kernel.dk), dv(kernel.dv);
  const auto samples = static_cast<int>(kernel.lse.size(0));
  const auto heads = static_cast<int>(kernel.lse.size(1));
  const int per_group = heads / static_cast<int>(merged(kernel.k.shape)[2]);
  const WgmmaGradients<T> arguments{kKeysAreRows ? maps.k : maps.q,
                                    kKeysAreRows ? maps.v : maps.d_o,
                                    kKeysAreRows ? maps.q : maps.k,
                                    kKeysAreRows ? maps.d_o : maps.v,
                                    kKeysAreRows ? dk : dq,
                                    kKeysAreRows ? dv : dq,
                                    query_statistics(kernel),
                                    per_group,
                                    samples,
                                    score_rules<T>(kernel)};
  const Index rows = kernel.q.size(0), keys = kernel.k.size(0);
  const Index tiles = ((kKeysAreRows ? keys : rows) + Block::kRows - 1) / Block::kRows;
  const Index blocks = tiles * samples * (kKeysAreRows ? heads / per_group : heads);
  launch(stream, kKeysAreRows ? "attention_backward: keys" : "attention_backward: queries",
         {static_cast<unsigned>(blocks), Block::kThreads, Block::kSharedBytes},
         attention_wgmma_gradients<T, D, DV, kKeysAreRows>, arguments);
}

}  // namespace

bool wgmma_fits(const device::CudaStream& stream, const AttentionBackward& kernel) {
  return has_warpgroups(stream) && !kernel.bias && kernel.softcap == 0 &&
         visit(kernel, [&]<class T, int D, int DV>() {
           GradientMaps maps;
           return maps.make(kernel, 64, 64);
         });
}

Index wgmma_workspace_bytes(const device::CudaStream&, const AttentionBackward& kernel) {
  return kernel.lse.numel() * static_cast<Index>(sizeof(float));
}

void run_wgmma(device::CudaStream& stream, const AttentionBackward& kernel) {
  run_deltas(stream, kernel);
  visit(kernel, [&]<class T, int D, int DV>() {
    run_gradients<T, D, DV, false>(stream, kernel);
    run_gradients<T, D, DV, true>(stream, kernel);
    return true;
  });
}

}  // namespace mpitron::kernels::cuda::attention
