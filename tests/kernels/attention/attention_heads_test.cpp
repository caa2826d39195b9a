#include "kernels/host/attention/attention_heads.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::kernels::host::attention {
namespace attention_heads_test {

struct Kind {
  int size;
  bool drop;
  bool operator==(const Kind&) const = default;
};

template <class T>
Kind kind_of(Index d, Index dv, double dropout) {
  Problem<T> problem;
  problem.d = d;
  problem.dv = dv;
  problem.dropout.threshold = dropout_threshold(dropout);
  Kind kind{-1, false};
  int calls = 0;
  with_head_kind(problem, [&](auto size, auto drop) {
    kind = {size, drop};
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  return kind;
}

TEST(AttentionHeads, CommonSizesHaveCodeOfTheirOwn) {
  EXPECT_EQ(kind_of<float>(64, 64, 0), (Kind{64, false}));
  EXPECT_EQ(kind_of<BFloat16>(128, 128, 0.1), (Kind{128, true}));
}

TEST(AttentionHeads, AllOthersAreReadAtRunTime) {
  EXPECT_EQ(kind_of<float>(64, 128, 0), (Kind{0, false}));  // each alone would be one of them
  EXPECT_EQ(kind_of<BFloat16>(128, 64, 0.5), (Kind{0, true}));
  EXPECT_EQ(kind_of<float>(63, 63, 0), (Kind{0, false}));
  EXPECT_EQ(kind_of<Float16>(64, 64, 0.1), (Kind{0, true}));
}

TEST(AttentionHeads, UnitsOfTheExponent) {
  EXPECT_FLOAT_EQ(kLog2e, static_cast<float>(1 / std::log(2.0)));
}

}  // namespace attention_heads_test
}  // namespace mpitron::kernels::host::attention
