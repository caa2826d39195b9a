#include <deque>

#include "ops/linear/fp8_products_fixture.h"
#include "ops/linear/grouped_linear.h"

namespace mpitron::ops {
namespace fp8_products_test {

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

}  // namespace fp8_products_test
}  // namespace mpitron::ops
