#include "kernels/host/state_space/sample_rows.h"

#include <gtest/gtest.h>

namespace mpitron::kernels::host {
namespace sample_rows_test {

TEST(SampleRows, AreColumnsOfOneSample) {
  float x[2][3][4] = {};  // [s, b, columns]
  x[0][1][2] = 1, x[0][1][3] = 2, x[1][1][2] = 3, x[1][1][3] = 4;
  const InOut view(device::TensorView(x, DType::f32, {2, 3, 4}));
  const SampleRows<float> rows(view, 1, 2);
  double numbers[4] = {};
  rows.read(0, 2, 2, numbers);
  EXPECT_EQ(numbers[1], 2);
  EXPECT_EQ(numbers[2], 3);
  numbers[2] = 7;
  rows.write(1, 1, 2, numbers + 2);
  EXPECT_EQ(x[1][1][2], 7);
  EXPECT_EQ(x[1][0][2], 0);
}

TEST(PutNumber, IsAddedInDoubleAndRounded) {
  BFloat16 sums[2] = {BFloat16(256.f), BFloat16(256.f)};
  const InOut view(device::TensorView(sums, DType::bf16, {2}));
  put_number(view, 0, 3.25, true);
  put_number(view, 1, 3.25, false);
  EXPECT_EQ(number_at(view, 0), 260) << "numbers of 8 bits lie 2 apart from 256 on";
  EXPECT_EQ(number_at(view, 1), 3.25);
}

}  // namespace sample_rows_test
}  // namespace mpitron::kernels::host
