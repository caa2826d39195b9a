#include "train/run/run_record.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/corpus.h"
#include "support/temporary_folder.h"
#include "train/mock_training.h"
#include "train/model/flops.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace run_record_test {

class RunRecordTest : public ::testing::Test {
 protected:
  bool is_written() const { return std::filesystem::exists(folder_.path() / "run_state.json"); }
  nlohmann::json state() const {
    return nlohmann::json::parse(read_file(folder_.path() / "run_state.json"));
  }

  const test::TemporaryFolder folder_;
};

TEST_F(RunRecordTest, FollowsARun) {
  RunStateKeeper record(folder_.path(), 0);
  record.begin(10, 80, 10);
  EXPECT_EQ(state().at("state"), "running");
  EXPECT_EQ(state().at("saved_iteration"), 10);
  record.reached(11, 88, 10);
  EXPECT_EQ(state().at("iteration"), 10);  // written with the next checkpoint
  record.reached(12, 96, 12);
  EXPECT_EQ(state().at("iteration"), 12);
  EXPECT_EQ(state().at("saved_iteration"), 12);
  record.reached(13, 104, 12);
  record.end(ExitCode::interrupted, "exiting program after receiving SIGTERM.");
  EXPECT_EQ(state().at("state"), "preempted");
  EXPECT_EQ(state().at("iteration"), 13);
  EXPECT_EQ(state().at("consumed_train_samples"), 104);
  EXPECT_EQ(state().at("exit_code"), 85);
  EXPECT_EQ(state().at("reason"), "exiting program after receiving SIGTERM.");
}

TEST_F(RunRecordTest, OneRankWrites) {
  RunStateKeeper other(folder_.path(), 1);
  other.begin(0, 0, std::nullopt);
  other.reached(1, 8, 1);
  other.end(ExitCode::success, "trained to the end");
  other.fail(Error(ExitCode::data, "told by rank 0", true));
  EXPECT_FALSE(is_written());
  other.fail(Error(ExitCode::result_rejected, "rank 1: the loss is nan"));
  EXPECT_EQ(state().at("state"), "failed-fatal");
  EXPECT_EQ(state().at("exit_code"), 17);
  EXPECT_EQ(state().at("iteration"), 1);
  EXPECT_EQ(state().at("reason"), "rank 1: the loss is nan");
}

TEST_F(RunRecordTest, FailuresThatMayGoWellElsewhere) {
  RunStateKeeper record(folder_.path(), 0);
  record.begin(0, 0, std::nullopt);
  record.fail(Error(ExitCode::environment, "no memory"));
  EXPECT_EQ(state().at("state"), "failed-retryable");
  record.fail(std::logic_error("a check failed"));
  EXPECT_EQ(state().at("state"), "failed-fatal");
  EXPECT_EQ(state().at("exit_code"), 1);
}

TEST_F(RunRecordTest, NothingIsSaidOfARunThatDidNotBegin) {
  RunStateKeeper record(folder_.path(), 0);
  record.fail(Error(ExitCode::data, "the folder belongs to another run"));
  record.end(ExitCode::success, "converted");
  EXPECT_FALSE(is_written());
}

TEST_F(RunRecordTest, AFolderThatCannotBeWrittenDoesNotEndARun) {
  RunStateKeeper record(folder_.path() / "no such folder", 0);
  record.begin(0, 0, std::nullopt);
  RunStateKeeper(std::nullopt, 0).begin(0, 0, std::nullopt);
  EXPECT_FALSE(is_written());
}

}  // namespace run_record_test

namespace run_description_test {

TEST(RunDescription, SaysWhatReadersOfMetricsNeed) {
  const test::TemporaryFolder folder;
  const config::RunConfig config = MockTraining::parse({"--train-iters", "7", "--save", "there"});
  const RunIdentity identity{
      .configuration = R"({"lr": 0.5, "seed": 1})", .build = "b", .given = R"({"lr": 0.5})"};
  write_run_description(folder / "new", config, identity);
  const auto json = nlohmann::json::parse(read_file(folder / "new/run.json"));
  EXPECT_EQ(json.at("world_size"), 1);
  EXPECT_EQ(json.at("layout").at("data"), 1);
  EXPECT_EQ(json.at("train_iters"), 7);
  EXPECT_EQ(json.at("seq_length"), 8);
  EXPECT_EQ(json.at("flops_per_sample"), flops_per_iteration(config.model, 1));
  EXPECT_EQ(json.at("given").size(), 1U);
  EXPECT_EQ(json.at("options").at("seed"), 1);
  EXPECT_EQ(json.at("save"), std::filesystem::absolute("there").string());
}

}  // namespace run_description_test
}  // namespace mpitron::train
