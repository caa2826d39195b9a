#include "kernels/linear/fp8_product_steps.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace fp8_product_steps_test {

TEST(Fp8ProductSteps, EveryNumberIsDecoded) {
  std::vector<double> bits(512);
  std::iota(bits.begin(), bits.end(), 0);
  for (double& value : bits) {
    value = std::fmod(value, 256);
  }
  for (const Layout layout : kLayouts) {
    for (const Fp8Format format : {Fp8Format::e4m3, Fp8Format::e5m2}) {
      for (const Fp8Blocks blocks : {Fp8Blocks{}, Fp8Blocks{1, 128}, Fp8Blocks{1, 3}}) {
        Workbench bench(layout);
        Twin &x = bench.output(DType::u8, {2, 256}), &y = bench.output(DType::bf16, {2, 256});
        Twin& amax = bench.input(DType::f32, {blocks.down(2), blocks.across(256)});
        x.written = false;
        x.fill(bits);
        bench.check(
            [&](Side side) {
              return Fp8Decode{{x(side), amax(side), blocks, {format, true}}, y(side)};
            },
            0);
      }
    }
  }
}

TEST(Fp8ProductSteps, SumsAreDividedByBothScales) {
  for (const DType type : {DType::f32, DType::bf16}) {
    for (const bool with_bias : {false, true}) {
      for (const bool accumulate : {false, !with_bias}) {
        Workbench bench(kLayouts[with_bias ? 1 : 0]);
        Twin &sums = bench.input(DType::f32, {5, 67}, 1e5), &bias = bench.input(type, {67});
        Twin &a = bench.input(DType::f32, {1, 1}), &b = bench.input(DType::f32, {1, 1});
        Twin& c = bench.inout(type, {5, 67});
        bench.check(
            [&](Side side) {
              return Fp8Finish{.sums = sums(side),
                               .a_amax = a(side),
                               .b_amax = b(side),
                               .bias = with_bias ? In(bias(side)) : In(),
                               .c = c(side),
                               .a_scaling = {Fp8Format::e5m2},
                               .b_scaling = {.margin = 1},
                               .accumulate = accumulate};
            },
            1e-6);
      }
    }
  }
}

}  // namespace fp8_product_steps_test
}  // namespace mpitron::kernels
