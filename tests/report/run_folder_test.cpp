#include "report/run_folder.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::report {
namespace run_folder_test {

namespace fs = std::filesystem;

class RunFolderTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    test::write_bytes(folder_ / name, text);
  }
  void expect_refused(const std::string& name, const std::string& part) const {
    try {
      read_run(folder_ / name);
      ADD_FAILURE() << name << " was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
  const test::TemporaryFolder folder_;
};

constexpr const char* kLine = "{\"step\":1,\"lm loss\":2}\n";

TEST_F(RunFolderTest, IsFoundFromTheFolderOfTheCheckpoints) {
  write("logs/metrics.jsonl", kLine);
  write("ck/run_state.json", R"({"state": "running", "metrics": ")" + (folder_ / "logs") + "\"}");
  const RunFolder run = read_run(folder_ / "ck");
  EXPECT_EQ(run.metrics.last("lm loss"), 2);
  EXPECT_EQ(run.name, "ck");
  EXPECT_EQ(run.state->state, "running");
  write("gone/run_state.json", R"({"state": "running", "metrics": "/absent"})");
  expect_refused("gone", "holds no metrics.jsonl");
}

TEST_F(RunFolderTest, HoldsMetricsDescriptionAndState) {
  write("a/metrics.jsonl", kLine);
  write("a/run.json",
        R"({"world_size": 4, "layout": {"tensor": 2, "pipeline": 1, "data": 2},
            "train_iters": 9, "seq_length": 16, "flops_per_sample": 5e6, "build": "x",
            "given": {"lr": 0.5, "model": "gpt"}, "options": {"lr": 0.5, "seed": 1}})");
  write("a/run_state.json", R"({"state": "preempted", "reason": "SIGTERM"})");
  const RunFolder run = read_run(folder_ / "a/");
  EXPECT_EQ(run.name, "a");
  EXPECT_EQ(run.metrics.last("lm loss"), 2);
  EXPECT_EQ(run.description.world_size, 4);
  EXPECT_EQ(run.description.layout, (std::vector<NamedValue>{{"tensor", "2"}, {"data", "2"}}));
  EXPECT_EQ(run.description.given, (std::vector<NamedValue>{{"lr", "0.5"}, {"model", "gpt"}}));
  ASSERT_TRUE(run.state);
  EXPECT_EQ(run.state->state, "preempted");
  EXPECT_EQ(run.state->reason, "SIGTERM");
}

TEST_F(RunFolderTest, MetricsMayLieOneFolderBelowAndTheStateWithTheCheckpoints) {
  write("run/board/metrics.jsonl", kLine);
  write("run/board/run.json", "{\"save\": \"" + (folder_ / "checkpoints") + "\"}");
  write("checkpoints/run_state.json", R"({"state": "finished"})");
  const RunFolder run = read_run(folder_ / "run");
  EXPECT_EQ(run.metrics.steps().size(), 1U);
  ASSERT_TRUE(run.state);
  EXPECT_EQ(run.state->state, "finished");
}

TEST_F(RunFolderTest, MetricsAloneAreEnough) {
  write("metrics.jsonl", kLine);
  const RunFolder run = read_run(folder_ / "");
  EXPECT_EQ(run.description.train_iters, 0);
  EXPECT_FALSE(run.state);
}

TEST_F(RunFolderTest, SeveralRunsHaveNamesOfTheirOwn) {
  for (const char* name : {"x/one", "y/one", "x/two"}) {
    write(std::string(name) + "/metrics.jsonl", kLine);
  }
  const auto runs = read_runs({folder_ / "x/one", folder_ / "y/one", folder_ / "x/two"});
  EXPECT_EQ(runs[0].name, folder_ / "x/one");
  EXPECT_EQ(runs[1].name, folder_ / "y/one");
  EXPECT_EQ(runs[2].name, "two");
}

TEST_F(RunFolderTest, SaysWhatIsWrong) {
  expect_refused("missing", "no such folder");
  fs::create_directory(folder_ / "empty");
  expect_refused("empty", "--tensorboard-dir");
  write("two/a/metrics.jsonl", kLine);
  write("two/b/metrics.jsonl", kLine);
  expect_refused("two", "several runs, a and b");
  write("bad/metrics.jsonl", kLine);
  write("bad/run.json", "[]");
  expect_refused("bad", "run.json: this is no JSON object");
  write("bad/run.json", R"({"train_iters": "many"})");
  expect_refused("bad", "does not hold what a run writes");
}

}  // namespace run_folder_test
}  // namespace mpitron::report
