#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "cli/flags.h"
#include "cli/show/plan_commands.h"
#include "plan/published/refit.h"
#include "plan/published/validation.h"
#include "report/svg_plot.h"
#include "utils/system/files.h"

// `mpitron plan --validate`: the model of step time against tables of published and measured steps.
// It tells errors by class, as text, JSON or a page of plots; --refit fits the calibrated values of
// machine and stack files to the table first; --held-out and its kin predict rows by values that
// were fitted without them.

namespace mpitron::cli {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return result + "\"";
}

/// Writes where the predicted time goes, in seconds.
std::string breakdown_json(const plan::StepTime& time) {
  const plan::Terms& work = time.work;
  return fmt::format(
      R"({{"products": {:.5g}, "attention": {:.5g}, "elementwise": {:.5g}, "launch": {:.5g}, )"
      R"("tensor": {:.5g}, "context": {:.5g}, "expert": {:.5g}, "sharding": {:.5g}, )"
      R"("sends": {:.5g}, "bubble": {:.5g}, "data": {:.5g}, "optimizer": {:.5g}, )"
      R"("fixed": {:.5g}, "jitter": {:.5g}}})",
      work.products, work.attention, work.elementwise, work.launch, work.tensor, work.context,
      work.expert, work.sharding, time.sends, time.bubble, time.data, time.optimizer, time.fixed,
      time.jitter);
}

/// Writes classes, rows, and the rows that were not predicted by reason; errors are shares (0.1 is
/// 10 %), times are seconds.
std::string to_json(const plan::Validation& validation) {
  std::string text = "{\"classes\": [";
  const char* separator = "";
  for (const plan::ErrorSummary& s : plan::summarize(validation)) {
    text += fmt::format(
        R"({}{{"class": {}, "rows": {}, "median": {:.5g}, "p90": {:.5g}, "max": {:.5g}}})",
        separator, quoted(s.group), s.rows, s.median, s.ninth_decile, s.largest);
    separator = ", ";
  }
  text += "], \"rows\": [";
  separator = "";
  for (const plan::ValidatedRow& row : validation.rows) {
    text += fmt::format(
        "{}\n  {{\"id\": {}, \"class\": {}, \"predicted_s\": {:.6g}, \"published_s\": {:.6g}, "
        "\"error\": {:.5g}, \"software_known\": {}, \"layout\": {}, \"breakdown\": {}}}",
        separator, quoted(row.row->id), quoted(row.group), row.predicted, row.published,
        row.error(), row.stack_is_known, quoted(row.layout), breakdown_json(row.time));
    separator = ",";
  }
  text += "], \"unknown_hardware\": [";
  separator = "";
  for (const plan::PublishedRow* row : validation.unknown_hardware) {
    text += fmt::format(R"({}{{"id": {}, "hardware": {}}})", separator, quoted(row->id),
                        quoted(row->hardware));
    separator = ", ";
  }
  text += "], \"refused\": [";
  separator = "";
  for (const auto& [row, reason] : validation.refused) {
    text +=
        fmt::format(R"({}{{"id": {}, "reason": {}}})", separator, quoted(row->id), quoted(reason));
    separator = ", ";
  }
  return text + fmt::format("], \"without_layout\": {}}}", validation.without_layout.size());
}

/// Prints a line a row: predicted and published seconds, and the signed error.
void print_rows(const plan::Validation& validation) {
  for (const plan::ValidatedRow& row : validation.rows) {
    log::print(fmt::format("{:8} {:26} {:22} {:>10.4g} s, published {:>10.4g} s, {:+6.1f} %{}{}{}",
                           row.row->id, row.group, row.row->model, row.predicted, row.published,
                           100 * row.error(), row.stack_is_known ? "" : ", software not known",
                           row.layout.empty() ? "" : ": ", row.layout));
  }
}

/// Prints the classes, and what was not predicted, with its reason: no row of the table is passed
/// over in silence.
void print_summary(const plan::Validation& validation, const plan::Library& library) {
  for (const plan::ErrorSummary& s : plan::summarize(validation)) {
    log::print(
        fmt::format("{:26} {:4} rows: median {:5.1f} %, 90 % within {:5.1f} %, worst {:5.1f} %",
                    s.group, s.rows, 100 * s.median, 100 * s.ninth_decile, 100 * s.largest));
  }
  if (!validation.without_layout.empty()) {
    log::print(fmt::format("{} rows tell neither layout nor shape and batch: not predicted",
                           validation.without_layout.size()));
  }
  for (const auto& [row, reason] : validation.refused) {
    log::print(fmt::format("{}: not predicted: {}", row->id, reason));
  }
  std::set<std::string> software;
  for (const plan::ValidatedRow& row : validation.rows) {
    if (!row.stack_is_known) {
      software.insert(row.row->source);
    }
  }
  for (const std::string& source : software) {
    log::print(fmt::format(
        "software of '{}' is not known: predicted as of no program in particular, within 25 %",
        source));
  }
  for (const plan::PublishedRow* row : validation.unknown_hardware) {
    log::print(fmt::format("{}: hardware {} is not known; not predicted (known: {})", row->id,
                           row->hardware, fmt::join(library.machines.names(), ", ")));
  }
}

/// Replaces fitted values in the source's files and leaves their comments and other values.
void write_fitted(const plan::ParameterFiles& files, const std::filesystem::path& folder) {
  for (const plan::ParameterFile& file : files.all()) {
    if (!file.fitted.empty()) {
      const std::filesystem::path path = folder / file.path;
      AtomicFile written(path);
      written.write(plan::with_fitted(read_file(path), file.fitted));
      written.commit();
    }
  }
}

/// Fits the library's values to the rows, prints the median error before and after, and writes the
/// values under `folder`, the program's source.
void refit(plan::Library& library, const std::vector<plan::PublishedRow>& rows,
           const std::string& folder) {
  const plan::FitResult result = plan::refit(library, rows);
  log::print(fmt::format("{} parameters fitted on {} rows: median error {:.2f} %, before {:.2f} %",
                         result.parameters.size(), result.rows, 100 * result.error_after,
                         100 * result.error_before));
  for (const std::string& name : result.undetermined) {
    log::print(fmt::format("  {}: no row depends on it, left as it was", name));
  }
  write_fitted(library.machines, folder);
  write_fitted(library.stacks, folder);
}

}  // namespace

int plan_validation(const Arguments& arguments) {
  std::string table, page, folder = ".";
  bool json = false, refits = false, rows = false, by_source = false;
  Index folds = 0, table_folds = 0;
  Flags flags("plan --validate",
              "Predicts the steps of a table of measured ones and tells the errors by class.");
  flags.option("--validate", table, "Table of measured steps, tab-separated with a header");
  flags.required();
  flags.flag("--rows", rows, "Every row, not the classes alone");
  flags.option("--page", page, "Write a page of plots to this file");
  flags.flag("--json", json, "For programs: classes, rows and their breakdown");
  flags.flag("--refit", refits,
             "First fit the calibrated values to the table and write them to the source's files");
  flags.option("--folder", folder, "With --refit: the source's folder");
  flags.option("--held-out", folds,
               "Predict each of so many parts of the rows with values fitted to the others");
  flags.option("--held-out-tables", table_folds, "The same with parts of whole tables");
  flags.flag("--held-out-sources", by_source, "The same with each source as a part");
  if (!flags.parse(arguments)) {
    return static_cast<int>(ExitCode::success);
  }
  plan::Library library;
  const std::vector<plan::PublishedRow> measured = plan::read_published_table(table);
  if (refits) {
    refit(library, measured, folder);
  }
  plan::Validation validation;
  if (by_source || folds > 1 || table_folds > 1) {
    const plan::HeldOut by = by_source   ? plan::HeldOut::sources
                             : folds > 1 ? plan::HeldOut::rows
                                         : plan::HeldOut::tables;
    validation = plan::cross_validate(library, measured, by, std::max(folds, table_folds));
  } else {
    validation = plan::validate(library, measured);
    plan::search_layouts(library, validation);
  }
  if (!page.empty()) {
    AtomicFile file(page);
    file.write(validation_page(validation, std::filesystem::path(table).filename().string()));
    file.commit();
  }
  if (json) {
    log::print(to_json(validation));
    return static_cast<int>(ExitCode::success);
  }
  if (rows) {
    print_rows(validation);
  }
  print_summary(validation, library);
  return static_cast<int>(ExitCode::success);
}

namespace {

constexpr std::string_view kStyle = R"css(
svg { width: 100%; height: auto; display: block; }
.grid { grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); }
td, th { white-space: nowrap; }
)css";

/// Shortens "Megatron Bridge, docs/..." to "Megatron Bridge".
std::string short_source(const std::string& source) {
  return source.substr(0, source.find_first_of(",/("));
}

/// Plots predicted over published seconds of one class on logarithmic axes, with the line of
/// equality.
report::Plot plot_of(const plan::Validation& validation, const std::string& group) {
  std::map<std::string, report::PlotLine> sources;
  double least = INFINITY, most = 0;
  for (const plan::ValidatedRow& row : validation.rows) {
    if (row.group == group) {
      report::PlotLine& line = sources[short_source(row.row->source)];
      line.joined = false;
      line.points.emplace_back(row.published, row.predicted);
      least = std::min({least, row.published, row.predicted});
      most = std::max({most, row.published, row.predicted});
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

/// Writes all rows by falling error, so that the worst predictions are looked at first.
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
        report::html_text(row->row->hardware), row->row->run.parallel.world_size, row->published,
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
