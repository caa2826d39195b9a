#include "kernels/experts/expert_bias.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace expert_bias_test {

TEST(ExpertBias, Update) {
  Workbench bench;
  Twin &tokens = bench.input(DType::f64, {9}, 100), &bias = bench.inout(DType::f32, {9});
  bench.check([&](Side side) { return ExpertBiasUpdate{tokens(side), bias(side), 0.001F}; }, 0);
}

}  // namespace expert_bias_test
}  // namespace mpitron::kernels
