#include "io/logs/trace_file.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/json_nesting.h"

// Chrome's trace event format, as Perfetto and chrome://tracing read it.

namespace mpitron::io {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kBegin = R"({"displayTimeUnit":"ms","otherData":)";
constexpr std::string_view kEvents = R"(,"traceEvents":[)";
constexpr int kBackgroundThread = 1;

[[noreturn]] void not_a_trace(const std::filesystem::path& path, std::size_t line,
                              const std::string& why) {
  throw_data("{}, line {}: {}; give the files that `mpitron pretrain-gpt --profile` has written",
             path.string(), line, why);
}

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

/// A file while it is written: a comma behind every event but the last.
class Writer {
 public:
  Writer(const std::filesystem::path& path, std::string_view other_data) : file_(path) {
    file_.write(kBegin);
    file_.write(other_data);
    file_.write(kEvents);
  }
  void add(std::string_view lines) {
    file_.write(first_ ? "\n" : ",\n");
    file_.write(lines);
    first_ = false;
  }
  void commit() {
    file_.write("\n]}\n");
    file_.commit();
  }

 private:
  AtomicFile file_;
  bool first_ = true;
};

TraceEvent parse_event(std::string_view line) {
  const Json json = Json::parse(line);
  TraceEvent event{.name = json.at("name"),
                   .category = json.value("cat", ""),
                   .phase = json.at("ph").get<std::string>().at(0),
                   .rank = json.at("pid"),
                   .begin = json.value("ts", 0.0),
                   .duration = json.value("dur", 0.0),
                   .group = {},
                   .text = line};
  if (const auto arguments = json.find("args"); arguments != json.end()) {
    event.group = arguments->value("group", "");
    event.number = arguments->value("number", std::int64_t{-1});
    event.bytes = arguments->value("bytes", std::int64_t{-1});
  }
  return event;
}

/// What lies between the first line's begin and the events.
std::string_view other_data(std::string_view text, const std::filesystem::path& path) {
  const std::string_view first = text.substr(0, text.find('\n'));
  if (!first.starts_with(kBegin) || !first.ends_with(kEvents)) {
    not_a_trace(path, 1, "this is no trace of mpitron");
  }
  const std::string_view data =
      first.substr(kBegin.size(), first.size() - kBegin.size() - kEvents.size());
  if (nests_too_deep(data)) {
    not_a_trace(path, 1, "its lists and objects lie too deep in each other");
  }
  return data;
}

/// Names come first, then what begins earlier, then what encloses the other.
struct Place {
  bool name = false;
  double begin = 0;
  double duration = 0;
  std::string_view text;

  bool operator<(const Place& other) const {
    if (name != other.name) {
      return name;
    }
    return begin != other.begin ? begin < other.begin : duration > other.duration;
  }
};

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
  Writer writer(path, json_of(header));
  for (const std::string& line : name_lines(header)) {
    writer.add(line);
  }
  for (const TraceSpan* const span : order) {
    writer.add(lines_of(*span, header.rank, zero));
  }
  writer.commit();
}

void read_trace(std::string_view text, const std::filesystem::path& path,
                const std::function<void(const TraceEvent&)>& visit) {
  other_data(text, path);
  std::size_t number = 1;
  for (std::size_t at = text.find('\n') + 1; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line == "]}") {
      return;
    }
    if (line.ends_with(',')) {
      line.remove_suffix(1);
    }
    try {
      visit(parse_event(line));
    } catch (const std::exception& error) {
      not_a_trace(path, number + 1, error.what());
    }
  }
  not_a_trace(path, number, "the file has no end");
}

std::vector<std::string> trace_headers(std::string_view text, const std::filesystem::path& path) {
  try {
    const Json json = Json::parse(other_data(text, path));
    std::vector<std::string> headers;
    if (const auto merged = json.find("merged"); merged != json.end()) {
      for (const Json& header : *merged) {
        headers.push_back(header.dump());
      }
    } else {
      headers.push_back(json.dump());
    }
    return headers;
  } catch (const Json::exception& error) {
    not_a_trace(path, 1, error.what());
  }
}

void merge_traces(std::span<const std::filesystem::path> files, const std::filesystem::path& to) {
  std::vector<MappedFile> texts;
  std::vector<Place> places;
  std::string headers;
  std::set<std::int64_t> ranks;
  for (const std::filesystem::path& path : files) {
    const std::string_view text = texts.emplace_back(path).text();
    for (const std::string& header : trace_headers(text, path)) {
      const std::int64_t rank = Json::parse(header).value("rank", std::int64_t{-1});
      if (!ranks.insert(rank).second) {
        throw_data("{}: rank {} is in another of the given files as well; give each rank once",
                   path.string(), rank);
      }
      headers += (headers.empty() ? "" : ",") + header;
    }
    read_trace(text, path, [&places](const TraceEvent& event) {
      places.push_back({event.phase == 'M', event.begin, event.duration, event.text});
    });
  }
  std::ranges::stable_sort(places, std::less{});
  Writer writer(to, fmt::format(R"({{"merged":[{}]}})", headers));
  for (const Place& place : places) {
    writer.add(place.text);
  }
  writer.commit();
}

}  // namespace mpitron::io
