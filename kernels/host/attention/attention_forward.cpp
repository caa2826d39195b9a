// Computes attention's forward pass with a running softmax (Milakov and Gimelshein 2018; Dao et al.
// 2022). Numerical contract: scores, maxima and sums in fp32, P rounded to the inputs' type before
// it is multiplied with V, the output rounded once; keys in blocks of kKeyBlock in order.
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/host/attention/attention_bias.h"
#include "kernels/host/attention/attention_cap.h"
#include "kernels/host/attention/attention_dropout.h"
#include "kernels/host/attention/attention_fetch.h"
#include "kernels/host/attention/attention_heads.h"

namespace mpitron::kernels::host::attention {
namespace {

constexpr Index kQueryBlock = 96;  // a multiple of kRows
constexpr Index kKeyBlock = 512;   // a multiple of kCols: the scores of 6 rows stay in L1
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Computes one head: for each block of queries and each of keys, kRows rows at a time: scores,
/// maximum, exp, O = O * correction + P V.
template <class T, int D, bool Drop>
class ForwardHead {
 public:
  ForwardHead(const ForwardProblem<T>& problem, Index task, float* work, TaskQueue* queue)
      : problem_(problem),
        batch_(task / problem.n),
        head_(task % problem.n),
        queue_(queue),
        keys_(round_up(problem.s_kv, kCols)),
        d_(problem.d),
        dv_(problem.dv),
        panels_(problem.s_kv, Drop),
        visible_(problem.visibility(batch_)),
        cap_(problem),
        dropout_(problem.dropout, problem.positions.keys, batch_, head_) {
    const auto take = [&](Index words) { return std::exchange(work, work + words); };
    k_transposed_ = take(keys_ * d_.words());
    v_panels_ = take(keys_ / kPack<T> * kCols * dv_.panels());
    q_ = take(kQueryBlock * d_.words());
    o_ = take(kQueryBlock * dv_.columns());
    bias_ = HeadBias(problem, take(HeadBias::words(problem)));
  }
  static Index words(const Problem<T>& problem) {
    const HeadSize<T, D> d(problem.d), dv(problem.dv);
    const Index keys = round_up(problem.s_kv, kCols);
    return keys * d.words() + keys / kPack<T> * kCols * dv.panels() +
           kQueryBlock * (d.words() + dv.columns()) + HeadBias::words(problem);
  }

  void run() {
    bias_.read(problem_, head_);
    for (Index q0 = 0; q0 < problem_.s; q0 += kQueryBlock) {
      query_block(q0);
    }
  }

 private:
  static constexpr Index kStride = kKeyBlock / kPack<T> + kPad;  // of P, in words
  /// Unit of a row's first key; dropout masks are drawn for whole panels.
  static constexpr Index kFirst = Drop ? kCols : 16;

  Index group_of(Index head) const { return head / (problem_.n / problem_.g); }

  /// Packs the keys before `end` that are not: when they are wanted, to find them in a cache.
  void pack_keys(Index end) {
    const Index group = group_of(head_), first = packed_;
    packed_ = std::max(packed_, round_up(end, kCols));
    pack_transposed(k_transposed_, d_, problem_.k.rows(batch_, group, first), panels_, first,
                    packed_);
    pack_panels(v_panels_ + first / kPack<T> * kCols, dv_, problem_.v.rows(batch_, group, first),
                packed_ - first, keys_);
  }

  /// Asks for what is read or written next: the output of the block of queries at q0, the rows of
  /// the block behind it, or the first ones of the head that comes.
  void fetch_next(Index q0) {
    const Index next = q0 + kQueryBlock;
    if (!next_fetched_) {
      fetcher_.clear();
    }
    problem_.o.with_rows(batch_, head_, q0, [&](const auto& o) {
      fetcher_.add(o, std::min(kQueryBlock, o.valid), dv_.size());
    });
    if (next < problem_.s) {
      fetch_block(batch_, head_, next, packed_);
    }
    const bool late = next + kQueryBlock >= problem_.s && !std::exchange(next_fetched_, true);
    const Index task = late && queue_ != nullptr ? queue_->coming() : TaskQueue::kNone;
    if (task != TaskQueue::kNone) {
      fetch_block(task / problem_.n, task % problem_.n, 0, 0);
    }
  }
  /// Asks for a block of queries and those of its keys that stand at `key` or behind.
  void fetch_block(Index batch, Index head, Index q0, Index key) {
    const Index last = std::min(q0 + kQueryBlock, problem_.s) - 1;
    const Index keys = round_up(visible_.end(last), kCols) - key;
    fetcher_.add(problem_.q.rows(batch, head, q0), kQueryBlock, d_.size());
    fetcher_.add(problem_.k.rows(batch, group_of(head), key), keys, d_.size());
    fetcher_.add(problem_.v.rows(batch, group_of(head), key), keys, dv_.size());
  }

  void query_block(Index q0) {
    const Index rows = std::min(kQueryBlock, problem_.s - q0), padded = round_up(rows, kRows);
    pack_rows(q_, d_, problem_.q.rows(batch_, head_, q0), padded);
    std::fill_n(o_, padded * dv_.columns(), 0.f);
    std::fill_n(max_, kQueryBlock, -kInfinity);
    std::fill_n(sum_, kQueryBlock, zero());
    const Index first = round_down(visible_.begin(q0), kKeyBlock);
    const Index last = visible_.end(q0 + rows - 1);
    pack_keys(visible_.end(q0 + padded - 1));
    fetch_next(q0);
    for (Index k0 = first; k0 < last; k0 += kKeyBlock) {
      for (Index r = 0; r < padded; r += kRows) {
        const Index row = q0 + r;
        const Index begin = std::max(k0, round_down(visible_.begin(row), kFirst));
        const Index end = std::min(k0 + kKeyBlock, visible_.end(row + kRows - 1));
        if (begin < end) {
          panel(row, r, begin, end - begin);
        }
      }
    }
    problem_.o.with_rows(batch_, head_, q0, [&](const auto& o) { finish(q0, rows, o); });
  }

  /// Takes rows [row, + 6), which are rows [r, + 6) of the block, against keys [k0, + cols).
  void panel(Index row, Index r, Index k0, Index cols) {
    Vec top[kRows];
    std::fill_n(top, kRows, broadcast(-kInfinity));
    for (Index c = 0, next = 0; c < cols; c = next) {
      next = std::min(cols, panels_.end(k0 + c) - k0);
      fetcher_.some();
      with_groups((next - c + 15) / 16, [&](auto groups) {
        scores<groups>(row, q_ + r * d_.words(), k0 + c, scores_[0] + c, top);
      });
    }
    fetcher_.some();
    softmax(row, r, k0, cols, top);
    const Index hidden = std::max<Index>(0, visible_.begin(row) - k0) / kPack<T>;
    const Index steps = (cols + kPack<T> - 1) / kPack<T> - hidden;
    dv_.for_panels([&](Index p, auto groups) {
      fetcher_.some();
      add_values<groups>(o_ + r * dv_.columns() + p * kCols, hidden,
                         v_panels_ + ((p * keys_ + k0) / kPack<T> + hidden) * kCols, steps);
    });
  }

  /// Computes raw scores of 6 rows x 16 N columns; hidden ones are -inf.
  template <int N>
  [[gnu::noinline]] void scores(Index row, const float* q, Index col, float* to,
                                Vec (&top)[kRows]) {
    const bool all = visible_.all(row, col, col + 16 * N);
    const SeenColumns seen = all ? SeenColumns{} : visible_.block(row, col);
    Block<N> acc;
    for_block<N>([&](int m, int n) { acc[m][n] = zero(); });
    accumulate<T, N>(acc, {q, d_.words(), 1}, k_transposed_ + d_.transposed(panels_.place(col)),
                     d_.steps());
    cap_.bound<N>(acc);
    bias_.add_to<N>(acc, row, col);
    if (!all) {
      const Vec hidden = broadcast(-kInfinity);
      for_block<N>([&](int m, int n) { acc[m][n] = select(seen.lanes(m, n), acc[m][n], hidden); });
    }
    for_block<N>([&](int m, int n) {
      store(to + m * (kKeyBlock + kPad) + 16 * n, acc[m][n]);
      if (n > 0) {
        acc[m][0] = max(acc[m][0], acc[m][n]);
      }
    });
    for (int m = 0; m < kRows; ++m) {
      top[m] = max(top[m], acc[m][0]);
    }
  }

  /// Computes P = exp(scale (score - maximum)) and the running sums, where P may be dropped but the
  /// sums may not. A row that has seen no key yet keeps its maximum at -inf and works with 0
  /// instead.
  [[gnu::noinline]] void softmax(Index row, Index r, Index k0, Index cols,
                                 const Vec (&top)[kRows]) {
    const float c = problem_.scale * kLog2e;
    alignas(64) float shift[16] = {}, base[kRows];
    for (Index m = 0; m < kRows; ++m) {
      const float now = std::max(max_[r + m], reduce_max(top[m]));
      const float finite = now == -kInfinity ? 0.f : now;
      shift[m] = (max_[r + m] - finite) * c;
      base[m] = finite * c;
      max_[r + m] = now;
    }
    store(correction_, exp2<float>(load(shift)));
    if constexpr (Drop) {
      for (Index c = 0; c < cols; c += kCols) {
        masks_[c / kCols] = dropout_.masks(row, k0 + c);
      }
    }
    for (Index m = 0; m < kRows; m += 2) {
      softmax_rows(m, cols, base + m, sum_ + r + m);
    }
  }

  /// Works on two rows at a time, since the exponentials of one leave the processor waiting.
  [[gnu::always_inline]] void softmax_rows(Index m, Index cols, const float* bases, Vec* sums) {
    const Vec c = broadcast(problem_.scale * kLog2e);
    const Vec base[2] = {broadcast(bases[0]), broadcast(bases[1])};
    Vec sum[2] = {sums[0] * broadcast(correction_[m]), sums[1] * broadcast(correction_[m + 1])};
    const Index groups = (cols + 15) / 16;
    for (Index g0 = 0; g0 < groups; g0 += 4) {
      with_groups(groups - g0, [&](auto n_groups) {
        constexpr int N = n_groups;
#pragma GCC unroll 2
        for (int i = 0; i < 2; ++i) {
          const float* x = scores_[m + i] + 16 * g0;
          Vec p[4] = {zero(), zero(), zero(), zero()};
#pragma GCC unroll 4
          for (int n = 0; n < N; ++n) {
            p[n] = exp2<T>(fms(load(x + 16 * n), c, base[i]));
            sum[i] = sum[i] + p[n];
            if constexpr (Drop) {
              p[n] = keep(masks_[g0 / 4].keep[m + i][n], p[n]);
            }
          }
          store_p(m + i, g0, p);
        }
      });
    }
    sums[0] = sum[0];
    sums[1] = sum[1];
  }

  void store_p(Index m, Index g0, const Vec (&p)[4]) {
    if constexpr (kPack<T> == 1) {
#pragma GCC unroll 4
      for (int n = 0; n < 4; ++n) {
        store(scores_[m] + 16 * (g0 + n), round_operand<T>(p[n]));
      }
    } else {
      store_row_pairs(p_[m] + 8 * g0, p[0], p[1]);
      store_row_pairs(p_[m] + 8 * g0 + 16, p[2], p[3]);
    }
  }

  /// Computes o = o * correction + P V of 6 rows x 16 N columns, from word `first` of P on.
  template <int N>
  [[gnu::noinline]] void add_values(float* o, Index first, const float* v, Index steps) {
    const Index stride = dv_.columns();
    Block<N> acc;
    for_block<N>([&](int m, int n) {
      acc[m][n] = load(o + m * stride + 16 * n) * broadcast(correction_[m]);
    });
    accumulate<T, N>(acc, {(kPack<T> == 1 ? scores_[0] : p_[0]) + first, kStride, 1}, v, steps);
    for_block<N>([&](int m, int n) { store(o + m * stride + 16 * n, acc[m][n]); });
  }

  /// Divides by the sums, writes the output and lse = maximum + log(sum); a row that saw no key
  /// gets zeros.
  template <class Output>
  void finish(Index q0, Index rows, const HeadRows<Output>& o) {
    const float keep_scale = Drop ? dropout_.keep_scale() : 1.f;
    float* lse = problem_.lse + problem_.lse_offset(batch_, head_) + q0;
    float sums[kQueryBlock];
    for (Index r = 0; r < rows; r += 16) {
      reduce_rows(reinterpret_cast<const Vec(&)[16]>(sum_[r]), sums + r, 16);
    }
    for (Index r = 0; r < rows; ++r) {
      const float sum = sums[r];
      const bool hidden = sum == 0.f;
      const Vec factor = broadcast(hidden ? 0.f : keep_scale / sum);
      for (Index c = 0; c < dv_.columns(); c += 16) {
        dv_.store_columns(o.row(r), c, load(o_ + r * dv_.columns() + c) * factor);
      }
      lse[r] = hidden ? -kInfinity : max_[r] * problem_.scale + std::log(sum);
    }
  }

  const ForwardProblem<T>& problem_;
  const Index batch_, head_;
  TaskQueue* const queue_;
  const Index keys_;
  RowFetcher<T> fetcher_;
  Index packed_ = 0;  // keys
  bool next_fetched_ = false;
  const HeadSize<T, D> d_, dv_;
  const KeyPanels panels_;
  const Visibility visible_;
  const SoftCap cap_;
  const HeadDropout dropout_;
  float *k_transposed_, *v_panels_;  // [keys / 64][words][64], [panels][keys / pack][64]
  float *q_, *o_;                    // [96][words], [96][columns]
  HeadBias bias_;                    // in units of raw scores
  alignas(64) float scores_[kRows][kKeyBlock + kPad];  // one word a step: P in place
  alignas(64) float p_[kRows][kKeyBlock / 2 + kPad];   // bf16: words of P
  alignas(64) float correction_[16];
  KeepMasks masks_[kKeyBlock / kCols];
  float max_[kQueryBlock];  // of the raw scores
  Vec sum_[kQueryBlock];    // 16 partial sums a row
};

}  // namespace

template <class T>
Index forward_words(const ForwardProblem<T>& problem) {
  return ForwardHead<T, 0, false>::words(problem);
}

template <class T>
void forward_task(const ForwardProblem<T>& problem, Index task, float* work, TaskQueue* queue) {
  with_head_kind(problem, [&](auto size, auto drop) {
    ForwardHead<T, size, drop>(problem, task, work, queue).run();
  });
}

template Index forward_words(const ForwardProblem<float>&);
template Index forward_words(const ForwardProblem<BFloat16>&);
template Index forward_words(const ForwardProblem<Float16>&);
template void forward_task(const ForwardProblem<float>&, Index, float*, TaskQueue*);
template void forward_task(const ForwardProblem<BFloat16>&, Index, float*, TaskQueue*);
template void forward_task(const ForwardProblem<Float16>&, Index, float*, TaskQueue*);

}  // namespace mpitron::kernels::host::attention
