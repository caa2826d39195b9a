#include "kernels/host/attention/attention_problem.h"

#include <gtest/gtest.h>

#include "support/test_values.h"
#include "tests/kernels/visibility_cases.h"

namespace mpitron::kernels::host::attention {
namespace attention_problem_test {

TEST(AttentionProblem, RowsOfHeadsThatAreNotEvenlySpaced) {
  float data[1];
  const Heads<float> heads{data, 9, 1000, 100, 3, 40, 7};  // [s, b, 2, 3, d] of a fused tensor
  for (const Index first : {0, 4}) {
    for (Index batch = 0; batch < 2; ++batch) {
      for (Index head = 0; head < 6; ++head) {
        const HeadRows<float> rows = heads.rows(batch, head, first);
        EXPECT_EQ(rows.valid, 9 - first);
        EXPECT_EQ(rows.row(2) - data,
                  (first + 2) * 1000 + batch * 100 + head / 3 * 40 + head % 3 * 7);
      }
    }
  }
}

TEST(AttentionProblem, TheVisibleKeysAreOneRange) {
  for (const Visibility& v : visibility_cases()) {
    for (Index row = 0; row < v.s; ++row) {
      for (Index key = 0; key < v.s_kv; ++key) {
        ASSERT_EQ(v.begin(row) <= key && key < v.end(row), sees(v, row, key))
            << row << " of " << v.s << ", " << key << " of " << v.s_kv << " window " << v.window;
      }
    }
  }
}

TEST(AttentionProblem, AllMeansEveryKeyOfEveryRow) {
  Index full = 0;
  for (const Visibility& v : visibility_cases()) {
    for (Index row = 0; row + kRows <= v.s; row += kRows) {
      for (Index first = 0; first + 16 <= v.s_kv; first += 16) {
        bool every = true;
        for (Index i = 0; i < kRows * 16; ++i) {
          every &= sees(v, row + i / 16, first + i % 16);
        }
        EXPECT_EQ(v.all(row, first, first + 16), every) << row << ", " << first;
        full += every ? 1 : 0;
      }
    }
  }
  EXPECT_GT(full, 1000);
}

TEST(AttentionProblem, LanesObeyTheMaskAndTheEnd) {
  for (Visibility v : visibility_cases()) {
    const Index columns = v.positions.keys(v.s_kv - 1) + 1;
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(v.s * columns));
    const auto random = test::test_values(v.s * columns, 1);
    for (std::size_t i = 0; i < mask.size(); ++i) {
      mask[i] = random[i] > 0 ? 1 : 0;
    }
    for (const bool masked : {false, true}) {
      v.mask = masked ? mask.data() : nullptr;
      v.mask_stride = columns;
      for (Index row = 0; row < v.s; row += 3) {
        for (Index col = 0; col < round_up(v.s_kv, 16); col += 16) {
          const Mask16 lanes = v.lanes(row, col);
          for (Index i = 0; i < 16; ++i) {
            const Index at = row * columns + v.positions.keys(col + i);
            const bool open =
                sees(v, row, col + i) && !(masked && mask[static_cast<std::size_t>(at)]);
            ASSERT_EQ(lanes >> i & 1, open ? 1 : 0) << row << ", " << col + i;
          }
        }
      }
    }
  }
}

TEST(AttentionProblem, ABlockKnowsWhatEachOfItsRowsSees) {
  Index seen = 0, hidden = 0;
  for (const Visibility& v : visibility_cases()) {
    for (Index row = 0; row + kRows <= v.s; row += kRows) {
      for (Index col = 0; col < v.s_kv; col += kCols) {
        const SeenColumns block = v.block(row, col);
        for (int m = 0; m < kRows; ++m) {
          for (int c = 0; c < kCols; ++c) {
            const bool open = sees(v, row + m, col + c);
            ASSERT_EQ(block.lanes(m, c / 16) >> c % 16 & 1, open ? 1 : 0)
                << row + m << ", " << col + c;
            ++(open ? seen : hidden);
          }
        }
      }
    }
  }
  EXPECT_GT(std::min(seen, hidden), 10000);
}

TEST(AttentionProblem, KeysHiddenFromEveryQueryAtTheEndNeedNoMask) {
  std::uint8_t bytes[3][1][5] = {{{0, 0, 0, 1, 1}}, {{0, 1, 0, 0, 1}}, {{1, 1, 1, 1, 1}}};
  Problem<float> problem;
  problem.s = 4;
  problem.s_kv = 5;
  problem.causal = false;
  problem.positions = last_positions(4, 5);
  problem.mask = In(bytes, DType::u8, {3, 1, 5});
  EXPECT_EQ(problem.visibility(0).mask, nullptr);
  EXPECT_EQ(problem.visibility(0).end(3), 3);
  EXPECT_TRUE(problem.visibility(0).all(0, 0, 3));
  EXPECT_EQ(problem.visibility(1).mask, bytes[1][0]);
  EXPECT_EQ(problem.visibility(1).mask_stride, 0);
  EXPECT_EQ(problem.visibility(1).columns(3, 0), 0b1101U);
  EXPECT_EQ(problem.visibility(2).end(3), 0);
}

TEST(AttentionProblem, AMaskOfOneSampleServesAll) {
  std::uint8_t bytes[3 * 2 * 5] = {};
  Problem<float> problem;
  problem.s = 2;
  problem.s_kv = 5;
  problem.mask = In(bytes, DType::u8, {3, 2, 5});
  EXPECT_EQ(problem.visibility(2).mask, bytes + 20);
  EXPECT_EQ(problem.visibility(2).mask_stride, 5);
  problem.mask = In(bytes, DType::u8, {1, 2, 5});
  EXPECT_EQ(problem.visibility(2).mask, bytes);
  problem.mask = {};
  EXPECT_EQ(problem.visibility(2).mask, nullptr);
  problem.lse_stride_b = 70;
  problem.lse_stride_n = 9;
  EXPECT_EQ(problem.lse_offset(2, 3), 167);
}

}  // namespace attention_problem_test
}  // namespace mpitron::kernels::host::attention
