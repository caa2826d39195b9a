#include "ops/linear/linear.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace linear_test {

using LinearTest = GradientCheck;

TEST_F(LinearTest, BackwardIsTheGradient) {
  Parameter& weight = parameter({5, 4});
  expect_gradients({random({2, 3, 4})}, [&](Context& context, const std::vector<Var>& x) {
    return linear(context, x[0], weight, nullptr);
  });
}

TEST_F(LinearTest, BackwardIsTheGradientWithABias) {
  Parameter &weight = parameter({5, 4}), &bias = parameter({5});
  expect_gradients({random({3, 4})}, [&](Context& context, const std::vector<Var>& x) {
    return linear(context, x[0], weight, &bias);
  });
}

TEST_F(LinearTest, KeepsLeadingDimensions) {
  Parameter& weight = parameter({5, 4});
  Context cx = context();
  const Var y = linear(cx, autograd::variable(random({2, 3, 4})), weight, nullptr);
  EXPECT_EQ(y.shape(), (Shape{2, 3, 5}));
}

TEST_F(LinearTest, AnInputWithoutGradientCostsNoProduct) {
  Parameter& weight = parameter({5, 4});
  Tape tape;
  Context cx = context(&tape);
  const Var x = autograd::constant(random({2, 3, 4}));
  const Var y = linear(cx, x, weight, nullptr);
  tape.backward(cx, y.slot, random({2, 3, 5}));
  EXPECT_TRUE(weight.sink.written);
  EXPECT_FALSE(x.slot);
}

TEST_F(LinearTest, AWeightOfAnotherWidthIsABrokenInvariant) {
  Parameter& weight = parameter({5, 4});
  Context cx = context();
  EXPECT_THROW(linear(cx, autograd::variable(random({2, 3})), weight, nullptr), InternalError);
}

/// A kept weight in 4 bits; what it stands for is in `plain`.
struct KeptWeight {
  Parameter packed, plain;
};
KeptWeight kept_weight(Context& context, const Tensor& values) {
  KeptWeight kept;
  kept.packed.name = kept.plain.name = "kept";
  kept.packed.shape = kept.plain.shape = values.shape();
  kept.packed.role.frozen = kept.plain.role.frozen = true;
  kept.packed.value = values;
  kept.packed.four_bits.emplace();
  autograd::pack_kept_weight(context.device, kept.packed);
  kept.plain.value = autograd::weight_numbers(context, kept.packed);
  return kept;
}

TEST_F(LinearTest, AKeptWeightIn4BitsHasTheGradientOfItsNumbers) {
  Context cx = context();
  KeptWeight kept = kept_weight(cx, random({5, 64}));
  EXPECT_FALSE(kept.packed.value);
  const Tensor input = random({3, 64});
  const auto of = [&](Parameter& weight) {
    return test::values_of(linear(cx, autograd::variable(input), weight, nullptr).value);
  };
  EXPECT_EQ(of(kept.packed), of(kept.plain));
  expect_gradients({input}, [&](Context& context, const std::vector<Var>& x) {
    return linear(context, x[0], kept.packed, nullptr);
  });
}

}  // namespace linear_test
}  // namespace mpitron::ops
