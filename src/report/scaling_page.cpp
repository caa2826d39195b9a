#include "report/scaling_page.h"

#include <cmath>

#include <fmt/format.h>

#include "report/html.h"

namespace mpitron::report {
namespace {

constexpr std::string_view kScalingStyle = R"css(
svg { width: 100%; height: auto; display: block; }
.grid { grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); }
td, th { white-space: nowrap; }
)css";

constexpr double kWideRange = 16;  // of ranks: then scales are logarithmic

PlotLine line_of(const std::string& name, const std::vector<ScalingRow>& rows,
                 double ScalingRow::*value, double factor = 1) {
  PlotLine line{.name = name, .points = {}};
  for (const ScalingRow& row : rows) {
    line.points.emplace_back(static_cast<double>(row.ranks), row.*value * factor);
  }
  return line;
}

PlotLine dashed(PlotLine line) {
  line.dashed = true;
  return line;
}

bool any(const std::vector<ScalingRow>& rows, double ScalingRow::*value) {
  for (const ScalingRow& row : rows) {
    if (std::isfinite(row.*value)) {
      return true;
    }
  }
  return false;
}

std::vector<Plot> plots_of(const std::vector<ScalingRow>& rows,
                           const std::vector<PlotLine>& elsewhere) {
  const bool wide =
      static_cast<double>(rows.back().ranks) > kWideRange * static_cast<double>(rows.front().ranks);
  std::vector<Plot> plots;
  plots.push_back({.title = "Tokens per second",
                   .x_label = "ranks",
                   .lines = {line_of("measured", rows, &ScalingRow::tokens_per_second),
                             dashed(line_of("predicted", rows, &ScalingRow::predicted))},
                   .logarithmic_x = wide,
                   .logarithmic_y = wide});
  if (any(rows, &ScalingRow::model)) {
    plots[0].lines.push_back(dashed(line_of("model", rows, &ScalingRow::model)));
  }
  plots.push_back({.title = "Efficiency, FLOP/s per rank over the first point's",
                   .x_label = "ranks",
                   .lines = {line_of("measured", rows, &ScalingRow::efficiency)},
                   .logarithmic_x = wide});
  Plot speed{.title = "TFLOP/s per rank",
             .x_label = "ranks",
             .lines = elsewhere,
             .logarithmic_x = wide || !elsewhere.empty()};
  speed.lines.push_back(line_of("measured", rows, &ScalingRow::tflops_per_rank));
  if (any(rows, &ScalingRow::model_tflops)) {
    speed.lines.push_back(dashed(line_of("model", rows, &ScalingRow::model_tflops)));
  }
  if (any(rows, &ScalingRow::published_tflops)) {
    speed.lines.push_back(dashed(line_of("published", rows, &ScalingRow::published_tflops)));
  }
  plots.push_back(std::move(speed));
  if (any(rows, &ScalingRow::utilisation)) {
    constexpr double kPercent = 100;
    plots.push_back({.title = "MFU, %",
                     .x_label = "ranks",
                     .lines = {line_of("measured", rows, &ScalingRow::utilisation, kPercent)},
                     .logarithmic_x = wide});
  }
  return plots;
}

std::string cell(double value, double factor, int digits) {
  return fmt::format("<td class=\"number\">{}</td>",
                     std::isfinite(value) ? fmt::format("{:.{}f}", value * factor, digits) : "–");
}

std::string table(const std::vector<ScalingRow>& rows) {
  std::string text = "<table><thead><tr><th>point</th>";
  for (const char* name : {"ranks", "s per iteration", "tokens/s", "TFLOP/s per rank", "MFU, %",
                           "efficiency", "predicted tokens/s", "model tokens/s", "model's error, %",
                           "published TFLOP/s per rank"}) {
    text += fmt::format("<th class=\"number\">{}</th>", name);
  }
  text += "</tr></thead><tbody>\n";
  for (const ScalingRow& row : rows) {
    text += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td>",
                        html_text(row.name), row.ranks);
    text += cell(row.seconds_per_iteration, 1, 4) + cell(row.tokens_per_second, 1, 0) +
            cell(row.tflops_per_rank, 1, 4) + cell(row.utilisation, 100, 1) +
            cell(row.efficiency, 1, 3) + cell(row.predicted, 1, 0) +
            cell(row.model, 1, 0) + cell(row.model_error, 100, 1) +
            cell(row.published_tflops, 1, 0) + "</tr>\n";
  }
  return text + "</tbody></table>";
}

}  // namespace

std::string scaling_page(const Study& study, const std::vector<ScalingRow>& rows,
                         const std::vector<PlotLine>& elsewhere) {
  std::string body = fmt::format(
      "<h1>{}</h1>\n<div class=\"soft\">{} scaling · the median iteration behind {} of warm-up · "
      "predicted: every rank as fast as the first point's, less what pipeline and shared cores "
      "cost{}</div>\n<div class=\"grid\">\n",
      html_text(study.name), study.kind == ScalingKind::weak ? "weak" : "strong", study.warm_up,
      elsewhere.empty() ? "" : " · grey: published measurements of models of similar size");
  for (const Plot& plot : plots_of(rows, elsewhere)) {
    body += fmt::format("<section class=\"card\"><h2>{}</h2>\n{}</section>\n",
                        html_text(plot.title), svg_plot(plot));
  }
  body += fmt::format("</div>\n<section class=\"card\">{}</section>", table(rows));
  return html_page(study.name, kScalingStyle, body);
}

}  // namespace mpitron::report
