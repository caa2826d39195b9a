#include "report/status_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/run_progress.h"

// The view of `mpitron status`: a few lines of figures folded to the terminal's width, and the loss
// as a curve of braille characters below.

namespace mpitron::report {

namespace {

constexpr int kChartRows = 8, kWidestChart = 160;
constexpr double kStraggles = 1.2;  // times the median rank
constexpr double kMebibytesPerGibibyte = 1024;
constexpr const char* kBetween = " · ";

/// Returns the width in columns: bytes that begin a character of UTF-8.
int width_of(const std::string& text) {
  return static_cast<int>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

/// Collects parts that are known, and joins them with dots between.
class Line {
 public:
  void add(const std::string& part) { parts_.push_back(part); }
  /// Adds a part only where the value is known.
  void add(fmt::format_string<double&> text, double value) {
    if (std::isfinite(value)) {
      add(fmt::format(text, value));
    }
  }
  /// Returns the line, which goes on below where a terminal is narrow.
  std::vector<std::string> lines(int columns) const {
    std::vector<std::string> folded;
    for (const std::string& part : parts_) {
      const bool fits = !folded.empty() && width_of(folded.back() + kBetween + part) <= columns;
      if (fits) {
        folded.back() += kBetween + part;
      } else {
        folded.push_back(part);
      }
    }
    return folded;
  }

 private:
  std::vector<std::string> parts_;
};

/// Writes a number in groups of three digits.
std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ' ');
  }
  return digits;
}

/// Tells name, state, and since when there is no news.
Line head_line(const RunFolder& run, const RunProgress& progress) {
  Line line;
  line.add(run.name);
  line.add(progress.state == "silent" ? fmt::format("silent: nothing new for {}",
                                                    readable_duration(progress.silent_seconds))
                                      : progress.state);
  const std::string total =
      progress.train_iters > 0 ? " of " + grouped(static_cast<double>(progress.train_iters)) : "";
  line.add("iteration " + grouped(static_cast<double>(progress.iteration)) + total);
  if (std::isfinite(progress.seconds_left)) {
    line.add(readable_duration(progress.seconds_left) + " left");
  }
  return line;
}

/// Draws a bar over the terminal's width; an empty text where the length of the run is not known.
std::string bar(const RunProgress& progress, int columns) {
  const int width = std::min(columns, kWidestChart) - 7;
  if (progress.train_iters <= 0 || width < 1) {
    return "";
  }
  const double share = std::clamp(
      static_cast<double>(progress.iteration) / static_cast<double>(progress.train_iters), 0.0,
      1.0);
  const int full = static_cast<int>(share * width);
  std::string text;
  for (int i = 0; i < width; ++i) {
    text += i < full ? "█" : "░";
  }
  return fmt::format("{} {:3.0f} %", text, std::floor(100 * share));
}

Line rate_line(const RunProgress& progress) {
  Line line;
  line.add("{:.3g} s per iteration", progress.seconds_per_iteration);
  if (std::isfinite(progress.tokens_per_second)) {
    line.add(grouped(progress.tokens_per_second) + " tokens/s");
  }
  line.add("{:.3g} TFLOP/s per rank", progress.tflops_per_rank);
  return line;
}

/// Tells the training loss and, where there is one, the last validation.
Line loss_line(const RunFolder& run, const RunProgress& progress) {
  Line line;
  line.add("loss {:.4f}", run.metrics.last(run.metrics.loss_name()));
  if (std::isfinite(progress.validation_loss)) {
    line.add(fmt::format("validation {:.4f} at {}", progress.validation_loss,
                         progress.validation_iteration));
  }
  line.add("grad norm {:.3g}", run.metrics.last("grad-norm"));
  line.add("learning rate {:.3g}", run.metrics.last("learning-rate"));
  return line;
}

/// Tells which rank the others wait for; nothing to compare on one rank.
Line ranks_line(const RunFolder& run) {
  const double median = run.metrics.last("busy-seconds-median");
  const double slowest = run.metrics.last("busy-seconds-max");
  Line line;
  if (run.description.world_size > 1 && std::isfinite(slowest)) {
    line.add(fmt::format("{} ranks busy for {:.3g} to {:.3g} s", run.description.world_size,
                         run.metrics.last("busy-seconds-min"), slowest));
    if (slowest > kStraggles * median) {
      line.add(fmt::format("all wait for rank {:.0f}, {:.2f} x the median",
                           run.metrics.last("slowest-rank"), slowest / median));
    }
  }
  line.add("memory {:.2f} GiB", run.metrics.last("memory-mib-max") / kMebibytesPerGibibyte);
  return line;
}

/// Cuts a text to a number of columns, between characters of UTF-8.
std::string cut(const std::string& text, int columns) {
  int width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U && ++width > columns) {
      return text.substr(0, i);
    }
  }
  return text;
}

}  // namespace

/// Puts the lines together, and the curve below them.
std::string status_text(const RunFolder& run, std::filesystem::file_time_type now, int columns) {
  const RunProgress progress = progress_of(run, now);
  std::vector<std::string> lines;
  const auto add = [&](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  add(head_line(run, progress).lines(columns));
  add({bar(progress, columns), progress.reason});
  for (const Line& line : {rate_line(progress), loss_line(run, progress), ranks_line(run)}) {
    add(line.lines(columns));
  }
  std::erase(lines, "");
  std::string text;
  for (const std::string& line : lines) {
    text += text.empty() ? "" : "\n";
    text += cut(line, columns);
  }
  const auto chart = braille_chart(run.metrics.column(run.metrics.loss_name()),
                                   std::min(columns, kWidestChart), kChartRows);
  for (const std::string& line : chart) {
    text += &line == chart.data() ? "\n\n" : "\n";
    text += line;
  }
  return text;
}

/// Writes the facts for scripts.
std::string status_json(const RunFolder& run, std::filesystem::file_time_type now) {
  const RunProgress p = progress_of(run, now);
  const nlohmann::ordered_json json = {{"name", run.name},
                                       {"state", p.state},
                                       {"reason", p.reason},
                                       {"iteration", p.iteration},
                                       {"train_iters", p.train_iters},
                                       {"silent_seconds", p.silent_seconds},
                                       {"seconds_per_iteration", p.seconds_per_iteration},
                                       {"tokens_per_second", p.tokens_per_second},
                                       {"tflops_per_rank", p.tflops_per_rank},
                                       {"tokens", p.tokens},
                                       {"seconds_left", p.seconds_left},
                                       {"loss", run.metrics.last(run.metrics.loss_name())},
                                       {"validation_loss", p.validation_loss},
                                       {"validation_iteration", p.validation_iteration},
                                       {"grad_norm", run.metrics.last("grad-norm")},
                                       {"learning_rate", run.metrics.last("learning-rate")},
                                       {"world_size", run.description.world_size},
                                       {"busy_seconds",
                                        {{"min", run.metrics.last("busy-seconds-min")},
                                         {"median", run.metrics.last("busy-seconds-median")},
                                         {"max", run.metrics.last("busy-seconds-max")},
                                         {"slowest_rank", run.metrics.last("slowest-rank")}}},
                                       {"memory_mib_max", run.metrics.last("memory-mib-max")}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Writes two units at most: a third would change at every look.
std::string readable_duration(double seconds) {
  constexpr long kMinute = 60, kHour = 3600, kDay = 86400;
  const long whole = std::lround(seconds);
  if (whole < kMinute) {
    return fmt::format("{} s", whole);
  }
  if (whole < kHour) {
    return fmt::format("{} min {:02} s", whole / kMinute, whole % kMinute);
  }
  if (whole < kDay) {
    return fmt::format("{} h {:02} min", whole / kHour, whole % kHour / kMinute);
  }
  return fmt::format("{} d {:02} h", whole / kDay, whole % kDay / kHour);
}

namespace {

constexpr int kLabelColumns = 9;              // of the scale, its line included
constexpr int kDotColumns = 2, kDotRows = 4;  // of a character

/// Dots that are on or off; characters of U+2800 to U+28FF hold eight each.
class DotCanvas {
 public:
  DotCanvas(int columns, int rows)
      : columns_(columns), cells_(static_cast<std::size_t>(columns * rows)) {}

  void set(int x, int y) {
    constexpr unsigned char kBits[kDotRows][kDotColumns] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const int cell = y / kDotRows * columns_ + x / kDotColumns;
    cells_[static_cast<std::size_t>(cell)] |= kBits[y % kDotRows][x % kDotColumns];
  }

  /// Returns a row as text: eight dots a cell, by the order of Unicode's braille patterns.
  std::string row(int index) const {
    std::string text;
    for (int x = 0; x < columns_; ++x) {
      const unsigned dots = cells_[static_cast<std::size_t>(index * columns_ + x)];
      text += '\xe2';  // U+2800 + dots in UTF-8
      text += static_cast<char>(0xa0 + (dots >> 6));
      text += static_cast<char>(0x80 + (dots & 0x3f));
    }
    return text;
  }

 private:
  int columns_;
  std::vector<unsigned char> cells_;
};

/// Returns the means of equal stretches; NaN where none is finite.
std::vector<double> averaged(std::span<const double> values, std::size_t count) {
  count = std::min(count, values.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    int finite = 0;
    for (std::size_t at = i * values.size() / count; at < (i + 1) * values.size() / count; ++at) {
      if (std::isfinite(values[at])) {
        sum += values[at];
        ++finite;
      }
    }
    means.push_back(finite > 0 ? sum / finite : std::numeric_limits<double>::quiet_NaN());
  }
  return means;
}

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
};

/// Returns the range of the finite values.
Range range_of(const std::vector<double>& values) {
  Range range;
  for (const double value : values) {
    if (std::isfinite(value)) {
      range.least = std::min(range.least, value);
      range.most = std::max(range.most, value);
    }
  }
  return range;
}

/// Draws the curve: few values are spread over all columns; a jump is a vertical stroke.
void draw(DotCanvas& canvas, const std::vector<double>& values, const Range& range, int width,
          int height) {
  const double unit = range.most > range.least ? (height - 1) / (range.most - range.least) : 0;
  int before = -1;
  for (int x = 0; x < width; ++x) {
    const double value =
        values[static_cast<std::size_t>(x) * values.size() / static_cast<std::size_t>(width)];
    if (!std::isfinite(value)) {
      before = -1;
      continue;
    }
    const int y = height - 1 - static_cast<int>(std::lround((value - range.least) * unit));
    const int from = before < 0 ? y : before + (y > before ? 1 : y < before ? -1 : 0);
    for (int dot = std::min(from, y); dot <= std::max(from, y); ++dot) {
      canvas.set(x, dot);
    }
    before = y;
  }
}

}  // namespace

/// Draws a mean where several values share a column.
std::vector<std::string> braille_chart(std::span<const double> values, int columns, int rows) {
  const int cells = columns - kLabelColumns;
  if (cells < 1 || rows < 1) {
    return {};
  }
  const int width = cells * kDotColumns, height = rows * kDotRows;
  const std::vector<double> means = averaged(values, static_cast<std::size_t>(width));
  const Range range = range_of(means);
  if (range.least > range.most) {
    return {};
  }
  DotCanvas canvas(cells, rows);
  draw(canvas, means, range, width, height);
  std::vector<std::string> lines;
  for (int row = 0; row < rows; ++row) {
    const std::string label = row == 0          ? fmt::format("{:.4g}", range.most)
                              : row == rows - 1 ? fmt::format("{:.4g}", range.least)
                                                : "";
    lines.push_back(fmt::format("{:>7} {}{}", label, label.empty() ? "│" : "┤", canvas.row(row)));
  }
  return lines;
}

}  // namespace mpitron::report
