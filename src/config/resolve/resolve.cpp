#include "config/resolve/resolve.h"

// Option values, all derived, become the structs that layers take. The functions are total: a
// missing value becomes 0 and is a rule's to tell, so that a configuration with mistakes can still
// be shown.

namespace mpitron::config {
namespace {

/// Lets the checkpoint's schedules be others than the options' where no epoch is learned.
OptimizerConfig without_schedules(OptimizerConfig optimizer) {
  optimizer.override_opt_param_scheduler = !optimizer.use_checkpoint_opt_param_scheduler;
  return optimizer;
}

}  // namespace

DType params_dtype(const OptionValues& v) {
  return v.flag("fp16") ? DType::f16 : v.flag("bf16") ? DType::bf16 : DType::f32;
}

/// Resolves the optimizer behind training, whose batch turns iterations into samples.
RunConfig resolve(const OptionValues& values) {
  RunConfig run;
  run.model = resolve_model(values);
  resolve_finetuning(run.model, values);
  run.parallel = resolve_parallel(values);
  run.training = resolve_training(values);
  run.data = resolve_data(values);
  resolve_text_task(run, values);
  run.optimizer = resolve_optimizer(values, run.training);
  if (run.data.text_task && run.data.text_task->epochs == 0) {
    run.optimizer = without_schedules(run.optimizer);
  }
  run.logging = resolve_logging(values);
  run.checkpoint = resolve_checkpoint(values);
  return run;
}

/// Copies one to one: intervals in iterations, names as the options have them.
LoggingConfig resolve_logging(const OptionValues& v) {
  LoggingConfig l;
  l.log_interval = v.integer("log_interval");
  l.log_params_norm = v.flag("log_params_norm");
  l.log_num_zeros_in_grad = v.flag("log_num_zeros_in_grad");
  l.log_throughput = v.flag("log_throughput");
  l.log_progress = v.flag("log_progress");
  l.moe_per_layer_logging = v.flag("moe_per_layer_logging");
  l.timing_log_level = v.integer("timing_log_level");
  l.timing_log_option =
      pick<TimingLogOption>(v.text("timing_log_option"), {{"max", TimingLogOption::max},
                                                          {"minmax", TimingLogOption::minmax},
                                                          {"all", TimingLogOption::all}});
  l.barrier_with_l1_time = v.flag("barrier_with_L1_time");
  l.logging_level = v.maybe_integer("logging_level");
  l.tensorboard_dir = v.maybe_text("tensorboard_dir");
  l.tensorboard_log_interval = v.integer("tensorboard_log_interval");
  l.tensorboard_queue_size = v.integer("tensorboard_queue_size");
  l.log_timers_to_tensorboard = v.flag("log_timers_to_tensorboard");
  l.log_loss_scale_to_tensorboard = v.flag("log_loss_scale_to_tensorboard");
  l.log_validation_ppl_to_tensorboard = v.flag("log_validation_ppl_to_tensorboard");
  l.log_memory_to_tensorboard = v.flag("log_memory_to_tensorboard");
  l.log_world_size_to_tensorboard = v.flag("log_world_size_to_tensorboard");
  l.plan_file = v.maybe_text("plan_file");
  l.metrics_port = v.maybe_integer("metrics_port");
  l.metrics_address = v.text("metrics_address");
  l.eval_tasks = v.words("eval_tasks");
  l.unigram_baseline = v.flag("unigram_baseline");
  l.sample_prompt = v.maybe_text("sample_prompt");
  l.sample_tokens = v.integer("sample_tokens");
  l.sample_temperature = v.real("sample_temperature");
  return l;
}

}  // namespace mpitron::config
