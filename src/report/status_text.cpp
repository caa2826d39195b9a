#include "report/status_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/folded_line.h"
#include "report/run_progress.h"

// The view of `mpitron status`: a few lines of figures folded to the terminal's width.

namespace mpitron::report {
namespace {

constexpr int kChartRows = 8, kWidestChart = 160;
constexpr double kStraggles = 1.2;  // times the median rank
constexpr double kMebibytesPerGibibyte = 1024;

/// Writes a number in groups of three digits.
std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ' ');
  }
  return digits;
}

/// Tells name, state, and since when there is no news.
FoldedLine head_line(const RunFolder& run, const RunProgress& progress) {
  FoldedLine line;
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

FoldedLine rate_line(const RunProgress& progress) {
  FoldedLine line;
  line.add("{:.3g} s per iteration", progress.seconds_per_iteration);
  if (std::isfinite(progress.tokens_per_second)) {
    line.add(grouped(progress.tokens_per_second) + " tokens/s");
  }
  line.add("{:.3g} TFLOP/s per rank", progress.tflops_per_rank);
  return line;
}

/// Tells the training loss and, where there is one, the last validation.
FoldedLine loss_line(const RunFolder& run, const RunProgress& progress) {
  FoldedLine line;
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
FoldedLine ranks_line(const RunFolder& run) {
  const double median = run.metrics.last("busy-seconds-median");
  const double slowest = run.metrics.last("busy-seconds-max");
  FoldedLine line;
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
  for (const FoldedLine& line : {rate_line(progress), loss_line(run, progress), ranks_line(run)}) {
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

}  // namespace mpitron::report
