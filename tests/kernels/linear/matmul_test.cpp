#include "kernels/linear/matmul.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace matmul_test {

struct Case {
  Index m, n, k;
};

// Around the vector lanes; thin ones.
constexpr Case kCases[] = {{1, 1, 1},   {1, 17, 5},  {3, 16, 33}, {15, 31, 7},
                           {17, 1, 64}, {33, 65, 3}, {64, 64, 1}, {2, 3, 1500}};
// Several tiles; on the host with packed b in bf16 (m >= 256) and fp32 (m >= 512).
constexpr Case kLargeCases[] = {{300, 97, 130}, {257, 513, 260}, {515, 417, 320}};

class MatmulTest : public ::testing::TestWithParam<DType> {};

Shape shape_of(Index rows, Index columns, bool transposed) {
  return transposed ? Shape{columns, rows} : Shape{rows, columns};
}

void check_product(const Case& size, DType type, DType c_type, Layout layout, int transposes,
                   bool accumulate) {
  SCOPED_TRACE(::testing::Message()
               << size.m << "x" << size.n << "x" << size.k << " " << transposes);
  Workbench bench(layout);
  Matmul kernel;
  kernel.transpose_a = (transposes & 1) != 0;
  kernel.transpose_b = (transposes & 2) != 0;
  kernel.accumulate = accumulate;
  Twin& a = bench.input(type, shape_of(size.m, size.k, kernel.transpose_a));
  Twin& b = bench.input(type, shape_of(size.k, size.n, kernel.transpose_b));
  const Shape c_shape{size.m, size.n};
  Twin& c = accumulate ? bench.inout(c_type, c_shape) : bench.output(c_type, c_shape);
  bench.check(
      [&](Side side) {
        kernel.a = a(side);
        kernel.b = b(side);
        kernel.c = c(side);
        return kernel;
      },
      kSumErrors * 2e-6);
}

TEST_P(MatmulTest, EveryTransposeAndLayout) {
  for (const Case& size : kCases) {
    for (const Layout layout : kLayouts) {
      for (int transposes = 0; transposes < 4; ++transposes) {
        check_product(size, GetParam(), GetParam(), layout, transposes, false);
        check_product(size, GetParam(), DType::f32, layout, transposes, false);
        check_product(size, GetParam(), DType::f32, layout, transposes, true);
      }
    }
  }
  check_product({17, 33, 9}, GetParam(), GetParam(), {}, 1, true);
}

TEST_P(MatmulTest, LargeProducts) {
  for (const Case& size : kLargeCases) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      const Layout &one = kLayouts[transposes % 2], &other = kLayouts[1 - transposes % 2];
      check_product(size, GetParam(), GetParam(), one, transposes, false);
      check_product(size, GetParam(), DType::f32, other, transposes, transposes / 2 == 1);
    }
  }
  check_product({2050, 300, 450}, GetParam(), GetParam(), {}, 2, false);  // packs fp32 columns
}

TEST_P(MatmulTest, BiasAndActivation) {
  for (const Activation activation :
       {Activation::none, Activation::gelu_tanh, Activation::gelu_erf, Activation::silu,
        Activation::squared_relu, Activation::tanh}) {
    for (const Case& size : {Case{5, 17, 9}, Case{300, 500, 270}}) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(activation) << " " << size.m);
      Workbench bench;
      // Errors count against the largest output, which tanh keeps small: so the products are, too.
      const double scale = activation == Activation::tanh ? 0.1 : 1;
      Twin& a = bench.input(GetParam(), {size.m, size.k}, scale);
      Twin& b = bench.input(GetParam(), {size.n, size.k});
      Twin& bias = bench.input(GetParam(), {size.n});
      Twin& c = bench.output(GetParam(), {size.m, size.n});
      bench.check(
          [&](Side side) {
            Matmul kernel{a(side), b(side), bias(side), c(side), {}};
            kernel.transpose_b = true;
            kernel.activation = activation;
            return kernel;
          },
          kSumErrors * 2e-6);
    }
  }
}

TEST_P(MatmulTest, NoElements) {
  for (const bool accumulate : {false, true}) {
    TestTensor a(GetParam(), {0, 3}), b(GetParam(), {0, 2}),
        c(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6});
    Matmul kernel{a.view(), b.view(), {}, c.view(), {}};
    kernel.transpose_a = true;
    kernel.accumulate = accumulate;
    run_on_device(kernel);
    EXPECT_EQ(c.values(),
              accumulate ? (std::vector<double>{1, 2, 3, 4, 5, 6}) : std::vector<double>(6, 0));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, MatmulTest, ::testing::ValuesIn(kTrainingTypes),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace matmul_test
}  // namespace mpitron::kernels
