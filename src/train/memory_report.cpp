#include "train/memory_report.h"

#include <charconv>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace mpitron::train {
namespace {

/// The number of kilobytes behind `key`, in bytes.
Index bytes_of(std::string_view status, std::string_view key) {
  const std::size_t at = status.find(key);
  if (at == std::string_view::npos) {
    return 0;
  }
  std::string_view value = status.substr(at + key.size());
  value.remove_prefix(std::min(value.find_first_of("0123456789"), value.size()));
  Index kilobytes = 0;
  std::from_chars(value.data(), value.data() + value.size(), kilobytes);
  return kilobytes * 1024;
}

double megabytes(Index bytes) {
  return static_cast<double>(bytes) / (1024.0 * 1024.0);
}

}  // namespace

ProcessMemory parse_process_status(std::string_view status) {
  return {.resident = bytes_of(status, "\nVmRSS:"), .resident_peak = bytes_of(status, "\nVmHWM:")};
}

ProcessMemory process_memory() {
  std::ifstream file("/proc/self/status");
  return parse_process_status(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string memory_line(Index rank, Index iterations, const ProcessMemory& memory) {
  return fmt::format(
      "[Rank {}] (after {} iterations) memory (MB) | allocated: {:.1f} | max allocated: {:.1f}",
      rank, iterations, megabytes(memory.resident), megabytes(memory.resident_peak));
}

}  // namespace mpitron::train
