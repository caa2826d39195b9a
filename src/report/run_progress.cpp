#include "report/run_progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>

// The progress of runs: rates of the last iterations, and a state that tells a silent run from one
// that goes on.

namespace mpitron::report {
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
