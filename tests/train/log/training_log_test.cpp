#include "train/log/training_log.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/corpus.h"
#include "train/log/logged.h"
#include "train/mock_training.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace training_log_test {

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
