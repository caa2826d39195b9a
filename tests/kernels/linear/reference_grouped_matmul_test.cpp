#include <gtest/gtest.h>

#include "kernels/linear/grouped_matmul.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {
namespace reference_grouped_matmul_test {

device::ReferenceStream stream;

TEST(ReferenceGroupedMatmul, EachGroupHasItsMatrix) {
  TestTensor a(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  TestTensor first(DType::f32, {1, 2}, {1, 1}), second(DType::f32, {1, 2}, {7, 7}),
      third(DType::f32, {1, 2}, {0, 10});
  const std::vector<In> b{first.view(), second.view(), third.view()};
  const std::vector<Index> counts{1, 0, 2};
  TestTensor c(DType::f32, {3, 1});
  run(stream, GroupedMatmul{a.view(), b, c.view(), counts, {}, true});
  EXPECT_EQ(c.values(), (std::vector<double>{3, 40, 60}));
}

TEST(ReferenceGroupedMatmul, GradientsAddWhereTheyAreThereAlready) {
  TestTensor a(DType::f32, {3, 1}, {1, 2, 3}), b(DType::f32, {3, 2}, {1, 1, 2, 2, 4, 4});
  TestTensor first(DType::f32, {1, 2}, {100, 200}), second(DType::f32, {1, 2}, {5, 5}),
      third(DType::f32, {1, 2}, {100, 200}), absent(DType::f32, {1, 2}, {9, 9});
  const std::vector<GroupGradient> c{
      {first.view(), false}, {second.view(), false}, {third.view(), true}};
  const std::vector<Index> counts{1, 0, 2};
  run(stream, GroupedWeightGradient{a.view(), b.view(), c, counts, {}});
  EXPECT_EQ(first.values(), (std::vector<double>{1, 1}));
  EXPECT_EQ(second.values(), (std::vector<double>{5, 5}));  // a group without rows
  EXPECT_EQ(third.values(), (std::vector<double>{116, 216}));
  const std::vector<GroupGradient> without{{absent.view(), false}, {}, {}};
  run(stream, GroupedWeightGradient{a.view(), b.view(), without, counts, {}});
  EXPECT_EQ(absent.values(), (std::vector<double>{1, 1}));
}

}  // namespace reference_grouped_matmul_test
}  // namespace mpitron::kernels
