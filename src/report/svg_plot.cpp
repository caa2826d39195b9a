#include "report/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

// Plots as SVG, for pages that need no script: scales, marks, curves and a legend.

namespace mpitron::report {
namespace {

constexpr double kWidth = 460, kHeight = 270;
constexpr double kLeft = 52, kRight = 14, kTop = 12, kBottom = 62;
constexpr double kLegend = kHeight - 8;
constexpr int kColours = 8;

/// Maps values to places on the picture.
class Scale {
 public:
  Scale(double least, double most, bool logarithmic, std::pair<double, double> pixels)
      : logarithmic_(logarithmic), least_(of(least)), most_(of(most)), pixels_(pixels) {}

  double operator()(double value) const {
    const double share = most_ > least_ ? (of(value) - least_) / (most_ - least_) : 0.5;
    return pixels_.first + share * (pixels_.second - pixels_.first);
  }

 private:
  double of(double value) const { return logarithmic_ ? std::log10(value) : value; }

  bool logarithmic_;
  double least_, most_;
  std::pair<double, double> pixels_;
};

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"var(--soft)\">{}</text>\n", x, y,
      anchor, html_text(text));
}

std::string line_from(double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"var(--line)\"/>\n",
      x1, y1, x2, y2);
}

/// Returns the points that can be drawn.
std::vector<std::pair<double, double>> drawn(const PlotLine& line, bool logarithmic) {
  auto points = line.points;
  std::erase_if(points, [&](const auto& point) {
    return !std::isfinite(point.second) || (logarithmic && point.second <= 0);
  });
  return points;
}

/// A line through the points and, unless it is dashed, a dot on each; a point alone has its dot.
std::string curve(const PlotLine& line, std::size_t index, const Plot& plot, const Scale& x,
                  const Scale& y) {
  const std::string colour =
      line.elsewhere ? "var(--line)" : fmt::format("var(--c{})", index % kColours);
  std::string path, dots;
  const auto points = drawn(line, plot.logarithmic_y);
  for (const auto& [at, value] : points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x(at), y(value));
    if (!line.dashed || points.size() == 1) {
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}: {:.6g} at {:.6g}"
          "</title></circle>\n",
          x(at), y(value), colour, html_text(line.name), value, at);
    }
  }
  return (line.joined ? fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" "
                                    "stroke-width=\"1.7\"{}/>\n",
                                    path, colour, line.dashed ? " stroke-dasharray=\"5 4\"" : "")
                      : std::string()) +
         dots;
}

/// The names of lines, in as many rows as they need.
struct Legend {
  std::string text;
  int rows = 1;
};

Legend legend(const Plot& plot) {
  constexpr double kMark = 18, kGap = 22, kLetter = 6.3, kRow = 15;
  Legend result;
  double x = kLeft;
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const PlotLine& line = plot.lines[i];
    if (line.elsewhere) {
      continue;  // a mark of its own tells whose it is
    }
    const double width = kMark + kGap + kLetter * static_cast<double>(line.name.size());
    if (x > kLeft && x + width > kWidth) {
      x = kLeft;
      ++result.rows;
    }
    const double y = kLegend + kRow * (result.rows - 1);
    result.text += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"var(--c{})\" "
        "stroke-width=\"2\"{}/>\n",
        x, y - 4, x + kMark, y - 4, i % kColours, line.dashed ? " stroke-dasharray=\"5 4\"" : "");
    result.text += text_at(x + kMark + 5, y, "start", line.name);
    x += width;
  }
  return result;
}

}  // namespace

/// Draws a plot whose scales cover all lines; text takes the page's font and colour.
std::string svg_plot(const Plot& plot) {
  std::set<double> xs;
  double least = INFINITY, most = 0;
  for (const PlotLine& line : plot.lines) {
    for (const auto& [x, y] : drawn(line, plot.logarithmic_y)) {
      xs.insert(x);
      least = std::min(least, y);
      most = std::max(most, y);
    }
  }
  std::string body;
  double height = kHeight;
  if (xs.empty()) {
    body = text_at(kWidth / 2, kHeight / 2, "middle", "nothing was measured");
  } else {
    const double below = plot.logarithmic_y ? least / 1.3 : 0, above = most * 1.08;
    const Scale x(plot.logarithmic_x ? *xs.begin() : 0, *xs.rbegin(), plot.logarithmic_x,
                  {kLeft, kWidth - kRight});
    const Scale y(below, above, plot.logarithmic_y, {kHeight - kBottom, kTop});
    for (const double tick :
         plot.logarithmic_y ? logarithmic_ticks(below, above) : linear_ticks(above, 5)) {
      body += line_from(kLeft, y(tick), kWidth - kRight, y(tick));
      body += text_at(kLeft - 7, y(tick) + 4, "end", short_number(tick));
    }
    double last = -kWidth;
    for (const double tick : x_marks(plot, xs)) {
      constexpr double kRoom = 26;
      if (x(tick) - last >= kRoom) {
        last = x(tick);
        body += text_at(last, kHeight - kBottom + 17, "middle", short_number(tick));
      }
    }
    for (std::size_t i = 0; i < plot.lines.size(); ++i) {
      body += curve(plot.lines[i], i, plot, x, y);
    }
    body += text_at((kLeft + kWidth - kRight) / 2, kHeight - kBottom + 34, "middle", plot.x_label);
    if (plot.lines.size() > 1) {
      const Legend names = legend(plot);
      body += names.text;
      height += 15 * (names.rows - 1);
    }
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" font-size=\"11.5\">\n{}</svg>\n",
      kWidth, height, html_text(plot.title), body);
}

}  // namespace mpitron::report
