#include "train/log/progress_bar.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <unistd.h>

#include "utils/system/machine.h"

namespace mpitron::train {
namespace {

constexpr double kSecondsBetweenDraws = 0.1;
constexpr int kBarCells = 20;

}  // namespace

/// Formats "1:02:03", from a day on "2d 03:04:05".
std::string format_duration(double seconds) {
  const auto whole = static_cast<Index>(std::llround(std::max(0.0, seconds)));
  const Index hours = whole / 3600;
  const Index minutes = whole / 60 % 60;
  if (hours < 24) {
    return fmt::format("{}:{:02d}:{:02d}", hours, minutes, whole % 60);
  }
  return fmt::format("{}d {:02d}:{:02d}:{:02d}", hours / 24, hours % 24, minutes, whole % 60);
}

/// One line, as wide as the terminal: bar, share, rate and the time that is left.
std::string render_progress(const ProgressState& state, int width) {
  const double fraction =
      state.total > 0
          ? std::clamp(static_cast<double>(state.done) / static_cast<double>(state.total), 0.0, 1.0)
          : 0.0;
  const auto cells = static_cast<std::size_t>(fraction * kBarCells);
  std::string text =
      fmt::format("{:3d}% [{}{}] {}/{}", static_cast<int>(fraction * 100), std::string(cells, '#'),
                  std::string(kBarCells - cells, '.'), state.done, state.total);
  if (state.rate > 0) {
    const double left = static_cast<double>(std::max<Index>(0, state.total - state.done));
    text += fmt::format(" | {:.3g} {}/s | ETA {}", state.rate, state.unit,
                        format_duration(left / state.rate));
  }
  if (!state.note.empty()) {
    text += " | " + state.note;
  }
  return text.substr(0, static_cast<std::size_t>(std::max(width, 0)));
}

ProgressBar::ProgressBar(Index total, std::string unit, Index start, std::FILE* stream)
    : stream_(stream), enabled_(::isatty(::fileno(stream)) == 1), start_(start) {
  state_.total = total;
  state_.unit = std::move(unit);
}

int ProgressBar::width() const {
  constexpr int kUnknown = 80;
  return terminal_columns(::fileno(stream_)).value_or(kUnknown) - 1;  // the last one would wrap
}

/// Draws at most ten times a second.
void ProgressBar::update(Index done, const std::string& note) {
  if (!enabled_) {
    return;
  }
  const bool last = done >= state_.total;
  if (!last && drawn_ && since_draw_ && since_draw_->seconds() < kSecondsBetweenDraws) {
    return;
  }
  state_.done = done;
  state_.note = note;
  const double seconds = since_start_.seconds();
  state_.rate = seconds > 0 ? static_cast<double>(done - start_) / seconds : 0;
  const std::string line = "\r\x1b[K" + render_progress(state_, width());
  std::fwrite(line.data(), 1, line.size(), stream_);
  std::fflush(stream_);
  drawn_ = true;
  since_draw_.emplace();
}

void ProgressBar::clear() {
  if (drawn_) {
    std::fputs("\r\x1b[K", stream_);
    std::fflush(stream_);
    drawn_ = false;
  }
}

}  // namespace mpitron::train
