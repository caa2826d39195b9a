#include <gtest/gtest.h>

#include "comm/groups/work.h"
#include "support/temporary_folder.h"
#include "train/log/logged.h"
#include "train/log/training_log.h"

namespace mpitron::train {
namespace training_log_scalars_test {

TEST(TrainingLogScalars, WritesEventsAndMetrics) {
  const test::TemporaryFolder folder;
  {
    Logged logged({"--tensorboard-dir", folder / "board"});
    logged.iteration(1, 2.5);
    ::testing::internal::CaptureStdout();
    logged.log.validation({.where = "iteration 1", .losses = {{"lm loss", 2.25}}}, {1, 4, 4});
    logged.log.validation(
        {.where = "iteration 1 on test set", .losses = {{"lm loss", 2.0}}, .test = true},
        {1, 4, 4});
    const std::string text = ::testing::internal::GetCapturedStdout();
    EXPECT_TRUE(has(text, "iteration 1 on test set | lm loss value: 2.000000E+00")) << text;
  }
  const auto row = metrics_of(folder / "board", 1);
  EXPECT_EQ(row.at("lm loss"), 2.5);
  EXPECT_EQ(row.at("consumed-samples"), 4);
  EXPECT_EQ(row.at("lm loss validation"), 2.25);
  EXPECT_EQ(row.at("lm loss test"), 2.0);
}

TEST(TrainingLogScalars, MetricsTellTimesAndRanks) {
  const test::TemporaryFolder folder;
  {
    Logged logged({"--tensorboard-dir", folder / "board", "--log-interval", "2"});
    logged.iteration(1, 1.0);
    comm::add_waited_seconds(1000);
    logged.iteration(2, 1.0);
  }
  const auto first = metrics_of(folder / "board", 1), second = metrics_of(folder / "board", 2);
  EXPECT_GT(first.at("iteration-time"), 0);
  EXPECT_NEAR(
      first.at("tokens-per-second").get<double>() * first.at("iteration-time").get<double>(), 4 * 8,
      1e-6);
  EXPECT_GT(first.at("time"), 1.6e9);
  EXPECT_FALSE(first.contains("busy-seconds-max")) << "at log intervals only";
  EXPECT_EQ(second.at("slowest-rank"), 0);
  EXPECT_LT(second.at("busy-seconds-max"), 0) << "waiting is not being busy";
  EXPECT_GT(second.at("memory-mib-max"), 1);
}

}  // namespace training_log_scalars_test

}  // namespace mpitron::train
