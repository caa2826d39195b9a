#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command_test.h"

namespace mpitron::cli {
namespace trace_test {

using namespace mpitron::test;
using Json = nlohmann::json;

/// What the tests look at.
struct Span {
  std::string name, category, group;
  double begin, end;
  int rank;
};

std::vector<Span> spans_of(const Json& file) {
  std::vector<Span> spans;
  for (const Json& event : file["traceEvents"]) {
    if (event["ph"] == "X" || event["ph"] == "b") {
      const double begin = event["ts"], duration = event["dur"];
      spans.push_back({event["name"], event["cat"], event["args"].value("group", ""), begin,
                       begin + duration, event["pid"]});
    }
  }
  return spans;
}

class TraceCommand : public CommandTest {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  Json json(const std::string& name) const { return Json::parse(read_file(path(name))); }
};

TEST_F(TraceCommand, AProfiledRunShowsItsStepsAndChangesNoNumber) {
  const Words more = {"--profile", "--profile-step-start", "1", "--profile-step-end", "3"};
  const Finished plain = run(kTinyMock), profiled = run(kTinyMock + more);
  ASSERT_EQ(profiled.code, 0) << profiled.err;
  EXPECT_EQ(result_lines(profiled.out), result_lines(plain.out));

  const Json file = json("profile/trace_rank_00000.json");
  EXPECT_EQ(file["otherData"]["first_iteration"], 2);
  EXPECT_EQ(file["otherData"]["last_iteration"], 3);
  EXPECT_EQ(file["otherData"]["dropped_spans"], 0);
  std::map<std::string, int> counts;
  double end_of_last = 0;
  for (const Span& span : spans_of(file)) {
    ++counts[span.category == "kernel" ? "kernel" : span.name];
    EXPECT_LE(span.begin, span.end);
    end_of_last = std::max(end_of_last, span.end);
  }
  EXPECT_EQ(counts["step"], 2);
  // Two steps of two microbatches through two layers.
  EXPECT_EQ(counts["forward-compute"], 4);
  EXPECT_EQ(counts["backward-compute"], 4);
  EXPECT_EQ(counts["batch-generator"], 4);
  EXPECT_EQ(counts["layer forward"], 8);
  EXPECT_EQ(counts["layer backward"], 8);
  EXPECT_EQ(counts["optimizer"], 2);
  EXPECT_GT(counts["kernel"], 100);

  const Finished summary = run({"trace", "summary", "profile", "--json"});
  ASSERT_EQ(summary.code, 0) << summary.err;
  const Json rank = Json::parse(summary.out)["ranks"][0];
  EXPECT_EQ(rank["steps"], 2);
  EXPECT_GT(rank["compute_ms"], 0);
  EXPECT_LE(rank["compute_ms"], rank["step_ms"]);
  EXPECT_EQ(rank["exposed_ms"], 0);
  EXPECT_TRUE(contains(run({"trace", "summary", "profile"}).out, "overlap"));
  EXPECT_EQ(run({"trace", "merge", "profile", "-o", "merged.json"}).code, 0);
  EXPECT_EQ(json("merged.json")["traceEvents"].size(), file["traceEvents"].size());
}

TEST_F(TraceCommand, WithoutProfileNothingIsWritten) {
  EXPECT_EQ(run(kTinyMock).code, 0);
  EXPECT_FALSE(std::filesystem::exists(path("profile")));
}

TEST_F(TraceCommand, TheFileLiesBelowTheEventFilesOrWhereItIsAskedFor) {
  const Words window = {"--profile", "--profile-step-start", "0", "--profile-step-end", "1"};
  EXPECT_EQ(run(kTinyMock + window + Words{"--tensorboard-dir", "events"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("events/profile/trace_rank_00000.json")));
  EXPECT_EQ(run(kTinyMock + window + Words{"--profile-dir", "a/b"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("a/b/trace_rank_00000.json")));
}

TEST_F(TraceCommand, ASaveIsSeenOnItsOwnThread) {
  ASSERT_EQ(run(kTinyMock + Words{"--profile", "--profile-step-start", "0", "--profile-step-end",
                                  "4", "--save", "c", "--save-interval", "2"})
                .code,
            0);
  const Json file = json("profile/trace_rank_00000.json");
  std::map<std::string, Json> events;
  for (const Json& event : file["traceEvents"]) {
    events[event["name"]] = event;
  }
  ASSERT_TRUE(events.contains("save-checkpoint")) << "the one of iteration 2";
  ASSERT_TRUE(events.contains("write checkpoint"));
  const Json &save = events["save-checkpoint"], &write = events["write checkpoint"];
  EXPECT_EQ(save["tid"], 0);
  EXPECT_NE(write["tid"], 0);
  EXPECT_GE(write["ts"], save["ts"]);
  EXPECT_LE(write["ts"].get<double>() + write["dur"].get<double>(),
            save["ts"].get<double>() + save["dur"].get<double>());
}

TEST_F(TraceCommand, RefusesWhatIsNotThere) {
  expect_refused(kTinyMock + Words{"--profile", "--profile-ranks", "0", "1"}, 2,
                 "0 <= profile_ranks < world_size -> rank 1 of 1");
  expect_refused({"trace"}, 2, "a command is missing");
  expect_refused({"trace", "summary"}, 2, "no files given");
  expect_refused({"trace", "merge", "x"}, 2, "--output");
  expect_refused({"trace", "summary", "missing.json"}, 4, "missing.json");
  std::filesystem::create_directory(path("empty"));
  expect_refused({"trace", "summary", "empty"}, 4, "--profile-dir");
  write_bytes(path("other.json"), "{}\n");
  expect_refused({"trace", "merge", "other.json", "-o", "o"}, 4, "this is no trace of mpitron");
  expect_refused({"trace", "merge", "other.json", "-o", "other.json"}, 2, "would replace");
}

}  // namespace trace_test
}  // namespace mpitron::cli
