// Applies the update rules to groups of pieces. Pieces of one rule that are updated together are
// one launch; matrices of Muon go one by one.
#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/optimizer.h"
#include "optim/muon.h"
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

/// Matrices are updated by an orthogonal direction, which is made of whole ones.
void Optimizer::update_matrices(const RuleInputs& inputs) {
  const auto slot_of = [this](std::size_t piece) -> const Slot& {
    return slots_[matrices_[piece]];
  };
  exchange_->run(
      {.give =
           [&](std::size_t piece) {
             const Slot& slot = slot_of(piece);
             return muon_average(device_, config_.muon, flat(slot.trained.main_grad),
                                 slot.first.values(), inputs.gradient_scale);
           },
       .make =
           [&](std::size_t piece, const Tensor& average) {
             return muon_direction(device_, config_.muon, slot_of(piece).trained.traits.name,
                                   average);
           },
       .take = [&](std::size_t piece,
                   const Tensor& direction) { subtract(inputs, slot_of(piece), direction); }});
}

/// Subtracts the direction. Without momentum SGD's decay is the decoupled one.
void Optimizer::subtract(const RuleInputs& inputs, const Slot& slot, const Tensor& direction) {
  const auto rates = inputs.scheduler.rates(slot.group, slot.bounds);
  const Tensor unused = Tensor::empty(device_, direction.shape(), DType::f32);
  device::launch(device_.stream(), kernels::Fill{.x = unused.view(), .value = 0});
  kernels::SgdStep step{.param = slot.master.values().view(),
                        .momentum_buffer = unused.view(),
                        .grad = direction.view(),
                        .model_param = {},
                        .lr = static_cast<float>(rates.learning_rate),
                        .momentum = 0,
                        .weight_decay = static_cast<float>(rates.weight_decay)};
  if (has_master(slot)) {
    step.model_param = slot.value.view();
  }
  device::launch(device_.stream(), step);
}

}  // namespace mpitron::optim
