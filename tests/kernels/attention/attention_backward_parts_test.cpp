#include "kernels/host/attention/attention_backward_parts.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::kernels::host::attention {
namespace attention_backward_parts_test {

BackwardProblem<float> problem(Index s, Index window) {
  BackwardProblem<float> out;
  out.s = out.s_kv = s;
  out.n = out.g = 2;
  out.window = window;
  out.positions = last_positions(s, s);
  return out;
}

TEST(AttentionBackwardParts, HoldFewRowsOfNarrowWindows) {
  const auto [queries, keys] = backward_rooms(problem(6000, 127));
  EXPECT_EQ(queries, 2 * kQueryTile);
  EXPECT_EQ(keys, kKeyTile);
  const BackwardRooms few = backward_rooms(problem(100, 127));
  EXPECT_EQ(few.queries, 102);
  EXPECT_EQ(few.keys, 128);
}

TEST(AttentionBackwardParts, HoldAllRowsWhereTilesMayWantThem) {
  const auto holds_all = [](const BackwardProblem<float>& p) {
    const auto [queries, keys] = backward_rooms(p);
    return queries == 6000 && keys == 6016;
  };
  EXPECT_TRUE(holds_all(problem(6000, -1)));
  EXPECT_TRUE(holds_all(problem(6000, 511)));
  auto open = problem(6000, 127), cut = open, shared = open;
  open.causal = false;
  EXPECT_TRUE(holds_all(open));
  cut.positions.keys.split = 3000;
  EXPECT_TRUE(holds_all(cut));
  shared.g = 1;  // the gradients of keys are sums over heads
  EXPECT_EQ(backward_rooms(shared).queries, 2 * kQueryTile);
  EXPECT_EQ(backward_rooms(shared).keys, 6016);
}

struct Parts : BackwardParts {
  using BackwardParts::BackwardParts;

  /// Two panels of ten rows of three words, and ten rows of one, slide from row 4 to row 9; rows 9
  /// to 13 stay.
  void check() {
    std::vector<float> panels(60), rows(10);
    std::iota(panels.begin(), panels.end(), 0.F);
    std::iota(rows.begin(), rows.end(), 100.F);
    q_panels_ = panels.data() - 4 * 3;
    delta_ = rows.data() - 4;
    slide({{&Parts::q_panels_, 3, 2}, {&Parts::delta_, 1}}, 10, 4, 9, 14);
    EXPECT_EQ(q_panels_ + 9 * 3, panels.data());
    EXPECT_EQ(delta_ + 9, rows.data());
    for (Index row = 9; row < 14; ++row) {
      EXPECT_EQ(delta_[row], static_cast<float>(100 + row - 4));
      for (Index i = 0; i < 3; ++i) {
        EXPECT_EQ(q_panels_[row * 3 + i], static_cast<float>((row - 4) * 3 + i));
        EXPECT_EQ(q_panels_[(10 + row) * 3 + i], static_cast<float>((10 + row - 4) * 3 + i));
      }
    }
    slide({{&Parts::delta_, 1}}, 10, 9, 0, 0);  // nothing stays
    EXPECT_EQ(delta_, rows.data());
    EXPECT_EQ(rows[0], 105.F);
  }
};

TEST(AttentionBackwardParts, KeepRowsThatSlide) {
  Parts().check();
}

}  // namespace attention_backward_parts_test
}  // namespace mpitron::kernels::host::attention
