#include "kernels/linear/matmul.h"
#include "tests/kernels/golden_tables.h"
#include "tests/kernels/gradient_check.h"

namespace mpitron::kernels {
namespace reference_matmul_test {

device::ReferenceStream stream;

// [1 2 3; 4 5 6] [1 0; 0 1; 1 1] = [4 5; 10 11]
TEST(ReferenceMatmul, EveryTransposeOfOneProduct) {
  TestTensor a(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}), at(DType::f32, {3, 2}, {1, 4, 2, 5, 3, 6});
  TestTensor b(DType::f32, {3, 2}, {1, 0, 0, 1, 1, 1}), bt(DType::f32, {2, 3}, {1, 0, 1, 0, 1, 1});
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      TestTensor c(DType::f32, {2, 2});
      Matmul kernel{ta ? at.view() : a.view(), tb ? bt.view() : b.view(), {}, c.view(), {}};
      kernel.transpose_a = ta;
      kernel.transpose_b = tb;
      run(stream, kernel);
      EXPECT_EQ(c.values(), (std::vector<double>{4, 5, 10, 11}));
      kernel.accumulate = true;
      run(stream, kernel);
      EXPECT_EQ(c.values(), (std::vector<double>{8, 10, 20, 22}));
    }
  }
}

TEST(ReferenceMatmul, BiasAndActivation) {
  TestTensor a(DType::f64, {1, 2}, {1, 2}), b(DType::f64, {2, 2}, {1, -1, 1, -1});
  TestTensor bias(DType::f64, {2}, {1, 1}), c(DType::f64, {1, 2});
  Matmul kernel{a.view(), b.view(), bias.view(), c.view(), {}};
  kernel.activation = Activation::squared_relu;
  run(stream, kernel);
  EXPECT_EQ(c.values(), (std::vector<double>{16, 0}));
}

TEST(ReferenceMatmul, Bf16InputsIntoFp32) {
  TestTensor a(DType::bf16, {1, 2}, {1, 0x1p-8}), b(DType::bf16, {2, 1}, {1, 1});
  TestTensor c(DType::f32, {1, 1});
  run(stream, Matmul{a.view(), b.view(), {}, c.view(), {}});
  EXPECT_EQ(c.values()[0], 1 + 0x1p-8);
}

TEST(ReferenceMatmul, BiasGradientSumsRows) {
  TestTensor dy(DType::bf16, {3, 2}, {1, 2, 3, 4, 5, 6}), db(DType::f32, {2}, {1, 1});
  BiasGradient kernel{dy.view(), db.view(), {}};
  kernel.accumulate = true;
  run(stream, kernel);
  EXPECT_EQ(db.values(), (std::vector<double>{10, 13}));
  kernel.accumulate = false;
  run(stream, kernel);
  EXPECT_EQ(db.values(), (std::vector<double>{9, 12}));
}

}  // namespace reference_matmul_test
}  // namespace mpitron::kernels
