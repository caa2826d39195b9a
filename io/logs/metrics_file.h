#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mpitron::io {

using Metric = std::pair<std::string_view, double>;

/// Append-only `metrics.jsonl`: one JSON object a line, written whole by one system call. Metrics
/// are keyed by "step"; a line {"event":"resume","step":N} says that the run went back to step N,
/// so a reader forgets the lines above it with a greater step. A line torn by a crash or a full
/// disk is closed before the next one, and is the only kind of line that may not parse. A run does
/// not end for its log: lines that cannot be written are left out, with one warning. One process at
/// a time has the file.
class MetricsFile {
 public:
  /// Opens or creates; Error(data) when that fails, or where another one has it open.
  explicit MetricsFile(const std::filesystem::path& path);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  /// {"step":N,"name":value,...}; a value that is not finite is null.
  void add(std::int64_t step, std::span<const Metric> metrics);
  void resume(std::int64_t step);

 private:
  void close_torn_line();
  void write_line(std::string line);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool torn_ = false;  // the last line is not there, or not whole
  bool warned_ = false;
};

}  // namespace mpitron::io
