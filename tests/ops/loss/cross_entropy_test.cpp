#include "ops/loss/cross_entropy.h"

#include <cmath>

#include "ops/gradient_check.h"
#include "ops/gradient_ranks.h"
#include "ops/parallel/tensor_parallel_regions.h"

namespace mpitron::ops {
namespace cross_entropy_test {

class CrossEntropyTest : public GradientCheck {
 protected:
  /// Of a vocabulary of 7.
  Tensor labels() { return test::make_ids(*device_, {3, 2}, {2, 6, 0, 4, 5, 2}); }
};

TEST_F(CrossEntropyTest, BackwardIsTheGradientWithAndWithoutSmoothing) {
  for (const float smoothing : {0.f, 0.25f}) {
    expect_gradients({random({3, 2, 7})}, [&](Context& context, const std::vector<Var>& x) {
      return cross_entropy(context, x[0], labels(), smoothing);
    });
  }
}

/// A label outside the vocabulary has no target term: the loss is log sum exp(l - max), and the
/// gradient is the softmax, as the reference has it (which differentiates no maximum).
TEST_F(CrossEntropyTest, ALabelOutsideTheVocabularyLeavesTheSoftmax) {
  Tape tape;
  Context cx = context(&tape);
  const Var logits = autograd::variable(test::make_tensor(
      *device_, {1, 1, 3}, DType::f64, {std::log(1.0), std::log(2.0), std::log(5.0)}));
  const Var loss = cross_entropy(cx, logits, test::make_ids(*device_, {1, 1}, {3}));
  EXPECT_NEAR(test::values_of(loss.value)[0], std::log(8.0 / 5), 1e-12);
  tape.backward(cx, loss.slot, test::make_tensor(*device_, {1, 1}, DType::f64, {2}));
  const std::vector<double> gradient = test::values_of(logits.slot.gradient());
  EXPECT_NEAR(gradient[0], 0.25, 1e-12);
  EXPECT_NEAR(gradient[1], 0.5, 1e-12);
  EXPECT_NEAR(gradient[2], 1.25, 1e-12);
}

TEST_F(CrossEntropyTest, EqualLogitsCostTheLogarithmOfTheVocabulary) {
  Context cx = context();
  const Tensor logits =
      test::make_tensor(*device_, {1, 1, 8}, DType::f64, std::vector<double>(8, 3.0));
  const Var loss =
      cross_entropy(cx, autograd::variable(logits), test::make_ids(*device_, {1, 1}, {5}));
  EXPECT_EQ(loss.shape(), (Shape{1, 1}));
  EXPECT_NEAR(test::values_of(loss.value)[0], std::log(8.0), 1e-12);
}

/// The logits are the largest buffer of a step: their gradient takes their memory.
TEST_F(CrossEntropyTest, BackwardReusesTheMemoryOfTheLogits) {
  Tape tape;
  Context cx = context(&tape);
  const Var logits = autograd::variable(random({3, 2, 7}));
  const Var loss = cross_entropy(cx, logits, labels());
  tape.backward(cx, loss.slot, random({3, 2}));
  EXPECT_EQ(logits.slot.gradient().view().data, logits.value.view().data);
}

TEST_F(CrossEntropyTest, HalfPrecisionLogitsHaveAnFp32Loss) {
  Context cx = context();
  const Var logits = autograd::variable(test::random_tensor(*device_, {3, 2, 7}, DType::bf16, 1));
  EXPECT_EQ(cross_entropy(cx, logits, labels()).value.dtype(), DType::f32);
}

}  // namespace cross_entropy_test

namespace vocab_parallel_cross_entropy_test {

constexpr Index kTokens = 6, kVocabulary = 12;
const std::vector<std::int64_t> kLabels = {2, 11, 0, 5, -1, 12};  // the last two have no target

struct Losses {
  std::vector<double> logits = test::test_values(kTokens * kVocabulary, 1),
                      dloss = test::test_values(kTokens, 2);
  std::vector<double> loss, dlogits;
};

Losses alone(float smoothing) {
  Losses result;
  on_ranks(1, [&](TestRank& rank) {
    const Var logits = autograd::variable(rank.tensor({kTokens, 1, kVocabulary}, result.logits));
    const Var loss = cross_entropy(rank.context, logits,
                                   test::make_ids(rank.device, {kTokens, 1}, kLabels), smoothing);
    result.loss = test::values_of(loss.value);
    rank.backward(loss, rank.tensor({kTokens, 1}, result.dloss));
    result.dlogits = test::values_of(logits.slot.gradient());
  });
  return result;
}

void expect_equal_to_one_rank(Index ranks, float smoothing) {
  const Losses whole = alone(smoothing);
  on_ranks(ranks, [&](TestRank& rank) {
    const Index n = kVocabulary / ranks;
    const Block mine{0, kTokens, rank.rank() * n, (rank.rank() + 1) * n};
    const Var logits =
        autograd::variable(rank.tensor({kTokens, 1, n}, block_of(whole.logits, kVocabulary, mine)));
    const Var loss = vocab_parallel_cross_entropy(
        rank.context, logits, test::make_ids(rank.device, {kTokens, 1}, kLabels),
        {&rank.group, false}, smoothing);
    EXPECT_EQ(loss.shape(), (Shape{kTokens, 1}));
    expect_near(test::values_of(loss.value), whole.loss);
    rank.backward(loss, rank.tensor({kTokens, 1}, whole.dloss));
    expect_near(test::values_of(logits.slot.gradient()),
                block_of(whole.dlogits, kVocabulary, mine));
  });
}

TEST(VocabParallelCrossEntropy, IsThatOfOneRank) {
  for (const Index ranks : {1, 2, 4}) {
    expect_equal_to_one_rank(ranks, 0);
  }
}

/// A smoothed target gives every word of the whole vocabulary a / v, and the mean runs over all of
/// it: not over the words of one rank.
TEST(VocabParallelCrossEntropy, SmoothingSpeaksOfTheWholeVocabularyAndItsMean) {
  for (const Index ranks : {2, 4}) {
    expect_equal_to_one_rank(ranks, 0.25f);
  }
}

/// Logits that were gathered are whole on every rank: their loss sums no rank twice, so it has no
/// log(ranks) in it.
TEST(VocabParallelCrossEntropy, GatheredLogitsAddNoLogarithmOfTheRanks) {
  const Losses whole = alone(0);
  on_ranks(4, [&](TestRank& rank) {
    const Block mine{0, kTokens, rank.rank() * 3, (rank.rank() + 1) * 3};
    const Var logits =
        autograd::variable(rank.tensor({kTokens, 1, 3}, block_of(whole.logits, kVocabulary, mine)));
    const Var loss = cross_entropy(rank.context, gather_from_tp(rank.context, logits, rank.group),
                                   test::make_ids(rank.device, {kTokens, 1}, kLabels));
    expect_near(test::values_of(loss.value), whole.loss);
    rank.backward(loss, rank.tensor({kTokens, 1}, whole.dloss));
    expect_near(test::values_of(logits.slot.gradient()),
                block_of(whole.dlogits, kVocabulary, mine));
  });
}

/// A rank whose logits are all masked adds nothing.
TEST(VocabParallelCrossEntropy, ARankMayHaveOnlyMaskedLogits) {
  on_ranks(2, [](TestRank& rank) {
    const std::vector<double> values = rank.rank() == 0 ? std::vector<double>{0, std::log(3.0)}
                                                        : std::vector<double>{-INFINITY, -INFINITY};
    const Var logits = autograd::variable(rank.tensor({1, 1, 2}, values));
    const Var loss = vocab_parallel_cross_entropy(
        rank.context, logits, test::make_ids(rank.device, {1, 1}, {0}), {&rank.group, false});
    expect_near(test::values_of(loss.value), {std::log(4.0)});
    rank.backward(loss, rank.tensor({1, 1}, {1}));
    expect_near(test::values_of(logits.slot.gradient()),
                rank.rank() == 0 ? std::vector<double>{-0.75, 0.75} : std::vector<double>{0, 0});
  });
}

}  // namespace vocab_parallel_cross_entropy_test
}  // namespace mpitron::ops
