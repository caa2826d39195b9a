#include "kernels/linear/normal_float.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace normal_float_test {

TEST(NormalFloat, IsThatOfTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const Shape& shape : {Shape{1, 64}, Shape{5, 192}, Shape{37, 128}}) {
      for (const Layout layout : kLayouts) {
        Workbench bench(layout);
        Twin& weight = bench.input(type, shape, 3e-2);
        Twin& codes = bench.output(DType::u8, {shape[0], shape[1] / 2});
        Twin& scales = bench.output(DType::f16, {shape[0], shape[1] / 64});
        bench.check(
            [&](Side side) {
              return PackNormalFloat{weight(side), codes(side), scales(side)};
            },
            0);
        Twin& back = bench.output(type, shape);
        bench.check(
            [&](Side side) {
              return UnpackNormalFloat{codes(side), scales(side), back(side)};
            },
            0);
      }
    }
  }
}

std::vector<double> packed_and_back(const std::vector<double>& values) {
  const auto count = static_cast<Index>(values.size());
  TestTensor weight(DType::f32, {1, count}, values);
  TestTensor codes(DType::u8, {1, count / 2}, std::vector<double>(values.size() / 2, 0.0));
  TestTensor scales(DType::f16, {1, count / 64}, std::vector<double>(values.size() / 64, 0.0));
  run_on_device(PackNormalFloat{weight.view(), codes.view(), scales.view()});
  run_on_device(UnpackNormalFloat{codes.view(), scales.view(), weight.view()});
  return weight.values();
}

TEST(NormalFloat, KeepsItsSixteenValuesAndZeros) {
  std::vector<double> values(128, 0.0);  // a group of values and one of zeros
  for (std::size_t i = 0; i < 64; ++i) {
    values[i] = static_cast<double>(kNormalFloats[i % 16] * 0.375F);
  }
  EXPECT_EQ(packed_and_back(values), values);
}

/// Half of the widest gap, times the scale; and about what Dettmers et al. report of normally
/// distributed weights: a tenth of their size.
TEST(NormalFloat, RoundsToTheNearestValue) {
  std::vector<double> values = test_values(64 * 64, 5);
  for (double& value : values) {
    value *= value * value;
  }
  const std::vector<double> rounded = packed_and_back(values);
  for (std::size_t begin = 0; begin < values.size(); begin += 64) {
    double largest = 0;
    for (std::size_t i = begin; i < begin + 64; ++i) {
      largest = std::max(largest, std::abs(values[i]));
    }
    for (std::size_t i = begin; i < begin + 64; ++i) {
      EXPECT_LE(std::abs(rounded[i] - values[i]), 0.153 * largest) << i;
      double nearest = 1e9;
      for (const float value : kNormalFloats) {
        nearest = std::min(nearest, std::abs(static_cast<double>(value) * largest - values[i]));
      }
      EXPECT_LE(std::abs(rounded[i] - values[i]), nearest + 1e-3 * largest) << i;
    }
  }
}

}  // namespace normal_float_test
}  // namespace mpitron::kernels
