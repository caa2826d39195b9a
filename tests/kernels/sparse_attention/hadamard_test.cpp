#include "kernels/sparse_attention/hadamard.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace hadamard_test {

TEST(Hadamard, AsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const Index size : {1, 2, 16, 128}) {
      Workbench bench;
      Twin& x = bench.inout(type, {300, size});
      bench.check([&](Side side) { return Hadamard{x(side)}; }, 1e-6);
    }
  }
}

TEST(Hadamard, IsItsOwnInverse) {
  TestTensor x(DType::f32, {1, 4}, {1, 2, 3, 6});
  run_on_device(Hadamard{x.view()});
  EXPECT_EQ(x.values(), (std::vector<double>{6, -2, -3, 1}));
  run_on_device(Hadamard{x.view()});
  EXPECT_EQ(x.values(), (std::vector<double>{1, 2, 3, 6}));
}

}  // namespace hadamard_test
}  // namespace mpitron::kernels
