#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// Reaction to a loss or a gradient norm that fails validation (train/reruns/rerun_engine.h).
enum class RerunMode { disabled, validate_results, report_stats };
/// The fault that --error-injection-rate plants, to test that reaction.
enum class InjectedError { correct_result, transient_error, persistent_error };

/// Intervals and lengths of evaluation; eval_interval 0: never during training.
struct EvaluationConfig {
  Index eval_iters = 100;
  Index eval_interval = 1000;
  bool full_validation = false;
  bool multiple_validation_sets = false;
  bool skip_train = false;
};

/// The device that a run computes on, and its choice of kernels.
struct DeviceConfig {
  std::string device = "auto";  // "host", "cuda", "reference"
  /// Steps before one is recorded as a CUDA graph; absent: none is.
  std::optional<Index> cuda_graph_warmup_steps;
  /// Layers of a chunk, the first ones, whose activations wait for their backward pass in the
  /// host's memory.
  Index cpu_offloading_num_layers = 0;
  std::optional<std::string> tuning_file;  // of kernels and algorithms of a GPU
  std::string attention_kernel = "auto";   // or a name of kernels::AttentionKernel
  std::string matmul_kernel = "auto";      // or a name of kernels::MatmulKernel
  bool device_synchronize = false;
};

/// Reasons for a run to end before its length.
struct ExitConfig {
  std::optional<Index> exit_interval;          // iterations
  std::optional<Index> exit_duration_in_mins;  // since the start of the program
  bool exit_signal_handler = false;
  std::optional<Index> autoresume_interval;  // derived: iterations between two questions
};

/// Results that are checked, and what happens to those that cannot be right.
struct ResultCheckConfig {
  bool check_for_nan_in_loss_and_grad = true;  // derived: off for fp16 with dynamic loss scale
  bool check_for_spiky_loss = false;
  bool check_for_large_grads = false;
  std::optional<Index> check_weight_hash_across_dp_replicas_interval;
  std::vector<Index> iterations_to_skip;
  std::optional<std::string> result_rejected_tracker_filename;
  RerunMode rerun_mode = RerunMode::validate_results;
  Index error_injection_rate = 0;  // one of so many iterations; 0: none
  InjectedError error_injection_type = InjectedError::transient_error;
};

/// Iterations and ranks whose spans are written.
struct ProfileConfig {
  bool profile = false;
  Index profile_step_start = 10;
  Index profile_step_end = 12;
  std::vector<Index> profile_ranks = {0};
  std::string profile_dir = "profile";
};

/// Batches, length, evaluation, exits and checks of a training run.
struct TrainingConfig : EvaluationConfig,
                        DeviceConfig,
                        ExitConfig,
                        ResultCheckConfig,
                        ProfileConfig {
  // batch
  Index micro_batch_size = 0;
  Index global_batch_size = 0;  // derived: micro_batch_size * data_parallel_size
  /// --rampup-batch-size: the batch grows from `start` by `increment` over `samples` samples.
  struct RampupBatchSize {
    Index start = 0;
    Index increment = 0;
    Index samples = 0;
  };
  std::optional<RampupBatchSize> rampup_batch_size;
  /// --step-batch-size-schedule: sizes, each from so many consumed samples on; the global batch
  /// size is the last one.
  struct BatchSizeStep {
    Index samples = 0;
    Index size = 0;
  };
  std::vector<BatchSizeStep> batch_size_steps;
  bool decrease_batch_size_if_needed = false;

  // length: `train_samples` is set in sample mode only; `train_iters` always (derived through the
  // ramp-up)
  Index train_iters = 0;
  std::optional<Index> train_samples;
  Index seq_length = 0;

  // loss
  bool calculate_per_token_loss = false;

  // randomness
  Index seed = 1234;
  bool data_parallel_random_init = false;
  bool deterministic_mode = false;
};

}  // namespace mpitron::config
