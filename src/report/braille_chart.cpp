#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "report/status_text.h"

// A curve of braille characters: the loss below the figures of `mpitron status`.

namespace mpitron::report {
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
