#include "ops/experts/expert_visits.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace expert_visits_test {

class ExpertVisitsTest : public GradientCheck {
 protected:
  Routing routing(const Var& probabilities) {
    return {test::make_ids(*device_, {3, 2}, {2, 0, 0, 1, 0, 2}), probabilities};
  }
  Var probabilities() {
    return autograd::variable(test::make_tensor(*device_, {3, 2}, DType::f32, {1, 2, 3, 4, 5, 6}));
  }
};

TEST_F(ExpertVisitsTest, OrdersProbabilitiesLikeTokens) {
  Context cx = context();
  const ExpertVisits visits = expert_visits(cx, routing(probabilities()), 4, {});
  EXPECT_EQ(visits.counts, (std::vector<Index>{3, 1, 2, 0}));
  EXPECT_EQ(test::values_of(visits.rows), (std::vector<double>{0, 1, 2, 1, 0, 2}));
  EXPECT_EQ(test::values_of(visits.probabilities.value), (std::vector<double>{2, 3, 5, 4, 1, 6}));
}

TEST_F(ExpertVisitsTest, GradientsComeBackToThePlaces) {
  Tape tape;
  Context cx = context(&tape);
  const Var p = probabilities();
  const ExpertVisits visits = expert_visits(cx, routing(p), 4, {.tokens = 2});
  EXPECT_EQ(visits.counts, (std::vector<Index>{2, 1, 2, 0}));
  tape.backward(cx, visits.probabilities.slot,
                test::make_tensor(*device_, {5}, DType::f32, {10, 20, 30, 40, 50}));
  // The visit of token 0 to expert 0 had the lowest probability: it is dropped.
  EXPECT_EQ(test::values_of(p.slot.gradient()), (std::vector<double>{40, 0, 10, 30, 20, 50}));
}

TEST_F(ExpertVisitsTest, WhatFillsAnExpertUpHasNoWeight) {
  Tape tape;
  Context cx = context(&tape);
  const Var p = probabilities();
  const ExpertVisits visits = expert_visits(cx, routing(p), 4, {.tokens = 2, .pad = true});
  EXPECT_EQ(visits.counts, (std::vector<Index>{2, 2, 2, 2}));
  EXPECT_EQ(test::values_of(visits.probabilities.value),
            (std::vector<double>{3, 5, 0, 4, 1, 6, 0, 0}));
  tape.backward(cx, visits.probabilities.slot,
                test::make_tensor(*device_, {8}, DType::f32, std::vector<double>(8, 1)));
  EXPECT_EQ(test::values_of(p.slot.gradient()), (std::vector<double>{1, 0, 1, 1, 1, 1}));
}

TEST_F(ExpertVisitsTest, ProbabilitiesAreSingle) {
  Context cx = context();
  const Var p = autograd::variable(random({3, 2}));
  EXPECT_EQ(expert_visits(cx, routing(p), 3, {}).probabilities.value.dtype(), DType::f32);
}

}  // namespace expert_visits_test
}  // namespace mpitron::ops
