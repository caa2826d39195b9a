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
/// so a reader forgets the lines above it with a greater step. A line torn by a crash is closed
/// when the file is opened again, and is the only line that may not parse.
class MetricsFile {
 public:
  /// Opens or creates; Error(data) when that fails.
  explicit MetricsFile(const std::filesystem::path& path);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  /// {"step":N,"name":value,...}; a value that is not finite is null. Error(data) when the disk is
  /// full.
  void add(std::int64_t step, std::span<const Metric> metrics);
  void resume(std::int64_t step);

 private:
  void close_torn_line();
  void write_line(std::string line);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace mpitron::io
