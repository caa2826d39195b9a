#include "ops/elementwise/bias_dropout_add.h"

#include <algorithm>

#include "comm/groups/world.h"
#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace bias_dropout_add_test {

class BiasDropoutAddTest : public GradientCheck {
 protected:
  kernels::DropoutMask half() { return dropout_mask(context(), 0.5, 3, 1); }
  /// x + dropout of ones without bias and residual: 0 or 2.
  std::vector<double> dropped(const Context& where, Index samples) {
    const Shape shape{4, samples, 16};
    const Tensor ones =
        test::make_tensor(*device_, shape, DType::f64,
                          std::vector<double>(static_cast<std::size_t>(shape.numel()), 1));
    Context cx = where;
    return test::values_of(
        bias_dropout_add(cx, autograd::variable(ones), nullptr, {}, dropout_mask(cx, 0.5, 3, 1))
            .value);
  }
};

TEST_F(BiasDropoutAddTest, BackwardIsTheGradientWithEverything) {
  Parameter& bias = parameter({5});
  expect_gradients({random({3, 2, 5}), random({3, 2, 5})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return bias_dropout_add(context, x[0], &bias, x[1], half());
                   });
}

TEST_F(BiasDropoutAddTest, BackwardIsTheGradientWithoutDropout) {
  Parameter& bias = parameter({5});
  expect_gradients({random({3, 2, 5}), random({3, 2, 5})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return bias_dropout_add(context, x[0], &bias, x[1], {});
                   });
}

TEST_F(BiasDropoutAddTest, BackwardIsTheGradientWithoutBiasAndResidual) {
  expect_gradients({random({3, 2, 5})}, [&](Context& context, const std::vector<Var>& x) {
    return bias_dropout_add(context, x[0], nullptr, {}, half());
  });
}

/// Training decides dropout; recording does not (the first pass of a recomputed block trains
/// without a tape).
TEST_F(BiasDropoutAddTest, OnlyTrainingDrops) {
  Tape tape;
  for (Tape* recording : {static_cast<Tape*>(nullptr), &tape}) {
    Context cx = context(recording);
    EXPECT_TRUE(dropout_mask(cx, 0.1, 1, 1).active());
    EXPECT_FALSE(dropout_mask(cx, 0, 1, 1).active());
    cx.mode = autograd::Mode::evaluate;
    EXPECT_FALSE(dropout_mask(cx, 0.1, 1, 1).active());
  }
}

TEST_F(BiasDropoutAddTest, KeepsHalfAndScalesItByTwo) {
  const std::vector<double> y = dropped(context(), 40);
  const auto kept = std::ranges::count(y, 2.0), gone = std::ranges::count(y, 0.0);
  EXPECT_EQ(kept + gone, 4 * 40 * 16);
  EXPECT_NEAR(static_cast<double>(kept), 1280, 120);  // 6 standard deviations
}

/// The mask belongs to the global sample: microbatches of 2 see what a batch of 4 sees.
TEST_F(BiasDropoutAddTest, MasksDoNotDependOnMicrobatches) {
  const std::vector<double> batch = dropped(context(), 4);
  for (Index first : {0, 2}) {
    Context cx = context();
    cx.position.first_sample = first;
    const std::vector<double> half_batch = dropped(cx, 2);
    for (std::size_t i = 0; i < half_batch.size(); ++i) {
      const std::size_t s = i / 32, b = i / 16 % 2 + static_cast<std::size_t>(first), h = i % 16;
      EXPECT_EQ(half_batch[i], batch[(s * 4 + b) * 16 + h]);
    }
  }
  // Every second sample: data parallel rank 1 of 2 of an interleaved batch.
  Context strided = context();
  strided.position = {.first_sample = 1, .sample_stride = 2};
  const std::vector<double> odd = dropped(strided, 2);
  for (std::size_t i = 0; i < odd.size(); ++i) {
    EXPECT_EQ(odd[i], batch[(i / 32 * 4 + i / 16 % 2 * 2 + 1) * 16 + i % 16]);
  }
}

/// A rank that has a piece of the sequence drops what one rank drops there, bit for bit.
TEST_F(BiasDropoutAddTest, MasksDoNotDependOnTheCutOfTheSequence) {
  const auto dropped_rows = [&](const kernels::DropoutMask& mask, Index s) {
    Context cx = context();
    const Tensor ones = test::make_tensor(*device_, {s, 3, 16}, DType::f64,
                                          std::vector<double>(static_cast<std::size_t>(s * 48), 1));
    return test::values_of(bias_dropout_add(cx, autograd::variable(ones), nullptr, {}, mask).value);
  };
  const kernels::DropoutMask mask = dropout_mask(context(), 0.5, 3, 1);
  const std::vector<double> whole = dropped_rows(mask, 8);
  comm::run_thread_world(4, [&](comm::World& world) {
    const auto group = world.all();
    const kernels::DropoutMask mine = local_mask(mask, {group.get(), true}, 2);
    for (Index row = 0; row < 2; ++row) {
      for (Index column = 0; column < 48; ++column) {
        const Index s = world.rank() * 2 + row;
        const bool kept = kernels::dropout_keeps(mine, column % 16, mine.index.sequence(row),
                                                 mine.index.sample(column / 16));
        EXPECT_EQ(kept, whole[static_cast<std::size_t>(s * 48 + column)] != 0);
      }
    }
    const kernels::DropoutMask whole_mask = local_mask(mask, {group.get(), false}, 8);
    EXPECT_EQ(whole_mask.index.sequence(5), mask.index.sequence(5));
  });
}

/// Also of a rank whose sequence has two ranges (zigzag context parallelism).
TEST_F(BiasDropoutAddTest, APieceOfTwoRangesKeepsTheirPlaces) {
  const kernels::GlobalIndexMap whole{.sequence = {.split = 4, .offset = {4, 20}}};
  for (const Index first : {0, 3, 4, 6}) {
    const kernels::GlobalIndexMap piece = whole.from(first);
    for (Index row = 0; first + row < 8; ++row) {
      EXPECT_EQ(piece.sequence(row), whole.sequence(first + row)) << first << " + " << row;
    }
  }
}

TEST_F(BiasDropoutAddTest, MasksDifferByIterationLayerAndSite) {
  Context cx = context();
  const Philox::Key key = dropout_mask(cx, 0.5, 3, 1).key;
  EXPECT_NE(dropout_mask(cx, 0.5, 4, 1).key, key);
  EXPECT_NE(dropout_mask(cx, 0.5, 3, 2).key, key);
  ++cx.iteration;
  EXPECT_NE(dropout_mask(cx, 0.5, 3, 1).key, key);
}

/// A wider residual decides the type of the sum; the branch's gradient comes back in its own.
TEST_F(BiasDropoutAddTest, AWideResidualStaysWide) {
  Tape tape;
  Context cx = context(&tape);
  const Var x = autograd::variable(test::random_tensor(*device_, {1, 2, 4}, DType::bf16, 1));
  const Var residual = autograd::variable(test::random_tensor(*device_, {1, 2, 4}, DType::f32, 2));
  const Var y = bias_dropout_add(cx, x, nullptr, residual, {});
  EXPECT_EQ(y.value.dtype(), DType::f32);
  tape.backward(cx, y.slot, test::random_tensor(*device_, {1, 2, 4}, DType::f32, 3));
  EXPECT_EQ(x.slot.gradient().dtype(), DType::bf16);
  EXPECT_EQ(residual.slot.gradient().dtype(), DType::f32);
}

}  // namespace bias_dropout_add_test

namespace bias_test {

using BiasTest = GradientCheck;

TEST_F(BiasTest, AnAbsentBiasIsAnAbsentArgument) {
  EXPECT_FALSE(value_of(nullptr));
  EXPECT_EQ(value_of(&parameter({3})).shape, Shape{3});
  Context cx = context();
  accumulate_bias(cx, nullptr, random({2, 3}));
}

TEST_F(BiasTest, SumsOverAllRowsAndAddsTheSecondTime) {
  Parameter& bias = parameter({2});
  Context cx = context();
  const Tensor dy =
      test::make_tensor(*device_, {2, 2, 2}, DType::f64, {1, 10, 2, 20, 3, 30, 4, 40});
  accumulate_bias(cx, &bias, dy);
  EXPECT_EQ(test::values_of(bias.sink.main_grad), (std::vector<double>{10, 100}));
  accumulate_bias(cx, &bias, dy);
  EXPECT_EQ(test::values_of(bias.sink.main_grad), (std::vector<double>{20, 200}));
}

}  // namespace bias_test
}  // namespace mpitron::ops
