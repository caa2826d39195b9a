#pragma once
#include <filesystem>
#include <string_view>

#include "utils/system/files.h"

namespace mpitron::io {

// The frame of a file of traces: one line that says whose it is, one line for each event, one that
// ends it. So files are joined line by line, and a file that was cut off is told from a whole one.

/// How the first line begins and ends; what the file says of itself lies between both.
inline constexpr std::string_view kTraceBegin = R"({"displayTimeUnit":"ms","otherData":)";
inline constexpr std::string_view kTraceEvents = R"(,"traceEvents":[)";

/// A file of traces while it is written: a comma behind every event but the last.
class TraceEventsFile {
 public:
  /// `other_data`: a JSON object, what the file says of itself.
  TraceEventsFile(const std::filesystem::path& path, std::string_view other_data) : file_(path) {
    file_.write(kTraceBegin);
    file_.write(other_data);
    file_.write(kTraceEvents);
  }
  /// Adds the lines of one span, without the comma behind the last of them.
  void add(std::string_view lines) {
    file_.write(first_ ? "\n" : ",\n");
    file_.write(lines);
    first_ = false;
  }
  /// Ends the file, which has its name from now on.
  void commit() {
    file_.write("\n]}\n");
    file_.commit();
  }

 private:
  AtomicFile file_;
  bool first_ = true;
};

}  // namespace mpitron::io
