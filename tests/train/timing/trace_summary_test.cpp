#include "train/timing/trace_summary.h"

#include <gtest/gtest.h>

#include "io/logs/trace_file.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::train {
namespace trace_summary_test {

TEST(SpanUnion, PutsOverlappingSpansTogether) {
  const SpanUnion some({{5, 7}, {0, 2}, {1, 3}, {6, 6.5}});
  ASSERT_EQ(some.spans().size(), 2U);
  EXPECT_EQ(some.length(), 5);
  EXPECT_EQ(SpanUnion().length(), 0);
}

TEST(SpanUnion, FindsWhatIsCommon) {
  const SpanUnion a({{0, 4}, {6, 8}}), b({{1, 2}, {3, 7}, {9, 10}});
  EXPECT_EQ(a.common(b).length(), 3);  // 1-2, 3-4, 6-7
  EXPECT_EQ(b.common(a).length(), 3);
  EXPECT_EQ(a.common(SpanUnion()).length(), 0);
}

class Summary : public ::testing::Test {
 protected:
  std::filesystem::path write(std::int64_t rank, const std::vector<TraceSpan>& spans) const {
    const auto path = std::filesystem::path(folder_.path()) / io::trace_file_name(rank);
    io::write_trace(path, {.rank = rank, .ranks = 2, .host = "a"}, spans, 0);
    return path;
  }
  /// Milliseconds.
  static TraceSpan span(TraceKind kind, std::int64_t begin, std::int64_t end,
                        const char* group = "data") {
    return {.kind = kind,
            .name = trace_name("x"),
            .begin = begin * 1'000'000,
            .end = end * 1'000'000,
            .number = begin,
            .group = trace_name(group)};
  }

  const test::TemporaryFolder folder_;
};

/// A step of 20 ms: 10 ms of kernels; an operation of 8 ms of which 3 were waited for; 4 ms in
/// which the pipeline's message was waited for, while the message alone was under way.
TEST_F(Summary, TellsHiddenFromExposedAndBubble) {
  const auto path = write(
      1, {span(TraceKind::iteration, 0, 20), span(TraceKind::layer, 0, 10),
          span(TraceKind::kernel, 0, 6), span(TraceKind::kernel, 6, 10),
          span(TraceKind::operation, 5, 13), span(TraceKind::wait, 10, 13),
          span(TraceKind::operation, 14, 18, "pipeline-activations"),
          span(TraceKind::wait, 14, 18, "pipeline-activations"), span(TraceKind::kernel, 30, 40)});
  const std::vector<RankTimes> ranks = summarize_traces({path});
  ASSERT_EQ(ranks.size(), 1U);
  const RankTimes& r = ranks[0];
  EXPECT_EQ(r.rank, 1);
  EXPECT_EQ(r.steps, 1);
  EXPECT_DOUBLE_EQ(r.step, 20);
  EXPECT_DOUBLE_EQ(r.compute, 10) << "a kernel outside the steps counts";
  EXPECT_DOUBLE_EQ(r.hidden, 5);
  EXPECT_DOUBLE_EQ(r.exposed, 3);
  EXPECT_DOUBLE_EQ(r.bubble, 4);
  EXPECT_DOUBLE_EQ(r.other, 3);
  EXPECT_DOUBLE_EQ(r.overlap(), 5.0 / 8);
  EXPECT_NE(summary_json(ranks).find("\"exposed_ms\": 3.000000"), std::string::npos);
  const std::string table = summary_table(ranks);
  EXPECT_NE(table.find("62.5 %"), std::string::npos) << table;
}

TEST_F(Summary, AMergedFileGivesTheSame) {
  const std::vector<std::filesystem::path> files = {
      write(0, {span(TraceKind::iteration, 0, 4), span(TraceKind::kernel, 0, 1)}),
      write(1, {span(TraceKind::iteration, 0, 4), span(TraceKind::kernel, 0, 3)})};
  const auto merged = std::filesystem::path(folder_.path()) / "merged.json";
  io::merge_traces(files, merged);
  EXPECT_EQ(summary_json(summarize_traces({merged})), summary_json(summarize_traces(files)));
  EXPECT_EQ(summarize_traces({merged})[1].compute, 3);
}

TEST_F(Summary, ATraceWithoutAStepIsRefused) {
  EXPECT_THROW(summarize_traces({write(0, {span(TraceKind::kernel, 0, 1)})}), Error);
}

}  // namespace trace_summary_test
}  // namespace mpitron::train
