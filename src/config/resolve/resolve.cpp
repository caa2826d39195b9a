#include "config/resolve/resolve.h"

namespace mpitron::config {

DType params_dtype(const OptionValues& v) {
  return v.flag("fp16") ? DType::f16 : v.flag("bf16") ? DType::bf16 : DType::f32;
}

RunConfig resolve(const OptionValues& values) {
  RunConfig run;
  run.model = resolve_model(values);
  resolve_finetuning(run.model, values);
  run.parallel = resolve_parallel(values);
  run.training = resolve_training(values);
  run.data = resolve_data(values);
  resolve_text_task(run, values);
  run.optimizer = resolve_optimizer(values, run.training);
  run.logging = resolve_logging(values);
  run.checkpoint = resolve_checkpoint(values);
  return run;
}

}  // namespace mpitron::config
