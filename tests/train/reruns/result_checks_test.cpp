#include "train/reruns/result_checks.h"

#include <limits>

#include <gtest/gtest.h>

namespace mpitron::train {
namespace result_checks_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(UnexpectedlyLarge, LearnsFromTheFirstSamples) {
  UnexpectedlyLarge spiky(10.0, 3);
  EXPECT_FALSE(spiky(2.0));
  EXPECT_FALSE(spiky(-5.0));
  EXPECT_FALSE(spiky(1.0));
  EXPECT_EQ(spiky.largest(), 5.0);
  EXPECT_FALSE(spiky(50.0));
  EXPECT_TRUE(spiky(50.1));
  EXPECT_TRUE(spiky(-51.0));
  EXPECT_EQ(spiky.largest(), 5.0) << "what comes later teaches nothing";
}

TEST(UnexpectedlyLarge, NanAndInfinity) {
  UnexpectedlyLarge spiky(10.0, 1);
  EXPECT_FALSE(spiky(kNan));
  EXPECT_TRUE(spiky(kInf)) << "even while learning";
  EXPECT_FALSE(spiky(1.0)) << "NaN and infinity are no samples";
  EXPECT_TRUE(spiky(11.0));
}

TEST(ResultChecks, ComplainOfSpikesAndFatallyOfNan) {
  config::TrainingConfig training;
  training.check_for_spiky_loss = true;
  ResultChecks checks(training);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(checks(2.0, 1.0)[0].complaint, "");
  }
  EXPECT_EQ(checks(19.0, 1000.0)[1].complaint, "") << "large gradients are not asked for";
  const Results spike = checks(21.0, 1.0);
  EXPECT_EQ(spike[0].complaint, "the loss is 21, far above 2, the largest of the first samples");
  EXPECT_FALSE(spike[0].fatal);
  const Results nan = checks(2.0, -kInf);
  EXPECT_EQ(nan[0].complaint, "");
  EXPECT_EQ(nan[1].complaint, "the gradient norm is -inf");
  EXPECT_TRUE(nan[1].fatal);
  training.check_for_nan_in_loss_and_grad = false;
  EXPECT_EQ(ResultChecks(training)(kNan, kNan)[0].complaint, "");
}

}  // namespace result_checks_test
}  // namespace mpitron::train
