#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/temporary_folder.h"
#include "train/run/run_record.h"
#include "utils/system/files.h"

namespace mpitron::train {

TEST(RunState, ReadsBackAndIsReplacedWhole) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "run_state.json";
  write_run_state(folder.path(), {.status = RunStatus::running, .iteration = 1});
  EXPECT_TRUE(nlohmann::json::parse(read_file(path)).at("saved_iteration").is_null());
  write_run_state(folder.path(), {.status = RunStatus::preempted,
                                  .iteration = 120,
                                  .consumed_train_samples = 960,
                                  .saved_iteration = 100,
                                  .exit_code = 85,
                                  .reason = "exiting program after receiving \"SIGTERM\".\n"});
  const nlohmann::json state = nlohmann::json::parse(read_file(path));
  EXPECT_EQ(state.at("state"), "preempted");
  EXPECT_EQ(state.at("iteration"), 120);
  EXPECT_EQ(state.at("consumed_train_samples"), 960);
  EXPECT_EQ(state.at("saved_iteration"), 100);
  EXPECT_EQ(state.at("exit_code"), 85);
  EXPECT_EQ(state.at("reason"), "exiting program after receiving \"SIGTERM\".\n");
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".tmp"));
}

TEST(RunState, StatusOfExitCodes) {
  EXPECT_EQ(to_string(run_status(ExitCode::success)), "finished");
  EXPECT_EQ(to_string(run_status(ExitCode::interrupted)), "preempted");
  EXPECT_EQ(to_string(run_status(ExitCode::interrupted_unsaved)), "preempted");
  EXPECT_EQ(to_string(run_status(static_cast<ExitCode>(75))), "failed-retryable");
  EXPECT_EQ(to_string(run_status(ExitCode::environment)), "failed-retryable");
  EXPECT_EQ(to_string(run_status(ExitCode::resume_to_disambiguate)), "failed-retryable");
  EXPECT_EQ(to_string(run_status(ExitCode::result_rejected)), "failed-fatal");
  EXPECT_EQ(to_string(run_status(ExitCode::usage)), "failed-fatal");
  EXPECT_EQ(to_string(RunStatus::running), "running");
}

}  // namespace mpitron::train
