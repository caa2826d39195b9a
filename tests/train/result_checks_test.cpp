#include "train/result_checks.h"

#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "train/rejected_results.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST(CheckFinite, NamesWhatAndWhere) {
  EXPECT_NO_THROW(check_finite(1e30, "loss", {}));
  try {
    check_finite(kNan, "loss", {.iteration = 12, .rank = 3, .microbatch = 0});
    FAIL() << "NaN was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::result_rejected);
    EXPECT_EQ(std::string(error.what()).find("iteration 12, rank 3, microbatch 0: the loss is nan"),
              0U)
        << error.what();
  }
  try {
    check_finite(-kInf, "gradient norm", {.iteration = 2});
    FAIL() << "infinity was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("iteration 2, rank 0: the gradient norm is -inf"), 0U);
  }
}

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

TEST(UnexpectedlyLarge, StateSurvives) {
  UnexpectedlyLarge first(10.0, 1);
  first(2.0);
  std::map<std::string, double> saved;
  first.visit_state(
      [&](const char* name, auto& value) { saved[name] = static_cast<double>(value); });
  UnexpectedlyLarge second(10.0, 1);
  second.visit_state([&](const char* name, auto& value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(saved.at(name));
  });
  EXPECT_TRUE(second(21.0));
}

TEST(ResultChecks, SpikesAreWarnedOfAndNanEndsTheRun) {
  config::TrainingConfig training;
  training.check_for_spiky_loss = true;
  const test::TemporaryFolder folder;
  training.result_rejected_tracker_filename = folder / "rejected";
  ResultChecks checks(training, 0);
  ::testing::internal::CaptureStderr();
  for (Index iteration = 1; iteration <= 100; ++iteration) {
    checks(iteration, 2.0, 1.0);
  }
  checks(101, 19.0, 1000.0);  // large gradients are not asked for
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ::testing::internal::CaptureStderr();
  checks(102, 21.0, 1.0);
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find("iteration 102, rank 0: the loss is 21"), std::string::npos) << warning;
  EXPECT_FALSE(std::filesystem::exists(folder / "rejected"));
  for (int run = 0; run < 2; ++run) {
    EXPECT_THROW(checks(103, 2.0, kNan), Error);
  }
  EXPECT_EQ(rejected_iterations(folder / "rejected"), std::vector<Index>{103});
  ResultChecks other_rank(training, 1);
  EXPECT_THROW(other_rank(104, kNan, 1.0), Error);
  EXPECT_THROW(other_rank(104, kNan, 1.0), Error);
  EXPECT_EQ(rejected_iterations(folder / "rejected"), std::vector<Index>{103});
}

TEST(SpikeMessage, Text) {
  UnexpectedlyLarge spiky(10.0, 1);
  spiky(2.0);
  EXPECT_EQ(spike_message(50.0, "loss", {.iteration = 7, .rank = 1}, spiky),
            "iteration 7, rank 1: the loss is 50, far above 2, the largest of the first samples");
}

}  // namespace mpitron::train
