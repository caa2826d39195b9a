// Computes the backward pass of attention (Dao et al. 2022: scores are made again from q, k and
// lse). Numerical contract: products and sums in fp32, P and dS rounded to the inputs' type before
// they enter a product; tiles of `tile_extents` queries x keys in a fixed order, dK and dV
// over the heads of a group in their order.
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/host/attention/attention_backward_parts.h"
#include "kernels/host/attention/attention_bias.h"
#include "kernels/host/attention/attention_cap.h"
#include "kernels/host/attention/attention_dropout.h"
#include "kernels/host/attention/attention_fetch.h"
#include "kernels/host/attention/attention_heads.h"

namespace mpitron::kernels::host::attention {
namespace {

/// Computes one kv head with its group of query heads, which run one after another into the same dK
/// and dV: no sum is shared between threads.
template <class T, int D, bool Drop>
class BackwardGroup : BackwardParts {
 public:
  BackwardGroup(const BackwardProblem<T>& problem, Index task, float* work, TaskQueue* queue)
      : problem_(problem),
        batch_(task / problem.g),
        group_(task % problem.g),
        queue_(queue),
        queries_(round_up(problem.s, kRows)),
        rooms_(backward_rooms(problem)),
        d_(problem.d),
        dv_(problem.dv),
        extents_(tile_extents<T>(problem.window)),
        panels_(round_up(problem.s_kv, kRows), Drop || rooms_.keys < problem.s_kv),
        visible_(problem.visibility(batch_)),
        cap_(problem) {
    work = lay_out(part_words<T, D>(problem), work);
    bias_ = HeadBias(problem, work);
    bias_sums_ = HeadBias(problem, work + HeadBias::words(problem));
  }
  static Index words(const BackwardProblem<T>& problem) {
    const auto sizes = part_words<T, D>(problem);
    return std::accumulate(sizes.begin(), sizes.end(), 2 * HeadBias::words(problem));
  }

  void run() {
    const Index heads = problem_.n / problem_.g;
    for (Index i = 0; i < heads; ++i) {
      first_of_group_ = i == 0;
      last_of_group_ = i == heads - 1;
      run_head(group_ * heads + i);
    }
  }

 private:
  /// Computes a query head: for each block of keys tiles run over the queries. Rows are packed when
  /// the first tile wants them and gradients written behind the last, to find them in a cache.
  void run_head(Index head) {
    const auto& p = problem_;
    head_ = head;
    packed_queries_ = written_queries_ = fetched_queries_ = fetched_gradients_ = 0;
    begin_queries(0);
    next_fetched_ = false;
    bias_.read(p, head);
    bias_sums_.clear();
    Index begin = 0;  // the first queries that see the keys from k0 on
    for (Index k0 = 0, k_end = 0; k0 < p.s_kv; k0 = k_end) {
      k_end = extents_.last_key(k0, round_up(p.s_kv, kRows));
      if (first_of_group_) {
        begin_keys(k0);
        pack_keys(k_end);
      }
      begin = first_seeing(begin, k0);
      write_queries(begin);
      run_tiles(begin, k0, k_end);
      if (last_of_group_) {
        write_keys(k0, k_end - k0);
      }
    }
    write_queries(queries_);
    bias_sums_.write(p.dbias, batch_, head);
  }

  /// Returns the first queries from `row` on that see keys from `key` on.
  Index first_seeing(Index row, Index key) const {
    while (row < queries_ && visible_.end(row + kRows - 1) <= key) {
      row += kRows;
    }
    return row;
  }

  void run_tiles(Index begin, Index k0, Index k_end) {
    bool asked = false;
    for (Index q0 = begin, q_end = 0; q0 < queries_ && visible_.begin(q0) < k_end; q0 = q_end) {
      q_end = extents_.last_query(q0, queries_);
      const Tile tile(visible_, q0, q_end, k0, k_end);
      if (!tile.empty()) {
        pack_queries(q_end);
        if (!asked && !next_fetched_) {
          fetcher_.clear();
        }
        fetch_queries();
        if (!std::exchange(asked, true)) {
          fetch_keys(begin, k0, k_end);
        }
        run_tile(tile);
      }
    }
  }

  /// Asks for the queries that are packed next.
  void fetch_queries() {
    const Index end = packed_queries_ + std::min(extents_.queries, extents_.keys);
    const Index first = std::max(packed_queries_, std::exchange(fetched_queries_, end));
    fetch_queries(batch_, head_, first, end);
  }
  void fetch_queries(Index batch, Index head, Index first, Index end) {
    fetcher_.add(problem_.q.rows(batch, head, first), end - first, d_.size());
    fetcher_.add(problem_.d_o.rows(batch, head, first), end - first, dv_.size());
    fetcher_.add(problem_.o.rows(batch, head, first), end - first, dv_.size());
  }
  /// Asks for what the tiles of the keys [k0, k_end), which queries from `begin` on see, complete,
  /// and for the keys behind them.
  void fetch_keys(Index begin, Index k0, Index k_end) {
    const auto& p = problem_;
    const Index complete = k_end < p.s_kv ? first_seeing(begin, k_end) : queries_;
    const Index first = std::exchange(fetched_gradients_, complete);
    const auto add = [&](Index count, HeadSize<T, D> head) {
      return [this, count, head](const auto& to) { fetcher_.add(to, count, head.size()); };
    };
    p.dq.with_rows(batch_, head_, first, add(complete - first, d_));
    if (first_of_group_) {
      fetch_keys(batch_, group_, packed_keys_, extents_.keys);
    }
    if (last_of_group_) {
      p.dk.with_rows(batch_, group_, k0, add(k_end - k0, d_));
      p.dv_out.with_rows(batch_, group_, k0, add(k_end - k0, dv_));
    }
    if (k_end + extents_.keys >= p.s_kv && !std::exchange(next_fetched_, true)) {
      fetch_next_head();
    }
  }
  void fetch_keys(Index batch, Index group, Index first, Index count) {
    fetcher_.add(problem_.k.rows(batch, group, first), count, d_.size());
    fetcher_.add(problem_.v.rows(batch, group, first), count, dv_.size());
  }
  /// Asks for the first rows of the head behind this one.
  void fetch_next_head() {
    const Index heads = problem_.n / problem_.g;
    if (!last_of_group_) {
      return fetch_queries(batch_, head_ + 1, 0, extents_.queries);
    }
    const Index task = queue_ != nullptr ? queue_->coming() : TaskQueue::kNone;
    if (task != TaskQueue::kNone) {
      const Index batch = task / problem_.g, group = task % problem_.g;
      fetch_keys(batch, group, 0, extents_.keys);
      fetch_queries(batch, group * heads, 0, extents_.queries);
    }
  }

  /// Lets the parts of queries begin with query `to`; what is packed from there on stays.
  void begin_queries(Index to) {
    constexpr Index kPanelWidth = kCols / kPack<T>;
    slide({{&BackwardGroup::q_rows_, d_.words(), d_.rows_are_panel() ? 0 : 1},
           {&BackwardGroup::q_panels_, kPanelWidth, d_.panels()},
           {&BackwardGroup::do_rows_, dv_.words(), dv_.rows_are_panel() ? 0 : 1},
           {&BackwardGroup::do_panels_, kPanelWidth, dv_.panels()},
           {&BackwardGroup::dq_, d_.columns()},
           {&BackwardGroup::delta_, 1},
           {&BackwardGroup::lse2_, 1}},
          rooms_.queries, std::exchange(first_query_, to), to, packed_queries_);
  }
  /// Lets the parts of keys begin with key `to` if they are full: all before it are done.
  void begin_keys(Index to) {
    if (to - first_key_ == rooms_.keys) {
      slide({{&BackwardGroup::k_transposed_, d_.words()},
             {&BackwardGroup::v_transposed_, dv_.words()},
             {&BackwardGroup::k_panels_, kCols / kPack<T>},
             {&BackwardGroup::dk_, d_.columns()},
             {&BackwardGroup::dv_sum_, dv_.columns()}},
            rooms_.keys, std::exchange(first_key_, to), to, to);
    }
  }

  /// Packs the keys before `end`, and clears their gradients.
  void pack_keys(Index end) {
    const Index first = packed_keys_;
    packed_keys_ = round_up(end, kCols);
    const Index count = packed_keys_ - first;
    const auto k = problem_.k.rows(batch_, group_, first),
               v = problem_.v.rows(batch_, group_, first);
    pack_transposed(k_transposed_, d_, k, panels_, first, packed_keys_);
    pack_transposed(v_transposed_, dv_, v, panels_, first, packed_keys_);
    pack_panels(k_panels_ + first / kPack<T> * kCols, d_, k, count, rooms_.keys);
    std::fill_n(dk_ + first * d_.columns(), count * d_.columns(), 0.f);
    std::fill_n(dv_sum_ + first * dv_.columns(), count * dv_.columns(), 0.f);
  }

  /// Packs the queries before `end`, and clears their gradients.
  void pack_queries(Index end) {
    if (end - first_query_ > rooms_.queries) {
      begin_queries(written_queries_);
    }
    const Index first = packed_queries_, count = std::max<Index>(0, end - first);
    packed_queries_ = first + count;
    pack_both(q_rows_, q_panels_, d_, problem_.q.rows(batch_, head_, first), first, count);
    pack_both(do_rows_, do_panels_, dv_, problem_.d_o.rows(batch_, head_, first), first, count);
    std::fill_n(dq_ + first * d_.columns(), count * d_.columns(), 0.f);
    prepare_rows(first, count);
  }
  void pack_both(float* rows, float* panels, HeadSize<T, D> head, const HeadRows<const T>& from,
                 Index first, Index count) const {
    pack_rows(rows + first * head.words(), head, from, count);
    if (!head.rows_are_panel()) {
      pack_panels(panels + first / kPack<T> * kCols, head, from, count, rooms_.queries);
    }
  }

  /// Writes the gradients of the queries before `end`, which are complete.
  void write_queries(Index end) {
    while (written_queries_ < end) {
      const Index first = written_queries_, last = std::min(end, first + kQueryTile);
      pack_queries(last);  // those that see nothing have zeros
      problem_.dq.with_rows(batch_, head_, first, [&](const auto& to) {
        write(to, last - first, d_, dq_ + first * d_.columns(), problem_.scale);
      });
      written_queries_ = last;
    }
  }
  void write_keys(Index first, Index count) const {
    const auto& p = problem_;
    p.dk.with_rows(batch_, group_, first, [&](const auto& to) {
      write(to, count, d_, dk_ + first * d_.columns(), p.scale);
    });
    p.dv_out.with_rows(batch_, group_, first, [&](const auto& to) {
      write(to, count, dv_, dv_sum_ + first * dv_.columns(), Drop ? p.dropout.keep_scale() : 1.f);
    });
  }

  /// delta = rowsum(dO O) and lse in units of log 2; padded rows get 0 and rows that see nothing
  /// +inf, which makes their P 0.
  void prepare_rows(Index first, Index count) {
    const auto o = problem_.o.rows(batch_, head_, first);
    const auto d_o = problem_.d_o.rows(batch_, head_, first);
    const float* lse = problem_.lse + problem_.lse_offset(batch_, head_) + first;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (Index begin = 0; begin < count; begin += 16) {
      Vec sums[16];
      const Index rows = std::min<Index>(16, count - begin);
      for (Index i = 0; i < 16; ++i) {
        const Index r = begin + i;
        const bool there = first + r < problem_.s && i < rows;
        sums[i] = zero();
        if (there) {
          o.fetch(r + kRowsAhead, dv_.size());
          for (Index c = 0; c < dv_.columns(); c += 16) {
            sums[i] = fma(dv_.load_columns(o.row(r), c), dv_.load_columns(d_o.row(r), c), sums[i]);
          }
          lse2_[first + r] = lse[r] == -kInfinity ? kInfinity : lse[r] * kLog2e;
        } else if (i < rows) {
          lse2_[first + r] = 0;
        }
      }
      reduce_rows(sums, delta_ + first + begin, rows);
    }
  }

  /// Adds one tile's contributions: dV += P^T dO, dK += dS^T Q, dQ += dS K.
  void run_tile(const Tile& tile) {
    const HeadDropout dropout(problem_.dropout, problem_.positions.keys, batch_, head_);
    tile.for_blocks(panels_, [&](Index row, Index col, auto groups) {
      fetcher_.some();
      gradients<groups>(dropout, row, col, row - tile.q0(), col - tile.k0());
    });
    dv_.for_panels([&](Index panel, auto groups) {
      tile.for_key_rows([&](Index key, Index first, Index last) {
        fetcher_.some();
        add_product<groups>(dv_sum_ + key * dv_.columns() + panel * kCols, dv_.columns(),
                            columns_of(p_, tile, key, first),
                            do_panels_ + (panel * rooms_.queries + first) / kPack<T> * kCols,
                            (last - first) / kPack<T>);
      });
    });
    d_.for_panels([&](Index panel, auto groups) {
      tile.for_key_rows([&](Index key, Index first, Index last) {
        fetcher_.some();
        add_product<groups>(dk_ + key * d_.columns() + panel * kCols, d_.columns(),
                            columns_of(ds_, tile, key, first),
                            q_panels_ + (panel * rooms_.queries + first) / kPack<T> * kCols,
                            (last - first) / kPack<T>);
      });
      tile.for_query_rows([&](Index row, Index first, Index last) {
        fetcher_.some();
        add_product<groups>(dq_ + row * d_.columns() + panel * kCols, d_.columns(),
                            rows_of_ds(tile, row, first),
                            k_panels_ + (panel * rooms_.keys + first) / kPack<T> * kCols,
                            (last - first) / kPack<T>);
      });
    });
  }

  /// P^T or dS^T: six keys, from query `first` on.
  static RowOperand columns_of(const float* words, const Tile& tile, Index key, Index first) {
    return {words + (first - tile.q0()) / kPack<T> * kTileStride + key - tile.k0(), 1, kTileStride};
  }
  /// dS: six queries, from key `first` on. With one step a word, one copy is read both ways.
  RowOperand rows_of_ds(const Tile& tile, Index row, Index first) const {
    if constexpr (kPack<T> == 1) {
      return {ds_ + (row - tile.q0()) * kTileStride + first - tile.k0(), kTileStride, 1};
    } else {
      return {ds_rows_ + (row - tile.q0()) * kRowStride + (first - tile.k0()) / 2, kRowStride, 1};
    }
  }

  template <int N>
  [[gnu::noinline]] static void add_product(float* c, Index stride, RowOperand a, const float* b,
                                            Index steps) {
    Block<N> acc;
    for_block<N>([&](int m, int n) { acc[m][n] = load(c + m * stride + 16 * n); });
    accumulate<T, N>(acc, a, b, steps);
    for_block<N>([&](int m, int n) { store(c + m * stride + 16 * n, acc[m][n]); });
  }

  /// Computes P = exp(scale QK^T - lse) and dS = P (dP - delta) of 6 rows x 16 N columns, to [r][c]
  /// of the tile. P enters dS as it is, and is rounded only for its own product.
  template <int N>
  [[gnu::noinline]] void gradients(const HeadDropout& dropout, Index row, Index col, Index r,
                                   Index c) {
    alignas(64) float p[kRows][kCols];
    Block<N> slopes;  // of the soft cap
    KeepMasks masks;
    [[maybe_unused]] const Index lead = col % kCols / 16;
    if constexpr (Drop) {
      masks = dropout.masks(row, round_down(col, kCols));
    }
    Block<N> acc;
    probabilities<N>(acc, slopes, row, col);
    for_block<N>([&](int m, int n) {
      store(p[m] + 16 * n, acc[m][n]);
      if constexpr (Drop) {
        acc[m][n] = keep(masks.keep[m][lead + n], acc[m][n]);
      }
    });
    store_tile<N>(p_, r, c, acc);
    fetcher_.some();
    for_block<N>([&](int m, int n) { acc[m][n] = zero(); });
    accumulate<T, N>(acc, {do_rows_ + row * dv_.words(), dv_.words(), 1},
                     v_transposed_ + dv_.transposed(panels_.place(col)), dv_.steps());
    [[maybe_unused]] const Vec keep_scale = broadcast(Drop ? dropout.keep_scale() : 1.f);
    for_block<N>([&](int m, int n) {
      if constexpr (Drop) {
        acc[m][n] = keep(masks.keep[m][lead + n], acc[m][n] * keep_scale);
      }
      acc[m][n] = load(p[m] + 16 * n) * (acc[m][n] - broadcast(delta_[row + m]));
    });
    bias_sums_.add<N>(acc, row, col);
    if (cap_.active()) {
      for_block<N>([&](int m, int n) { acc[m][n] = acc[m][n] * slopes[m][n]; });
    }
    store_tile<N>(ds_, r, c, acc);
    if constexpr (kPack<T> == 2) {
      store_rows<N>(ds_rows_ + r * kRowStride + c / 2, acc);
    }
  }

  template <int N>
  [[gnu::always_inline]] void probabilities(Block<N>& acc, Block<N>& slopes, Index row, Index col) {
    const bool all = visible_.all(row, col, col + 16 * N);
    const SeenColumns seen = all ? SeenColumns{} : visible_.block(row, col);
    for_block<N>([&](int m, int n) { acc[m][n] = zero(); });
    accumulate<T, N>(acc, {q_rows_ + row * d_.words(), d_.words(), 1},
                     k_transposed_ + d_.transposed(panels_.place(col)), d_.steps());
    if (cap_.active()) {
      cap_.bound<N>(acc);
      for_block<N>([&](int m, int n) { slopes[m][n] = acc[m][n]; });
      cap_.differentiate<N>(slopes);
    }
    bias_.add_to<N>(acc, row, col);
    const Vec c = broadcast(problem_.scale * kLog2e);
    for_block<N>(
        [&](int m, int n) { acc[m][n] = exp2<T>(fms(acc[m][n], c, broadcast(lse2_[row + m]))); });
    if (!all) {
      for_block<N>([&](int m, int n) { acc[m][n] = keep(seen.lanes(m, n), acc[m][n]); });
    }
  }

  /// Stores rows as they are, or (bf16) in pairs of rows: for the products that reduce over
  /// queries.
  template <int N>
  [[gnu::always_inline]] static void store_tile(float* tile, Index r, Index c, const Block<N>& x) {
    float* to = tile + r / kPack<T> * kTileStride + c;
    for_block<N>([&](int m, int n) {
      if constexpr (kPack<T> == 1) {
        store(to + m * kTileStride + 16 * n, round_operand<T>(x[m][n]));
      } else if (m % 2 == 0) {
        store_column_pairs(to + m / 2 * kTileStride + 16 * n, x[m][n], x[m + 1][n]);
      }
    });
  }

  /// Stores rows in pairs of columns: for the product that reduces over keys.
  template <int N>
  [[gnu::always_inline]] static void store_rows(float* to, const Block<N>& x) {
    for_block<N>([&](int m, int n) {
      if (n % 2 == 0) {
        store_row_pairs(to + m * kRowStride + 8 * n, x[m][n], n + 1 < N ? x[m][n + 1] : zero());
      }
    });
  }

  template <class Output>
  static void write(const HeadRows<Output>& to, Index count, HeadSize<T, D> head, const float* from,
                    float factor) {
    const Vec f = broadcast(factor);
    for (Index r = 0; r < std::min(count, to.valid); ++r) {
      to.fetch(r + kRowsAhead, head.size());
      for (Index c = 0; c < head.columns(); c += 16) {
        head.store_columns(to.row(r), c, load(from + r * head.columns() + c) * f);
      }
    }
  }

  const BackwardProblem<T>& problem_;
  const Index batch_, group_;
  TaskQueue* const queue_;
  const Index queries_;
  const BackwardRooms rooms_;
  const HeadSize<T, D> d_, dv_;
  const TileExtents extents_;
  const KeyPanels panels_;
  const Visibility visible_;
  const SoftCap cap_;
  RowFetcher<T> fetcher_;
  bool first_of_group_ = false, last_of_group_ = false;  // the present head
  Index head_ = 0;
  Index first_query_ = 0, first_key_ = 0;  // of the workspace's parts
  // The first keys or queries that are not packed, or written, yet.
  Index packed_keys_ = 0, packed_queries_ = 0, written_queries_ = 0;
  // The same of what is asked for, in this head and behind it.
  Index fetched_queries_ = 0, fetched_gradients_ = 0;
  bool next_fetched_ = false;
  HeadBias bias_;       // in units of raw scores
  HeadBias bias_sums_;  // gradients of the head's bias
};

}  // namespace

template <class T>
Index backward_words(const BackwardProblem<T>& problem) {
  return BackwardGroup<T, 0, false>::words(problem);
}

template <class T>
void backward_task(const BackwardProblem<T>& problem, Index task, float* work, TaskQueue* queue) {
  with_head_kind(problem, [&](auto size, auto drop) {
    BackwardGroup<T, size, drop>(problem, task, work, queue).run();
  });
}

template Index backward_words(const BackwardProblem<float>&);
template Index backward_words(const BackwardProblem<BFloat16>&);
template Index backward_words(const BackwardProblem<Float16>&);
template void backward_task(const BackwardProblem<float>&, Index, float*, TaskQueue*);
template void backward_task(const BackwardProblem<BFloat16>&, Index, float*, TaskQueue*);
template void backward_task(const BackwardProblem<Float16>&, Index, float*, TaskQueue*);

}  // namespace mpitron::kernels::host::attention
