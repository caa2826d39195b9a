#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/logs/trace_file.h"
#include "support/temporary_folder.h"
#include "utils/system/files.h"

namespace mpitron::io {
namespace trace_writing_test {

nlohmann::json events_of(const std::vector<TraceSpan>& spans) {
  const test::TemporaryFolder folder;
  write_trace(folder / "x.json", {.rank = 3, .host = "node"}, spans, 1000);
  return nlohmann::json::parse(read_file(folder / "x.json")).at("traceEvents");
}

TEST(TraceWriting, NamesComeFirst) {
  const nlohmann::json events = events_of({});
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].at("args").at("name"), "rank 3 (node)");
  EXPECT_EQ(events[3].at("args").at("name"), "checkpoint writer");
}

/// Operations may overlap others: they have a begin and an end.
TEST(TraceWriting, AnOperationHasTwoLines) {
  const nlohmann::json events = events_of({{.kind = TraceKind::operation,
                                            .name = trace_name("all_reduce"),
                                            .begin = 2000,
                                            .end = 4500,
                                            .bytes = 64,
                                            .number = 7}});
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[4].at("ph"), "b");
  EXPECT_EQ(events[4].at("ts"), 1.0);
  EXPECT_EQ(events[4].at("args").at("bytes"), 64);
  EXPECT_EQ(events[5].at("ph"), "e");
  EXPECT_EQ(events[5].at("ts"), 3.5);
}

TEST(TraceWriting, FilesAreNamedByTheirRank) {
  EXPECT_EQ(trace_file_name(3), "trace_rank_00003.json");
  EXPECT_STREQ(category_of(TraceKind::background), "background");
}

}  // namespace trace_writing_test
}  // namespace mpitron::io
