#include <algorithm>
#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/optimizer.h"
#include "optim/matrices/tensor_arithmetic.h"
#include "optim/optimizer.h"
#include "utils/numbers/exact_sum.h"

// The update of an optimizer's pieces, together, in order or while others travel.

namespace mpitron::optim {
namespace {

using tensor::Tensor;

}  // namespace

/// Clips by the norm of all gradients: scale = min(1, clip / (norm + 1e-6)), as the reference does.
/// An update that would not be finite is skipped where losses are scaled.
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
  shown_.clear();
  const Update update = [&](device::Device& home, std::span<const Due> due) {
    const RuleInputs rule_inputs{home, scheduler, scale};
    const auto of_rule = [due](Rule rule) {
      std::vector<Due> own;
      std::ranges::copy_if(due, std::back_inserter(own),
                           [rule](const Due& d) { return d.slot->rule == rule; });
      return own;
    };
    update_adam(rule_inputs, of_rule(Rule::adam));
    update_sgd(rule_inputs, of_rule(Rule::sgd));
    update_lion(rule_inputs, of_rule(Rule::lion));
  };
  if (exchange_) {
    update_matrices({device_, scheduler, scale});
  }
  const auto updated = [&](std::size_t i) {
    if (inputs.updated) {
      inputs.updated(i);
    }
  };
  if (host_ && config_.offload->overlap) {
    update_overlapped(update, updated);
  } else {
    update_in_order(update, updated);
  }
  return result;
}

Optimizer::Due Optimizer::due_on_device(const Slot& slot) const {
  return {&slot, flat(slot.trained.main_grad)};
}

/// How many slots, from this one, are updated before anybody hears of them: one where the processor
/// does it, so that parameters are sent as they come.
std::size_t Optimizer::updated_together(std::size_t first) const {
  if (device_.tensors_on_host()) {
    return 1;
  }
  const auto rest = std::span(slots_).subspan(first);
  const auto most = rest.first(std::min(rest.size(), kernels::kStepsTogether));
  const auto end = std::ranges::find_if(most, [this](const Slot& s) { return !on_device(s); });
  return std::max<std::size_t>(1, static_cast<std::size_t>(end - most.begin()));
}

/// Each update is told of as it is made, so that parameters travel to other replicas meanwhile.
void Optimizer::update_in_order(const Update& update,
                                const std::function<void(std::size_t)>& updated) {
  for (std::size_t i = 0; i < slots_.size();) {
    const std::size_t end = i + updated_together(i);
    if (const Slot& slot = slots_[i]; on_device(slot)) {
      std::vector<Due> due;
      for (std::size_t k = i; k < end; ++k) {
        if (!slots_[k].held) {
          due.push_back(due_on_device(slots_[k]));
        }
      }
      update(device_, due);
    } else if (!slot.held) {
      const Due due{&slot, host_->fetch(flat(slot.trained.main_grad))};
      host_->wait();
      update(*slot.home, {&due, 1});
      host_->send(slot.value, flat(slot.trained.value));
    }
    for (; i < end; ++i) {
      updated(i);
    }
  }
}

/// The device updates its share while the processor does; beside each update of the processor's
/// the next gradient comes and the last value goes.
void Optimizer::update_overlapped(const Update& update,
                                  const std::function<void(std::size_t)>& updated) {
  std::vector<const Slot*> processors;
  std::vector<Due> devices;
  for (const Slot& slot : slots_) {
    if (slot.held) {
      continue;
    }
    if (on_device(slot)) {
      devices.push_back(due_on_device(slot));
    } else {
      processors.push_back(&slot);
    }
  }
  const auto fetch = [&](std::size_t k) {
    return k < processors.size() ? host_->fetch(flat(processors[k]->trained.main_grad)) : Tensor();
  };
  Tensor next = fetch(0);
  host_->wait();
  update(device_, devices);
  for (std::size_t k = 0; k < processors.size(); ++k) {
    const Due due{processors[k], std::exchange(next, fetch(k + 1))};
    update(host_->home(), {&due, 1});
    host_->wait();
    host_->send(processors[k]->value, flat(processors[k]->trained.value));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    updated(i);
  }
}

}  // namespace mpitron::optim
