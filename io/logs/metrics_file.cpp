#include "io/logs/metrics_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"

namespace mpitron::io {

MetricsFile::MetricsFile(const std::filesystem::path& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw_data("{}: cannot open the metrics file: {}", path.string(), std::strerror(errno));
  }
  // Where a file system has no locks, runs go on without this protection.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw_data("{}: another run writes there: wait for its end or choose another folder",
               path.string());
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
  line = (torn_ ? "\n" : "") + line + '\n';
  torn_ = !write_all(descriptor_, line);
  if (torn_ && !std::exchange(warned_, true)) {
    log::warning("{}: cannot write: {}; the run goes on, lines are missing there", path_.string(),
                 std::strerror(errno));
  }
}

}  // namespace mpitron::io
