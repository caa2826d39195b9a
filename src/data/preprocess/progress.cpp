#include "data/preprocess/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <unistd.h>

#include "utils/log.h"
#include "utils/system/machine.h"

// Lines of progress on stderr, for people at a terminal and for logs.

namespace mpitron::data {
namespace {

constexpr double kSecondsPerLine = 1.0;
constexpr double kSecondsPerDraw = 0.1;
constexpr int kBarWidth = 24, kUnknownColumns = 160;

std::string bar(double share) {
  const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarWidth);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(kBarWidth - full), '.') + "] ";
}

}  // namespace

std::string format_duration(double seconds) {
  const auto whole = static_cast<Index>(std::llround(seconds));
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string format_progress(Index documents, Index bytes, Index total, double seconds) {
  const double time = std::max(seconds, 1e-9);
  const double megabytes = static_cast<double>(bytes) * 1e-6;
  std::string line = fmt::format("{} documents, {:.1f} MB", documents, megabytes);
  if (total > 0) {
    line += fmt::format(" of {:.1f} ({:.0f} %)", static_cast<double>(total) * 1e-6,
                        100.0 * static_cast<double>(bytes) / static_cast<double>(total));
  }
  line += fmt::format(", {:.0f} docs/s, {:.1f} MB/s", static_cast<double>(documents) / time,
                      megabytes / time);
  if (total > 0 && bytes > 0) {
    line += ", ETA " +
            format_duration(time * static_cast<double>(total - bytes) / static_cast<double>(bytes));
  }
  return line;
}

Progress::Progress(std::string title, Index total, Index interval)
    : title_(std::move(title)),
      total_(total),
      interval_(interval),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (drawn_) {
    std::fputs("\n", stderr);
  }
}

void Progress::update(Index documents, Index bytes) {
  const double wait = terminal_ ? kSecondsPerDraw : kSecondsPerLine;
  if (since_line_.seconds() < wait || (!terminal_ && documents - last_documents_ < interval_)) {
    return;
  }
  const std::string line = format_progress(documents, bytes, total_, timer_.seconds());
  if (terminal_) {
    const double share = total_ > 0 ? static_cast<double>(bytes) / static_cast<double>(total_) : 0;
    const std::string text = title_ + " " + (total_ > 0 ? bar(share) : "") + line;
    const int columns = terminal_columns(STDERR_FILENO).value_or(kUnknownColumns);
    const auto room = static_cast<std::size_t>(columns - 1);  // the last one would wrap
    std::fputs(("\r\033[K" + text.substr(0, room)).c_str(), stderr);
    std::fflush(stderr);
    drawn_ = true;
  } else {
    log::info("{}: {}", title_, line);
  }
  last_documents_ = documents;
  since_line_.restart();
}

}  // namespace mpitron::data
