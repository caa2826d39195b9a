#pragma once
#include "kernels/attention/attention_choice.h"
#include "tensor/tensor.h"
#include "train/tuning/tuning_file.h"

namespace mpitron::train {

/// An attention layer of made-up numbers in the memory of a GPU, as training has it (one fused qkv,
/// or where the lengths differ queries and fused keys and values), on which the kernels for one
/// shape are measured, by the GPU's own clock.
class AttentionMeter {
 public:
  /// `shape`: without bias and dropout.
  AttentionMeter(device::Device& gpu, const kernels::AttentionShape& shape);

  /// Times of all kernels that can run it, and the fastest. One that fails, or whose results are
  /// not those of ours, is left out with a warning.
  MeasuredAttention measure();

 private:
  template <class Kernel>
  void set_inputs(Kernel& kernel) const;
  template <class Kernel>
  MeasuredAttention measure_pass(Kernel kernel, const std::vector<tensor::Tensor>& results);
  template <class Kernel>
  double run_and_time(Kernel& kernel, kernels::AttentionKernel name);

  /// Where keys, and behind them values, begin in the rows of their tensor.
  Index first_key() const;
  Index heads_of_group() const { return shape_.n / shape_.g; }

  device::Device& gpu_;
  kernels::AttentionShape shape_;
  tensor::Tensor queries_, keys_, mask_, o_, lse_, d_o_;
  tensor::Tensor d_queries_, d_keys_;  // of backward
};

}  // namespace mpitron::train
