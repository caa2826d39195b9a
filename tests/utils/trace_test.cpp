#include "utils/trace.h"

#include <thread>

#include <gtest/gtest.h>

namespace mpitron {
namespace trace_test {

std::string name_of(const TraceSpan& span) {
  return span.name.data();
}

TEST(Trace, RecordsOnlyBetweenStartAndStop) {
  Trace trace;
  { const TraceScope before(&trace, TraceKind::phase, "before"); }
  trace.start();
  EXPECT_TRUE(trace.recording());
  {
    const TraceScope outer(&trace, TraceKind::phase, "outer");
    const TraceScope inner(&trace,
                           {.kind = TraceKind::pass, .name = trace_name("inner"), .chunk = 2});
  }
  const std::vector<TraceSpan> spans = trace.stop();
  { const TraceScope after(&trace, TraceKind::phase, "after"); }
  EXPECT_FALSE(trace.recording());
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(name_of(spans[0]), "inner");
  EXPECT_EQ(name_of(spans[1]), "outer");
  EXPECT_EQ(spans[0].chunk, 2);
  EXPECT_EQ(spans[0].kind, TraceKind::pass);
  EXPECT_LE(spans[1].begin, spans[0].begin);
  EXPECT_LE(spans[0].begin, spans[0].end);
  EXPECT_LE(spans[0].end, spans[1].end);
  EXPECT_TRUE(trace.stop().empty());
}

TEST(Trace, AScopeThatBeganBeforeTheRecordingIsLeftOut) {
  Trace trace;
  {
    const TraceScope early(&trace, TraceKind::phase, "early");
    trace.start();
  }
  EXPECT_TRUE(trace.stop().empty());
}

/// Notes the names of ranges as they begin, and "end".
class Noted final : public TraceRanges {
 public:
  void begin(const TraceSpan& span) override { notes.push_back(name_of(span)); }
  void end() override { notes.emplace_back("end"); }
  std::vector<std::string> notes;
};

TEST(Trace, TellsAProfilerOfScopesWhileItRecords) {
  Trace trace;
  Noted noted;
  trace.tell(&noted);
  { const TraceScope before(&trace, TraceKind::phase, "before"); }
  trace.start();
  {
    const TraceScope outer(&trace, TraceKind::phase, "outer");
    const TraceScope inner(&trace, TraceKind::phase, "inner");
  }
  trace.tell(nullptr);
  { const TraceScope untold(&trace, TraceKind::phase, "untold"); }
  EXPECT_EQ(noted.notes, (std::vector<std::string>{"outer", "inner", "end", "end"}));
  EXPECT_EQ(trace.stop().size(), 3U);
}

TEST(Trace, SpansComeInTheOrderOfTheirEnds) {
  Trace trace;
  trace.start();
  for (const std::int64_t end : {3, 1, 2}) {
    trace.add({.end = end});
  }
  const std::vector<TraceSpan> spans = trace.stop();
  EXPECT_EQ(spans[0].end, 1);
  EXPECT_EQ(spans[2].end, 3);
}

TEST(Trace, CountsWhatFindsNoRoom) {
  Trace trace;
  trace.start(2);
  for (int i = 0; i < 5; ++i) {
    trace.add({.number = i});
  }
  EXPECT_EQ(trace.dropped(), 3);
  const std::vector<TraceSpan> spans = trace.stop();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[1].number, 1);
  trace.start(2);
  EXPECT_EQ(trace.dropped(), 0);
}

TEST(Trace, CutsLongNames) {
  const std::string text(100, 'x');
  EXPECT_EQ(std::string(trace_name(text).data()), std::string(31, 'x'));
}

TEST(Trace, TakesSpansOfSeveralThreads) {
  Trace trace;
  trace.start(4000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&trace] {
      for (int i = 0; i < 1000; ++i) {
        trace.add({.number = i});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(trace.stop().size(), 4000U);
}

}  // namespace trace_test
}  // namespace mpitron
