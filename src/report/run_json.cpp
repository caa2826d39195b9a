#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "report/run_progress.h"

// Runs as thinned columns of numbers, for pages with charts.

namespace mpitron::report {
namespace {

using RunJson = nlohmann::ordered_json;
using Rows = std::vector<std::size_t>;

constexpr double kSecondsPerHour = 3600;

std::size_t count_finite(std::span<const double> values) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](double v) { return std::isfinite(v); }));
}

/// Returns every n-th row and the last, so that a page of a long run stays small, and all rows with
/// a value of a rare metric.
Rows kept_rows(const MetricsLog& metrics, std::size_t points) {
  const std::size_t rows = metrics.steps().size();
  const std::size_t stride = points > 0 ? (rows + points - 1) / points : 1;
  std::vector<bool> kept(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    kept[row] = row % stride == 0 || row + 1 == rows;
  }
  for (const auto& [name, values] : metrics.columns()) {
    const bool rare = stride > 1 && count_finite(values) <= points;
    for (std::size_t row = 0; rare && row < rows; ++row) {
      kept[row] = kept[row] || std::isfinite(values[row]);
    }
  }
  Rows result;
  for (std::size_t row = 0; row < rows; ++row) {
    if (kept[row]) {
      result.push_back(row);
    }
  }
  return result;
}

/// Returns the values of these rows; the JSON library writes NaN as null.
template <class Values>
RunJson picked(const Values& values, const Rows& rows) {
  RunJson list = RunJson::array();
  for (const std::size_t row : rows) {
    list.push_back(values[row]);
  }
  return list;
}

/// Adds up times of iterations: time that a run waited between its starts does not count.
std::vector<double> hours_of_training(const MetricsLog& metrics) {
  const auto times = metrics.column("iteration-time");
  std::vector<double> hours(metrics.steps().size(), kMissing);
  double seconds = 0;
  for (std::size_t row = 0; row < times.size(); ++row) {
    const auto step = metrics.steps()[row];
    const auto iterations = row > 0 ? step - metrics.steps()[row - 1] : 1;
    seconds += std::isfinite(times[row]) ? times[row] * static_cast<double>(iterations) : 0;
    hours[row] = seconds / kSecondsPerHour;
  }
  return hours;
}

/// Returns samples times the sequence length.
std::vector<double> consumed_tokens(const RunFolder& run) {
  const auto samples = run.metrics.column("consumed-samples");
  std::vector<double> tokens(samples.begin(), samples.end());
  const auto length = run.description.seq_length;
  for (double& value : tokens) {
    value *= length > 0 ? static_cast<double>(length) : kMissing;
  }
  tokens.resize(run.metrics.steps().size(), kMissing);
  return tokens;
}

RunJson object(const std::vector<NamedValue>& values) {
  RunJson json = RunJson::object();
  for (const auto& [name, value] : values) {
    json[name] = value;
  }
  return json;
}

RunJson facts(const RunFolder& run, const RunProgress& progress) {
  return {{"iteration", progress.iteration},
          {"train_iters", progress.train_iters},
          {"tokens", progress.tokens},
          {"loss", run.metrics.last(run.metrics.loss_name())},
          {"validation_loss", progress.validation_loss},
          {"tokens_per_second", progress.tokens_per_second},
          {"tflops_per_rank", progress.tflops_per_rank},
          {"memory_mib", run.metrics.last("memory-mib-max")},
          {"world_size", run.description.world_size},
          {"layout", object(run.description.layout)},
          {"build", run.description.build}};
}

/// Returns what the page's script reads; times in hours, losses as they were logged.
RunJson run_json(const RunFolder& run, std::size_t points, std::filesystem::file_time_type now) {
  const RunProgress progress = progress_of(run, now);
  const Rows rows = kept_rows(run.metrics, points);
  RunJson columns = {{"iteration", picked(run.metrics.steps(), rows)},
                     {"tokens", picked(consumed_tokens(run), rows)},
                     {"hours", picked(hours_of_training(run.metrics), rows)}};
  for (const auto& [name, values] : run.metrics.columns()) {
    columns[name] = picked(values, rows);
  }
  return {{"name", run.name},
          {"path", run.path.string()},
          {"state", progress.state},
          {"reason", progress.reason},
          {"facts", facts(run, progress)},
          {"given", object(run.description.given)},
          {"options", object(run.description.options)},
          {"columns", columns}};
}

}  // namespace

std::string runs_json(const std::vector<RunFolder>& runs, std::size_t points,
                      std::filesystem::file_time_type now) {
  RunJson list = RunJson::array();
  for (const RunFolder& run : runs) {
    list.push_back(run_json(run, points, now));
  }
  return RunJson{{"runs", list}}.dump(-1, ' ', false, RunJson::error_handler_t::replace);
}

}  // namespace mpitron::report
