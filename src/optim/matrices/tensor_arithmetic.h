#pragma once
#include <algorithm>
#include <cmath>

#include "device/launch.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/optimizer.h"
#include "kernels/linear/matmul.h"
#include "tensor/host_copy.h"
#include "tensor/tensor.h"
#include "utils/numbers/exact_sum.h"

namespace mpitron::optim {

// Arithmetic of whole tensors, each in one kernel.

/// All elements of a contiguous tensor in a row, whose memory it shares.
inline tensor::Tensor flat(const tensor::Tensor& x) {
  return x.reshape({x.numel()});
}

template <class Kernel>
void launch_with_workspace(device::Device& device, Kernel kernel) {
  tensor::Tensor workspace;
  if (const Index bytes = device::workspace_bytes_of(device.stream(), kernel); bytes > 0) {
    workspace = tensor::Tensor::empty(device, {bytes}, DType::u8);
    kernel.workspace = workspace.view();
  }
  device::launch(device.stream(), kernel);
}

inline tensor::Tensor scaled(device::Device& device, const tensor::Tensor& x, float factor) {
  const tensor::Tensor y = tensor::Tensor::empty(device, x.shape(), x.dtype());
  device::launch(device.stream(), kernels::Scale{.x = x.view(), .y = y.view(), .factor = factor});
  return y;
}

inline void add(device::Device& device, const tensor::Tensor& to, const tensor::Tensor& x) {
  device::launch(device.stream(), kernels::Add{.a = to.view(), .b = x.view(), .y = to.view()});
}

inline tensor::Tensor converted(device::Device& device, const tensor::Tensor& x, DType dtype) {
  const tensor::Tensor y = tensor::Tensor::empty(device, x.shape(), dtype);
  device::launch(device.stream(), kernels::Cast{.x = x.view(), .y = y.view()});
  return y;
}

/// Returns the norm of all elements, the same in any pieces.
inline double norm(device::Device& device, const tensor::Tensor& x) {
  const tensor::Tensor zeros = tensor::empty_on_host(device, {exact_sum::kBins}, DType::i64);
  const auto bins = [](const tensor::Tensor& sum) {
    return exact_sum::Bins(sum.data<std::int64_t>(), exact_sum::kBins);
  };
  std::ranges::fill(bins(zeros), 0);
  const tensor::Tensor sum = tensor::to_device(device, zeros);
  device::launch(device.stream(), kernels::SumOfSquares{.x = flat(x).view(), .bins = sum.view()});
  const tensor::Tensor known = tensor::to_host(device, sum);
  exact_sum::carry(bins(known));
  return std::sqrt(exact_sum::value(bins(known)));
}

}  // namespace mpitron::optim
