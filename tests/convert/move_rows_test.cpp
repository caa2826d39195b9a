#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "convert/translation.h"

namespace mpitron::convert {
namespace move_rows_test {

HostTensor tensor(const Shape& shape, const std::vector<float>& values) {
  HostTensor result(TensorInfo{"", shape, DType::f32});
  std::memcpy(result.data(), values.data(), result.bytes().size());
  return result;
}
std::vector<float> values(const HostTensor& tensor) {
  std::vector<float> result(tensor.bytes().size() / sizeof(float));
  std::memcpy(result.data(), tensor.bytes().data(), tensor.bytes().size());
  return result;
}
std::vector<HostTensor> list(HostTensor a, HostTensor b) {
  std::vector<HostTensor> both;
  both.push_back(std::move(a));
  both.push_back(std::move(b));
  return both;
}

TEST(MoveRows, TwoOfTheirsBecomeOneOfOursAndBack) {
  // Ours: row 0 of the second, both of the first, row 1 of the second, padding.
  const NameRule rule{.ours = "x",
                      .shape = {5, 2},
                      .theirs = {{.name = "a", .rows = 2}, {.name = "b", .rows = 2}},
                      .moves = {{.ours = 0, .theirs = 2, .count = 1},
                                {.ours = 1, .theirs = 0, .count = 2},
                                {.ours = 3, .theirs = 3, .count = 1}}};
  const HostTensor ours =
      join(rule, list(tensor({2, 2}, {1, 2, 3, 4}), tensor({2, 2}, {5, 6, 7, 8})));
  EXPECT_EQ(values(ours), (std::vector<float>{5, 6, 1, 2, 3, 4, 7, 8, 0, 0}));
  EXPECT_EQ(values(take_part(rule, ours, 0)), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(values(take_part(rule, ours, 1)), (std::vector<float>{5, 6, 7, 8}));
}

TEST(MoveRows, AMoveMayReachOverTheirBorder) {
  const NameRule rule{.ours = "x",
                      .shape = {3, 1},
                      .theirs = {{.name = "a", .rows = 1}, {.name = "b", .rows = 2, .factor = 4}},
                      .moves = {{.ours = 0, .theirs = 0, .count = 3}}};
  const HostTensor ours = join(rule, list(tensor({1, 1}, {1}), tensor({2, 1}, {2, 3})));
  EXPECT_EQ(values(ours), (std::vector<float>{1, 8, 12}));
  EXPECT_EQ(values(take_part(rule, ours, 1)), (std::vector<float>{2, 3}));
}

TEST(MoveRows, TransposesMatricesOfAnySize) {
  constexpr Index kRows = 35, kColumns = 3;
  std::vector<float> theirs(kRows * kColumns);  // [columns, rows]
  std::iota(theirs.begin(), theirs.end(), 0.F);
  const NameRule rule{.ours = "x",
                      .shape = {kRows, kColumns},
                      .theirs = {{.name = "a", .rows = kRows}},
                      .transposed = true,
                      .moves = {{.ours = 0, .theirs = 0, .count = kRows}}};
  std::vector<HostTensor> given;
  given.push_back(tensor({kColumns, kRows}, theirs));
  const HostTensor ours = join(rule, given);
  EXPECT_EQ(values(ours)[2 * kColumns + 1], theirs[1 * kRows + 2]);
  EXPECT_EQ(values(take_part(rule, ours, 0)), theirs);
}

}  // namespace move_rows_test
}  // namespace mpitron::convert
