// Keeps numbers in narrow types, read and written as fp32 through the kernels of stored_numbers.h.
#include "optim/stored_state.h"

#include "kernels/elementwise/elementwise.h"

namespace mpitron::optim {

using tensor::Tensor;

StoredState StoredState::zeros(device::Device& device, Index n, DType dtype, bool keeps_nonzero) {
  StoredState state(Tensor::empty(device, {n}, dtype));
  state.keeps_nonzero_ = keeps_nonzero;
  if (dtype == DType::f16 || dtype == DType::u8) {
    state.exponents_ = Tensor::empty(device, {kernels::StoredNumbers::blocks(n)}, DType::u8);
  }
  const Tensor zeros = state.plain() ? state.values_ : Tensor::empty(device, {n}, DType::f32);
  device::launch(device.stream(), kernels::Fill{.x = zeros.view(), .value = 0});
  if (!state.plain()) {
    state.write(device, zeros);
  }
  return state;
}

StoredState StoredState::below(device::Device& device, Tensor upper) {
  StoredState state(Tensor::empty(device, {upper.numel()}, DType::i16));
  state.upper_ = std::move(upper);
  return state;
}

kernels::StoredNumbers StoredState::view() const {
  const auto optional = [](const Tensor& x) {
    return x ? kernels::InOut(x.view()) : kernels::InOut();
  };
  return {values_.view(), optional(exponents_), optional(upper_), keeps_nonzero_};
}

Index StoredState::bytes() const {
  return values_.view().bytes() + exponents_.view().bytes();
}

void StoredState::read(device::Device& device, const Tensor& numbers) const {
  device::launch(device.stream(), kernels::ReadStored{.x = view(), .y = numbers.view()});
}

void StoredState::write(device::Device& device, const Tensor& numbers) const {
  device::launch(device.stream(), kernels::WriteStored{.x = numbers.view(), .y = view()});
}

}  // namespace mpitron::optim
