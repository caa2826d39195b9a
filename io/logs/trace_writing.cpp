#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/logs/json_text.h"
#include "io/logs/trace_events_file.h"
#include "io/logs/trace_file.h"

// A rank's spans as lines of Chrome's trace event format.

namespace mpitron::io {
namespace {

constexpr int kBackgroundThread = 1;

std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}{}.{:03}", nanoseconds < 0 ? "-" : "", std::abs(nanoseconds) / 1000,
                     std::abs(nanoseconds) % 1000);
}

std::string arguments_of(const TraceSpan& span) {
  std::string text;
  const auto add = [&text](const char* name, std::int64_t value) {
    if (value >= 0) {
      text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", name, value);
    }
  };
  add("number", span.number);
  add("chunk", span.chunk);
  add("microbatch", span.microbatch);
  add("bytes", span.bytes);
  add("ranks", span.ranks);
  if (span.group[0] != '\0') {
    text += fmt::format("{}\"group\":{}", text.empty() ? "" : ",", json_string(span.group.data()));
  }
  return text;
}

/// The lines of one span: one, or begin and end of an operation, which other spans may overlap.
std::string lines_of(const TraceSpan& span, std::int64_t rank, std::int64_t zero) {
  const std::string head = fmt::format(R"({{"name":{},"cat":"{}","pid":{},"tid":{})",
                                       json_string(span.name.data()), category_of(span.kind), rank,
                                       span.kind == TraceKind::background ? kBackgroundThread : 0);
  const std::string begin = microseconds(span.begin - zero);
  const std::string duration = microseconds(span.end - span.begin);
  if (span.kind != TraceKind::operation) {
    return fmt::format(R"({},"ph":"X","ts":{},"dur":{},"args":{{{}}}}})", head, begin, duration,
                       arguments_of(span));
  }
  const std::string id = fmt::format(R"("id":"{}.{}")", rank, span.number);
  return fmt::format("{},\"ph\":\"b\",{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}},\n", head, id,
                     begin, duration, arguments_of(span)) +
         fmt::format(R"({},"ph":"e",{},"ts":{}}})", head, id, microseconds(span.end - zero));
}

std::string json_of(const TraceHeader& header) {
  return fmt::format(R"({{"rank":{},"ranks":{},"host":{},"first_iteration":{},"last_iteration":{},)"
                     R"("clock_offset_ns":{},"clock_uncertainty_ns":{},"dropped_spans":{}}})",
                     header.rank, header.ranks, json_string(header.host), header.first_iteration,
                     header.last_iteration, header.clock_offset_ns, header.clock_uncertainty_ns,
                     header.dropped_spans);
}

std::string name_line(const char* what, std::int64_t rank, int thread, const std::string& value) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{{}}}}})", what, rank,
                     thread, value);
}

std::vector<std::string> name_lines(const TraceHeader& header) {
  const std::int64_t rank = header.rank;
  return {name_line("process_name", rank, 0,
                    "\"name\":" + json_string(fmt::format("rank {} ({})", rank, header.host))),
          name_line("process_sort_index", rank, 0, fmt::format("\"sort_index\":{}", rank)),
          name_line("thread_name", rank, 0, R"("name":"main")"),
          name_line("thread_name", rank, kBackgroundThread, R"("name":"checkpoint writer")")};
}

}  // namespace

const char* category_of(TraceKind kind) {
  constexpr const char* kNames[] = {"iteration", "phase",         "pass", "layer",
                                    "kernel",    "communication", "wait", "background"};
  return kNames[static_cast<int>(kind)];
}

std::string trace_file_name(std::int64_t rank) {
  return fmt::format("trace_rank_{:05}.json", rank);
}

void write_trace(const std::filesystem::path& path, const TraceHeader& header,
                 std::span<const TraceSpan> spans, std::int64_t zero) {
  std::vector<const TraceSpan*> order;
  order.reserve(spans.size());
  for (const TraceSpan& span : spans) {
    order.push_back(&span);
  }
  std::ranges::stable_sort(order, [](const TraceSpan* a, const TraceSpan* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
  });
  TraceEventsFile writer(path, json_of(header));
  for (const std::string& line : name_lines(header)) {
    writer.add(line);
  }
  for (const TraceSpan* const span : order) {
    writer.add(lines_of(*span, header.rank, zero));
  }
  writer.commit();
}

}  // namespace mpitron::io
