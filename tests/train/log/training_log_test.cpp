#include "train/log/training_log.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "comm/groups/work.h"
#include "support/corpus.h"
#include "train/mock_training.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace training_log_test {

/// A log and what it reads from: a step that has not run yet.
struct Logged {
  explicit Logged(const std::vector<std::string>& flags)
      : tiny(flags),
        timers(0, config::TimingLogOption::max),
        step(*tiny.device, *tiny.model, tiny.config, timers),
        log(tiny.config, timers) {}

  /// What iteration `i` with this loss prints.
  std::string iteration(Index i, double loss, bool skipped = false) {
    ::testing::internal::CaptureStdout();
    log.iteration({i, 4 * i, 4},
                  {.loss_sum = 2 * loss, .loss_count = 2, .grad_norm = 0.5, .skipped = skipped},
                  step);
    return ::testing::internal::GetCapturedStdout();
  }

  MockTraining tiny;
  Timers timers;
  TrainStep step;
  TrainingLog log;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(TrainingLog, PrintsAveragesOfTheInterval) {
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

TEST(TrainingLog, SkippedIterationsCountButTheirLossDoesNot) {
  Logged logged({"--log-interval", "2"});
  logged.iteration(1, 3.0);
  const std::string line = logged.iteration(2, 9.0, true);
  EXPECT_TRUE(has(line, "lm loss: 3.000000E+00")) << line;
  EXPECT_TRUE(has(line, "number of skipped iterations:   1")) << line;
}

TEST(TrainingLog, PrintsFurtherFiguresOnRequest) {
  Logged plain({});
  const std::string line = plain.iteration(1, 1.0);
  EXPECT_FALSE(has(line, "params norm") || has(line, "TFLOP") || has(line, "num zeros")) << line;
  Logged more({"--log-params-norm", "--log-throughput", "--log-num-zeros-in-grad"});
  const std::string full = more.iteration(1, 1.0);
  EXPECT_TRUE(has(full, "params norm") && has(full, "TFLOP") && has(full, "num zeros")) << full;
}

/// The lines of metrics.jsonl joined by step.
nlohmann::json metrics_of(const std::string& folder, Index step) {
  std::istringstream lines(read_file(folder + "/metrics.jsonl"));
  nlohmann::json row = nlohmann::json::object();
  for (std::string line; std::getline(lines, line);) {
    const auto part = nlohmann::json::parse(line);
    if (part.at("step") == step) {
      row.update(part);
    }
  }
  return row;
}

TEST(TrainingLog, WritesEventsAndMetrics) {
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

TEST(TrainingLog, TensorBoardShowsTheOptions) {
  const test::TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> options{{"lr", "0.0003"}};
  Logged({"--tensorboard-dir", folder / "board"}).log.begin(0, options);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "board")) {
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) {
      const std::string events = read_file(entry.path());
      EXPECT_TRUE(has(events, "lr") && has(events, "0.0003"));
      ++files;
    }
  }
  EXPECT_EQ(files, 1);
}

TEST(TrainingLog, MetricsTellTimesAndRanks) {
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

TEST(TrainingLog, TimersGoToTheBoardOnRequest) {
  for (const bool asked : {false, true}) {
    const test::TemporaryFolder folder;
    std::vector<std::string> flags = {"--tensorboard-dir", folder / "board", "--log-interval", "2"};
    if (asked) {
      flags.push_back("--log-timers-to-tensorboard");
    }
    {
      Logged logged(flags);
      { const TimerScope scope = logged.timers.scope("optimizer", 0); }
      logged.iteration(1, 1.0);
      logged.iteration(2, 1.0);
    }
    std::string events;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "board")) {
      const bool is_metrics = entry.path().extension() == ".jsonl";
      events += is_metrics ? "" : read_file(entry.path());
    }
    EXPECT_EQ(has(events, "optimizer-time"), asked);
    EXPECT_EQ(has(events, "iteration-time"), asked);
    EXPECT_FALSE(has(events, "forward-backward-time"));
  }
}

TEST(TrainingLog, SeveralValidationSetsHaveNumbers) {
  const test::TemporaryFolder folder;
  {
    Logged logged({"--tensorboard-dir", folder / "board", "--log-validation-ppl-to-tensorboard"});
    ::testing::internal::CaptureStdout();
    logged.log.validation({.where = "iteration 3", .set = 1, .losses = {{"lm loss", 2.0}}},
                          {3, 12, 4});
    const std::string text = ::testing::internal::GetCapturedStdout();
    EXPECT_TRUE(has(text, " validation-1 loss at iteration 3 | lm loss value: 2.000000E+00"))
        << text;
  }
  std::string events;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "board")) {
    events += read_file(entry.path());
  }
  for (const char* tag : {"lm loss validation-1", "lm loss validation-1 vs samples",
                          "lm loss validation-1 ppl", "lm loss validation-1 ppl vs samples"}) {
    EXPECT_TRUE(has(events, tag)) << tag;
  }
}

}  // namespace training_log_test
}  // namespace mpitron::train
