#include "config/global_batch_size.h"
#include "config/resolve/resolve.h"

// Options on the length, checks and profiles of a run as a TrainingConfig.

namespace mpitron::config {
namespace {

/// Returns --profile-dir, else profile/ below the folder of logs, else below the current one.
std::string profile_dir(const OptionValues& v) {
  const auto events = v.maybe_text("tensorboard_dir");
  return v.maybe_text("profile_dir").value_or(events ? *events + "/profile" : "profile");
}

}  // namespace

/// Lets missing sizes become 0, which rules tell, so that all mistakes are told at once.
TrainingConfig resolve_training(const OptionValues& v) {
  TrainingConfig t;
  t.micro_batch_size = v.maybe_integer("micro_batch_size").value_or(0);
  t.global_batch_size = v.maybe_integer("global_batch_size").value_or(0);
  const std::vector<std::string> ramp = v.words("rampup_batch_size");
  if (ramp.size() == 3) {
    t.rampup_batch_size = TrainingConfig::RampupBatchSize{read_integer(ramp[0]).value_or(0),
                                                          read_integer(ramp[1]).value_or(0),
                                                          read_integer(ramp[2]).value_or(0)};
  }
  if (const auto steps = v.maybe_text("step_batch_size_schedule")) {
    t.batch_size_steps = read_batch_size_steps(*steps, v.maybe_integer("seq_length").value_or(0))
                             .value_or(std::vector<TrainingConfig::BatchSizeStep>());
  }
  t.decrease_batch_size_if_needed = v.flag("decrease_batch_size_if_needed");
  t.train_samples = v.maybe_integer("train_samples");
  t.train_iters = v.has("train_iters") ? v.integer("train_iters")
                                       : iterations_for_samples(t, t.train_samples.value_or(0));
  t.seq_length = v.maybe_integer("seq_length").value_or(0);
  t.device = v.text("device");
  if (v.flag("enable_cuda_graph")) {
    t.cuda_graph_warmup_steps = v.integer("cuda_graph_warmup_steps");
  }
  t.cpu_offloading_num_layers = v.integer("cpu_offloading_num_layers");
  t.eval_iters = v.integer("eval_iters");
  t.eval_interval = v.integer("eval_interval");
  t.full_validation = v.flag("full_validation");
  t.multiple_validation_sets = v.flag("multiple_validation_sets");
  t.skip_train = v.flag("skip_train");
  t.calculate_per_token_loss = v.flag("calculate_per_token_loss");
  t.seed = v.integer("seed");
  t.data_parallel_random_init = v.flag("data_parallel_random_init");
  t.deterministic_mode = v.flag("deterministic_mode");
  t.tuning_file = v.maybe_text("tuning_file");
  t.attention_kernel = v.text("attention_kernel");
  t.matmul_kernel = v.text("matmul_kernel");
  t.device_synchronize = v.flag("device_synchronize");
  t.exit_interval = v.maybe_integer("exit_interval");
  t.exit_duration_in_mins = v.maybe_integer("exit_duration_in_mins");
  t.exit_signal_handler = v.flag("exit_signal_handler");
  if (v.flag("adlr_autoresume")) {
    t.autoresume_interval = v.integer("adlr_autoresume_interval");
  }
  t.check_for_nan_in_loss_and_grad = v.flag("check_for_nan_in_loss_and_grad");
  t.check_for_spiky_loss = v.flag("check_for_spiky_loss");
  t.check_for_large_grads = v.flag("check_for_large_grads");
  t.check_weight_hash_across_dp_replicas_interval =
      v.maybe_integer("check_weight_hash_across_dp_replicas_interval");
  t.iterations_to_skip = v.integers("iterations_to_skip");
  t.result_rejected_tracker_filename = v.maybe_text("result_rejected_tracker_filename");
  t.rerun_mode =
      pick<RerunMode>(v.text("rerun_mode"), {{"disabled", RerunMode::disabled},
                                             {"validate_results", RerunMode::validate_results},
                                             {"report_stats", RerunMode::report_stats}});
  t.error_injection_rate = v.integer("error_injection_rate");
  t.error_injection_type = pick<InjectedError>(
      v.text("error_injection_type"), {{"correct_result", InjectedError::correct_result},
                                       {"transient_error", InjectedError::transient_error},
                                       {"persistent_error", InjectedError::persistent_error}});
  t.profile = v.flag("profile");
  t.profile_step_start = v.integer("profile_step_start");
  t.profile_step_end = v.integer("profile_step_end");
  t.profile_ranks = v.integers("profile_ranks");
  t.profile_dir = profile_dir(v);
  return t;
}

}  // namespace mpitron::config
