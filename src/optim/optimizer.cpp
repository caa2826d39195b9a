#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/elementwise.h"
#include "kernels/optimizer.h"
#include "tensor/host_copy.h"
#include "utils/exact_sum.h"

namespace mpitron::optim {
namespace {

using tensor::Tensor;

Tensor flat(const Tensor& x) {
  return x.reshape({x.numel()});
}

exact_sum::Bins bins_of(const Tensor& sum) {
  return exact_sum::Bins(sum.data<std::int64_t>(), exact_sum::kBins);
}

}  // namespace

Optimizer::Optimizer(device::Device& device, const config::OptimizerConfig& config,
                     std::vector<TrainedTensor> tensors, comm::GroupHandle ranks)
    : device_(device),
      config_(config),
      ranks_(std::move(ranks)),
      sum_(Tensor::empty(device, {exact_sum::kBins}, DType::i64)) {
  clear_sum();
  const ParameterGroupOptions options = make_parameter_group_options(config);
  const auto zeros = [&](Index n) {
    const Tensor x = Tensor::empty(device, {n}, DType::f32);
    device::launch(device.stream(), kernels::Fill{.x = x.view(), .value = 0});
    return x;
  };
  for (TrainedTensor& trained : tensors) {
    Slot slot;
    slot.group = parameter_group_key(trained.traits, options);
    slot.bounds = group_bounds(slot.group, options);
    slot.master = flat(trained.value);
    if (trained.value.dtype() != DType::f32) {
      slot.master = Tensor::empty(device, {trained.value.numel()}, DType::f32);
    }
    slot.first = zeros(trained.value.numel());
    if (config.optimizer == config::OptimizerKind::adam) {
      slot.second = zeros(trained.value.numel());
    }
    slot.trained = std::move(trained);
    slots_.push_back(std::move(slot));
  }
  adopt_values();
}

void Optimizer::adopt_values() {
  for (const Slot& slot : slots_) {
    if (has_master(slot)) {
      device::launch(device_.stream(),
                     kernels::Cast{.x = flat(slot.trained.value).view(), .y = slot.master.view()});
    }
  }
}

void Optimizer::visit(const Slot& slot, const char* kind, const Tensor& value,
                      tensor::StateVisitor& visitor) {
  tensor::ShardedTensor place = slot.trained.place;
  place.name = fmt::format("optimizer/{}/{}", kind, place.name);
  place.value = value.view();
  visitor.tensor(place);
}

void Optimizer::visit_masters(tensor::StateVisitor& visitor) const {
  for (const Slot& slot : slots_) {
    if (has_master(slot)) {
      visit(slot, "fp32_param", slot.master, visitor);
    }
  }
}

void Optimizer::visit_state(tensor::StateVisitor& visitor) {
  const bool adam = config_.optimizer == config::OptimizerKind::adam;
  visit_masters(visitor);
  for (const Slot& slot : slots_) {
    visit(slot, adam ? "exp_avg" : "momentum_buffer", slot.first, visitor);
    if (adam) {
      visit(slot, "exp_avg_sq", slot.second, visitor);
    }
  }
  visitor.number("optimizer/updates", updates_);
}

void Optimizer::add_squares(const tensor::ConstTensorView& x) {
  device::launch(device_.stream(), kernels::SumOfSquares{.x = x, .bins = sum_.view()});
}

void Optimizer::clear_sum() {
  const Tensor zeros = tensor::empty_on_host(device_, sum_.shape(), sum_.dtype());
  std::ranges::fill(bins_of(zeros), 0);
  tensor::copy_bytes(device_, zeros, sum_);
}

double Optimizer::take_sum() {
  const Tensor sum = tensor::to_host(device_, sum_);
  exact_sum::carry(bins_of(sum));
  if (ranks_ != nullptr) {
    ranks_->all_reduce(sum.view()).wait();
  }
  const double value = exact_sum::value(bins_of(sum));
  clear_sum();
  return value;
}

double Optimizer::parameters_norm() {
  for (const Slot& slot : slots_) {
    if (slot.trained.counted) {
      add_squares(slot.master.view());
    }
  }
  return std::sqrt(take_sum());
}

Index Optimizer::zero_gradients() {
  std::vector<Tensor> counts;
  for (const Slot& slot : slots_) {
    if (slot.trained.counted) {
      counts.push_back(Tensor::empty(device_, {1}, DType::i64));
      device::launch(device_.stream(), kernels::CountZeros{.x = flat(slot.trained.main_grad).view(),
                                                           .result = counts.back().view()});
    }
  }
  Index sum = 0;
  for (const Tensor& count : tensor::to_host(device_, counts)) {
    sum += *count.data<std::int64_t>();
  }
  if (ranks_ != nullptr) {
    ranks_->all_reduce({&sum, DType::i64, {1}}).wait();
  }
  return sum;
}

double Optimizer::gradient_norm(const StepInputs& inputs) {
  for (const tensor::ConstTensorView& gradients : inputs.gradients) {
    add_squares(gradients);
  }
  return std::sqrt(take_sum()) * static_cast<double>(inputs.gradient_scale);
}

StepResult Optimizer::step(const StepInputs& inputs, const ParameterScheduler& scheduler) {
  StepResult result{.grad_norm = inputs.grad_norm ? *inputs.grad_norm : gradient_norm(inputs)};
  if (inputs.check_overflow && !std::isfinite(result.grad_norm)) {
    result.skipped = true;
    return result;
  }
  float scale = inputs.gradient_scale;
  if (config_.clip_grad > 0) {
    const double coefficient = config_.clip_grad / (result.grad_norm + 1e-6);
    scale *= coefficient < 1 ? static_cast<float>(coefficient) : 1.f;
  }
  ++updates_;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    update(slots_[i], scheduler.rates(slots_[i].group, slots_[i].bounds), scale);
    if (inputs.updated) {
      inputs.updated(i);
    }
  }
  return result;
}

void Optimizer::update(const Slot& slot, const ParameterScheduler::GroupRates& rates,
                       float gradient_scale) {
  if (config_.optimizer == config::OptimizerKind::adam) {
    update_adam(slot, rates, gradient_scale);
  } else {
    update_sgd(slot, rates, gradient_scale);
  }
}

void Optimizer::update_adam(const Slot& slot, const ParameterScheduler::GroupRates& rates,
                            float gradient_scale) {
  const auto t = static_cast<double>(updates_);
  kernels::AdamStep kernel{
      .param = slot.master.view(),
      .exp_avg = slot.first.view(),
      .exp_avg_sq = slot.second.view(),
      .grad = flat(slot.trained.main_grad).view(),
      .lr = static_cast<float>(rates.learning_rate),
      .beta1 = static_cast<float>(config_.adam_beta1),
      .beta2 = static_cast<float>(config_.adam_beta2),
      .eps = static_cast<float>(config_.adam_eps),
      .weight_decay = static_cast<float>(rates.weight_decay),
      .bias_correction1 = static_cast<float>(1 - std::pow(config_.adam_beta1, t)),
      .bias_correction2 = static_cast<float>(1 - std::pow(config_.adam_beta2, t)),
      .grad_scale = gradient_scale};
  if (has_master(slot)) {
    kernel.model_param = flat(slot.trained.value).view();
  }
  device::launch(device_.stream(), kernel);
}

void Optimizer::update_sgd(const Slot& slot, const ParameterScheduler::GroupRates& rates,
                           float gradient_scale) {
  kernels::SgdStep kernel{.param = slot.master.view(),
                          .momentum_buffer = slot.first.view(),
                          .grad = flat(slot.trained.main_grad).view(),
                          .lr = static_cast<float>(rates.learning_rate),
                          .momentum = static_cast<float>(config_.sgd_momentum),
                          .weight_decay = static_cast<float>(rates.weight_decay),
                          .grad_scale = gradient_scale};
  if (has_master(slot)) {
    kernel.model_param = flat(slot.trained.value).view();
  }
  device::launch(device_.stream(), kernel);
}

}  // namespace mpitron::optim
