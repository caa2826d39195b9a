#pragma once
#include <optional>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// Which ranks' times are printed: the largest, smallest and largest, or all.
enum class TimingLogOption { max, minmax, all };

/// Event files of TensorBoard, and what they hold beside the losses.
struct TensorboardConfig {
  std::optional<std::string> tensorboard_dir;
  Index tensorboard_log_interval = 1;
  Index tensorboard_queue_size = 1000;
  bool log_timers_to_tensorboard = false;
  bool log_loss_scale_to_tensorboard = true;
  bool log_validation_ppl_to_tensorboard = false;
  bool log_memory_to_tensorboard = false;
  bool log_world_size_to_tensorboard = false;
};

/// Figures that are printed and written while training.
struct LoggingConfig : TensorboardConfig {
  Index log_interval = 100;  // iterations
  bool log_params_norm = false;
  bool log_num_zeros_in_grad = false;
  bool log_throughput = false;
  bool log_progress = false;
  bool moe_per_layer_logging = false;
  Index timing_log_level = 0;  // 0, 1, 2
  TimingLogOption timing_log_option = TimingLogOption::minmax;
  bool barrier_with_l1_time = true;
  std::optional<Index> logging_level;  // Python's numbers: 10 debug ... 40 error

  std::optional<Index> metrics_port;  // of rank 0's HTTP server; 0: a free one
  std::string metrics_address = "127.0.0.1";

  std::vector<std::string> eval_tasks;   // "TASK=FILE", measured at every evaluation
  std::optional<std::string> plan_file;  // of `mpitron plan --json`, which steps are held against

  // what a training command prints at its end
  bool unigram_baseline = false;
  std::optional<std::string> sample_prompt;
  Index sample_tokens = 128;
  double sample_temperature = 0.8;
};

}  // namespace mpitron::config
