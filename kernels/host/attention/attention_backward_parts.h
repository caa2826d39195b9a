#pragma once
#include <array>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "kernels/host/attention/attention_tile.h"

namespace mpitron::kernels::host::attention {

/// Queries and keys that the workspace of a backward pass holds at once.
struct BackwardRooms {
  Index queries, keys;
};

/// Returns them: all, but where each tile sees few queries of a causal window, whose rows then lie
/// in the same memory one after another, which stays in the second cache. The gradients of keys
/// that several heads share have to be kept.
template <class T>
BackwardRooms backward_rooms(const BackwardProblem<T>& problem) {
  const Index queries = round_up(problem.s, kRows);
  const Index keys = round_up(round_up(problem.s_kv, kRows), kCols);
  const Visibility visible{problem.s, problem.s_kv, problem.causal, problem.window,
                           problem.positions};
  if (!visible.causal || !visible.ranges || problem.seen_until ||
      tile_extents<T>(problem.window).queries != kQueryTile) {
    return {queries, keys};
  }
  return {std::min(queries, 2 * kQueryTile),
          problem.n == problem.g ? std::min(keys, kKeyTile) : keys};
}

/// The parts of a group's workspace. Those of queries and of keys point to where row 0 would lie.
class BackwardParts {
 protected:
  float *k_transposed_, *v_transposed_, *k_panels_, *q_rows_, *q_panels_, *do_rows_, *do_panels_;
  float *dq_, *dk_, *dv_sum_;  // fp32 [queries or keys][columns]
  float *delta_, *lse2_;       // [queries]
  float *p_, *ds_, *ds_rows_;  // one tile

  static constexpr Index kTileStride =
      kKeyTile + kTileRest;  // of p_, ds_: words [query / pack][key]
  static constexpr Index kRowStride =
      (kKeyTile + kTileRest) / 2 + 8;  // of ds_rows_ (bf16): [query][key / 2]

  /// Words of the parts in the order of `lay_out`, all multiples of 16. Rows that are a panel lie
  /// where the panel does.
  template <class T, int D>
  static std::array<Index, 15> part_words(const BackwardProblem<T>& problem) {
    const HeadSize<T, D> d(problem.d), dv(problem.dv);
    const auto [queries, keys] = backward_rooms(problem);
    const Index query_pairs = queries / kPack<T> * kCols, key_pairs = keys / kPack<T> * kCols;
    const Index tile = kQueryTile / kPack<T> * kTileStride;
    return {keys * d.words(),
            keys * dv.words(),
            key_pairs * d.panels(),
            d.rows_are_panel() ? 0 : queries * d.words(),
            query_pairs * d.panels(),
            dv.rows_are_panel() ? 0 : queries * dv.words(),
            query_pairs * dv.panels(),
            queries * d.columns(),
            keys * d.columns(),
            keys * dv.columns(),
            round_up(queries, 16),
            round_up(queries, 16),
            tile,
            tile,
            kPack<T> == 1 ? 0 : kQueryTile * kRowStride};
  }

  /// Lets the parts lie one behind another from `work` on; returns what is behind them.
  float* lay_out(const std::array<Index, 15>& words, float* work) {
    float** const parts[] = {&k_transposed_, &v_transposed_, &k_panels_, &q_rows_, &q_panels_,
                             &do_rows_,      &do_panels_,    &dq_,       &dk_,     &dv_sum_,
                             &delta_,        &lse2_,         &p_,        &ds_,     &ds_rows_};
    for (std::size_t i = 0; i < words.size(); ++i) {
      *parts[i] = std::exchange(work, work + words[i]);
    }
    return work;
  }

  /// A part with `width` words a row in each of its panels.
  struct Part {
    float* BackwardParts::*rows;
    Index width;
    Index panels = 1;
  };
  /// Lets parts of `room` rows, which begin with row `from`, begin with row `to`; rows [to, end)
  /// stay.
  void slide(std::initializer_list<Part> parts, Index room, Index from, Index to, Index end) {
    for (const Part& part : parts) {
      float*& rows = this->*part.rows;
      for (Index panel = 0; panel < part.panels && to < end; ++panel) {
        float* const row = rows + panel * room * part.width;
        std::memmove(row + from * part.width, row + to * part.width,
                     static_cast<std::size_t>((end - to) * part.width) * sizeof(float));
      }
      rows -= (to - from) * part.width;
    }
  }
};

}  // namespace mpitron::kernels::host::attention
