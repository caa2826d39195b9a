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

/// Masks of each sample or of all, a row for each query or one for all; chunks of four.
TEST(AttentionLargest, ChunksAndMasksHideKeys) {
  for (const auto& [samples, rows] : {std::pair<Index, Index>{2, 7}, {1, 7}, {2, 1}}) {
    Workbench bench({1, 3});
    Twin &q = bench.input(DType::f32, {7, 2, 2, 3, 17}),
         &k = bench.input(DType::f32, {7, 2, 2, 17});
    std::vector<double> marks(static_cast<std::size_t>(samples * rows * 7), 0.0);
    for (std::size_t i = 0; i < marks.size(); i += 3) {
      marks[i] = 1;
    }
    Twin& mask = bench.input(DType::u8, {samples, rows, 7});
    mask.fill(marks);
    Twin& largest = bench.inout(DType::f32, {6}, 0.01);
    bench.check(
        [&](Side side) {
          return AttentionLargest{
              .q = q(side), .k = k(side), .largest = largest(side), .chunk = 4, .mask = mask(side)};
        },
        2e-6);
  }
}

/// The best key is hidden, or lies in the chunk before.
TEST(AttentionLargest, HiddenKeysDoNotCount) {
  TestTensor q(DType::f32, {2, 1, 1, 1, 1}, {0, 1}), k(DType::f32, {2, 1, 1, 1}, {50, 2});
  TestTensor mask(DType::u8, {1, 1, 2}, {1, 0});
  for (const bool chunks : {true, false}) {
    TestTensor largest(DType::f32, {1}, {-1000});
    AttentionLargest kernel{.q = q.view(), .k = k.view(), .largest = largest.view()};
    kernel.chunk = chunks ? 1 : 0;
    if (!chunks) {
      kernel.mask = mask.view();
    }
    run_on_device(kernel);
    EXPECT_EQ(largest.values()[0], 2);
  }
}

}  // namespace attention_largest_test
}  // namespace mpitron::kernels
