#include <chrono>
#include <utility>

#include "train/log/memory_report.h"
#include "train/log/training_log.h"

// Scalars of a log interval, for metrics.jsonl and TensorBoard.

namespace mpitron::train {
namespace {

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

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

}  // namespace mpitron::train
