#include "ops/attention/qkv_layout.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::ops {
namespace qkv_layout_test {

/// Four query heads in two groups, d = 2: memory order q0 q1 k0 v0 q2 q3 k1 v1.
class QkvLayoutTest : public ::testing::Test {
 protected:
  QkvLayoutTest() { std::iota(memory_.begin(), memory_.end(), 0.f); }

  template <class... At>
  static float element(const device::ConstTensorView& x, At... at) {
    Index offset = 0;
    int dim = 0;
    ((offset += at * x.stride(dim++)), ...);
    return x.as<float>()[offset];
  }

  QkvLayout layout_{.heads = 4, .query_groups = 2, .head_dim = 2};
  std::vector<float> memory_ = std::vector<float>(3 * 2 * 16);
  device::ConstTensorView qkv_{memory_.data(), DType::f32, {3, 2, 16}};
};

TEST_F(QkvLayoutTest, CountsTheFusedWidth) {
  EXPECT_EQ(layout_.queries_per_group(), 2);
  EXPECT_EQ(layout_.width(), 16);
}

TEST_F(QkvLayoutTest, FindsQueriesKeysAndValuesOfEachGroup) {
  const auto q = layout_.queries(qkv_), k = layout_.keys(qkv_), v = layout_.values(qkv_);
  EXPECT_EQ(q.shape, (Shape{3, 2, 2, 2, 2}));
  EXPECT_EQ(k.shape, (Shape{3, 2, 2, 2}));
  const float row = (2 * 2 + 1) * 16;  // s = 2, b = 1
  EXPECT_EQ(element(q, 2, 1, 0, 0, 0), row);
  EXPECT_EQ(element(q, 2, 1, 0, 1, 1), row + 3);
  EXPECT_EQ(element(q, 2, 1, 1, 0, 0), row + 8);
  EXPECT_EQ(element(k, 2, 1, 0, 0), row + 4);
  EXPECT_EQ(element(k, 2, 1, 1, 1), row + 13);
  EXPECT_EQ(element(v, 2, 1, 0, 0), row + 6);
  EXPECT_EQ(element(v, 2, 1, 1, 1), row + 15);
}

TEST_F(QkvLayoutTest, ValuesHaveAWidthOfTheirOwn) {
  const QkvLayout layout{.heads = 2, .query_groups = 2, .head_dim = 3, .value_dim = 2};
  EXPECT_EQ(layout.width(), 16);
  EXPECT_EQ(layout.values(qkv_).shape, (Shape{3, 2, 2, 2}));
  EXPECT_EQ(element(layout.keys(qkv_), 0, 0, 1, 0), 8 + 3);
  EXPECT_EQ(element(layout.values(qkv_), 0, 0, 1, 1), 8 + 7);
  EXPECT_EQ(layout.keys_and_values(qkv_).shape, (Shape{3, 2, 2, 5}));
}

TEST_F(QkvLayoutTest, NeighbouringHeadsOfAGroupAreOneView) {
  const auto rotated = layout_.heads_of_groups(qkv_, 0, 3);
  EXPECT_EQ(rotated.shape, (Shape{3, 4, 3, 2}));
  const float row = 1 * 32;                                // s = 1
  EXPECT_EQ(element(rotated, 1, 0, 2, 0), row + 4);        // b 0, group 0: k0
  EXPECT_EQ(element(rotated, 1, 1, 0, 0), row + 8);        // b 0, group 1: q2
  EXPECT_EQ(element(rotated, 1, 3, 2, 1), row + 16 + 13);  // b 1, group 1: k1
}

}  // namespace qkv_layout_test
}  // namespace mpitron::ops
