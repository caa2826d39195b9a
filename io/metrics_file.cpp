#include "io/metrics_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "io/json_text.h"
#include "utils/error.h"
#include "utils/write_all.h"

namespace mpitron::io {

MetricsFile::MetricsFile(const std::filesystem::path& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw_data("{}: cannot open the metrics file: {}", path.string(), std::strerror(errno));
  }
  close_torn_line();
}

MetricsFile::~MetricsFile() {
  ::close(descriptor_);
}

void MetricsFile::close_torn_line() {
  const off_t size = ::lseek(descriptor_, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(descriptor_, &last, 1, size - 1) == 1 && last != '\n') {
    write_line({});
  }
}

void MetricsFile::add(std::int64_t step, std::span<const Metric> metrics) {
  std::string line = fmt::format("{{\"step\":{}", step);
  for (const auto& [name, value] : metrics) {
    line += fmt::format(",{}:{}", json_string(name), json_number(value));
  }
  write_line(line + "}");
}

void MetricsFile::resume(std::int64_t step) {
  write_line(fmt::format("{{\"event\":\"resume\",\"step\":{}}}", step));
}

void MetricsFile::write_line(std::string line) {
  line += '\n';
  if (!write_all(descriptor_, line)) {
    throw_data("{}: cannot write: {}", path_.string(), std::strerror(errno));
  }
}

}  // namespace mpitron::io
