#include "kernels/attention/attention_largest.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace attention_largest_test {

TEST(AttentionLargest, AsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const bool causal : {true, false}) {
      for (const Index window : {-1, 2}) {
        Workbench bench({1, 3});
        Twin &q = bench.input(type, {7, 2, 2, 3, 17}), &k = bench.input(type, {7, 2, 2, 17});
        Twin& largest = bench.inout(DType::f32, {6}, 0.01);
        bench.check(
            [&](Side side) {
              return AttentionLargest{q(side), k(side), largest(side), 0.25f, causal, window};
            },
            2e-6);
      }
    }
  }
}

/// The best key stands behind the first query, which does not see it.
TEST(AttentionLargest, LooksAtVisibleKeysOnly) {
  TestTensor q(DType::f32, {2, 1, 1, 1, 1}, {1, -1}), k(DType::f32, {2, 1, 1, 1}, {2, 50});
  TestTensor largest(DType::f32, {1}, {-1000});
  run_on_device(AttentionLargest{q.view(), k.view(), largest.view()});
  EXPECT_EQ(largest.values()[0], 2);
}

}  // namespace attention_largest_test
}  // namespace mpitron::kernels
