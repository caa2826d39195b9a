#include "report/scaling_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/run_progress.h"
#include "utils/check.h"

// Rows of a scaling study: rates of each run by its median iteration, efficiency against the first
// measured point, and what its layout lets expect.

namespace mpitron::report {
namespace {

/// Returns a point's rates by the median of the iterations behind the warm-up.
ScalingRow measured_row(const Study& study, const StudyPoint& point,
                        const std::optional<RunFolder>& run) {
  ScalingRow row{
      .name = point.name, .ranks = point.ranks, .published_tflops = point.published_tflops};
  if (!run) {
    return row;
  }
  const auto times = run->metrics.column("iteration-time");
  const auto counted =
      times.size() - std::min(times.size(), static_cast<std::size_t>(study.warm_up));
  row.seconds_per_iteration = median_of_last(times, counted);
  const double samples = run->metrics.last("batch-size");
  const double per_second = samples / row.seconds_per_iteration;
  row.tokens_per_second = per_second * static_cast<double>(run->description.seq_length);
  row.tflops_per_rank =
      per_second * run->description.flops_per_sample / (1e12 * static_cast<double>(point.ranks));
  row.utilisation = row.tflops_per_rank / study.peak_tflops;
  return row;
}

/// Returns the first row that was measured; 0 where none was.
std::size_t first_measured(const std::vector<ScalingRow>& rows) {
  const auto found = std::find_if(rows.begin(), rows.end(), [](const ScalingRow& row) {
    return std::isfinite(row.tflops_per_rank);
  });
  return found == rows.end() ? 0 : static_cast<std::size_t>(found - rows.begin());
}

/// Returns the share of the time in which a rank computes.
double computing(const PointOutlook& outlook) {
  return outlook.core_share / (1 + outlook.bubble);
}

std::string shown(double value, double factor, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value * factor, digits) : "-";
}

std::string precise(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

/// Returns a field of CSV, quoted where it has to be (RFC 4180).
std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + '"';
}

}  // namespace

/// Efficiency is relative to the first point that was measured.
std::vector<ScalingRow> scaling_rows(const Study& study,
                                     const std::vector<std::optional<RunFolder>>& runs,
                                     const std::vector<PointOutlook>& outlooks) {
  MPITRON_CHECK(runs.size() == study.points.size() && outlooks.size() == runs.size(), runs.size(),
                outlooks.size(), study.points.size());
  std::vector<ScalingRow> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows.push_back(measured_row(study, study.points[i], runs[i]));
  }
  const std::size_t base = first_measured(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ScalingRow& row = rows[i];
    row.efficiency = row.tflops_per_rank / rows[base].tflops_per_rank;
    const double expected = computing(outlooks[i]) / computing(outlooks[base]);
    row.predicted = row.tokens_per_second / row.efficiency * expected;
    row.model = outlooks[i].model_tokens_per_second;
    row.model_tflops = outlooks[i].model_tflops;
    row.model_error = outlooks[i].model_seconds / row.seconds_per_iteration - 1;
    row.model_parts = outlooks[i].model_parts;
  }
  return rows;
}

/// Writes columns of fixed width, names as wide as the widest; what is missing is a dash.
std::string scaling_text(const std::vector<ScalingRow>& rows) {
  std::size_t width = 5;
  for (const ScalingRow& row : rows) {
    width = std::max(width, row.name.size());
  }
  const auto line = [&](const std::string& name, const std::array<std::string, 10>& cells) {
    return fmt::format(
        "{:<{}}  {:>6}  {:>11}  {:>12}  {:>12}  {:>7}  {:>10}  {:>12}  {:>12}  {:>7}  {:>9}\n",
        name, width, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7],
        cells[8], cells[9]);
  };
  std::string text = line("point", {"ranks", "s/iteration", "tokens/s", "TFLOP/s/rank", "MFU %",
                                    "efficiency", "predicted", "model", "error %", "published"});
  for (const ScalingRow& row : rows) {
    text += line(row.name, {fmt::format("{}", row.ranks), shown(row.seconds_per_iteration, 1, 4),
                            shown(row.tokens_per_second, 1, 0), shown(row.tflops_per_rank, 1, 4),
                            shown(row.utilisation, 100, 1), shown(row.efficiency, 1, 3),
                            shown(row.predicted, 1, 0), shown(row.model, 1, 0),
                            shown(row.model_error, 100, 1), shown(row.published_tflops, 1, 0)});
  }
  for (const ScalingRow& row : rows) {
    text +=
        row.model_parts.empty() ? "" : fmt::format("{}: model: {}\n", row.name, row.model_parts);
  }
  return text;
}

/// Writes empty fields for what is missing, as spreadsheets expect.
std::string scaling_csv(const std::vector<ScalingRow>& rows) {
  std::string text =
      "point,ranks,seconds_per_iteration,tokens_per_second,tflops_per_rank,mfu,efficiency,"
      "predicted_tokens_per_second,published_tflops_per_rank,model_tokens_per_second,model_error\n";
  for (const ScalingRow& row : rows) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(row.name), row.ranks,
                    precise(row.seconds_per_iteration), precise(row.tokens_per_second),
                    precise(row.tflops_per_rank), precise(row.utilisation), precise(row.efficiency),
                    precise(row.predicted), precise(row.published_tflops), precise(row.model),
                    precise(row.model_error));
  }
  return text;
}

}  // namespace mpitron::report
