#include "io/logs/trace_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/temporary_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::io {
namespace trace_file_test {

class TraceFile : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const {
    return std::filesystem::path(folder_.path()) / name;
  }
  /// A rank with a step of 10 us from `zero` on, in which an all_reduce of 4 us is under way.
  std::filesystem::path write(std::int64_t rank, std::int64_t zero) const {
    const std::vector<TraceSpan> spans = {
        {.kind = TraceKind::kernel, .name = trace_name("gemm"), .begin = zero, .end = zero + 1500},
        {.kind = TraceKind::operation,
         .name = trace_name("all_reduce"),
         .begin = zero + 2000,
         .end = zero + 6000,
         .bytes = 64,
         .number = 7,
         .ranks = 2,
         .group = trace_name("data \"x\"")},
        {.kind = TraceKind::iteration,
         .name = trace_name("step"),
         .begin = zero,
         .end = zero + 10'000,
         .number = 11}};
    const auto to = path(trace_file_name(rank));
    write_trace(to, {.rank = rank, .ranks = 2, .host = "node"}, spans, zero - rank * 500);
    return to;
  }
  static std::vector<TraceEvent> events(const MappedFile& file) {
    std::vector<TraceEvent> result;
    read_trace(file.text(), file.path(),
               [&result](const TraceEvent& event) { result.push_back(event); });
    return result;
  }
  static nlohmann::json json(const std::filesystem::path& path) {
    return nlohmann::json::parse(read_file(path));
  }
  void expect_refused(const std::string& text, const std::string& part) const {
    try {
      read_trace(text, "x.json", [](const TraceEvent&) {});
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  const test::TemporaryFolder folder_;
};

TEST_F(TraceFile, IsJsonWithOneEventForEachSpan) {
  const nlohmann::json file = json(write(3, 1'000'000));
  EXPECT_EQ(file["otherData"]["rank"], 3);
  EXPECT_EQ(file["otherData"]["host"], "node");
  const nlohmann::json& all = file["traceEvents"];
  ASSERT_EQ(all.size(), 4U + 4U);  // names; step, kernel, begin and end of the operation
  EXPECT_EQ(all[0]["ph"], "M");
  EXPECT_EQ(all[0]["args"]["name"], "rank 3 (node)");
  const nlohmann::json& step = all[4];  // encloses the kernel that begins with it
  EXPECT_EQ(step["name"], "step");
  EXPECT_EQ(step["ts"], 1.5);
  EXPECT_EQ(step["dur"], 10.0);
  EXPECT_EQ(step["pid"], 3);
  EXPECT_EQ(step["args"]["number"], 11);
  EXPECT_EQ(all[5]["cat"], "kernel");
  EXPECT_EQ(all[6]["ph"], "b");
  EXPECT_EQ(all[6]["args"]["group"], "data \"x\"");
  EXPECT_EQ(all[6]["args"]["bytes"], 64);
  EXPECT_EQ(all[7]["ph"], "e");
  EXPECT_EQ(all[7]["ts"], 7.5);
  EXPECT_EQ(all[6]["id"], all[7]["id"]);
}

TEST_F(TraceFile, ReadsWhatItWrote) {
  const MappedFile file(write(1, 5'000));
  const std::vector<TraceEvent> all = events(file);
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all[6].name, "all_reduce");
  EXPECT_EQ(all[6].category, "communication");
  EXPECT_EQ(all[6].phase, 'b');
  EXPECT_DOUBLE_EQ(all[6].begin, 2.5);
  EXPECT_DOUBLE_EQ(all[6].duration, 4);
  EXPECT_EQ(all[6].number, 7);
  EXPECT_EQ(all[6].rank, 1);
}

TEST_F(TraceFile, MergedHasAllRanksInOrderOfTime) {
  const std::vector<std::filesystem::path> files = {write(1, 90'000), write(0, 40'000)};
  merge_traces(files, path("merged.json"));
  const nlohmann::json file = json(path("merged.json"));
  EXPECT_EQ(file["otherData"]["merged"].size(), 2U);
  const nlohmann::json& all = file["traceEvents"];
  ASSERT_EQ(all.size(), 16U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]["ph"] == "M", i < 8) << "names come first";
    if (i > 8) {
      EXPECT_GE(all[i]["ts"], all[i - 1]["ts"]) << i;
    }
  }
  EXPECT_EQ(all[8]["pid"], 0);
  EXPECT_EQ(all[10]["pid"], 1) << "rank 1 is half a microsecond later";
  // What was merged can be merged with another rank again.
  merge_traces(std::vector{path("merged.json"), write(2, 0)}, path("three.json"));
  EXPECT_EQ(json(path("three.json"))["traceEvents"].size(), 24U);
}

TEST_F(TraceFile, ARankGivenTwiceIsRefused) {
  const auto file = write(0, 1);
  EXPECT_THROW(merge_traces(std::vector{file, file}, path("merged.json")), Error);
  EXPECT_FALSE(std::filesystem::exists(path("merged.json")));
}

TEST_F(TraceFile, SaysWhereAFileIsNoTrace) {
  const std::string begin = R"({"displayTimeUnit":"ms","otherData":{},"traceEvents":[)";
  expect_refused("", "line 1: this is no trace");
  expect_refused("{\"traceEvents\":[]}\n", "line 1: this is no trace");
  expect_refused(R"({"displayTimeUnit":"ms","otherData":)" + std::string(100'000, '[') +
                     std::string(100'000, ']') + ",\"traceEvents\":[\n]}\n",
                 "too deep");
  expect_refused(begin + "\n{\"name\":1}\n]}\n", "line 2");
  expect_refused(begin + "\n{\"name\":\"a\",\"ph\":\"X\",\"pid\":0}\n", "no end");
  expect_refused(begin + "\n{\"name\":\"a\",\"ph\":\"\",\"pid\":0}\n]}\n", "line 2");
}

}  // namespace trace_file_test
}  // namespace mpitron::io
