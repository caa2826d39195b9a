#include "kernels/matmul.h"
#include "tests/kernels/host_check.h"

namespace mpitron::kernels {
namespace {

class HostBiasGradient : public ::testing::TestWithParam<DType> {};

TEST_P(HostBiasGradient, AgreesWithTheReference) {
  for (const Index rows : {Index{1}, Index{7}, Index{128}, Index{300}}) {
    for (const Index n : {Index{1}, Index{16}, Index{33}, Index{2100}}) {
      for (const bool accumulate : {false, true}) {
        Workbench bench({1, 3});
        Twin& dy = bench.input(GetParam(), {rows, n});
        Twin& db = bench.inout(DType::f32, {n});
        bench.check(
            [&](Side side) {
              kernels::BiasGradient kernel{dy(side), db(side), {}};
              kernel.accumulate = accumulate;
              return kernel;
            },
            2e-6);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HostBiasGradient, ::testing::ValuesIn(kTrainingTypes),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace mpitron::kernels
