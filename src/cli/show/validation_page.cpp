#include "cli/show/validation_page.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "report/html.h"
#include "report/svg_plot.h"

namespace mpitron::cli {
namespace {

constexpr std::string_view kStyle = R"css(
svg { width: 100%; height: auto; display: block; }
.grid { grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); }
td, th { white-space: nowrap; }
)css";

/// "Megatron Bridge, docs/..." -> "Megatron Bridge".
std::string short_source(const std::string& source) {
  return source.substr(0, source.find_first_of(",/("));
}

report::Plot plot_of(const plan::Validation& validation, const std::string& group) {
  std::map<std::string, report::PlotLine> sources;
  double least = INFINITY, most = 0;
  for (const plan::ValidatedRow& row : validation.rows) {
    if (row.group == group) {
      report::PlotLine& line = sources[short_source(row.row->source)];
      line.joined = false;
      line.points.emplace_back(row.row->seconds, row.predicted);
      least = std::min({least, row.row->seconds, row.predicted});
      most = std::max({most, row.row->seconds, row.predicted});
    }
  }
  report::Plot plot{.title = group,
                    .x_label = "published, seconds a step",
                    .lines = {},
                    .logarithmic_x = true,
                    .logarithmic_y = true};
  for (auto& [name, line] : sources) {
    line.name = name;
    std::ranges::sort(line.points);
    plot.lines.push_back(std::move(line));
  }
  plot.lines.push_back({.name = "equal", .points = {{least, least}, {most, most}}, .dashed = true});
  return plot;
}

std::string errors_table(const plan::Validation& validation) {
  std::string text =
      "<table><thead><tr><th>class</th><th class=\"number\">rows</th><th class=\"number\">median, "
      "%</th><th class=\"number\">90 % within, %</th><th class=\"number\">worst, "
      "%</th></tr></thead><tbody>\n";
  for (const plan::ErrorSummary& one : plan::summarize(validation)) {
    text += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{:.1f}</td>"
        "<td class=\"number\">{:.1f}</td><td class=\"number\">{:.1f}</td></tr>\n",
        report::html_text(one.group), one.rows, 100 * one.median, 100 * one.ninth_decile,
        100 * one.largest);
  }
  return text + "</tbody></table>";
}

std::string rows_table(const plan::Validation& validation) {
  std::vector<const plan::ValidatedRow*> rows;
  for (const plan::ValidatedRow& row : validation.rows) {
    rows.push_back(&row);
  }
  std::ranges::sort(rows, std::greater{},
                    [](const plan::ValidatedRow* row) { return std::abs(row->error()); });
  std::string text =
      "<table><thead><tr><th>row</th><th>model</th><th>hardware</th><th "
      "class=\"number\">GPUs</th><th class=\"number\">published, s</th><th "
      "class=\"number\">predicted, s</th><th class=\"number\">error, %</th></tr></thead><tbody>\n";
  for (const plan::ValidatedRow* row : rows) {
    text += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"number\">{}</td><td "
        "class=\"number\">{:.4g}</td><td class=\"number\">{:.4g}</td><td class=\"number\">{:+.1f}"
        "</td></tr>\n",
        report::html_text(row->row->id), report::html_text(row->row->model),
        report::html_text(row->row->hardware), row->row->run.parallel.world_size, row->row->seconds,
        row->predicted, 100 * row->error());
  }
  return text + "</tbody></table>";
}

}  // namespace

std::string validation_page(const plan::Validation& validation, const std::string& table) {
  std::string body = fmt::format(
      "<h1>Predicted and published steps</h1>\n<div class=\"soft\">{} rows of {} · errors are "
      "shares of the published time</div>\n<section class=\"card\">{}</section>\n<div "
      "class=\"grid\">\n",
      validation.rows.size(), report::html_text(table), errors_table(validation));
  for (const plan::ErrorSummary& one : plan::summarize(validation)) {
    const report::Plot plot = plot_of(validation, one.group);
    body += fmt::format("<section class=\"card\"><h2>{}</h2>\n{}</section>\n",
                        report::html_text(plot.title), report::svg_plot(plot));
  }
  body += fmt::format(
      "</div>\n<section class=\"card\"><h2>Rows, the largest errors first</h2>{}"
      "</section>",
      rows_table(validation));
  return report::html_page("Predicted and published steps", kStyle, body);
}

}  // namespace mpitron::cli
