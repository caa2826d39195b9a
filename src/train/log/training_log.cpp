// Turns iterations into lines, events and figures. Rank 0 writes, but all ranks call, since times
// and spreads are collectives: a rank that left one out would block the others.
#include "train/log/training_log.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "train/log/memory_report.h"
#include "train/model/flops.h"
#include "train/model/theoretical_memory.h"
#include "utils/log.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace {

constexpr float kMebibyte = 1024 * 1024;

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Lists timers in the reference's order; every rank asks for the same ones, whether it ran them or
/// not, because their numbers are gathered in one collective.
const std::vector<std::string>& timed_parts() {
  static const std::vector<std::string> names = {"forward-backward",         "forward-compute",
                                                 "backward-compute",         "batch-generator",
                                                 "optimizer-clip-main-grad", "optimizer"};
  return names;
}

}  // namespace

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

/// The reference's line; behind the first one its memory, behind each the times of a step's parts.
void TrainingLog::print_line(const Progress& progress, const StepReport& step, TrainStep& state) {
  const Index iterations = averages_.iterations();
  const StepTime time = interval_.elapsed();
  const double seconds = time.seconds / static_cast<double>(iterations);
  write_spread(progress.iteration, time.busy() / static_cast<double>(iterations), state);
  if (tensorboard_ && config_.logging.log_timers_to_tensorboard) {
    tensorboard_->add_scalar("iteration-time", seconds, progress.iteration);
  }
  IterationReport report{.time = std::chrono::system_clock::now(),
                         .iteration = progress.iteration,
                         .train_iters = config_.training.train_iters,
                         .consumed_train_samples = progress.consumed_samples,
                         .seconds_per_iteration = seconds,
                         .learning_rate = state.scheduler().learning_rate(),
                         .global_batch_size = progress.batch_size,
                         .losses = averages_.averages(),
                         .loss_scale = state.loss_scaler().scale(),
                         .skipped_iterations = averages_.skipped_iterations(),
                         .nan_iterations = averages_.nan_iterations()};
  if (config_.logging.log_throughput) {
    const double flops = flops_per_iteration(config_.model, progress.batch_size);
    report.throughput = throughput_per_device(flops, seconds, config_.parallel.world_size);
  }
  if (!step.skipped) {  // as the reference, which has no norm of a step that overflowed
    report.grad_norm = step.grad_norm;
  }
  if (config_.logging.log_num_zeros_in_grad && !step.skipped) {
    report.num_zeros = static_cast<double>(state.optimizer().zero_gradients());
  }
  if (config_.logging.log_params_norm) {
    report.params_norm = state.optimizer().parameters_norm();
  }
  if (config_.optimizer.decoupled_lr) {
    const optim::LrBounds bounds = optim::group_bounds(
        {.is_decoupled_lr = true}, optim::make_parameter_group_options(config_.optimizer));
    report.decoupled_learning_rate =
        state.scheduler().learning_rate_schedule().at(state.scheduler().num_steps(), bounds);
  }
  log::print(iteration_line(report));
  if (config_.logging.moe_per_layer_logging && !step.layers.expert_tokens.empty()) {
    log::print(balance_lines(step.layers));
  }
  if (progress.iteration == config_.logging.log_interval) {
    log::print(theoretical_memory_line(config_));
    log::print(memory_line(0, progress.iteration, memory_in_use(state.device())));
  }
  if (const auto lines = timers_.report(timed_parts(), static_cast<double>(iterations))) {
    log::print(*lines);
  }
  averages_.reset();
}

/// Gathers how long ranks were busy (the fastest, the median and the slowest) and the most memory
/// that one holds.
void TrainingLog::write_spread(Index iteration, double busy_seconds, TrainStep& state) {
  if (!config_.logging.tensorboard_dir) {
    return;
  }
  const Index memory = memory_in_use(state.device()).allocated;
  const RankSpread spread =
      gather_spread({.busy_seconds = static_cast<float>(busy_seconds),
                     .memory_mib = static_cast<float>(memory) / kMebibyte},
                    [this](std::span<const float> own) { return timers_.of_all_ranks(own); });
  if (metrics_) {
    metrics_->add(iteration,
                  std::array{io::Metric{"busy-seconds-min", spread.fastest},
                             io::Metric{"busy-seconds-median", spread.median},
                             io::Metric{"busy-seconds-max", spread.slowest},
                             io::Metric{"slowest-rank", static_cast<double>(spread.slowest_rank)},
                             io::Metric{"memory-mib-max", spread.most_memory_mib}});
  }
}

/// Gives the endpoint of --metrics-port what it answers until the next iteration.
void TrainingLog::tell_live(const Progress& progress, const StepReport& step, TrainStep& state,
                            double seconds) {
  const double flops = flops_per_iteration(config_.model, progress.batch_size);
  const auto tokens = static_cast<double>(progress.batch_size * config_.training.seq_length);
  live_->finished(
      {.iteration = progress.iteration,
       .train_iters = config_.training.train_iters,
       .consumed_samples = progress.consumed_samples,
       .consumed_tokens = progress.consumed_samples * config_.training.seq_length,
       .seconds = seconds,
       .tokens_per_second = tokens / seconds,
       .tflops_per_rank = throughput_per_device(flops, seconds, config_.parallel.world_size),
       .loss = step.loss(),
       .grad_norm = step.grad_norm,
       .learning_rate = step.learning_rate,
       .loss_scale = state.loss_scaler().scale(),
       .skipped = step.skipped,
       .resident_bytes = process_memory().allocated});
}

void TrainingLog::write_timers(Index iteration) {
  const auto times = timers_.longest(timed_parts(), static_cast<double>(averages_.iterations()));
  for (const auto& [name, seconds] : times) {
    if (tensorboard_) {
      tensorboard_->add_scalar(name + "-time", seconds, iteration);
    }
  }
}

/// TensorBoard gets the reference's names, over iterations and over samples; metrics.jsonl has a
/// line of figures an iteration.
void TrainingLog::write_scalars(const Progress& progress, const StepReport& step,
                                TrainStep& state) {
  const auto both = [&](const std::string& tag, double value) {
    tensorboard_->add_scalar(tag, value, progress.iteration);
    tensorboard_->add_scalar(tag + " vs samples", value, progress.consumed_samples);
  };
  both("learning-rate", state.scheduler().learning_rate());
  both("batch-size", static_cast<double>(progress.batch_size));
  for (const auto& [name, loss] : step.all_losses()) {
    both(name, loss);
  }
  if (config_.logging.log_loss_scale_to_tensorboard) {
    both("loss-scale", state.loss_scaler().scale());
  }
  if (!step.skipped) {
    both("grad-norm", step.grad_norm);
  }
  if (config_.logging.log_world_size_to_tensorboard) {
    both("world-size", static_cast<double>(config_.parallel.world_size));
  }
  if (config_.logging.log_memory_to_tensorboard) {
    const MemoryUse memory = memory_in_use(state.device());
    both("mem-reserved-bytes", static_cast<double>(memory.reserved.value_or(memory.allocated)));
  }
  const double seconds = std::exchange(scalars_seconds_, 0.0) /
                         static_cast<double>(std::exchange(scalars_iterations_, 0));
  const Index tokens = progress.batch_size * config_.training.seq_length;
  std::vector<io::Metric> metrics{
      io::Metric{"time", unix_time()},
      io::Metric{"iteration-time", seconds},
      io::Metric{"tokens-per-second", static_cast<double>(tokens) / seconds},
      io::Metric{step.loss_name, step.loss()},
      io::Metric{"learning-rate", step.learning_rate},
      io::Metric{"grad-norm", step.grad_norm},
      io::Metric{"loss-scale", step.loss_scale},
      io::Metric{"batch-size", static_cast<double>(progress.batch_size)},
      io::Metric{"consumed-samples", static_cast<double>(progress.consumed_samples)}};
  for (const auto& [name, loss] : step.other_losses) {
    metrics.push_back({name, loss});
  }
  const std::vector<NamedLoss> tracked = summaries(step.layers.losses);
  for (const auto& [name, value] : tracked) {
    both(name, value);
    metrics.emplace_back(name, value);
  }
  const std::vector<NamedLoss> of_layers =
      config_.logging.moe_per_layer_logging ? layer_metrics(step.layers) : std::vector<NamedLoss>{};
  for (const auto& [name, value] : of_layers) {
    tensorboard_->add_scalar(name, value, progress.iteration);
    metrics.emplace_back(name, value);
  }
  metrics_->add(progress.iteration, metrics);
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
