#include "kernels/experts/expert_bias.h"
#include "tests/kernels/golden_tables.h"

namespace mpitron::kernels {
namespace reference_expert_bias_test {

TEST(ReferenceExpertBias, ToTheLastBitAsTheReference) {
  device::ReferenceStream stream;
  for (const auto& recorded : golden_table("router").at("bias_update")) {
    for (std::size_t layer = 0; layer < recorded.at("tokens").size(); ++layer) {
      const std::vector<double> tokens = flatten(recorded.at("tokens")[layer]);
      const auto n = static_cast<Index>(tokens.size());
      TestTensor counts(DType::f64, {n}, tokens),
          bias(DType::f32, {n}, flatten(recorded.at("bias")[layer]));
      run(stream, ExpertBiasUpdate{counts.view(), bias.view(), recorded.at("rate").get<float>()});
      EXPECT_EQ(bias.values(), flatten(recorded.at("updated")[layer]));
    }
  }
}

}  // namespace reference_expert_bias_test
}  // namespace mpitron::kernels
