// Numerical contract: that of attention.h. Sums over keys run in the order of the keys,
// tile after tile; scores, the softmax and O stay in fp32. For products see warp_product.cuh.
#include "kernels/cuda/attention/attention_kernels.h"
#include "kernels/cuda/attention/online_softmax.cuh"
#include "kernels/cuda/common/launch.cuh"

namespace mpitron::kernels {
namespace cuda::attention {
namespace {

template <class T>
struct ForwardArguments {
  InputHeads<T> q, k, v;
  OutputHeads<T> o;
  LogSums lse;
  int queries_per_group, samples;
  ScoreRules<T> rules;
};

/// Some queries of one head against all keys they see (FlashAttention-2, Dao 2023): each warp has
/// 16 R queries; while it works on one of K and V, the other is on its way.
template <class T, int D, int DV>
class ForwardBlock {
  static constexpr int kColumns = Tiling<T, D>::kColumns;  // keys of a tile
  static constexpr int kRowTiles = DV <= 128 && sizeof(T) == 2 ? 2 : 1;

 public:
  static constexpr int kThreads = Tiling<T, D>::kThreads;
  static constexpr int kRows = 16 * kRowTiles * Tiling<T, D>::kWarps;  // queries of the block
  static constexpr std::size_t kSharedBytes =
      sizeof(T) * static_cast<std::size_t>(kRows * D + kColumns * (D + DV));

  __device__ ForwardBlock(const ForwardArguments<T>& a, int sample, int head, int first)
      : a_(a),
        rules_{a.rules, sample, head},
        first_(first),
        seen_by_all_(rules_.columns_of_all(first, kRows)),
        warp_row_(static_cast<int>(threadIdx.x) / 32 * 16 * kRowTiles),
        q_{dynamic_shared<T>()},
        k_{q_.data + q_.kElements},
        v_{k_.data + k_.kElements},
        softmax_(a.rules.scale) {
    o_.clear();
  }

  /// Walks the keys that a block of queries sees. The values of a tile are copied while its scores
  /// and softmax are computed, the next keys while the values are added.
  __device__ void run() {
    const int group = rules_.head / a_.queries_per_group;
    const InputRows<T> k = a_.k.of(rules_.sample, group), v = a_.v.of(rules_.sample, group);
    const int end = rules_.columns_of(first_ + kRows - 1).end;
    int key = rules_.columns_of(first_).begin / kColumns * kColumns;
    a_.q.of(rules_.sample, rules_.head).template load<kThreads>(q_, first_);
    k.template load<kThreads>(k_, key);
    copy_async_commit();
    for (; key < end; key += kColumns) {
      copy_async_wait<0>();
      __syncthreads();  // k is here, and nobody needs v any more
      v.template load<kThreads>(v_, key);
      copy_async_commit();
      scores(key);
      scale_rows(o_, softmax_.add(p_));
      if (rules_.all.dropout.active()) {
        rules_.drop(p_, first_ + warp_row_, key);
      }
      const RowOperands<T, kRowTiles, kColumns / 8> p(p_);
      copy_async_wait<0>();
      __syncthreads();  // v is here, and nobody needs k any more
      if (key + kColumns < end) {
        k.template load<kThreads>(k_, key + kColumns);
        copy_async_commit();
      }
      add_value_products(o_, p, v_, 0);
    }
    copy_async_wait<0>();
    finish();
  }

 private:
  /// Raw scores; hidden ones are -inf.
  __device__ __forceinline__ void scores(int key) {
    p_.clear();
    add_row_products(p_, q_, warp_row_, k_);
    const int row = first_ + warp_row_;
    if (rules_.all.softcap > 0) {
      rules_.bound(p_);
    }
    if (rules_.all.bias != nullptr) {
      rules_.add_bias(p_, row, key);
    }
    if (!seen_by_all_.holds(key, kColumns)) {
      rules_.hide(p_, row, key, -INFINITY);
    }
  }

  __device__ __forceinline__ void finish() {
    const int first = first_ + warp_row_;
    const auto factor = softmax_.finish(
        rules_.all.keep_scale, a_.lse.of(rules_.sample, rules_.head, first), rules_.rows() - first);
    a_.o.of(rules_.sample, rules_.head, first).store(o_, 0, factor);
  }

  const ForwardArguments<T>& a_;
  const HeadRules<T, false> rules_;
  const int first_;         // query of the block
  const Span seen_by_all_;  // keys that all queries of the block see
  const int warp_row_;      // first row of the warp in the block
  const SharedTile<T, kRows, D> q_;
  const SharedTile<T, kColumns, D> k_;
  const SharedTile<T, kColumns, DV> v_;
  Accumulators<kRowTiles, kColumns / 8> p_;  // scores, then probabilities
  Accumulators<kRowTiles, DV / 8> o_;
  OnlineSoftmax<kRowTiles> softmax_;
};

/// Blocks with the latest queries, which see most keys, come first.
template <class T, int D, int DV>
__global__ void attention_forward(const __grid_constant__ ForwardArguments<T> a) {
  using Block = ForwardBlock<T, D, DV>;
  const int heads = a.samples * a.rules.heads, task = static_cast<int>(blockIdx.x) % heads;
  const int tile = static_cast<int>(gridDim.x - 1 - blockIdx.x) / heads;
  Block(a, task / a.rules.heads, task % a.rules.heads, tile * Block::kRows).run();
}

}  // namespace

/// Launches the forward kernel that is compiled for the size of the heads.
void run_mma(device::CudaStream& stream, const AttentionForward& kernel) {
  check_views(kernel);
  const Shape q = merged(kernel.q.shape), v = merged(kernel.v.shape);
  if (kernel.lse.numel() == 0) {
    return;
  }
  visit_element(kernel.q.dtype, [&]<class T>() {
    const ForwardArguments<T> arguments{InputHeads<T>(kernel.q), InputHeads<T>(kernel.k),
                                        InputHeads<T>(kernel.v), OutputHeads<T>(kernel.o),
                                        LogSums(kernel.lse),     static_cast<int>(q[2] / v[2]),
                                        static_cast<int>(q[1]),  score_rules<T>(kernel)};
    with_head_sizes(q[3], v[3], [&]<int D, int DV>() {
      using Block = ForwardBlock<T, D, DV>;
      const Index blocks = (q[0] + Block::kRows - 1) / Block::kRows * q[1] * q[2];
      launch(stream, AttentionForward::name,
             {static_cast<unsigned>(blocks), Block::kThreads, Block::kSharedBytes},
             attention_forward<T, D, DV>, arguments);
    });
  });
}

}  // namespace cuda::attention
}  // namespace mpitron::kernels
