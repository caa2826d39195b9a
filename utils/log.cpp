#include "utils/log.h"

#include <cstdio>
#include <mutex>
#include <set>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "utils/text/utf8.h"

namespace mpitron::log {
namespace {

int g_rank = 0;

spdlog::logger& logger() {
  static auto instance = [] {
    auto made = spdlog::stderr_color_mt("mpitron");
    made->set_pattern("[%Y-%m-%d %H:%M:%S.%e] %^%l%$: %v");
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      break;
  }
  return spdlog::level::err;
}

/// True the first time a rank other than 0 says this.
bool first_time(std::string_view message) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> said;
  const std::lock_guard lock(mutex);
  return said.emplace(message).second;
}

}  // namespace

void set_level(Level level) {
  logger().set_level(to_spdlog(level));
}

void set_rank(int rank) {
  g_rank = rank;
}

int rank() {
  return g_rank;
}

void write(Level level, std::string_view message) {
  if (g_rank != 0 && (level < Level::warning || !first_time(message))) {
    return;
  }
  logger().log(to_spdlog(level), "{}",
               holds_controls(message) ? without_controls(message) : std::string(message));
}

void print(std::string_view line) {
  if (g_rank == 0 && holds_controls(line)) {
    print(without_controls(line));
  } else if (g_rank == 0) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);
  }
}

}  // namespace mpitron::log
