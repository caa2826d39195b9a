#include <gtest/gtest.h>

#include "train/tuning/kernel_meters.h"

namespace mpitron::train {
namespace gemm_meter_test {

using kernels::Epilogue;
using kernels::GemmShape;

GemmShape shape_of(DType type, DType c_type) {
  return {.m = 32,
          .n = 48,
          .k = 64,
          .a_stride = 64,
          .b_stride = 64,
          .c_stride = 48,
          .type = type,
          .c_type = c_type,
          .transpose_b = true};
}

class GemmMeterTest : public ::testing::Test {
 protected:
  MeasuredGemm measure(const GemmShape& shape) { return GemmMeter(*gpu_, shape).measure(); }

  std::unique_ptr<device::Device> gpu_ = device::make_cuda_device(0);
};

TEST_F(GemmMeterTest, TriesTheLibrarysOwnChoiceAndWhatElseItNames) {
  kernels::choose_gemm_algorithms({{GemmShape{.m = 7}, std::nullopt}});
  for (const DType type : {DType::bf16, DType::f16, DType::f32}) {
    const GemmShape shape = shape_of(type, DType::f32);
    const MeasuredGemm measured = measure(shape);
    EXPECT_EQ(measured.shape, shape);
    ASSERT_GE(measured.tried.size(), 2u);
    EXPECT_FALSE(measured.tried[0].algorithm);
    for (std::size_t i = 1; i < measured.tried.size(); ++i) {
      EXPECT_TRUE(measured.tried[i].algorithm);
      EXPECT_GT(measured.tried[i].microseconds, 0);
    }
    ASSERT_LT(measured.choice, measured.tried.size());
    EXPECT_LE(measured.tried[measured.choice].microseconds, measured.tried[0].microseconds);
  }
  EXPECT_EQ(kernels::gemm_algorithms().size(), 1u) << "as it was";
  kernels::choose_gemm_algorithms({});
}

TEST_F(GemmMeterTest, HasTheEpilogueTheSumAndTheAlignmentOfTheShape) {
  GemmShape shape = shape_of(DType::bf16, DType::bf16);
  shape.epilogue = Epilogue::bias;
  EXPECT_GE(measure(shape).tried.size(), 2u);
  shape.epilogue = Epilogue::none;
  shape.accumulate = true;
  const std::size_t aligned = measure(shape).tried.size();
  shape.b_alignment = 2;
  EXPECT_LT(measure(shape).tried.size(), aligned) << "no loads of 16 bytes";
}

TEST_F(GemmMeterTest, NumbersOfEightBitsHaveTheirFactors) {
  GemmShape shape = shape_of(DType::u8, DType::bf16);
  shape.b_format = Fp8Format::e5m2;
  EXPECT_GE(measure(shape).tried.size(), 2u);
}

}  // namespace gemm_meter_test
}  // namespace mpitron::train
