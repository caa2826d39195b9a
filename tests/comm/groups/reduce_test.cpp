#include "comm/groups/reduce.h"

#include <vector>

#include <gtest/gtest.h>

namespace mpitron::comm {
namespace reduce_test {

template <class T>
std::vector<T> reduced(const std::vector<std::vector<T>>& rows, DType dtype, Reduction reduction) {
  std::vector<const void*> inputs;
  for (const auto& row : rows) {
    inputs.push_back(row.data());
  }
  std::vector<T> result(rows[0].size(), T(-1));
  void* const outputs[] = {result.data()};
  reduce_elements(inputs, outputs, 1, static_cast<Index>(result.size()), dtype, reduction);
  return result;
}

TEST(Reduce, SumsRunInTheOrderOfTheInputsAndOnlyInTheRange) {
  // (1 + 2^-24) + 2^-24 is 1 in fp32, (2^-24 + 2^-24) + 1 is not.
  const float tiny = 0x1p-24f;
  const std::vector<std::vector<float>> one_first = {{9, 1}, {9, tiny}, {9, tiny}};
  const std::vector<std::vector<float>> one_last = {{9, tiny}, {9, tiny}, {9, 1}};
  EXPECT_EQ(reduced(one_first, DType::f32, Reduction::sum), (std::vector<float>{-1, 1}));
  EXPECT_EQ(reduced(one_last, DType::f32, Reduction::sum), (std::vector<float>{-1, 1 + 0x1p-23f}));
}

TEST(Reduce, HalfTypesAreRoundedOnce) {
  const auto one = static_cast<BFloat16>(1.f);
  const auto small = static_cast<BFloat16>(0x1p-8f);
  const std::vector<std::vector<BFloat16>> rows = {{one, one}, {small, small}, {small, small}};
  EXPECT_EQ(static_cast<float>(reduced(rows, DType::bf16, Reduction::sum)[1]), 1 + 0x1p-7f);
}

TEST(Reduce, IntegersAndExtremes) {
  using Row = std::vector<std::int64_t>;
  const std::vector<Row> rows = {{0, 1L << 60, -7}, {0, 1, 5}};
  EXPECT_EQ(reduced(rows, DType::i64, Reduction::sum), (Row{-1, (1L << 60) + 1, -2}));
  EXPECT_EQ(reduced(rows, DType::i64, Reduction::maximum), (Row{-1, 1L << 60, 5}));
  EXPECT_EQ(reduced(rows, DType::i64, Reduction::minimum), (Row{-1, 1, -7}));
}

TEST(Reduce, EveryInputMayBeAnOutputOverManyBlocks) {
  std::vector<float> a(10'007, 1.5f);
  std::vector<float> b(10'007, 2);
  const void* const inputs[] = {a.data(), b.data()};
  void* const outputs[] = {a.data(), b.data()};
  reduce_elements(inputs, outputs, 0, 10'007, DType::f32, Reduction::sum);
  EXPECT_EQ(a, std::vector<float>(10'007, 3.5f));
  EXPECT_EQ(b, a);
}

}  // namespace reduce_test
}  // namespace mpitron::comm
