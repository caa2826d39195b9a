#include "train/log/training_log.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "utils/log.h"
#include "utils/system/files.h"

// Turns iterations into lines, events and figures. Rank 0 writes, but all ranks call, since times
// and spreads are collectives: a rank that left one out would block the others.

namespace mpitron::train {

TrainingLog::TrainingLog(const config::RunConfig& config, Timers& timers, Index rank)
    : config_(config), timers_(timers), collapsed_(config.model.moe ? config.model.moe->topk : 0) {
  bar_.emplace(config.training.train_iters, "it");
  resume();
  if (config.logging.metrics_port && rank == 0) {
    constexpr double kSecondsPerMinute = 60;
    live_ = std::make_unique<MetricsEndpoint>(
        config.logging.metrics_address, *config.logging.metrics_port,
        config.parallel.distributed_timeout_minutes * kSecondsPerMinute);
    log::info("/metrics and /healthz at {} port {}", config.logging.metrics_address, live_->port());
  }
  if (config.logging.plan_file && rank == 0) {
    drift_.emplace(read_planned_step(*config.logging.plan_file));
  }
  if (const auto& folder = config.logging.tensorboard_dir; folder && rank == 0) {
    make_folder("--tensorboard-dir", *folder);
    metrics_ = std::make_unique<io::MetricsFile>(std::filesystem::path(*folder) / "metrics.jsonl");
    tensorboard_ =
        std::make_unique<io::TensorboardWriter>(*folder, config.logging.tensorboard_queue_size);
  }
}

/// A resumed run drops what its files have behind the iteration that it goes on from.
void TrainingLog::begin(Index iteration,
                        std::span<const std::pair<std::string, std::string>> arguments) {
  bar_.emplace(config_.training.train_iters, "it", iteration);
  if (metrics_ && iteration > 0) {
    metrics_->resume(iteration);
  }
  for (const auto& [name, value] : arguments) {
    if (tensorboard_) {
      tensorboard_->add_text(name, value, iteration);
    }
  }
}

void TrainingLog::pause() {
  interval_.stop();
  iteration_.stop();
}

void TrainingLog::resume() {
  interval_.start();
  iteration_.start();
}

/// Adds up what the next log line averages; norms that cost a pass over the weights are asked for
/// at a line only.
void TrainingLog::iteration(const Progress& progress, const StepReport& step, TrainStep& state) {
  const StepTime time = iteration_.elapsed();
  const double seconds = time.seconds;
  scalars_seconds_ += seconds;
  ++scalars_iterations_;
  if (live_) {
    tell_live(progress, step, state, seconds);
  }
  averages_.add(step.all_losses(), step.skipped);
  for (const auto& [name, value] : summaries(step.layers.losses)) {
    averages_.add_tracked(name, value);
  }
  if (step.max_attention_logit) {
    averages_.add_tracked("max_attention_logit", *step.max_attention_logit);
  }
  for (const std::string& warning : collapsed_(progress.iteration, step.layers)) {
    log::warning("{}", warning);
  }
  if (const auto drift = drift_ ? (*drift_)(time) : std::nullopt) {
    log::warning("{}", *drift);
  }
  if (tensorboard_ && progress.iteration % config_.logging.tensorboard_log_interval == 0) {
    write_scalars(progress, step, state);
  }
  if (config_.logging.log_timers_to_tensorboard && config_.logging.tensorboard_dir &&
      progress.iteration % config_.logging.tensorboard_log_interval == 0) {
    write_timers(progress.iteration);
  }
  if (progress.iteration % config_.logging.log_interval == 0) {
    bar_->clear();
    print_line(progress, step, state);
  }
  bar_->update(progress.iteration, fmt::format("loss {:.4f}", step.loss()));
}

/// Tells losses with their perplexities, on the terminal and in the files.
void TrainingLog::validation(const ValidationReport& report, const Progress& progress) {
  bar_->clear();
  if (live_ && !report.test) {
    live_->validated(report.losses.front().second);
  }
  std::vector<NamedLoss> losses = report.losses;
  log::print(validation_lines(report.where, losses, report.set));
  if (!tensorboard_) {
    return;
  }
  const auto both = [&](const std::string& name, double value) {
    tensorboard_->add_scalar(name, value, progress.iteration);
    tensorboard_->add_scalar(name + " vs samples", value, progress.consumed_samples);
  };
  std::vector<std::string> metric_names;  // TensorBoard has the reference's, one for both sets
  for (auto& [name, loss] : losses) {
    metric_names.push_back(name + ' ' + (report.test ? "test" : validation_name(report.set)));
    const bool has_perplexity = is_loss(name);
    name += ' ' + validation_name(report.set);
    both(name, loss);
    if (has_perplexity && config_.logging.log_validation_ppl_to_tensorboard) {
      both(name + " ppl", std::exp(std::min(20.0, loss)));
    }
  }
  std::vector<io::Metric> metrics;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    metrics.emplace_back(metric_names[i], losses[i].second);
  }
  metrics_->add(progress.iteration, metrics);
  tensorboard_->flush();
}

void TrainingLog::figures(std::span<const std::pair<std::string, double>> figures,
                          const Progress& progress) {
  if (!tensorboard_) {
    return;
  }
  std::vector<io::Metric> metrics;
  for (const auto& [name, value] : figures) {
    tensorboard_->add_scalar(name, value, progress.iteration);
    tensorboard_->add_scalar(name + " vs samples", value, progress.consumed_samples);
    metrics.emplace_back(name, value);
  }
  metrics_->add(progress.iteration, metrics);
  tensorboard_->flush();
}

}  // namespace mpitron::train
