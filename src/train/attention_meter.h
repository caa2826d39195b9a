#pragma once
#include "kernels/attention_choice.h"
#include "tensor/tensor.h"
#include "train/tuning_file.h"

namespace mpitron::train {

/// An attention layer of made-up numbers in the memory of a GPU, as training has it (one fused
/// qkv), on which the kernels for one shape are measured, by the GPU's own clock.
class AttentionMeter {
 public:
  /// `shape`: causal or not, with a window or without; s = s_kv, and nothing besides.
  AttentionMeter(device::Device& gpu, const kernels::AttentionShape& shape);

  /// Times of all kernels that can run it, and the fastest. One that fails, or whose results are
  /// not those of ours, is left out with a warning.
  MeasuredAttention measure();

 private:
  template <class Kernel>
  MeasuredAttention measure_pass(Kernel kernel, const device::ConstTensorView& result);
  template <class Kernel>
  double run_and_time(Kernel& kernel, kernels::AttentionKernel name);
  std::vector<float> numbers(const device::ConstTensorView& result);

  device::Device& gpu_;
  kernels::AttentionShape shape_;
  tensor::Tensor qkv_, o_, lse_, d_o_, dqkv_;
  kernels::AttentionForward forward_;
  kernels::AttentionBackward backward_;
};

}  // namespace mpitron::train
