#include <gtest/gtest.h>

#include "train/log/logged.h"
#include "train/log/training_log.h"

namespace mpitron::train {
namespace training_log_lines_test {

TEST(TrainingLogLines, PrintsAveragesOfTheInterval) {
  Logged logged({"--log-interval", "2"});
  EXPECT_EQ(logged.iteration(1, 3.0), "");
  const std::string line = logged.iteration(2, 4.0);
  EXPECT_TRUE(has(line, "lm loss: 3.500000E+00")) << line;
  EXPECT_TRUE(has(line, "consumed samples:            8")) << line;
  EXPECT_TRUE(has(line, "grad norm: 0.500")) << line;
  // After the first interval only.
  EXPECT_TRUE(has(line, "\nTheoretical memory footprints: weight and optimizer=")) << line;
  EXPECT_TRUE(has(line, "memory (MB)")) << line;
  EXPECT_EQ(logged.iteration(3, 1.0), "");
  const std::string next = logged.iteration(4, 1.0);
  EXPECT_TRUE(has(next, "lm loss: 1.000000E+00")) << next;
  EXPECT_FALSE(has(next, "memory (MB)")) << next;
}

TEST(TrainingLogLines, SkippedIterationsCountButTheirLossDoesNot) {
  Logged logged({"--log-interval", "2"});
  logged.iteration(1, 3.0);
  const std::string line = logged.iteration(2, 9.0, true);
  EXPECT_TRUE(has(line, "lm loss: 3.000000E+00")) << line;
  EXPECT_TRUE(has(line, "number of skipped iterations:   1")) << line;
}

TEST(TrainingLogLines, PrintsFurtherFiguresOnRequest) {
  Logged plain({});
  const std::string line = plain.iteration(1, 1.0);
  EXPECT_FALSE(has(line, "params norm") || has(line, "TFLOP") || has(line, "num zeros")) << line;
  Logged more({"--log-params-norm", "--log-throughput", "--log-num-zeros-in-grad"});
  const std::string full = more.iteration(1, 1.0);
  EXPECT_TRUE(has(full, "params norm") && has(full, "TFLOP") && has(full, "num zeros")) << full;
}

}  // namespace training_log_lines_test

}  // namespace mpitron::train
