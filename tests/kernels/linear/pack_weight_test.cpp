#include "tests/kernels/linear/packed_weight.h"

namespace mpitron::kernels {
namespace pack_weight_test {

TEST(PackWeight, PacksAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const WeightFormat format : kAllFormats) {
      for (const Index n : {1, 16, 37}) {
        for (const Index k : {21, 64, 300}) {
          TestTensor weight(type, {n, k}, test_values(n * k, 3));
          const std::vector<std::uint8_t> want = packed_by_reference(weight.view(), format);
          std::vector<std::uint8_t> got(want.size(), 0xff);
          const device::TensorView packed(got.data(), DType::u8, {static_cast<Index>(got.size())});
          run_on_device(PackWeight{weight.view(), packed, format});
          EXPECT_EQ(got, want) << name_of(type) << " " << facts(format).name << " " << n << " "
                               << k;
        }
      }
    }
  }
}

/// What rounding to 8 bits or 4 costs of a product with many terms.
TEST(PackWeight, RoundsWeightsToTheFormat) {
  const Index n = 16, k = 4096;
  TestTensor weight(DType::f32, {n, k}, test_values(n * k, 3));
  TestTensor x(DType::f32, {1, k}, test_values(k, 4));
  std::vector<double> rows[2];
  for (const WeightFormat format : kAllFormats) {
    std::vector<std::uint8_t> packed = packed_by_reference(weight.view(), format);
    TestTensor y(DType::f32, {1, n}, std::vector<double>(16, 0.0));
    std::vector<std::byte> scratch(1 << 16);
    run_on_device(PackedMatmul{x.view(),
                               In(packed.data(), DType::u8, {static_cast<Index>(packed.size())}),
                               {},
                               y.view(),
                               device::TensorView(scratch.data(), DType::u8, {1 << 16}),
                               format});
    rows[format == WeightFormat::fp32 ? 0 : 1] = y.values();
    double error = 0, size = 0;
    for (std::size_t i = 0; i < 16; ++i) {
      error += std::pow(rows[format == WeightFormat::fp32 ? 0 : 1][i] - rows[0][i], 2);
      size += std::pow(rows[0][i], 2);
    }
    const double allowed[] = {1e-9, 4e-3, 1e-3, 1.2e-2, 0.11};
    EXPECT_LT(std::sqrt(error / size), allowed[static_cast<std::size_t>(format)])
        << facts(format).name;
  }
}

}  // namespace pack_weight_test
}  // namespace mpitron::kernels
