#include "kernels/sparse_attention/index_choice.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace index_choice_test {

std::vector<double> hidden_of(const std::vector<double>& scores, Index topk, In mask = {}) {
  const auto s = static_cast<Index>(std::sqrt(static_cast<double>(scores.size())));
  TestTensor x(DType::f32, {1, s, s}, scores), hidden(DType::u8, {1, s, s});
  run_on_device(IndexChoice{x.view(), mask, hidden.view(), topk});
  return hidden.values();
}

/// Masks of each sample or of all; scores of few values, so that many are equal, some not numbers.
TEST(IndexChoice, AsTheReference) {
  for (const Index topk : {1, 4, 40}) {
    for (const Index samples : {1, 2}) {
      Workbench bench;
      Twin &scores = bench.input(DType::f32, {2, 33, 33}),
           &mask = bench.input(DType::u8, {samples, 33, 33});
      std::vector<double> values = test_values(2 * 33 * 33, 5), marks;
      for (double& value : values) {
        value = std::abs(value) < 0.1 ? NAN : std::round(3 * value);
      }
      scores.fill(values);
      for (const double value : test_values(samples * 33 * 33, 6)) {
        marks.push_back(value > 0.6 ? 1 : 0);
      }
      mask.fill(marks);
      Twin& hidden = bench.output(DType::u8, {2, 33, 33});
      bench.check(
          [&](Side side) {
            return IndexChoice{scores(side), mask(side), hidden(side), topk};
          },
          0);
    }
  }
}

TEST(IndexChoice, LowerPositionsWinTies) {
  const std::vector<double> scores{9, 9, 9, 1, 1, 9, 2, 1, 2};
  EXPECT_EQ(hidden_of(scores, 1), (std::vector<double>{0, 1, 1, 0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(hidden_of(scores, 2), (std::vector<double>{0, 1, 1, 0, 0, 1, 0, 1, 0}));
}

/// A hidden key does not count among the chosen ones.
TEST(IndexChoice, MasksHideKeysBeforeTheChoice) {
  TestTensor mask(DType::u8, {1, 1, 2}, {1, 0});
  EXPECT_EQ(hidden_of({5, 0, 5, 1}, 1, mask.view()), (std::vector<double>{1, 1, 1, 0}));
}

}  // namespace index_choice_test
}  // namespace mpitron::kernels
