#include "train/train_step.h"

#include <algorithm>

namespace mpitron::train {
namespace {

parallel::GradientPolicy gradient_policy(const config::RunConfig& config) {
  return {.main_grad_dtype = config.optimizer.main_grad_dtype,
          .fused_linear_gradients = config.model.gradient_accumulation_fusion &&
                                    config.optimizer.main_grad_dtype == DType::f32,
          .round_gradients = config.optimizer.fp16};
}

std::vector<optim::TrainedTensor> trained_tensors(TrainedModel& model) {
  std::vector<optim::TrainedTensor> tensors;
  for (const autograd::Parameter& parameter : model.parameters()) {
    tensors.push_back({.traits = {.name = parameter.name,
                                  .rank = parameter.shape.rank(),
                                  .is_embedding_or_output = parameter.embedding_or_output},
                       .value = parameter.value,
                       .main_grad = parameter.main_grad});
  }
  return tensors;
}

StageRunner::Options runner_options(const config::RunConfig& config, const TrainedModel& model) {
  const config::ModelConfig& m = config.model;
  const Index s = m.seq_length / config.parallel.context_parallel_size;
  return {.hidden = {.shape = {s, config.training.micro_batch_size, m.hidden_size},
                     .dtype = m.fp32_residual_connection ? DType::f32 : m.params_dtype},
          .per_token_loss = config.training.calculate_per_token_loss,
          .with_attention_mask = config.data.reset_attention_mask,
          .seed = static_cast<std::uint64_t>(config.training.seed),
          .schedule = pipeline::make_schedule_options(config.parallel, model.layout(), 1)};
}

}  // namespace

TrainStep::TrainStep(device::Device& device, TrainedModel& model, const config::RunConfig& config,
                     Timers& timers)
    : model_(model),
      config_(config),
      timers_(timers),
      gradients_(device, model.parameters(), gradient_policy(config)),
      optimizer_(device, config.optimizer, trained_tensors(model)),
      scheduler_(config.optimizer),
      scaler_(optim::make_loss_scaler(config.optimizer)),
      runner_(device, model, runner_options(config, model), timers) {}

/// Every rank of the last stages counts its tokens; ranks of a tensor group hold the same ones.
void TrainStep::report_loss(const LossSums& sums, StepReport& report) const {
  const bool counts = model_.has_output() && model_.groups().tensor->rank() == 0;
  const comm::GroupHandle all = model_.world().all();
  report.loss_sum = all->reduce(counts ? sums.loss : 0);
  report.loss_tokens = all->reduce(counts ? sums.tokens : 0);
}

StepReport TrainStep::run(Index iteration, Index num_microbatches, Index batch_size,
                          const NextMicrobatch& next) {
  StepReport report{.loss_scale = scaler_.scale()};
  const bool per_token = config_.training.calculate_per_token_loss;
  const double seed_scale =
      per_token ? scaler_.scale() : scaler_.scale() / static_cast<double>(num_microbatches);
  {
    const TimerScope scope = timers_.scope("forward-backward", 1);
    gradients_.begin_step();
    const StageRunner::Pass pass{
        .iteration = iteration, .num_microbatches = num_microbatches, .seed_scale = seed_scale};
    report_loss(runner_.run(pass, next), report);
    gradients_.finish_step();
    sum_shared_embedding();
  }

  const double tokens = per_token ? std::max(report.loss_tokens, 1.0) : 1.0;
  report.learning_rate = scheduler_.learning_rate();
  report.weight_decay = scheduler_.weight_decay();
  const TimerScope scope = timers_.scope("optimizer", 1);
  const tensor::ConstTensorView gradients[] = {gradients_.flat().view()};
  const optim::StepResult result =
      optimizer_.step({.gradients = gradients,
                       .gradient_scale = static_cast<float>(1.0 / (scaler_.scale() * tokens)),
                       .check_overflow = config_.optimizer.fp16},
                      scheduler_);
  scaler_.update(result.skipped);
  report.grad_norm = result.grad_norm;
  report.skipped = result.skipped;
  if (!result.skipped) {
    scheduler_.advance(batch_size);
  }
  return report;
}

/// First and last stage each know the gradient of their use of the tied table.
void TrainStep::sum_shared_embedding() {
  if (autograd::Parameter* shared = model_.shared_embedding()) {
    model_.groups().embedding->all_reduce(shared->main_grad.view()).wait();
  }
}

StepReport TrainStep::evaluate(Index num_microbatches, const NextMicrobatch& next) {
  StepReport report;
  report_loss(runner_.run({.num_microbatches = num_microbatches}, next), report);
  return report;
}

}  // namespace mpitron::train
