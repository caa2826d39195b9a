#include "train/train_step.h"

#include <algorithm>

#include "kernels/elementwise.h"

namespace mpitron::train {
namespace {

using autograd::Context;
using autograd::Var;
using tensor::Tensor;

parallel::GradientPolicy gradient_policy(const config::RunConfig& config) {
  return {.main_grad_dtype = config.optimizer.main_grad_dtype,
          .fused_linear_gradients = config.model.gradient_accumulation_fusion &&
                                    config.optimizer.main_grad_dtype == DType::f32,
          .round_gradients = config.optimizer.fp16};
}

std::vector<optim::TrainedTensor> trained_tensors(models::GptModel& model) {
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

}  // namespace

TrainStep::TrainStep(device::Device& device, models::GptModel& model,
                     const config::RunConfig& config, Timers& timers)
    : device_(device),
      model_(model),
      config_(config),
      timers_(timers),
      gradients_(device, model.parameters(), gradient_policy(config)),
      optimizer_(device, config.optimizer, trained_tensors(model)),
      scheduler_(config.optimizer),
      scaler_(optim::make_loss_scaler(config.optimizer)) {}

Context TrainStep::context(Index iteration, const DeviceMicrobatch& microbatch) {
  return {.device = device_,
          .seed = static_cast<std::uint64_t>(config_.training.seed),
          .iteration = static_cast<std::uint64_t>(iteration),
          .position = {.first_sample = microbatch.first_sample}};
}

void TrainStep::add_loss(Context& context, const Var& loss, const DeviceMicrobatch& microbatch,
                         StepReport& report) const {
  const Tensor sums = context.empty({2}, DType::f64);
  context.launch(kernels::MaskedSum{
      .x = loss.value.view(), .mask = microbatch.loss_mask.view(), .y = sums.view()});
  report.loss_sum += sums.data<double>()[0];
  report.loss_tokens += sums.data<double>()[1];
}

void TrainStep::forward_backward(Index iteration, const DeviceMicrobatch& microbatch,
                                 double seed_scale, StepReport& report) {
  Context train = context(iteration, microbatch);
  train.tape = &tape_;
  train.usage = &tape_;
  autograd::Slot loss_slot;
  {
    const TimerScope scope = timers_.scope("forward-compute", 2);
    const Var loss = model_.loss(train, microbatch.batch);
    add_loss(train, loss, microbatch, report);
    loss_slot = loss.slot;
  }
  // d(objective) / d(token loss): the mask, divided by what the reference's objective divides by.
  const bool per_token = config_.training.calculate_per_token_loss;
  const double factor = per_token ? seed_scale : seed_scale / std::max(microbatch.loss_tokens, 1.0);
  const Tensor seed = train.empty(microbatch.loss_mask.shape(), DType::f32);
  train.launch(kernels::Scale{
      .x = microbatch.loss_mask.view(), .y = seed.view(), .factor = static_cast<float>(factor)});
  const TimerScope scope = timers_.scope("backward-compute", 2);
  tape_.backward(train, loss_slot, seed);
  tape_.clear();
}

DeviceMicrobatch TrainStep::next_microbatch(const NextMicrobatch& next) {
  const TimerScope scope = timers_.scope("batch-generator", 2);
  return upload(device_, next());
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
    for (Index i = 0; i < num_microbatches; ++i) {
      forward_backward(iteration, next_microbatch(next), seed_scale, report);
    }
    gradients_.finish_step();
  }

  const double tokens = per_token ? std::max(report.loss_tokens, 1.0) : 1.0;
  report.learning_rate = scheduler_.learning_rate();
  report.weight_decay = scheduler_.weight_decay();
  const TimerScope scope = timers_.scope("optimizer", 1);
  const optim::StepResult result =
      optimizer_.step({.gradients = gradients_.flat().view(),
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

StepReport TrainStep::evaluate(Index num_microbatches, const NextMicrobatch& next) {
  StepReport report;
  for (Index i = 0; i < num_microbatches; ++i) {
    const DeviceMicrobatch microbatch = next_microbatch(next);
    Context evaluation = context(0, microbatch);
    evaluation.mode = autograd::Mode::evaluate;
    add_loss(evaluation, model_.loss(evaluation, microbatch.batch), microbatch, report);
  }
  return report;
}

}  // namespace mpitron::train
