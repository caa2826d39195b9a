#include "ops/loss/distillation_loss.h"

#include <cmath>

#include "ops/gradient_check.h"
#include "ops/gradient_ranks.h"

namespace mpitron::ops {
namespace distillation_loss_test {

constexpr Index kTokens = 3, kVocabulary = 8;
const std::vector<std::int64_t> kIds = {2, 5, 7, 0, 4, 6}, kLabels = {5, 7, 1};
const std::vector<double> kLogProbs = {-0.2, -1.9, -0.7, -0.9, -0.05, -4};

class DistillationLossTest : public GradientCheck {
 protected:
  TeacherWords teacher(double temperature, double weight) {
    return {test::make_ids(*device_, {kTokens, 1, 2}, kIds),
            test::make_tensor(*device_, {kTokens, 1, 2}, DType::f64, kLogProbs), temperature,
            weight};
  }
};

TEST_F(DistillationLossTest, BackwardIsTheGradient) {
  for (const double temperature : {1.0, 2.5}) {
    expect_gradients(
        {random({kTokens, 1, kVocabulary})}, [&](Context& context, const std::vector<Var>& x) {
          return distillation_loss(context, x[0], test::make_ids(*device_, {kTokens, 1}, kLabels),
                                   teacher(temperature, 0.3), {})
              .loss;
        });
  }
}

TEST_F(DistillationLossTest, ATeacherIsNotFarFromItself) {
  Context cx = context();
  const Tensor logits = test::make_tensor(*device_, {1, 1, 2}, DType::f64, {0.3, -1});
  const double lse = std::log(std::exp(0.3) + std::exp(-1));
  const TeacherWords itself{
      test::make_ids(*device_, {1, 1, 2}, {0, 1}),
      test::make_tensor(*device_, {1, 1, 2}, DType::f64, {0.3 - lse, -1 - lse}), 2, 1};
  const DistillationLosses told = distillation_loss(
      cx, autograd::variable(logits), test::make_ids(*device_, {1, 1}, {1}), itself, {});
  EXPECT_NEAR(test::values_of(told.divergence)[0], 0, 1e-12);
  EXPECT_NEAR(test::values_of(told.label)[0], lse + 1, 1e-12);
}

TEST(DistillationLoss, RanksThatShareTheVocabularyAgree) {
  const std::vector<double> logits = test::test_values(kTokens * kVocabulary, 1);
  std::vector<double> loss, dlogits;
  for (const Index ranks : {1, 2}) {
    on_ranks(ranks, [&](TestRank& rank) {
      const Index n = kVocabulary / ranks;
      const Block mine{0, kTokens, rank.rank() * n, (rank.rank() + 1) * n};
      const Var x =
          autograd::variable(rank.tensor({kTokens, 1, n}, block_of(logits, kVocabulary, mine)));
      const TeacherWords teacher{test::make_ids(rank.device, {kTokens, 1, 2}, kIds),
                                 rank.tensor({kTokens, 1, 2}, kLogProbs), 2.5, 0.3};
      const Var told =
          distillation_loss(rank.context, x, test::make_ids(rank.device, {kTokens, 1}, kLabels),
                            teacher, {&rank.group, false})
              .loss;
      rank.backward(told, rank.tensor({kTokens, 1}, {0.5, -1, 2}));
      if (ranks == 1) {
        loss = test::values_of(told.value), dlogits = test::values_of(x.slot.gradient());
      }
      expect_near(test::values_of(told.value), loss);
      expect_near(test::values_of(x.slot.gradient()), block_of(dlogits, kVocabulary, mine));
    });
  }
}

}  // namespace distillation_loss_test
}  // namespace mpitron::ops
