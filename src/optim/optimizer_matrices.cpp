// Updates matrices by directions that are made of whole ones, each on one rank, which also has what
// a rule keeps of the whole.
#include <fmt/format.h>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/optimizer.h"
#include "optim/matrices/adaptive_muon.h"
#include "optim/matrices/muon.h"
#include "optim/matrices/soap.h"
#include "optim/matrices/tensor_arithmetic.h"
#include "optim/optimizer.h"
#include "utils/text/hash.h"

namespace mpitron::optim {

using tensor::Tensor;

namespace {

/// What a rule takes for the matrix: all of it, or this rank's shard apart.
Shape matrix_shape(const tensor::ShardedTensor& place, bool apart) {
  return apart ? place.shard.local(place.shape) : place.shape;
}

}  // namespace

bool Optimizer::cut_apart(const Slot& slot) const {
  return slot.rule == Rule::muon && config_.muon.blockwise && !slot.trained.place.shard.whole();
}

/// A piece that a tensor rank has of its own shard alone, blockwise, is one of another matrix.
std::vector<MatrixPiece> Optimizer::matrix_pieces() {
  std::vector<MatrixPiece> pieces;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].rule != Rule::muon && slots_[i].rule != Rule::soap) {
      continue;
    }
    const tensor::ShardedTensor& place = slots_[i].trained.place;
    const bool apart = cut_apart(slots_[i]);
    const Index first = apart ? place.shard.ranges.front().begin : 0;
    matrices_.push_back(i);
    pieces.push_back({.matrix = hash64(place.name, static_cast<std::uint64_t>(first)),
                      .shape = matrix_shape(place, apart),
                      .shard = apart ? tensor::Shard() : place.shard,
                      .begin = place.begin,
                      .numel = slots_[i].trained.value.numel()});
  }
  return pieces;
}

void Optimizer::make_matrix_states() {
  for (const std::size_t piece : exchange_->worked_on()) {
    const Slot& slot = slots_[matrices_[piece]];
    const Shape shape = matrix_shape(slot.trained.place, cut_apart(slot));
    matrix_states_.emplace(piece, config_.optimizer == Rule::soap
                                      ? soap_state(device_, shape)
                                      : adaptive_state(device_, config_.muon, shape));
  }
}

/// A part of the matrix's own shape has the place of what the matrix is taken for.
void Optimizer::show_matrix_states(tensor::StateVisitor& visitor) {
  for (const auto& [piece, state] : matrix_states_) {
    const Slot& slot = slots_[matrices_[piece]];
    for (const MatrixPart& part : state) {
      tensor::ShardedTensor place = slot.trained.place;
      const bool elements = part.numbers.shape().rank() == 2 && cut_apart(slot);
      place.name = fmt::format("optimizer/{}/{}", part.kind, place.name);
      place.shape = elements ? place.shape : part.numbers.shape();
      place.shard = elements ? place.shard : tensor::Shard();
      place.begin = 0;
      place.value = flat(part.numbers).view();
      visitor.tensor(place);
    }
  }
}

/// What of a piece comes together: Muon's average, or SOAP's gradient.
Tensor Optimizer::part_of(const Slot& slot, float gradient_scale) {
  const Tensor gradient = flat(slot.trained.main_grad);
  return slot.rule == Rule::soap
             ? scaled(device_, converted(device_, gradient, DType::f32), gradient_scale)
             : muon_average(device_, config_.muon, gradient, slot.first.values(), gradient_scale);
}

Tensor Optimizer::direction_of(std::size_t piece, const Tensor& matrix) {
  const Slot& slot = slots_[matrices_[piece]];
  if (slot.rule == Rule::soap) {
    return soap_direction(device_, config_, matrix, matrix_states_.at(piece), updates_);
  }
  return adaptive_direction(device_, config_.muon,
                            muon_direction(device_, config_.muon, slot.trained.traits.name, matrix),
                            matrix_states_.at(piece));
}

void Optimizer::update_matrices(const RuleInputs& inputs) {
  const auto slot_of = [this](std::size_t piece) -> const Slot& {
    return slots_[matrices_[piece]];
  };
  exchange_->run(
      {.give = [&](std::size_t piece) { return part_of(slot_of(piece), inputs.gradient_scale); },
       .make = [&](std::size_t piece,
                   const Tensor& average) { return direction_of(piece, average); },
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
