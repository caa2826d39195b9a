#include "io/logs/trace_file.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/logs/trace_events_file.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/json_nesting.h"

// Reads and joins files of Chrome's trace event format, as Perfetto and chrome://tracing read it.

namespace mpitron::io {
namespace {

using Json = nlohmann::json;

[[noreturn]] void not_a_trace(const std::filesystem::path& path, std::size_t line,
                              const std::string& why) {
  throw_data("{}, line {}: {}; give the files that `mpitron pretrain-gpt --profile` has written",
             path.string(), line, why);
}

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
  if (!first.starts_with(kTraceBegin) || !first.ends_with(kTraceEvents)) {
    not_a_trace(path, 1, "this is no trace of mpitron");
  }
  const std::string_view data =
      first.substr(kTraceBegin.size(), first.size() - kTraceBegin.size() - kTraceEvents.size());
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
  TraceEventsFile writer(to, fmt::format(R"({{"merged":[{}]}})", headers));
  for (const Place& place : places) {
    writer.add(place.text);
  }
  writer.commit();
}

}  // namespace mpitron::io
