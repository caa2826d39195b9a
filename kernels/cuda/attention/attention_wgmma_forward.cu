// Numerical contract: that of attention.h. Sums over keys run in the order of the keys,
// tile after tile; scores, the softmax and O stay in fp32. For products see warpgroup_product.cuh.
//
// A block has 128 queries of one head, 64 for each of two warpgroups, and a third warpgroup that
// has K and V copied (FlashAttention-3, Shah et al. 2024). Products are asynchronous: while one
// warpgroup computes the softmax of a tile, its own product of the tile before with V and the other
// warpgroup's products are under way.
//   registers      240 for each thread that multiplies: 64 S, 32 P, DV / 2 O; 24 for the others:
//                  504 x 128 in all, the whole of a multiprocessor, so one block each
//   shared memory  Q, and two stages of 128 keys and values: 161 KiB for head size 128, 209 KiB for
//                  192 and 128, 81 KiB for 64
#include "kernels/cuda/attention/attention_kernels.h"
#include "kernels/cuda/attention/online_softmax.cuh"
#include "kernels/cuda/attention/warpgroup_pipeline.cuh"
#include "kernels/cuda/common/launch.cuh"
#include "kernels/cuda/linear/tensor_map.h"

namespace mpitron::kernels::cuda::attention {
namespace {

template <class T>
struct WgmmaArguments {
  HeadMap q, k, v;
  OutputHeads<T> o;
  LogSums lse;
  int queries_per_group, tasks;  // heads of all samples
  int tiles, tasks_at_once;      // of queries; whose K and V the L2 cache holds
  ScoreRules<T> rules;
};

template <class T, int D, int DV>
class WgmmaBlock {
  static constexpr int kGroups = 2, kGroupRows = 64;
  static constexpr unsigned kStages = 2;

 public:
  static constexpr int kRows = kGroups * kGroupRows;  // queries of the block
  static constexpr int kColumns = 128;                // keys of a tile

 private:
  using QTile = PanelTile<T, kRows, D>;
  using KTile = PanelTile<T, kColumns, D>;
  using VTile = PanelTile<T, kColumns, DV>;
  static_assert(D >= DV);  // O takes the place of Q

  struct Barriers {
    CopyBarrier q;
    TileRing<kStages> k, v;
  };

 public:
  static constexpr int kThreads = (1 + kGroups) * kWarpgroup;
  static constexpr std::size_t kSharedBytes =
      QTile::kBytes + kStages * (KTile::kBytes + VTile::kBytes) + sizeof(Barriers) + kSharedSlack;

  __device__ WgmmaBlock(const WgmmaArguments<T>& a, int sample, int head, int first)
      : a_(a),
        rules_{a.rules, sample, head},
        group_(head / a.queries_per_group),
        first_(first),
        first_key_(rules_.columns_of(first).begin / kColumns * kColumns),
        tiles_(tiles_between(first_key_, rules_.columns_of(first + kRows - 1).end)),
        q_{aligned_dynamic_shared<T>()},
        barriers_(*reinterpret_cast<Barriers*>(v_tile(kStages).data)) {}

  /// Splits the block's warpgroups: of the first, one thread copies queries and keys and another
  /// one values; the other warpgroups multiply. Keys and values have rings of their own, because
  /// the softmax stands between their products.
  __device__ __forceinline__ void run() {
    if (threadIdx.x == 0) {
      barrier_init(barriers_.q, 1);
      barriers_.k.init(1, kGroups * kWarpgroup / 32);
      barriers_.v.init(1, kGroups * kWarpgroup / 32);
      fence_barriers();
    }
    __syncthreads();
    if (threadIdx.x < kWarpgroup) {
      give_up_registers<24>();
      if (threadIdx.x == 0) {
        fetch_queries();
        fetch(barriers_.k, k_tile(0), a_.k);
      } else if (threadIdx.x == 32) {
        fetch(barriers_.v, v_tile(0), a_.v);
      }
    } else {
      take_registers<240>();
      attend(warpgroup_index() - 1);
    }
  }

 private:
  using Scores = Accumulators<1, kColumns / 8>;
  using Probabilities = RowOperands<T, 1, kColumns / 8>;

  static __device__ unsigned tiles_between(int begin, int end) {
    return begin < end ? static_cast<unsigned>(end - begin + kColumns - 1) / kColumns : 0;
  }
  __device__ KTile k_tile(unsigned stage) const {
    return {q_.data + QTile::kElements + stage * KTile::kElements};
  }
  /// Stage kStages is what follows the tiles.
  __device__ VTile v_tile(unsigned stage) const {
    return {q_.data + QTile::kElements + kStages * KTile::kElements + stage * VTile::kElements};
  }
  __device__ int key_of(unsigned step) const {
    return first_key_ + static_cast<int>(step) * kColumns;
  }

  /// Has the tiles of K or V copied, one after another. One thread.
  template <class Tile>
  __device__ __forceinline__ void fetch(TileRing<kStages>& ring, const Tile& stages,
                                        const HeadMap& map) const {
    for (unsigned step = 0; step < tiles_; ++step) {
      const unsigned stage = step % kStages;
      ring.wait_until_free(step);
      barrier_arrive_expecting(ring.filled[stage], Tile::kBytes);
      copy_tile(Tile{stages.data + stage * Tile::kElements}, map, group_, rules_.sample,
                key_of(step), ring.filled[stage]);
    }
  }
  __device__ __forceinline__ void fetch_queries() const {
    if (tiles_ > 0) {
      barrier_arrive_expecting(barriers_.q, QTile::kBytes);
      copy_tile(q_, a_.q, rules_.head, rules_.sample, first_, barriers_.q);
    }
  }

  /// The 64 queries of one warpgroup.
  __device__ __forceinline__ void attend(int group) {
    const int row = kGroupRows * group + static_cast<int>(threadIdx.x) % kWarpgroup / 32 * 16;
    const Span seen_by_all = rules_.columns_of_all(first_ + kGroupRows * group, kGroupRows);
    OnlineSoftmax<1> softmax(a_.rules.scale);
    Accumulators<1, DV / 8> o;
    o.clear();
    if (tiles_ > 0) {
      begin_turns(group);
      barrier_wait(barriers_.q, 0);
      Scores s;
      take_turn(group);
      begin_scores(s, group, 0);
      pass_turn(group, 0);
      wgmma_wait<0>();
      barriers_.k.release(0);
      mask(s, row, 0, seen_by_all);
      softmax.add(s);
      drop(s, row, 0);
      Probabilities p(s);
      for (unsigned step = 1; step < tiles_; ++step) {
        take_turn(group);
        begin_scores(s, group, step);
        begin_values(o, p, step - 1);
        pass_turn(group, step);
        wgmma_wait<1>();
        barriers_.k.release(step);
        mask(s, row, step, seen_by_all);
        const auto correction = softmax.add(s);
        drop(s, row, step);
        wgmma_wait<0>();
        barriers_.v.release(step - 1);
        scale_rows(o, correction);
        p = Probabilities(s);
      }
      begin_values(o, p, tiles_ - 1);
      wgmma_wait<0>();
    }
    finish(o, softmax, group, row);
  }

  // The warpgroups take turns in beginning products, so that one has the matrix units while the
  // other computes its softmax. Barrier 1 + g lets warpgroup g begin.
  static __device__ void begin_turns(int group) {
    if (group == 1) {
      named_barrier_arrive(1, kGroups * kWarpgroup);
    }
  }
  static __device__ void take_turn(int group) {
    named_barrier_sync(1 + group, kGroups * kWarpgroup);
  }
  __device__ void pass_turn(int group, unsigned step) const {
    if (group == 0 || step + 1 < tiles_) {
      named_barrier_arrive(2 - group, kGroups * kWarpgroup);
    }
  }

  /// Begins raw scores, as one group of products.
  __device__ __forceinline__ void begin_scores(Scores& s, int group, unsigned step) {
    barriers_.k.wait_until_filled(step);
    wgmma_fence();
    begin_row_products(s, q_, kGroupRows * group, k_tile(step % kStages));
    wgmma_commit();
  }
  /// Begins o += p v, likewise.
  __device__ __forceinline__ void begin_values(Accumulators<1, DV / 8>& o, const Probabilities& p,
                                               unsigned step) {
    barriers_.v.wait_until_filled(step);
    wgmma_fence();
    begin_value_products(o, p, v_tile(step % kStages));
    wgmma_commit();
  }

  /// Adds the bias; hidden scores become -inf.
  __device__ __forceinline__ void mask(Scores& s, int row, unsigned step, const Span& seen_by_all) {
    if (rules_.all.bias != nullptr) {
      rules_.add_bias(s, first_ + row, key_of(step));
    }
    if (!seen_by_all.holds(key_of(step), kColumns)) {
      rules_.hide(s, first_ + row, key_of(step), -INFINITY);
    }
  }
  __device__ __forceinline__ void drop(Scores& s, int row, unsigned step) {
    if (rules_.all.dropout.active()) {
      rules_.drop(s, first_ + row, key_of(step));
    }
  }

  __device__ __forceinline__ void finish(Accumulators<1, DV / 8>& o,
                                         const OnlineSoftmax<1>& softmax, int group, int row) {
    const int first = first_ + row;
    const auto factor = softmax.finish(
        rules_.all.keep_scale, a_.lse.of(rules_.sample, rules_.head, first), rules_.rows() - first);
    named_barrier_sync(1 + kGroups + group, kWarpgroup);  // its products read Q no more
    a_.o.of(rules_.sample, rules_.head, first).store_by_way_of(q_, row, o, factor);
  }

  const WgmmaArguments<T>& a_;
  const HeadRules<T, false> rules_;
  const int group_;       // the head of k and v
  const int first_;       // query of the block
  const int first_key_;   // of its first tile of keys
  const unsigned tiles_;  // of keys
  const QTile q_;
  Barriers& barriers_;
};

/// Blocks go section by section, of heads whose keys and values the L2 cache holds; in each the
/// latest queries, which see most keys, come first.
template <class T, int D, int DV>
__global__ void __launch_bounds__(WgmmaBlock<T, D, DV>::kThreads, 1)
    attention_wgmma(const __grid_constant__ WgmmaArguments<T> a) {
  using Block = WgmmaBlock<T, D, DV>;
  const int block = static_cast<int>(blockIdx.x), of_section = a.tasks_at_once * a.tiles;
  const int section = block / of_section * a.tasks_at_once, within = block % of_section;
  const int tasks = min(a.tasks_at_once, a.tasks - section), task = section + within % tasks;
  const int tile = a.tiles - 1 - within / tasks;
  Block(a, task / a.rules.heads, task % a.rules.heads, tile * Block::kRows).run();
}

/// Those of the tasks whose keys and values fill most of the L2 cache.
Index tasks_at_once(const AttentionForward& kernel, Index queries_per_group, Index tasks) {
  constexpr Index kCacheBytes = 32 << 20, kElementBytes = 2;
  const Index of_head = kernel.k.size(0) * (kernel.k.size(-1) + kernel.v.size(-1)) * kElementBytes;
  return std::min(std::max<Index>(kCacheBytes / of_head, 1) * queries_per_group, tasks);
}

/// Calls f<T, D, DV>() with what the kernel is compiled for; false where it is not.
template <class F>
bool visit(const AttentionForward& kernel, F&& f) {
  const Index d = kernel.q.size(-1), dv = kernel.v.size(-1);
  const auto with_sizes = [&]<class T>() {
    return d <= 64 && dv <= 64     ? f.template operator()<T, 64, 64>()
           : d <= 128 && dv <= 128 ? f.template operator()<T, 128, 128>()
           : d <= 192 && dv <= 128 ? f.template operator()<T, 192, 128>()
                                   : false;
  };
  return kernel.q.dtype == DType::bf16  ? with_sizes.template operator()<__nv_bfloat16>()
         : kernel.q.dtype == DType::f16 ? with_sizes.template operator()<__half>()
                                        : false;
}

template <class Block>
bool make_maps(const AttentionForward& kernel, HeadMap& q, HeadMap& k, HeadMap& v) {
  return make_head_map(q, kernel.q, Block::kRows) && make_head_map(k, kernel.k, Block::kColumns) &&
         make_head_map(v, kernel.v, Block::kColumns);
}

}  // namespace

bool wgmma_fits(const device::CudaStream& stream, const AttentionForward& kernel) {
  return has_warpgroups(stream) && kernel.softcap == 0 &&
         visit(kernel, [&]<class T, int D, int DV>() {
           HeadMap q, k, v;
           return make_maps<WgmmaBlock<T, D, DV>>(kernel, q, k, v);
         });
}

/// Launches the kernel for Hopper; the copy engine must be able to read the tensors.
void run_wgmma(device::CudaStream& stream, const AttentionForward& kernel) {
  const bool fits = visit(kernel, [&]<class T, int D, int DV>() {
    using Block = WgmmaBlock<T, D, DV>;
    const Shape q = merged(kernel.q.shape), v = merged(kernel.v.shape);
    const Index per_group = q[2] / v[2], tiles = (q[0] + Block::kRows - 1) / Block::kRows;
    const Index tasks = q[1] * q[2], at_once = tasks_at_once(kernel, per_group, tasks);
    WgmmaArguments<T> arguments{.o = OutputHeads<T>(kernel.o),
                                .lse = LogSums(kernel.lse),
                                .queries_per_group = static_cast<int>(per_group),
                                .tasks = static_cast<int>(tasks),
                                .tiles = static_cast<int>(tiles),
                                .tasks_at_once = static_cast<int>(at_once),
                                .rules = score_rules<T>(kernel)};
    if (!make_maps<Block>(kernel, arguments.q, arguments.k, arguments.v)) {
      return false;
    }
    launch(stream, AttentionForward::name,
           {static_cast<unsigned>(tiles * tasks), Block::kThreads, Block::kSharedBytes},
           attention_wgmma<T, D, DV>, arguments);
    return true;
  });
  MPITRON_CHECK(fits, to_string(kernel.q.shape));
}

}  // namespace mpitron::kernels::cuda::attention
