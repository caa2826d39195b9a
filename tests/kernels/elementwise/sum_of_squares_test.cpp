#include "kernels/elementwise/optimizer.h"
#include "tests/kernels/workbench.h"
#include "utils/numbers/exact_sum.h"

namespace mpitron::kernels {
namespace sum_of_squares_test {

// A block's 64 squares are summed in fp32.
constexpr double kTolerance = 1e-6;
constexpr Index kSizes[] = {1, 15, 17, 65, 1023, 1025, 4097, 40000};

const auto on_reference = [](const auto& kernel) {
  device::ReferenceStream stream;
  run(stream, kernel);
};
const auto on_device = [](const auto& kernel) { run_on_device(kernel); };

/// Of two pieces where `cut` says so.
template <class Launch>
double sum_of_squares(Launch&& launch, const device::ConstTensorView& x, Index cut = 0) {
  TestTensor bins(DType::i64, {exact_sum::kBins});
  for (const auto& [begin, end] : {std::pair(cut, x.numel()), std::pair(Index{0}, cut)}) {
    launch(SumOfSquares{device::slice(x, 0, begin, end), bins.view()});
  }
  return exact_sum::value(exact_sum::Bins(bins.view().as<std::int64_t>(), exact_sum::kBins));
}

TEST(SumOfSquares, AgreesWithTheReference) {
  for (const DType dtype : kTrainingTypes) {
    for (const Index n : kSizes) {
      for (const double scale : {1.0, 1e-4}) {
        std::vector<double> values = test_values(n, 5);
        for (double& value : values) {
          value *= scale;
        }
        TestTensor x(dtype, {n}, values);
        const double expected = sum_of_squares(on_reference, x.view());
        EXPECT_NEAR(sum_of_squares(on_device, x.view()), expected, kTolerance * expected)
            << name_of(dtype) << " n " << n << " scale " << scale;
      }
    }
  }
}

/// Stretches of 3000 elements whose squares lie up to 2^130 apart.
TEST(SumOfSquares, OfAllMagnitudes) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    std::vector<double> values = test_values(40000, 5);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] *= std::exp2(-60 + static_cast<double>(i / 3000 * 29 % 66));
    }
    values[39999] = 0;
    TestTensor x(dtype, {40000}, values);
    const double expected = sum_of_squares(on_reference, x.view());
    EXPECT_NEAR(sum_of_squares(on_device, x.view()), expected, kTolerance * expected);
  }
}

/// Not even the last bit depends on where a vector is cut.
TEST(SumOfSquares, OfPieces) {
  for (const DType dtype : kTrainingTypes) {
    TestTensor x(dtype, {40000}, test_values(40000, 5));
    const double whole = sum_of_squares(on_device, x.view());
    for (const Index cut : {64, 640, 1024, 39936}) {
      EXPECT_EQ(sum_of_squares(on_device, x.view(), cut), whole) << name_of(dtype);
      EXPECT_EQ(sum_of_squares(on_reference, x.view(), cut),
                sum_of_squares(on_reference, x.view()));
    }
  }
}

TEST(SumOfSquares, BeyondFp32) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const double huge : {1e30, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
      std::vector<double> values(5000, 1);
      values[4500] = huge;
      TestTensor x(dtype, {5000}, values);
      const double sum = sum_of_squares(on_device, x.view());
      EXPECT_EQ(std::isfinite(sum), std::isfinite(huge));
      if (std::isfinite(huge)) {
        EXPECT_NEAR(sum, 1e60, dtype == DType::f32 ? 1e54 : 2e58);  // 1e30 itself is rounded
      }
    }
  }
}

}  // namespace sum_of_squares_test
}  // namespace mpitron::kernels
