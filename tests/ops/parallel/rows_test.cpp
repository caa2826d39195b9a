#include "ops/parallel/rows.h"

#include <gtest/gtest.h>

namespace mpitron::ops {
namespace rows_test {

TEST(FoldRows, FoldsLeadingDimensions) {
  const auto device = device::make_device("reference");
  const tensor::Tensor x = tensor::Tensor::empty(*device, {2, 3, 4}, DType::f32);
  EXPECT_EQ(fold_rows(x).shape(), (Shape{6, 4}));
  EXPECT_EQ(fold_rows(x).view().data, x.view().data);
  EXPECT_EQ(fold_rows(fold_rows(x)).shape(), (Shape{6, 4}));
}

}  // namespace rows_test
}  // namespace mpitron::ops
