#include "io/logs/trace_events_file.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace mpitron::io {
namespace trace_events_file_test {

TEST(TraceEventsFile, HasACommaBehindEveryEventButTheLast) {
  const test::TemporaryFolder folder;
  TraceEventsFile file(folder / "x.json", "{}");
  file.add("{\"a\":1}");
  file.add("{\"b\":2}");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.json"));
  file.commit();
  EXPECT_EQ(read_file(folder / "x.json"), std::string(kTraceBegin) + "{}" +
                                              std::string(kTraceEvents) +
                                              "\n{\"a\":1},\n{\"b\":2}\n]}\n");
}

}  // namespace trace_events_file_test
}  // namespace mpitron::io
