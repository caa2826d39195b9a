#include "kernels/linear/fp8_matmul.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace fp8_matmul_test {

/// Bits of finite numbers of both formats.
Twin& random_bits(Workbench& bench, const Shape& shape) {
  Twin& twin = bench.output(DType::u8, shape);
  twin.written = false;
  std::vector<double> bits = test_values(shape.numel(), static_cast<unsigned>(shape.numel()));
  for (double& value : bits) {
    value = std::floor(std::abs(value) * 0x70) + (value < 0 ? 0x80 : 0);
  }
  twin.fill(bits);
  return twin;
}

struct Case {
  Fp8Blocks a, b;
  Fp8Scaling a_scaling, b_scaling;
};
constexpr Fp8Scaling kPowers{.power_of_two = true};
constexpr Case kCases[] = {
    {{}, {}, {}, {.margin = 2}},
    {{}, {}, {Fp8Format::e5m2}, {}},
    {{1, 128}, {128, 128}, kPowers, kPowers},
    {{1, 128}, {1, 128}, {Fp8Format::e5m2, true}, kPowers},
};

void expect_product(const Case& one, const Shape& sizes, DType type, bool with_bias,
                    bool accumulate) {
  const Index m = sizes[0], n = sizes[1], k = sizes[2];
  Workbench bench(kLayouts[k % 16 == 0 ? 0 : 1]);  // aligned where GPUs multiply 8 bits
  Twin &a = random_bits(bench, {m, k}), &b = random_bits(bench, {n, k});
  Twin& a_amax = bench.input(DType::f32, {one.a.down(m), one.a.across(k)}, 4);
  Twin& b_amax = bench.input(DType::f32, {one.b.down(n), one.b.across(k)}, 4);
  Twin &bias = bench.input(type, {n}, 3), &c = bench.inout(type, {m, n}, 3);
  bench.check(
      [&](Side side) {
        Fp8Matmul kernel{.a = {a(side), a_amax(side), one.a, one.a_scaling},
                         .b = {b(side), b_amax(side), one.b, one.b_scaling},
                         .bias = {},
                         .c = c(side),
                         .workspace = {},
                         .accumulate = accumulate};
        if (with_bias) {
          kernel.bias = bias(side);
        }
        return kernel;
      },
      kFp8SumError);
}

TEST(Fp8MatmulTest, ScalesOfTheWholeAndOfBlocks) {
  for (const Case& one : kCases) {
    for (const Shape& sizes : {Shape{1, 1, 1}, Shape{17, 130, 257}, Shape{23, 48, 128}}) {
      for (const DType type : {DType::f32, DType::bf16}) {
        expect_product(one, sizes, type, false, false);
        expect_product(one, sizes, type, true, false);
      }
      expect_product(one, sizes, DType::f32, false, true);
    }
  }
}

}  // namespace fp8_matmul_test
}  // namespace mpitron::kernels
