#include <gtest/gtest.h>

#include "support/corpus.h"
#include "train/reruns/result_judge.h"

namespace mpitron::train {
namespace rejected_results_test {

TEST(RejectedResults, AreThoseThatOneRankRejectedTwice) {
  const test::TemporaryFolder folder;
  const std::string tracker = folder / "rejected";
  EXPECT_TRUE(rejected_iterations(tracker).empty());
  record_rejection(tracker, {.rank = 3, .iteration = 7, .message = "the loss is not finite"});
  record_rejection(tracker, {.rank = 3, .iteration = 9, .message = "the loss is not finite"});
  EXPECT_TRUE(rejected_iterations(tracker).empty());
  record_rejection(tracker, {.rank = 3, .iteration = 9, .message = "rank=1 iteration=1"});
  EXPECT_EQ(rejected_iterations(tracker), std::vector<Index>{9});
}

/// Lines as the reference writes them.
TEST(RejectedResults, OfTheReferencesFiles) {
  const test::TemporaryFolder folder;
  const std::string tracker = folder / "rejected";
  const auto line = [](int job, int rank, int iteration, const std::string& status) {
    return fmt::format(
        "ts=2025-01-01 00:00:00 node=n1 device=2 jobID={} rank={} iteration={} status={} "
        "result=nan message='Unexpected result'\n",
        job, rank, iteration, status);
  };
  test::write_bytes(tracker, line(1, 0, 5, "FIRST_RERUN_REPRODUCIBLE") +
                                 line(2, 0, 5, "SECOND_RERUN_REPRODUCIBLE") +
                                 // reproduced once only
                                 line(1, 0, 6, "FIRST_RERUN_NOT_REPRODUCIBLE") +
                                 line(2, 0, 6, "FIRST_RERUN_REPRODUCIBLE") +
                                 // by several ranks of one job
                                 line(1, 0, 8, "RERUN_DISABLED") + line(1, 1, 8, "RERUN_DISABLED") +
                                 line(2, 0, 8, "RERUN_DISABLED"));
  EXPECT_EQ(rejected_iterations(tracker), std::vector<Index>{5});
  test::write_bytes(tracker, "iteration 5\n");
  const std::string message = test::message_of([&] { rejected_iterations(tracker); });
  EXPECT_NE(message.find("line 1"), std::string::npos) << message;
}

}  // namespace rejected_results_test
}  // namespace mpitron::train
