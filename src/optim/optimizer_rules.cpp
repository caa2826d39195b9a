// Applies the rules that take elements one by one to groups of pieces: those of one rule that are
// updated together are one launch.
#include <cmath>

#include "kernels/elementwise/optimizer.h"
#include "optim/optimizer.h"

namespace mpitron::optim {

using tensor::Tensor;

/// All parameters of one call in one launch (kernels/optimizer: AdamW, Loshchilov and Hutter 2019).
void Optimizer::update_adam(const RuleInputs& inputs, std::span<const Due> due) {
  const auto t = static_cast<double>(updates_);
  std::vector<kernels::AdamStep> steps;
  for (const auto& [slot, gradient] : due) {
    const auto rates = inputs.scheduler.rates(slot->group, slot->bounds);
    kernels::AdamStep& step = steps.emplace_back(kernels::AdamStep{
        .param = slot->master.view(),
        .exp_avg = slot->first.view(),
        .exp_avg_sq = slot->second.view(),
        .grad = gradient.view(),
        .lr = static_cast<float>(rates.learning_rate),
        .beta1 = static_cast<float>(config_.adam_beta1),
        .beta2 = static_cast<float>(config_.adam_beta2),
        .eps = static_cast<float>(config_.adam_eps * slot->group.eps_mult),
        .weight_decay = static_cast<float>(rates.weight_decay),
        .bias_correction1 = static_cast<float>(1 - std::pow(config_.adam_beta1, t)),
        .bias_correction2 = static_cast<float>(1 - std::pow(config_.adam_beta2, t)),
        .grad_scale = inputs.gradient_scale});
    if (has_master(*slot) && !slot->master.has_upper()) {
      step.model_param = slot->value.view();
    }
  }
  if (!steps.empty()) {
    device::launch(inputs.home.stream(), kernels::AdamSteps{steps});
  }
}

void Optimizer::update_sgd(const RuleInputs& inputs, std::span<const Due> due) {
  std::vector<kernels::SgdStep> steps;
  for (const auto& [slot, gradient] : due) {
    const auto rates = inputs.scheduler.rates(slot->group, slot->bounds);
    kernels::SgdStep& step =
        steps.emplace_back(kernels::SgdStep{.param = slot->master.values().view(),
                                            .momentum_buffer = slot->first.values().view(),
                                            .grad = gradient.view(),
                                            .lr = static_cast<float>(rates.learning_rate),
                                            .momentum = static_cast<float>(config_.sgd_momentum),
                                            .weight_decay = static_cast<float>(rates.weight_decay),
                                            .grad_scale = inputs.gradient_scale});
    if (has_master(*slot)) {
      step.model_param = slot->value.view();
    }
  }
  if (!steps.empty()) {
    device::launch(inputs.home.stream(), kernels::SgdSteps{steps});
  }
}

void Optimizer::update_lion(const RuleInputs& inputs, std::span<const Due> due) {
  std::vector<kernels::LionStep> steps;
  for (const auto& [slot, gradient] : due) {
    const auto rates = inputs.scheduler.rates(slot->group, slot->bounds);
    kernels::LionStep& step =
        steps.emplace_back(kernels::LionStep{.param = slot->master.values().view(),
                                             .exp_avg = slot->first.values().view(),
                                             .grad = gradient.view(),
                                             .lr = static_cast<float>(rates.learning_rate),
                                             .beta1 = static_cast<float>(config_.lion_beta1),
                                             .beta2 = static_cast<float>(config_.lion_beta2),
                                             .weight_decay = static_cast<float>(rates.weight_decay),
                                             .grad_scale = inputs.gradient_scale});
    if (has_master(*slot)) {
      step.model_param = slot->value.view();
    }
  }
  if (!steps.empty()) {
    device::launch(inputs.home.stream(), kernels::LionSteps{steps});
  }
}

}  // namespace mpitron::optim
