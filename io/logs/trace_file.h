#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "utils/trace.h"

// Chrome's trace format (chrome://tracing, Perfetto), one event a line so that files can be joined
// without holding their events as objects. Times are microseconds since one moment for all ranks.

namespace mpitron::io {

/// What a rank's file says of itself, in "otherData".
struct TraceHeader {
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  std::string host = {};
  std::int64_t first_iteration = 0;
  std::int64_t last_iteration = 0;
  std::int64_t clock_offset_ns = 0;  // added to this rank's clock
  std::int64_t clock_uncertainty_ns = 0;
  std::int64_t dropped_spans = 0;
};

/// One event of a file. Views live as long as the file's text.
struct TraceEvent {
  std::string name;
  std::string category;  // as in `category_of`
  char phase = 'X';      // X: a span; b, e: begin and end of what others may overlap; M: a name
  std::int64_t rank = 0;
  double begin = 0;     // microseconds
  double duration = 0;  // of X and b
  std::string group;    // of communication
  std::int64_t number = -1;
  std::int64_t bytes = -1;
  std::string_view text;  // the line
};

const char* category_of(TraceKind kind);

/// Name of a rank's file in its folder: trace_rank_00003.json.
std::string trace_file_name(std::int64_t rank);

/// `zero`: what becomes time 0, by this rank's clock (nanoseconds). The file is complete or absent.
/// Error(data) where it cannot be written.
void write_trace(const std::filesystem::path& path, const TraceHeader& header,
                 std::span<const TraceSpan> spans, std::int64_t zero);

/// Calls `visit` for every event of a file of `write_trace` or of `merge_traces`, in the file's
/// order. Error(data) with file and line for anything else.
void read_trace(std::string_view text, const std::filesystem::path& path,
                const std::function<void(const TraceEvent&)>& visit);

/// The files' headers as JSON objects, a merged file's one for each rank.
std::vector<std::string> trace_headers(std::string_view text, const std::filesystem::path& path);

/// One file with the events of all, by time; each rank is a process of its own. Error(data) where
/// a file is no trace, or two hold the same rank.
void merge_traces(std::span<const std::filesystem::path> files, const std::filesystem::path& to);

}  // namespace mpitron::io
