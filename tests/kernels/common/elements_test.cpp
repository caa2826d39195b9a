#include "kernels/reference/common/elements.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels::reference {
namespace elements_test {

TEST(ReferenceElements, FewerIndicesCountOverTheLeadingDimensions) {
  TestTensor tensor(DType::f64, {2, 3, 4});
  const Writer writer(tensor.view());
  for (Index i = 0; i < 24; ++i) {
    writer.set(static_cast<double>(i), i);
  }
  EXPECT_EQ(writer(1, 2, 3), 23);
  EXPECT_EQ(writer(4, 1), 17);  // row 4 = (1, 1)
  const device::TensorView cut = device::slice(tensor.view(), 1, 1, 3);
  EXPECT_EQ(Reader(cut)(3, 0), 20);  // rows (0,1) (0,2) (1,1) (1,2)
  EXPECT_EQ(rows_of(cut), 4);
}

TEST(ReferenceElements, OneRoundingToHalfPrecision) {
  TestTensor bf16(DType::bf16, {1}), fp16(DType::f16, {1});
  // Just above the tie between 1 and 1 + 2^-7; fp32 first would make it a tie, that is 1.
  Writer(bf16.view()).set(1 + 0x1p-8 + 0x1p-40, 0);
  EXPECT_EQ(bf16.values()[0], 1 + 0x1p-7);
  Writer(bf16.view()).set(1 + 0x1p-8, 0);
  EXPECT_EQ(bf16.values()[0], 1);
  Writer(fp16.view()).set(-1 - 0x1p-11 - 0x1p-40, 0);
  EXPECT_EQ(fp16.values()[0], -1 - 0x1p-10);
  Writer(fp16.view()).set(1e300, 0);
  EXPECT_EQ(fp16.values()[0], std::numeric_limits<double>::infinity());
}

TEST(ReferenceElements, Fp64IsExact) {
  TestTensor x(DType::f64, {1});
  Writer(x.view()).set(1 + 0x1p-52, 0);
  EXPECT_EQ(x.values()[0], 1 + 0x1p-52);
  Writer(x.view()).add(-1, 0);
  EXPECT_EQ(x.values()[0], 0x1p-52);
}

}  // namespace elements_test
}  // namespace mpitron::kernels::reference
