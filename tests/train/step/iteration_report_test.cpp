#include "train/step/iteration_report.h"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace mpitron::train {
namespace iteration_report_test {

/// 2026-08-22 15:22:22.123456 local time, whatever the time zone.
std::chrono::system_clock::time_point some_time() {
  std::tm fields{};
  fields.tm_year = 126;
  fields.tm_mon = 7;
  fields.tm_mday = 22;
  fields.tm_hour = 15;
  fields.tm_min = 22;
  fields.tm_sec = 22;
  fields.tm_isdst = -1;
  return std::chrono::system_clock::from_time_t(std::mktime(&fields)) +
         std::chrono::microseconds(123456);
}

IterationReport plain() {
  return {.time = some_time(),
          .iteration = 10,
          .train_iters = 500000,
          .consumed_train_samples = 80,
          .seconds_per_iteration = 0.0123456,
          .learning_rate = 1.5e-4,
          .global_batch_size = 8,
          .losses = {{"lm loss", 5.728263854980469}},
          .grad_norm = 2.3253};
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(IterationLine, Plain) {
  EXPECT_EQ(iteration_line(plain()),
            " [2026-08-22 15:22:22.123456] iteration       10/  500000 |"
            " consumed samples:           80 | elapsed time per iteration (ms): 12.3 |"
            " learning rate: 1.500000E-04 | global batch size:     8 | lm loss: 5.728264E+00 |"
            " loss scale: 1.0 | grad norm: 2.325 | number of skipped iterations:   0 |"
            " number of nan iterations:   0 |");
}

TEST(IterationLine, EveryField) {
  IterationReport report = plain();
  report.skipped_train_samples = 16;
  report.seconds_per_iteration = 2.0;
  report.throughput = 412.34;
  report.energy = 1234.0;
  report.decoupled_learning_rate = 0.0;
  report.losses.emplace_back("load_balancing_loss", 1.0123);
  report.losses.emplace_back("mtp_1 loss", 11.25);
  report.loss_scale = 4294967296.0;
  report.num_zeros = 12.0;
  report.params_norm = 1234.5678;
  report.skipped_iterations = 3;
  report.nan_iterations = 1000;
  EXPECT_EQ(iteration_line(report),
            " [2026-08-22 15:22:22.123456] iteration       10/  500000 |"
            " consumed samples:           80 | skipped samples:           16 |"
            " elapsed time per iteration (ms): 2000.0 |"
            " throughput per GPU (TFLOP/s/GPU): 412.3 | energy per GPU (J/iter/GPU): 1234.0 |"
            " power per GPU (W/GPU): 617.0 | learning rate: 1.500000E-04 |"
            " decoupled learning rate: 0.000000E+00 | global batch size:     8 |"
            " lm loss: 5.728264E+00 | load_balancing_loss: 1.012300E+00 |"
            " mtp_1 loss: 1.125000E+01 | loss scale: 4294967296.0 | grad norm: 2.325 |"
            " num zeros: 12.0 | params norm: 1234.568 | number of skipped iterations:   3 |"
            " number of nan iterations: 1000 |");
}

TEST(IterationLine, LossesThatAreNotPositiveAreLeftOut) {
  IterationReport report = plain();
  report.losses = {{"a loss", 0.0}, {"b loss", kNan}, {"c loss", -1.0}, {"d loss", kInf}};
  const std::string line = iteration_line(report);
  EXPECT_EQ(line.find(" a loss:"), std::string::npos);
  EXPECT_EQ(line.find(" b loss:"), std::string::npos);
  EXPECT_EQ(line.find(" c loss:"), std::string::npos);
  EXPECT_NE(line.find(" d loss: INF |"), std::string::npos) << line;
}

TEST(IntervalAverages, DividesByAdvancedIterations) {
  IntervalAverages averages;
  averages.add(std::array{NamedLoss{"lm loss", 2.0}}, false);
  averages.add(std::array{NamedLoss{"lm loss", 100.0}}, true);
  averages.add(std::array{NamedLoss{"lm loss", kNan}}, true);
  averages.add(std::array{NamedLoss{"lm loss", 4.0}}, false);
  averages.add_tracked("z_loss", 0.5);
  averages.add_tracked("z_loss", 0.25);
  const std::vector<NamedLoss> expected{{"lm loss", 3.0}, {"z_loss", 0.375}};
  EXPECT_EQ(averages.averages(), expected);
  EXPECT_EQ(averages.skipped_iterations(), 2);
  EXPECT_EQ(averages.nan_iterations(), 1);
  EXPECT_EQ(averages.iterations(), 4);
}

TEST(IntervalAverages, OnlySkippedIterationsGiveNoLoss) {
  IntervalAverages averages;
  averages.add(std::array{NamedLoss{"lm loss", 7.0}}, true);
  EXPECT_TRUE(averages.averages().empty());
}

TEST(IntervalAverages, ResetKeepsTheOrder) {
  IntervalAverages averages;
  averages.add(std::array{NamedLoss{"lm loss", 2.0}, NamedLoss{"sop loss", 1.0}}, false);
  averages.reset();
  averages.add(std::array{NamedLoss{"sop loss", 0.5}, NamedLoss{"lm loss", 3.0}}, false);
  const std::vector<NamedLoss> expected{{"lm loss", 3.0}, {"sop loss", 0.5}};
  EXPECT_EQ(averages.averages(), expected);
}

TEST(IntervalAverages, SumsInSinglePrecision) {
  IntervalAverages averages;
  averages.add(std::array{NamedLoss{"x", 1.0}}, false);
  averages.add(std::array{NamedLoss{"x", 1e-9}}, false);
  EXPECT_EQ(averages.averages()[0].second, 0.5);
}

TEST(ValidationLines, FramedByDashes) {
  const std::string line =
      " validation loss at iteration 100 | lm loss value: 2.345678E+00 |"
      " lm loss PPL: 1.044035E+01 | ";
  EXPECT_NEAR(std::exp(2.345678), 10.44035, 1e-4);
  const std::string rule(line.size() + 1, '-');
  EXPECT_EQ(validation_lines("iteration 100", std::array{NamedLoss{"lm loss", 2.345678}}),
            rule + "\n" + line + "\n" + rule);
}

TEST(ValidationLines, PerplexityIsCapped) {
  const std::string text =
      validation_lines("iteration 1 on test set", std::array{NamedLoss{"lm loss", 25.0}});
  EXPECT_NE(text.find("lm loss value: 2.500000E+01 | lm loss PPL: 4.851652E+08 | "),
            std::string::npos)
      << text;
}

TEST(ReportLines, CountAndTime) {
  EXPECT_EQ(parameter_count_line(1, 2, 124475904),
            " > number of parameters on (tensor, pipeline) model parallel rank (1, 2): 124475904");
  EXPECT_EQ(datetime_line("exiting program at iteration 10", some_time()),
            "[exiting program at iteration 10] datetime: 2026-08-22 15:22:22 ");
}

}  // namespace iteration_report_test
}  // namespace mpitron::train
