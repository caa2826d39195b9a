#include "ops/linear/fp8_products.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include <gtest/gtest.h>

#include "kernels/linear/fp8_quantize.h"
#include "ops/linear/grouped_linear.h"
#include "ops/linear/linear.h"
#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::ops {
namespace fp8_products_test {

using autograd::Context;
using autograd::Fp8Products;
using autograd::Parameter;
using Scaling = Fp8Products::Scaling;
using tensor::Tensor;
using Numbers = std::vector<double>;

constexpr Index kRows = 150, kIn = 200, kOut = 136;

/// What is left of a matrix [rows, columns] after each block was rounded by its own scale, or by
/// the one that `amax` gives.
Numbers rounded(const Numbers& x, Index columns, kernels::Fp8Blocks blocks, Fp8Scaling scaling,
                double amax = 0) {
  const auto count = static_cast<Index>(x.size());
  const auto block = [&](Index i) {
    return std::pair(blocks.row(i / columns), blocks.column(i % columns));
  };
  std::map<std::pair<Index, Index>, double> largest;
  for (Index i = 0; i < count; ++i) {
    double& found = largest[block(i)];
    found = amax > 0 ? amax : std::max(found, std::abs(x[static_cast<std::size_t>(i)]));
  }
  Numbers y;
  for (Index i = 0; i < count; ++i) {
    const float scale = fp8_scale(static_cast<float>(largest[block(i)]), scaling);
    const auto value = static_cast<float>(x[static_cast<std::size_t>(i)]);
    const float number = from_fp8(to_fp8(value * scale, scaling.format), scaling.format);
    y.push_back(static_cast<double>(number) / static_cast<double>(scale));
  }
  return y;
}

/// Sums of a(i, k) b(k, j) over k, [m, n].
Numbers product(Index m, Index n, Index k, const auto& a, const auto& b) {
  Numbers c;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index l = 0; l < k; ++l) {
        sum += a(i, l) * b(l, j);
      }
      c.push_back(sum);
    }
  }
  return c;
}

auto matrix(const Numbers& x, Index columns) {
  return [&x, columns](Index i, Index j) { return x[static_cast<std::size_t>(i * columns + j)]; };
}
auto transposed(const Numbers& x, Index columns) {
  return [&x, columns](Index i, Index j) { return x[static_cast<std::size_t>(j * columns + i)]; };
}

void expect_near(const Tensor& got, const Numbers& want, double tolerance) {
  const Numbers values = test::values_of(got);
  const double largest =
      std::abs(*std::ranges::max_element(want, {}, [](double value) { return std::abs(value); }));
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(values[i], want[i], tolerance * largest) << i;
  }
}

double largest(const Numbers& x) {
  double found = 0;
  for (const double value : x) {
    found = std::max(found, std::abs(value));
  }
  return found;
}

class Fp8ProductsTest : public ::testing::TestWithParam<const char*> {
 protected:
  Fp8ProductsTest() {
    weight_.name = "weight";
    weight_.shape = {kOut, kIn};
    weight_.value = test::random_tensor(*device_, weight_.shape, DType::bf16, 1);
    weight_.sink.main_grad = test::make_tensor(*device_, weight_.shape, DType::f32,
                                               Numbers(static_cast<std::size_t>(kOut * kIn), NAN));
  }
  Context context(autograd::Tape* tape) {
    return {.device = *device_, .recorder = {.tape = tape, .usage = tape}};
  }
  /// Forward and backward of one microbatch.
  void play() {
    weight_.sink.written = false;
    autograd::Tape tape;
    Context cx = context(&tape);
    const autograd::Var x = autograd::variable(x_), y = linear(cx, x, weight_, nullptr);
    y_ = y.value;
    tape.backward(cx, y.slot, dy_);
    dx_ = x.slot.gradient();
  }
  /// Compares with products of these factors (x and dy once along each dimension).
  struct Factors {
    Numbers x, w, dy, x_across, dy_across;
  };
  void expect_products(const Factors& f) const {
    expect_near(y_, product(kRows, kOut, kIn, matrix(f.x, kIn), transposed(f.w, kIn)), 5e-3);
    expect_near(dx_, product(kRows, kIn, kOut, matrix(f.dy, kOut), matrix(f.w, kIn)), 5e-3);
    expect_near(weight_.sink.main_grad,
                product(kOut, kIn, kRows, transposed(f.dy_across, kOut), matrix(f.x_across, kIn)),
                2e-6);
  }

  std::unique_ptr<device::Device> device_ = device::make_device(GetParam());
  Parameter weight_;
  Tensor x_ = test::random_tensor(*device_, {kRows, kIn}, DType::bf16, 2);
  Tensor dy_ = test::random_tensor(*device_, {kRows, kOut}, DType::bf16, 3);
  Tensor y_, dx_;
};

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

/// Rows of three experts, of which one is not visited.
class GroupedFp8ProductsTest : public Fp8ProductsTest {
 protected:
  GroupedFp8ProductsTest() {
    for (std::size_t group = 0; group < counts_.size(); ++group) {
      Parameter& weight = weights_.emplace_back();
      weight.shape = {kOut, kIn};
      weight.value = test::random_tensor(*device_, weight.shape, DType::bf16, 10 + group);
      weight.sink.main_grad = test::make_tensor(*device_, weight.shape, DType::f32,
                                                Numbers(static_cast<std::size_t>(kOut * kIn), NAN));
      experts_.push_back(&weight);
    }
  }
  void play_groups() {
    autograd::Tape tape;
    Context cx = context(&tape);
    const autograd::Var x = autograd::variable(x_), y = grouped_linear(cx, x, experts_, counts_);
    tape.backward(cx, y.slot, dy_);
    y_ = y.value;
    dx_ = x.slot.gradient();
  }
  /// The rows of the last expert, by a hundred.
  void make_last_small(const Tensor& x) const {
    Numbers values = test::values_of(x);
    const auto first = static_cast<std::size_t>(counts_[0] * x.shape()[1]);
    for (std::size_t i = first; i < values.size(); ++i) {
      values[i] /= 100;
    }
    test::set_values(x, values);
  }
  /// expect(expert, its first row, behind its last)
  void for_experts(const auto& expect) const {
    Index begin = 0;
    for (std::size_t group = 0; group < counts_.size(); begin += counts_[group++]) {
      expect(weights_[group], begin, begin + counts_[group]);
    }
  }

  const std::vector<Index> counts_ = {37, 0, kRows - 37};
  std::deque<Parameter> weights_;
  std::vector<Parameter*> experts_;
};

TEST_P(GroupedFp8ProductsTest, EachGroupIsScaledByItself) {
  for (Parameter& weight : weights_) {
    weight.fp8 = {.scaling = Scaling::current, .gradient_format = Fp8Format::e5m2};
  }
  make_last_small(x_);
  make_last_small(dy_);
  play_groups();
  for_experts([&](const Parameter& expert, Index begin, Index end) {
    EXPECT_EQ(expert.sink.written, end > begin);
    if (end == begin) {
      return;
    }
    const Index m = end - begin;
    const Numbers x = rounded(test::values_of(x_.slice(0, begin, end)), kIn, {}, {}),
                  w = rounded(test::values_of(expert.value), kIn, {}, {}),
                  dy = rounded(test::values_of(dy_.slice(0, begin, end)), kOut, {},
                               {Fp8Format::e5m2});
    expect_near(y_.slice(0, begin, end), product(m, kOut, kIn, matrix(x, kIn), transposed(w, kIn)),
                5e-3);
    expect_near(dx_.slice(0, begin, end), product(m, kIn, kOut, matrix(dy, kOut), matrix(w, kIn)),
                5e-3);
    expect_near(expert.sink.main_grad, product(kOut, kIn, m, transposed(dy, kOut), matrix(x, kIn)),
                2e-6);
  });
}

/// Whatever the recipe, what an expert computes is a linear layer of its rows.
TEST_P(GroupedFp8ProductsTest, EachGroupIsALinearLayer) {
  autograd::Buffer history{.name = "history", .shape = {3, 1}, .value = {}};
  history.value = test::make_tensor(*device_, history.shape, DType::f32, {4, 2, 0.5});
  for (const Fp8Products& fp8 :
       {Fp8Products{.scaling = Scaling::blocks},
        Fp8Products{.scaling = Scaling::delayed, .history = &history},
        Fp8Products{.scaling = Scaling::current, .weight_gradient = false}}) {
    for (Parameter& weight : weights_) {
      weight.fp8 = fp8;
      weight.sink.written = false;
    }
    play_groups();
    for_experts([&](const Parameter& expert, Index begin, Index end) {
      if (end == begin) {
        return;
      }
      Parameter alone = expert;
      alone.sink.main_grad = Tensor::empty(*device_, expert.shape, DType::f32);
      alone.sink.written = false;
      autograd::Tape tape;
      Context cx = context(&tape);
      const autograd::Var x = autograd::variable(x_.slice(0, begin, end)),
                          y = linear(cx, x, alone, nullptr);
      tape.backward(cx, y.slot, dy_.slice(0, begin, end));
      EXPECT_EQ(test::values_of(y.value), test::values_of(y_.slice(0, begin, end)));
      EXPECT_EQ(test::values_of(x.slot.gradient()), test::values_of(dx_.slice(0, begin, end)));
      expect_near(expert.sink.main_grad, test::values_of(alone.sink.main_grad), 2e-6);
    });
  }
}

/// Nobody's values reach the history of an expert without rows.
TEST_P(GroupedFp8ProductsTest, VisitedExpertsNoteTheirValues) {
  autograd::Buffer history{.name = "history", .shape = {3, 1}, .value = {}};
  history.value = test::make_tensor(*device_, history.shape, DType::f32, {0, 0, 0});
  for (Parameter& weight : weights_) {
    const Tensor noted = test::make_tensor(*device_, {3}, DType::f32, {0, 0, 0});
    weight.fp8 = {.history = &history, .amax = noted};
  }
  play_groups();
  for_experts([&](const Parameter& expert, Index begin, Index end) {
    const double of_weight = end > begin ? largest(test::values_of(expert.value)) : 0;
    EXPECT_EQ(test::values_of(expert.fp8->amax),
              (Numbers{largest(test::values_of(x_.slice(0, begin, end))), of_weight,
                       largest(test::values_of(dy_.slice(0, begin, end)))}));
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, GroupedFp8ProductsTest, ::testing::Values("reference", "host"),
                         [](const auto& info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Devices, Fp8ProductsTest, ::testing::Values("reference", "host"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace fp8_products_test

namespace fp8_factors_test {

using autograd::Context;
using autograd::Fp8Products;
using autograd::KeptFp8Weight;
using Scaling = Fp8Products::Scaling;
using tensor::Tensor;
using Numbers = std::vector<double>;

constexpr Index kOut = 130, kIn = 150;

class Fp8FactorsTest : public ::testing::TestWithParam<Scaling> {
 protected:
  Fp8FactorsTest() {
    const bool blocks = GetParam() == Scaling::blocks;
    history_.value = test::make_tensor(*device_, history_.shape, DType::f32, {0, 0, 2, 0, 0, 0});
    kept_.values = Tensor::empty(*device_, {kOut, kIn}, DType::u8);
    kept_.transposed = Tensor::empty(*device_, {kIn, kOut}, DType::u8);
    if (GetParam() != Scaling::delayed) {
      kept_.amax = Tensor::empty(*device_, blocks ? Shape{2, 2} : Shape{1, 1}, DType::f32);
    }
    weight_.name = "weight";
    weight_.value = random(1);
    weight_.fp8 = {.scaling = GetParam(), .history = &history_, .amax = zeros()};
  }
  Tensor random(int seed) const {
    return test::random_tensor(*device_, {kOut, kIn}, DType::bf16, seed);
  }
  Tensor zeros() const { return test::make_tensor(*device_, {3}, DType::f32, {0, 0, 0}); }
  /// Both directions' numbers, and the largest values that their scales follow from.
  std::vector<Numbers> quantized() {
    std::vector<Numbers> all;
    for (const bool transpose : {false, true}) {
      const Quantized result = quantize_weight(context_, weight_, transpose);
      all.push_back(test::values_of(result.values));
      const device::ConstTensorView& amax = result.factor.amax;
      for (Index i = 0; i < amax.size(0); ++i) {
        for (Index j = 0; j < amax.size(1); ++j) {
          const auto* const numbers = static_cast<const float*>(amax.data);
          all.back().push_back(
              static_cast<double>(numbers[i * amax.stride(0) + j * amax.stride(1)]));
        }
      }
    }
    return all;
  }
  void begin_pass() { kept_.has_values = kept_.has_transposed = kept_.has_amax = false; }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
  Context context_{.device = *device_};
  autograd::Buffer history_{.name = "history", .shape = {3, 2}, .value = {}};
  autograd::Parameter weight_;
  KeptFp8Weight kept_;
};

TEST_P(Fp8FactorsTest, KeptNumbersAreThoseMadeAnew) {
  const std::vector<Numbers> anew = quantized();
  weight_.fp8->kept = &kept_;
  EXPECT_EQ(quantized(), anew);
  EXPECT_EQ(quantized(), anew);
}

TEST_P(Fp8FactorsTest, KeptNumbersStayUntilThePassEnds) {
  weight_.fp8->kept = &kept_;
  const std::vector<Numbers> first = quantized();
  weight_.value = random(2);
  EXPECT_EQ(quantized(), first);
  begin_pass();
  const std::vector<Numbers> second = quantized();
  EXPECT_NE(second, first);
  weight_.fp8->kept = nullptr;
  EXPECT_EQ(quantized(), second);
}

TEST_P(Fp8FactorsTest, LargestValuesOfDelayedScalesAreNotedOncePerPass) {
  weight_.fp8->kept = &kept_;
  quantized();
  const Numbers noted = test::values_of(weight_.fp8->amax);
  EXPECT_EQ(noted[Fp8Products::weight] > 0, GetParam() == Scaling::delayed);
  weight_.fp8->amax = zeros();
  quantized();
  EXPECT_EQ(test::values_of(weight_.fp8->amax), (Numbers{0, 0, 0}));
  begin_pass();
  context_.mode = autograd::Mode::evaluate;
  quantized();
  EXPECT_EQ(test::values_of(weight_.fp8->amax), (Numbers{0, 0, 0}));
  begin_pass();
  context_.mode = autograd::Mode::train;
  quantized();
  EXPECT_EQ(test::values_of(weight_.fp8->amax), noted);
}

std::string name_of_recipe(const ::testing::TestParamInfo<Scaling>& info) {
  constexpr const char* kNames[] = {"current", "delayed", "blocks"};
  return kNames[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Recipes, Fp8FactorsTest,
                         ::testing::Values(Scaling::current, Scaling::delayed, Scaling::blocks),
                         name_of_recipe);

}  // namespace fp8_factors_test
}  // namespace mpitron::ops
