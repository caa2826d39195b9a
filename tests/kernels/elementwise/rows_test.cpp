#include "kernels/elementwise/rows.h"

#include <vector>

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace rows_test {

/// Where row r of a [2, 3, 4, 5] view with these strides starts, by its definition.
Index offset_of(Index row, const device::Strides& strides) {
  return row / 12 * strides[0] + row / 4 % 3 * strides[1] + row % 4 * strides[2];
}

TEST(Rows, FollowTheStridesOfAllLeadingDimensions) {
  std::vector<float> data(2000);
  const device::Strides all[] = {{60, 20, 5, 1},  {100, 20, 5, 1}, {60, 20, 6, 1},
                                 {5, 10, 400, 1}, {0, 50, 7, 1},   {800, 33, 8, 1}};
  for (const device::Strides& strides : all) {
    const device::TensorView view(data.data(), DType::f32, {2, 3, 4, 5}, strides);
    const Rows<float> rows(view);
    const Rows<const float> constant{device::ConstTensorView(view)};
    EXPECT_EQ(row_count(view), 24);
    for (Index row = 0; row < 24; ++row) {
      EXPECT_EQ(rows[row] - data.data(), offset_of(row, strides)) << row;
      EXPECT_EQ(constant[row], rows[row]);
    }
  }
}

TEST(Rows, OfVectorsAndOfEmptyViews) {
  std::vector<float> data(8);
  EXPECT_EQ(Rows<float>(device::TensorView(data.data(), DType::f32, {8}))[0], data.data());
  EXPECT_EQ(row_count(device::TensorView(data.data(), DType::f32, {8})), 1);
  EXPECT_EQ(row_count(device::TensorView(data.data(), DType::f32, {4, 0})), 0);
  EXPECT_FALSE(Rows<const float>(device::In{}));
}

TEST(Rows, OfManyStridesAreCountedIn32Bits) {
  float element = 0;
  const Shape shape{1 << 17, 1 << 16, 1};
  const device::TensorView joined(&element, DType::f32, shape, {1 << 16, 1, 1});
  EXPECT_EQ(Rows<float>(joined)[Index{1} << 33] - &element, Index{1} << 33);
  EXPECT_THROW(Rows<float>(device::TensorView(&element, DType::f32, shape, {1, 0, 1})),
               InternalError);
}

TEST(Rows, AlignedMeansEveryRow) {
  alignas(64) static float data[1024];
  const auto aligned = [&](Index first, Index stride) {
    const device::TensorView view(data + first, DType::f32, {3, 5}, {stride, 1});
    return Rows<float>(view).aligned(64);
  };
  EXPECT_TRUE(aligned(0, 32));
  EXPECT_TRUE(aligned(16, 16));
  EXPECT_FALSE(aligned(1, 32));
  EXPECT_FALSE(aligned(0, 24));
}

}  // namespace rows_test
}  // namespace mpitron::kernels
