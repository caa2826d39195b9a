#include "train/reruns/result_judge.h"

#include <limits>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "train/mock_training.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace result_judge_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

StepReport report(double loss) {
  return {.loss_sum = loss, .loss_count = 1, .grad_norm = 1};
}

TEST(ResultJudge, KeepsTheTrackerAndHandsOver) {
  const test::TemporaryFolder folder;
  const std::string tracker = folder / "rejected", save = folder / "run";
  std::filesystem::create_directories(save);
  const config::RunConfig config =
      MockTraining::parse({"--save", save, "--result-rejected-tracker-filename", tracker});
  const auto world = comm::make_single_world();
  ResultJudge judge(*world, config);
  EXPECT_FALSE(judge(1, report(2)).again);
  EXPECT_FALSE(std::filesystem::exists(tracker));
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(judge(2, report(kNan)).again);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("iteration 2: the loss is nan"),
            std::string::npos);
  const RerunDecision decision = judge(2, report(kNan));
  EXPECT_EQ(decision.exit, ExitCode::resume_to_disambiguate);
  const std::string lines = read_file(tracker);
  EXPECT_NE(lines.find("iteration=2 status=INITIAL_RUN"), std::string::npos) << lines;
  EXPECT_NE(lines.find("iteration=2 status=FIRST_RERUN_REPRODUCIBLE"), std::string::npos) << lines;
  EXPECT_TRUE(rejected_iterations(tracker).empty()) << "one reproduction is not enough";

  EXPECT_FALSE(std::filesystem::exists(save + "/rejected_result.json"));
  judge.hand_over(decision);
  ResultJudge next(*world, config);
  const RerunDecision same_machine = next(2, report(kNan));
  EXPECT_EQ(same_machine.exit, ExitCode::resume_to_disambiguate);
  EXPECT_TRUE(same_machine.pending);
}

TEST(ResultJudge, TheTrackerTellsTheFigureThatIsRejected) {
  const test::TemporaryFolder folder;
  const std::string tracker = folder / "rejected";
  const auto world = comm::make_single_world();
  ResultJudge judge(*world, MockTraining::parse({"--result-rejected-tracker-filename", tracker,
                                                 "--rerun-mode", "disabled"}));
  StepReport odd = report(2);
  odd.grad_norm = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(judge(1, odd).exit, ExitCode::result_rejected);
  EXPECT_NE(read_file(tracker).find("result=-inf "), std::string::npos) << read_file(tracker);
}

/// Without the check of what is not finite: an overflow of fp16.
TEST(ResultJudge, AnOverflowIsNoError) {
  const auto world = comm::make_single_world();
  ResultJudge judge(*world, MockTraining::parse({"--no-check-for-nan-in-loss-and-grad",
                                                 "--check-for-large-grads"}));
  StepReport overflow = report(2);
  overflow.grad_norm = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(judge(1, overflow).again);
}

TEST(ResultJudge, AFileOfAnotherFormIsNamed) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "rejected_result.json", "?");
  const auto world = comm::make_single_world();
  const config::RunConfig config = MockTraining::parse({"--save", folder.path()});
  EXPECT_NE(test::message_of([&] { ResultJudge(*world, config); }).find("rejected_result.json"),
            std::string::npos);
}

}  // namespace result_judge_test
}  // namespace mpitron::train
