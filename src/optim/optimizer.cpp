#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/optimizer.h"
#include "optim/matrices/tensor_arithmetic.h"
#include "tensor/host_copy.h"
#include "utils/numbers/exact_sum.h"

// Owns masters and states of the pieces that a rank updates, and runs a step: norm, clipping,
// update rules, parameters in the model's type. The norm is an exact sum, so its bits do not depend
// on who holds which piece.

namespace mpitron::optim {
namespace {

using tensor::Tensor;

exact_sum::Bins bins_of(const Tensor& sum) {
  return exact_sum::Bins(sum.data<std::int64_t>(), exact_sum::kBins);
}

}  // namespace

Optimizer::Optimizer(device::Device& device, const config::OptimizerConfig& config,
                     std::vector<TrainedTensor> tensors, const OptimizerRanks& ranks)
    : device_(device),
      config_(config),
      ranks_(ranks.all),
      sum_(Tensor::empty(device, {exact_sum::kBins}, DType::i64)) {
  clear_sum();
  std::vector<bool> on_processor(tensors.size(), false);
  if (config.offload && !device.tensors_on_host()) {
    host_.emplace(device, *config.offload);
    std::vector<Index> sizes;
    for (const TrainedTensor& trained : tensors) {
      sizes.push_back(trained.value.numel());
    }
    on_processor = tensors_on_processor(sizes, config.offload->fraction);
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    slots_.push_back(make_slot(std::move(tensors[i]), on_processor[i] ? host_->home() : device));
  }
  if (config_.optimizer == Rule::muon || config_.optimizer == Rule::soap) {
    exchange_.emplace(device, ranks.of_matrices, matrix_pieces());
    make_matrix_states();
  }
  state_loaded(false);
}

/// A master of its own where the model's type is not the master's; first and second averages in the
/// types that options name.
Optimizer::Slot Optimizer::make_slot(TrainedTensor trained, device::Device& home) {
  const ParameterGroupOptions options = make_parameter_group_options(config_);
  const config::StateTypes& types = config_.state_types;
  const Index n = trained.value.numel();
  Slot slot;
  slot.trained = std::move(trained);
  slot.home = &home;
  slot.group = parameter_group_key(slot.trained.traits, options);
  slot.bounds = group_bounds(slot.group, options);
  slot.rule = update_rule(config_, slot.group);
  slot.value = on_device(slot) ? flat(slot.trained.value)
                               : Tensor::empty(home, {n}, slot.trained.value.dtype());
  if (!has_master(slot)) {
    slot.master = StoredState(slot.value);
  } else if (types.masters_below_params) {
    slot.master = StoredState::below(home, slot.value);
  } else {
    slot.master = StoredState::zeros(home, n, types.main_params);
  }
  if (slot.rule != Rule::soap) {
    slot.first = StoredState::zeros(home, n, types.exp_avg);
  }
  if (slot.rule == Rule::adam) {
    slot.second = StoredState::zeros(home, n, types.exp_avg_sq, true);
  }
  return slot;
}

void Optimizer::add_squares(const tensor::ConstTensorView& x) {
  device::launch(device_.stream(), kernels::SumOfSquares{.x = x, .bins = sum_.view()});
}

void Optimizer::clear_sum() {
  const Tensor zeros = tensor::empty_on_host(device_, sum_.shape(), sum_.dtype());
  std::ranges::fill(bins_of(zeros), 0);
  tensor::copy_bytes(device_, zeros, sum_);
}

/// The sum is exact, so that neither the number of ranks nor their pieces change a bit of it.
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
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].trained.counted) {
      add_squares(master(i));
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

}  // namespace mpitron::optim
