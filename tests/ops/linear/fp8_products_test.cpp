#include "ops/linear/fp8_products.h"

#include "ops/linear/fp8_products_fixture.h"

namespace mpitron::ops {
namespace fp8_products_test {

TEST_P(Fp8ProductsTest, ScalesOfTheTensorsThemselves) {
  weight_.fp8 = {.scaling = Scaling::current, .gradient_format = Fp8Format::e5m2};
  play();
  const Numbers x = rounded(test::values_of(x_), kIn, {}, {}),
                w = rounded(test::values_of(weight_.value), kIn, {}, {}),
                dy = rounded(test::values_of(dy_), kOut, {}, {Fp8Format::e5m2});
  expect_products({x, w, dy, x, dy});
}

TEST_P(Fp8ProductsTest, ScalesOfBlocksAlongTheSum) {
  weight_.fp8 = {.scaling = Scaling::blocks};
  play();
  const Fp8Scaling scaling{.power_of_two = true};
  const Numbers x = test::values_of(x_), dy = test::values_of(dy_);
  expect_products({rounded(x, kIn, {1, 128}, scaling),
                   rounded(test::values_of(weight_.value), kIn, {128, 128}, scaling),
                   rounded(dy, kOut, {1, 128}, scaling), rounded(x, kIn, {128, 1}, scaling),
                   rounded(dy, kOut, {128, 1}, scaling)});
}

TEST_P(Fp8ProductsTest, WeightGradientsInTheWorkingType) {
  weight_.fp8 = {.scaling = Scaling::blocks, .weight_gradient = false};
  play();
  const Numbers x = test::values_of(x_), dy = test::values_of(dy_);
  expect_near(weight_.sink.main_grad,
              product(kOut, kIn, kRows, transposed(dy, kOut), matrix(x, kIn)), 2e-6);
}

TEST_P(Fp8ProductsTest, DelayedScalesFollowFromHistoriesAndValuesAreNoted) {
  autograd::Buffer history{.name = "history", .shape = {3, 2}, .value = {}};
  history.value = test::make_tensor(*device_, history.shape, DType::f32, {4, 9, 2, 9, 0.5, 9});
  const Tensor noted = test::make_tensor(*device_, {3}, DType::f32, {0, 7, 0});
  weight_.fp8 = {.scaling = Scaling::delayed,
                 .gradient_format = Fp8Format::e5m2,
                 .margin = 1,
                 .history = &history,
                 .amax = noted};
  play();
  const Fp8Scaling e4m3{.margin = 1}, e5m2{.format = Fp8Format::e5m2, .margin = 1};
  const Numbers x = rounded(test::values_of(x_), kIn, {}, e4m3, 4),
                w = rounded(test::values_of(weight_.value), kIn, {}, e4m3, 2),
                dy = rounded(test::values_of(dy_), kOut, {}, e5m2, 0.5);
  expect_products({x, w, dy, x, dy});
  EXPECT_EQ(test::values_of(noted),
            (Numbers{largest(test::values_of(x_)), 7, largest(test::values_of(dy_))}));
}

TEST_P(Fp8ProductsTest, EvaluationNotesNothing) {
  autograd::Buffer history{.name = "history", .shape = {3, 1}, .value = {}};
  history.value = test::make_tensor(*device_, history.shape, DType::f32, {0, 0, 0});
  const Tensor noted = test::make_tensor(*device_, {3}, DType::f32, {0, 0, 0});
  weight_.fp8 = {.history = &history, .amax = noted};
  Context cx = context(nullptr);
  cx.mode = autograd::Mode::evaluate;
  linear(cx, autograd::constant(x_), weight_, nullptr);
  EXPECT_EQ(test::values_of(noted), (Numbers{0, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(Devices, Fp8ProductsTest, ::testing::Values("reference", "host"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace fp8_products_test
}  // namespace mpitron::ops
