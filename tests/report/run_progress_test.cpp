#include "report/run_progress.h"

#include <array>
#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::report {
namespace run_progress_test {

using std::chrono::seconds;

constexpr std::filesystem::file_time_type kWritten{seconds(1000)};

/// Three iterations of two seconds and 16 tokens; 10 are wanted.
RunFolder three_of_ten() {
  RunFolder run;
  run.description = {.world_size = 2, .train_iters = 10, .seq_length = 8, .flops_per_sample = 1e12};
  run.metrics =
      MetricsLog(R"({"step":1,"iteration-time":9,"tokens-per-second":2,"consumed-samples":2}
{"step":2,"iteration-time":2,"tokens-per-second":8,"consumed-samples":4}
{"step":2,"lm loss validation":3.5}
{"step":3,"iteration-time":2,"tokens-per-second":8,"consumed-samples":6}
)");
  run.written = kWritten;
  return run;
}

TEST(RunProgress, TellsRateAndRest) {
  const RunProgress progress = progress_of(three_of_ten(), kWritten + seconds(5));
  EXPECT_EQ(progress.state, "running");
  EXPECT_EQ(progress.iteration, 3);
  EXPECT_EQ(progress.seconds_per_iteration, 2);
  EXPECT_EQ(progress.seconds_left, 14);
  EXPECT_EQ(progress.tokens, 48);
  EXPECT_EQ(progress.tokens_per_second, 8);
  EXPECT_DOUBLE_EQ(progress.tflops_per_rank, 0.5);
  EXPECT_EQ(progress.validation_loss, 3.5);
  EXPECT_EQ(progress.validation_iteration, 2);
  EXPECT_EQ(progress.silent_seconds, 5);
}

TEST(RunProgress, StatesOfARun) {
  RunFolder run = three_of_ten();
  EXPECT_EQ(progress_of(run, kWritten + seconds(59)).state, "running");
  EXPECT_EQ(progress_of(run, kWritten + seconds(61)).state, "silent");
  run.metrics = MetricsLog("{\"step\":1,\"iteration-time\":100}\n");
  EXPECT_EQ(progress_of(run, kWritten + seconds(1999)).state, "running") << "long iterations";
  EXPECT_EQ(progress_of(run, kWritten + seconds(2001)).state, "silent");
  run.metrics = MetricsLog("{\"step\":10,\"iteration-time\":1}\n");
  EXPECT_EQ(progress_of(run, kWritten + seconds(2001)).state, "finished");
  EXPECT_TRUE(std::isnan(progress_of(run, kWritten).seconds_left));
}

TEST(RunProgress, WhatTheRunSaidCountsUnlessItWentOn) {
  RunFolder run = three_of_ten();
  run.state = {.state = "preempted", .reason = "signal", .written = kWritten + seconds(1)};
  EXPECT_EQ(progress_of(run, kWritten + seconds(2)).state, "preempted");
  EXPECT_EQ(progress_of(run, kWritten + seconds(2)).reason, "signal");
  run.written += seconds(2);
  EXPECT_EQ(progress_of(run, run.written).state, "running");
}

TEST(RunProgress, MetricsOfAnEarlierVersionGiveWhatTheyHave) {
  RunFolder run;
  run.metrics = MetricsLog("{\"step\":4,\"lm loss\":1}\n");
  const RunProgress progress = progress_of(run, run.written);
  EXPECT_EQ(progress.iteration, 4);
  EXPECT_TRUE(std::isnan(progress.tokens) && std::isnan(progress.seconds_left) &&
              std::isnan(progress.tflops_per_rank));
}

TEST(MedianOfLast, LeavesOutWhatIsMissing) {
  const std::array values{100.0, 3.0, kMissing, 1.0, 2.0};
  EXPECT_EQ(median_of_last(values, 3), 2);
  EXPECT_EQ(median_of_last(values, 1), 2);
  EXPECT_TRUE(std::isnan(median_of_last({}, 3)));
}

}  // namespace run_progress_test

}  // namespace mpitron::report
