#include "train/loop/pretrain.h"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/temporary_folder.h"
#include "train/mock_training.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace pretrain_test {

struct MockRun {
  RunOutcome outcome;
  std::string out;
};

MockRun run(const std::vector<std::string>& flags) {
  MockTraining tiny(flags);
  Pretraining pretraining(*tiny.device, *tiny.model, tiny.data, tiny.config);
  ::testing::internal::CaptureStdout();
  const RunOutcome outcome = pretraining.run();
  return {outcome, ::testing::internal::GetCapturedStdout()};
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Pretraining, TrainsThenEvaluates) {
  const MockRun done = run({});
  EXPECT_EQ(done.outcome.iteration, 4);
  EXPECT_EQ(done.outcome.consumed_samples, 16);
  EXPECT_EQ(done.outcome.code, ExitCode::success);
  EXPECT_EQ(count(done.out, "consumed samples: "), 4);
  EXPECT_EQ(count(done.out, "on validation set"), 1);
  EXPECT_EQ(count(done.out, "on test set"), 1);
}

TEST(Pretraining, EvaluatesInBetween) {
  EXPECT_EQ(count(run({"--eval-interval", "2"}).out, "validation loss at iteration 2 |"), 1);
  EXPECT_EQ(count(run({"--eval-iters", "0"}).out, "validation loss"), 0);
}

TEST(Pretraining, AnExitConditionEndsItAtOnce) {
  const MockRun ended = run({"--exit-interval", "3"});
  EXPECT_EQ(ended.outcome.iteration, 3);
  EXPECT_EQ(ended.outcome.code, ExitCode::success);
  EXPECT_EQ(count(ended.out, "exiting program at iteration 3"), 1);
  EXPECT_EQ(count(ended.out, "validation loss"), 0);
}

nlohmann::json state_in(const test::TemporaryFolder& folder) {
  return nlohmann::json::parse(read_file(folder.path() / "run_state.json"));
}

TEST(Pretraining, TellsHowItEnded) {
  const test::TemporaryFolder folder;
  const std::string save = folder.path().string();
  run({"--save", save});
  EXPECT_EQ(state_in(folder).at("state"), "finished");
  EXPECT_EQ(state_in(folder).at("iteration"), 4);
  EXPECT_EQ(state_in(folder).at("saved_iteration"), 4);
  EXPECT_EQ(state_in(folder).at("reason"), "trained to the end");
}

TEST(Pretraining, FilesInItsFolderAsk) {
  const test::TemporaryFolder folder;
  const std::string save = folder.path().string();
  const auto touch = [&](const char* name) { std::ofstream(folder.path() / name).put('\n'); };
  touch("SAVE");
  EXPECT_EQ(count(run({"--save", save, "--save-interval", "100"}).out, "successfully saved"), 2);
  touch("STOP");
  const MockRun stopped = run({"--save", save});
  EXPECT_EQ(stopped.outcome.iteration, 1);
  EXPECT_EQ(stopped.outcome.code, ExitCode::success);
  EXPECT_EQ(state_in(folder).at("state"), "finished");
  touch("REQUEUE");
  const MockRun again =
      run({"--save", save, "--adlr-autoresume", "--adlr-autoresume-interval", "2"});
  EXPECT_EQ(again.outcome.iteration, 2);
  EXPECT_EQ(again.outcome.code, ExitCode::interrupted);
  EXPECT_EQ(state_in(folder).at("state"), "preempted");
  EXPECT_EQ(state_in(folder).at("saved_iteration"), 2);
}

int exit_code_of(const std::vector<std::string>& flags) {
  try {
    return static_cast<int>(run(flags).outcome.code);
  } catch (const Error& error) {
    ::testing::internal::GetCapturedStdout();
    return static_cast<int>(error.code());
  }
}

/// A loss that is not finite is computed twice here, then on other machines, where it is believed.
TEST(Pretraining, AResultThatIsRejectedIsComputedAgain) {
  const test::TemporaryFolder folder;
  const std::string save = folder.path().string();
  const std::vector<std::string> flags = {"--save",
                                          save,
                                          "--load",
                                          save,
                                          "--lr",
                                          "1e30",
                                          "--lr-decay-style",
                                          "constant",
                                          "--clip-grad",
                                          "0",
                                          "--allow-random-init"};
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(exit_code_of(flags), 16);
    EXPECT_EQ(state_in(folder).at("state"), "failed-retryable");
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "rejected_result.json"));
  }
  const Index reached = state_in(folder).at("saved_iteration");
  EXPECT_GT(reached, 0);
  ::setenv("SLURM_JOB_NODELIST", "elsewhere", 1);
  EXPECT_EQ(exit_code_of(flags), 17);
  ::unsetenv("SLURM_JOB_NODELIST");
  EXPECT_EQ(state_in(folder).at("state"), "failed-fatal");
  EXPECT_EQ(state_in(folder).at("saved_iteration"), reached);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "rejected_result.json"));
}

TEST(Pretraining, InjectedErrorsEndLikeRealOnes) {
  const test::TemporaryFolder folder;
  const std::string save = folder.path().string();
  EXPECT_EQ(exit_code_of({"--save", save, "--error-injection-rate", "1"}), 17);
  EXPECT_EQ(exit_code_of({"--save", save, "--error-injection-rate", "1", "--error-injection-type",
                          "persistent_error"}),
            16);
}

/// Every iteration is computed twice, with the same bits, and nothing else changes.
TEST(Pretraining, StatisticsOfRerunsChangeNothing) {
  const std::string twice = run({"--rerun-mode", "report_stats"}).out;
  const std::string once = run({}).out;
  EXPECT_EQ(count(twice, "loss: 0 of 1 iterations gave other bits"), 4) << twice;
  for (const char* figure : {"lm loss: ", "grad norm: "}) {
    for (auto a = once.find(figure), b = twice.find(figure); a != std::string::npos;
         a = once.find(figure, a + 1), b = twice.find(figure, b + 1)) {
      EXPECT_EQ(once.substr(a, 24), twice.substr(b, 24));
    }
  }
}

TEST(Pretraining, SkippedTrainingStillEvaluates) {
  const MockRun skipped = run({"--skip-train"});
  EXPECT_EQ(skipped.outcome.iteration, 0);
  EXPECT_EQ(count(skipped.out, "lm loss: "), 0);
  EXPECT_EQ(count(skipped.out, "on test set"), 1);
}

TEST(Pretraining, WithoutTrainingDataItIsAMistake) {
  MockTraining tiny;
  tiny.data.sets.train = nullptr;
  Pretraining pretraining(*tiny.device, *tiny.model, tiny.data, tiny.config);
  EXPECT_THROW(pretraining.run(), Error);
}

}  // namespace pretrain_test
}  // namespace mpitron::train
