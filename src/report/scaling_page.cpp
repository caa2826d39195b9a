#include <cmath>

#include <fmt/format.h>

#include "report/pages.h"
#include "report/svg_plot.h"
#include "utils/error.h"

// The page of a scaling study.

namespace mpitron::report {
namespace {

constexpr std::string_view kScalingStyle = R"css(
svg { width: 100%; height: auto; display: block; }
.grid .card { flex-basis: 440px; }
td, th { white-space: nowrap; }
)css";

constexpr double kWideRange = 16;  // of ranks: then scales are logarithmic

/// Returns one value of all points over their ranks; values that were not measured leave a gap.
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

/// Returns whether any point has the value: plots without a single one are left out.
bool any(const std::vector<ScalingRow>& rows, double ScalingRow::*value) {
  for (const ScalingRow& row : rows) {
    if (std::isfinite(row.*value)) {
      return true;
    }
  }
  return false;
}

/// Returns the plots of a study; both axes by powers of ten where ranks span a wide range.
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

/// A column of the table.
struct Column {
  const char* name;
  double ScalingRow::*value;
  double factor;
  int digits;
};
constexpr Column kColumns[] = {
    {"s per iteration", &ScalingRow::seconds_per_iteration, 1, 4},
    {"tokens/s", &ScalingRow::tokens_per_second, 1, 0},
    {"TFLOP/s per rank", &ScalingRow::tflops_per_rank, 1, 4},
    {"MFU, %", &ScalingRow::utilisation, 100, 1},
    {"efficiency", &ScalingRow::efficiency, 1, 3},
    {"predicted tokens/s", &ScalingRow::predicted, 1, 0},
    {"model tokens/s", &ScalingRow::model, 1, 0},
    {"model's error, %", &ScalingRow::model_error, 100, 1},
    {"published TFLOP/s per rank", &ScalingRow::published_tflops, 1, 0},
};

/// Columns that have a value, and what the model's seconds are made of.
std::string table_head(const std::vector<Column>& columns, bool parts) {
  std::string text = "<th>point</th><th class=\"number\">ranks</th>";
  for (const Column& column : columns) {
    text += fmt::format("<th class=\"number\">{}</th>", column.name);
  }
  return text + (parts ? "<th>model's largest parts</th>" : "");
}

/// Writes a row for each point, with a dash for what is missing.
std::string table(const std::vector<ScalingRow>& rows) {
  std::vector<Column> columns;
  for (const Column& column : kColumns) {
    if (any(rows, column.value)) {
      columns.push_back(column);
    }
  }
  const bool parts = any(rows, &ScalingRow::model);
  std::string text =
      fmt::format("<table><thead><tr>{}</tr></thead><tbody>\n", table_head(columns, parts));
  for (const ScalingRow& row : rows) {
    text += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td>",
                        html_text(row.name), row.ranks);
    for (const Column& column : columns) {
      const double value = row.*column.value * column.factor;
      text +=
          fmt::format("<td class=\"number\">{}</td>",
                      std::isfinite(value) ? fmt::format("{:.{}f}", value, column.digits) : "–");
    }
    text += (parts ? fmt::format("<td>{}</td>", html_text(row.model_parts)) : "") + "</tr>\n";
  }
  return text + "</tbody></table>";
}

}  // namespace

/// Writes what was measured, beside what was expected and published.
std::string scaling_page(const Study& study, const std::vector<ScalingRow>& rows,
                         const std::vector<PlotLine>& elsewhere) {
  std::string body = fmt::format(
      "<h1>{}</h1>\n<div class=\"soft\">{} scaling · the median iteration behind {} of warm-up · "
      "predicted: every rank as fast as the first point's, less what pipeline and shared cores "
      "cost{}{}</div>\n<div class=\"grid\">\n",
      html_text(study.name), study.kind == ScalingKind::weak ? "weak" : "strong", study.warm_up,
      any(rows, &ScalingRow::model) ? " · model: told from the machine's file, without a run" : "",
      elsewhere.empty() ? "" : " · grey: published measurements of models of similar size");
  for (const Plot& plot : plots_of(rows, elsewhere)) {
    body += fmt::format("<section class=\"card\"><h2>{}</h2>\n{}</section>\n",
                        html_text(plot.title), svg_plot(plot));
  }
  body += fmt::format("</div>\n<section class=\"card\">{}</section>", table(rows));
  return html_page(study.name, kScalingStyle, body);
}

}  // namespace mpitron::report
