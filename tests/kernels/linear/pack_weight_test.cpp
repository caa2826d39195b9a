#include "tests/kernels/linear/packed_weight.h"

namespace mpitron::kernels {
namespace pack_weight_test {

TEST(PackWeight, PacksAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const WeightFormat format : formats_under_test()) {
      for (const Index n : {1, 16, 37}) {
        for (const Index k : {21, 64, 300}) {
          TestTensor weight(type, {n, k}, test_values(n * k, 3));
          TestTensor want = packed_by_reference(weight.view(), format);
          TestTensor got(DType::u8, {want.view().numel()});
          run_on_device(PackWeight{weight.view(), got.view(), format});
          EXPECT_EQ(got.bytes(), want.bytes())
              << name_of(type) << " " << facts(format).name << " " << n << " " << k;
        }
      }
    }
  }
}

/// What rounding to 8 bits or 4 costs of a product with many terms.
TEST(PackWeight, RoundsWeightsToTheFormat) {
  const Index n = 16, k = 4096;
  const std::vector<double> weights = test_values(n * k, 3), row = test_values(k, 4);
  TestTensor weight(DType::f32, {n, k}, weights), x(DType::f32, {1, k}, row);
  for (const WeightFormat format : formats_under_test()) {
    TestTensor packed = packed_by_reference(weight.view(), format);
    TestTensor y(DType::f32, {1, n});
    run_on_device(PackedMatmul{x.view(), packed.view(), {}, y.view(), {}, format});
    double error = 0, size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto first = weights.begin() + static_cast<Index>(i) * k;
      const double exact = std::inner_product(first, first + k, row.begin(), 0.0);
      error += std::pow(y.values()[i] - exact, 2);
      size += std::pow(exact, 2);
    }
    // Of fp32 the rounding of the sums alone, 2^-24 times the root of their terms.
    const double allowed[] = {0x1p-18, 4e-3, 1e-3, 1.2e-2, 0.11};
    EXPECT_LT(std::sqrt(error / size), allowed[static_cast<std::size_t>(format)])
        << facts(format).name;
  }
}

}  // namespace pack_weight_test
}  // namespace mpitron::kernels
