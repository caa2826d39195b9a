#include "report/run_progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <nlohmann/json.hpp>

// The progress of runs, as numbers for pages, terminals and scripts: thinned columns, rates of the
// last iterations, and a state that tells a silent run from one that goes on.

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

namespace {

constexpr std::size_t kRecent = 20;
constexpr double kPatienceSeconds = 60;
constexpr double kPatienceIterations = 20;

/// Returns the state; "running" without news for long becomes "silent": the process may be gone.
std::string state_of(const RunFolder& run, const RunProgress& progress) {
  if (run.state && run.state->state != "running" && run.state->written >= run.written) {
    return run.state->state;
  }
  if (progress.train_iters > 0 && progress.iteration >= progress.train_iters) {
    return "finished";
  }
  const double iterations = std::isfinite(progress.seconds_per_iteration)
                                ? kPatienceIterations * progress.seconds_per_iteration
                                : 0;
  return progress.silent_seconds > std::max(kPatienceSeconds, iterations) ? "silent" : "running";
}

/// Takes the last validation loss and its iteration.
void add_validation(const MetricsLog& metrics, RunProgress& progress) {
  const auto losses = metrics.column(metrics.loss_name() + " validation");
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (std::isfinite(losses[i])) {
      progress.validation_loss = losses[i];
      progress.validation_iteration = metrics.steps()[i];
    }
  }
}

}  // namespace

/// Passes over missing values; the median keeps a slow first iteration out.
double median_of_last(std::span<const double> values, std::size_t count) {
  std::vector<double> last;
  for (std::size_t i = values.size(); i > 0 && last.size() < count; --i) {
    if (std::isfinite(values[i - 1])) {
      last.push_back(values[i - 1]);
    }
  }
  if (last.empty()) {
    return kMissing;
  }
  const auto middle = last.begin() + static_cast<std::ptrdiff_t>(last.size() / 2);
  std::nth_element(last.begin(), middle, last.end());
  return *middle;
}

/// Computes what the terminal view and the page both tell.
RunProgress progress_of(const RunFolder& run, std::filesystem::file_time_type now) {
  const RunDescription& description = run.description;
  const MetricsLog& metrics = run.metrics;
  RunProgress progress{
      .state = {},
      .reason = run.state ? run.state->reason : "",
      .iteration = metrics.steps().empty() ? 0 : metrics.steps().back(),
      .train_iters = description.train_iters,
      .silent_seconds = std::max(0.0, std::chrono::duration<double>(now - run.written).count()),
      .seconds_per_iteration = median_of_last(metrics.column("iteration-time"), kRecent),
      .tokens_per_second = median_of_last(metrics.column("tokens-per-second"), kRecent),
      .tokens =
          metrics.last("consumed-samples") *
          (description.seq_length > 0 ? static_cast<double>(description.seq_length) : kMissing)};
  progress.state = state_of(run, progress);
  if (progress.goes_on() && progress.train_iters > 0) {
    progress.seconds_left = static_cast<double>(progress.train_iters - progress.iteration) *
                            progress.seconds_per_iteration;
  }
  if (description.flops_per_sample > 0 && description.seq_length > 0) {
    progress.tflops_per_rank =
        progress.tokens_per_second / static_cast<double>(description.seq_length) *
        description.flops_per_sample /
        (1e12 * static_cast<double>(std::max<std::int64_t>(description.world_size, 1)));
  }
  add_validation(metrics, progress);
  return progress;
}

}  // namespace mpitron::report
