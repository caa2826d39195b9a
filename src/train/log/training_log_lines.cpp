#include <array>
#include <chrono>

#include "train/log/memory_report.h"
#include "train/log/training_log.h"
#include "train/model/flops.h"
#include "train/model/theoretical_memory.h"
#include "utils/log.h"

// What a log interval tells: its line, its scalars, its timers, and how far ranks are apart.

namespace mpitron::train {
namespace {

constexpr float kMebibyte = 1024 * 1024;

/// Lists timers in the reference's order; every rank asks for the same ones, whether it ran them or
/// not, because their numbers are gathered in one collective.
const std::vector<std::string>& timed_parts() {
  static const std::vector<std::string> names = {"forward-backward",         "forward-compute",
                                                 "backward-compute",         "batch-generator",
                                                 "optimizer-clip-main-grad", "optimizer"};
  return names;
}

}  // namespace

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

}  // namespace mpitron::train
