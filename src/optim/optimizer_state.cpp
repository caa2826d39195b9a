// Shows the optimizer's states to a visitor and takes loaded ones. A master that no checkpoint had
// is made of the loaded parameter.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/elementwise/elementwise.h"
#include "optim/matrices/tensor_arithmetic.h"
#include "optim/optimizer.h"
#include "tensor/host_copy.h"

namespace mpitron::optim {

using tensor::Tensor;

/// Makes the master what the parameter is.
void Optimizer::adopt_value(const Slot& slot) {
  const Tensor numbers = slot.master.plain()
                             ? slot.master.values()
                             : Tensor::empty(*slot.home, slot.value.shape(), DType::f32);
  device::launch(slot.home->stream(), kernels::Cast{.x = slot.value.view(), .y = numbers.view()});
  if (!slot.master.plain()) {
    slot.master.write(*slot.home, numbers);
  }
}

/// Values that a visit has shown go back to the device, and masters follow the parameters where
/// only these were loaded.
void Optimizer::state_loaded(bool masters_too) {
  for (const Slot& slot : slots_) {
    if (!on_device(slot)) {
      tensor::copy_bytes(device_, flat(slot.trained.value), slot.value);
    }
  }
  if (host_) {
    host_->wait();
  }
  write_shown();
  for (const Slot& slot : slots_) {
    if (has_master(slot) && !masters_too) {
      adopt_value(slot);
    }
    if (!on_device(slot) && slot.master.has_upper()) {
      host_->send(slot.value, flat(slot.trained.value));
    }
  }
  if (host_) {
    host_->wait();
  }
}

Index Optimizer::state_bytes(const device::Device& home) const {
  Index bytes = 0;
  for (const Slot& slot : slots_) {
    if (slot.home == &home) {
      bytes += slot.first ? slot.first.bytes() : 0;
      bytes += slot.second ? slot.second.bytes() : 0;
      bytes += has_master(slot) ? slot.master.bytes() : 0;
      bytes += on_device(slot) ? 0 : slot.value.view().bytes();
    }
  }
  for (const auto& [piece, state] : matrix_states_) {
    for (const MatrixPart& part : state) {
      bytes += &home == &device_ ? part.numbers.view().bytes() : 0;
    }
  }
  return bytes;
}

/// State that is stored in another type is shown as fp32 in the host's memory.
Tensor Optimizer::shown(const StoredState& state, device::Device& home) {
  const Tensor numbers = tensor::empty_on_host(device_, state.values().shape(), DType::f32);
  if (home.tensors_on_host()) {
    state.read(home, numbers);
  } else {
    const Tensor there = Tensor::empty(home, numbers.shape(), DType::f32);
    state.read(home, there);
    tensor::copy_bytes(home, there, numbers);
  }
  shown_.push_back({&state, &home, numbers});
  return numbers;
}

void Optimizer::write_shown() {
  for (const Shown& shown : shown_) {
    device::Device& home = *shown.home;
    shown.state->write(home, tensor::to_device(home, shown.numbers));
  }
  shown_.clear();
}

void Optimizer::show(const Slot& slot, const char* kind, const StoredState& state,
                     tensor::StateVisitor& visitor) {
  tensor::ShardedTensor place = slot.trained.place;
  place.name = fmt::format("optimizer/{}/{}", kind, place.name);
  place.value = (state.plain() ? state.values() : shown(state, *slot.home)).view();
  visitor.tensor(place);
}

void Optimizer::show_masters(tensor::StateVisitor& visitor) {
  for (const Slot& slot : slots_) {
    if (has_master(slot)) {
      show(slot, "fp32_param", slot.master, visitor);
    }
  }
}

void Optimizer::visit_masters(tensor::StateVisitor& visitor) {
  shown_.clear();
  show_masters(visitor);
}

/// Names are those of torch's optimizers: exp_avg and exp_avg_sq, or momentum_buffer.
void Optimizer::visit_state(tensor::StateVisitor& visitor) {
  shown_.clear();
  show_masters(visitor);
  for (const Slot& slot : slots_) {
    const bool average = slot.rule == Rule::adam || slot.rule == Rule::lion;
    if (slot.first) {
      show(slot, average ? "exp_avg" : "momentum_buffer", slot.first, visitor);
    }
    if (slot.rule == Rule::adam) {
      show(slot, "exp_avg_sq", slot.second, visitor);
    }
  }
  show_matrix_states(visitor);
  visitor.number("optimizer/updates", updates_);
}

/// Returns a master in fp32 on the device of the model, whatever it is stored as.
Tensor Optimizer::master(std::size_t index) {
  const Slot& slot = slots_[index];
  if (on_device(slot) && slot.master.values().dtype() == DType::f32) {
    return slot.master.values();
  }
  const Tensor numbers = Tensor::empty(*slot.home, slot.value.shape(), DType::f32);
  slot.master.read(*slot.home, numbers);
  return on_device(slot) ? numbers : tensor::to_device(device_, numbers);
}

/// Rows of one factor are scaled together.
void Optimizer::scale_rows(std::size_t index, std::span<const float> factors, Index width) {
  const Slot& slot = slots_[index];
  const Tensor master = this->master(index);
  const Index first = slot.trained.place.begin, last = first + master.numel();
  const auto rows = static_cast<Index>(factors.size());
  for (Index row = 0, end = 0; row < rows; row = end) {
    const auto same = [&](Index at) {
      return factors[static_cast<std::size_t>(at)] == factors[static_cast<std::size_t>(row)];
    };
    for (end = row + 1; end < rows && same(end); ++end) {
    }
    const Index from = std::max(first, row * width), to = std::min(last, end * width);
    if (from < to) {
      const Tensor part = master.slice(0, from - first, to - first);
      device::launch(device_.stream(),
                     kernels::Scale{.x = part.view(),
                                    .y = part.view(),
                                    .factor = factors[static_cast<std::size_t>(row)]});
    }
  }
  store_master(slot, master);
}

/// Stores a master, where it is not the parameter itself.
void Optimizer::store_master(const Slot& slot, const Tensor& master) {
  const Tensor numbers = on_device(slot) ? master : tensor::to_host(device_, master);
  if (!slot.master.plain() || slot.master.values().dtype() != DType::f32) {
    slot.master.write(*slot.home, numbers);
  }
  if (has_master(slot) && !slot.master.has_upper()) {
    device::launch(slot.home->stream(), kernels::Cast{.x = numbers.view(), .y = slot.value.view()});
  }
  if (!on_device(slot)) {
    host_->send(slot.value, flat(slot.trained.value));
    host_->wait();
  }
}

}  // namespace mpitron::optim
