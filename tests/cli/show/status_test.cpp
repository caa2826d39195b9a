#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command_test.h"

namespace mpitron::cli {
namespace status_test {

using namespace mpitron::test;
using Json = nlohmann::json;

class StatusCommand : public CommandTest {
 protected:
  Finished run(const Words& words) const {
    return CommandTest::run(words, {.variables = {{"COLUMNS", "60"}}});
  }
};

TEST_F(StatusCommand, ShowsATrainedRun) {
  ASSERT_EQ(run(kTinyMock + Words{"--tensorboard-dir", "tiny"}).code, 0);
  const Finished text = run({"status", "tiny"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "tiny · finished · iteration 4 of 4\n")) << text.out;
  EXPECT_TRUE(contains(text.out, "100 %") && contains(text.out, "tokens/s")) << text.out;
  EXPECT_TRUE(contains(text.out, "┤")) << "the curve\n" << text.out;
  const Json json = Json::parse(run({"status", "tiny", "--json", "--follow"}).out);
  EXPECT_EQ(json.at("iteration"), 4);
  EXPECT_EQ(json.at("state"), "finished");
  EXPECT_GT(json.at("tokens_per_second"), 0);
  EXPECT_GT(json.at("memory_mib_max"), 0);
}

TEST_F(StatusCommand, FollowsUntilTheRunEnds) {
  std::filesystem::create_directory(folder_ / "r");
  write_bytes(folder_ / "r/metrics.jsonl", "{\"step\":1,\"lm loss\":2}\n");
  RunningProgram following(folder_.path(), {"status", "r", "--follow", "--interval", "0.01"});
  ASSERT_TRUE(following.wait_for_output("r · "));
  // As a run does: a reader never sees half of it.
  write_bytes(folder_ / "new", R"({"state": "preempted", "reason": "why"})");
  std::filesystem::rename(folder_ / "new", folder_ / "r/run_state.json");
  const Finished end = following.wait_for_end();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_TRUE(contains(end.out, "r · preempted · iteration 1\nwhy")) << end.out;
}

TEST_F(StatusCommand, RefusesWhatIsNotThere) {
  expect_refused({"status"}, 2, "0 folders given");
  expect_refused({"status", "a", "b"}, 2, "2 folders given");
  expect_refused({"status", "missing"}, 4, "no such folder");
  expect_refused({"status", ".", "--interval", "0"}, 2, "--interval");
}

}  // namespace status_test
}  // namespace mpitron::cli
