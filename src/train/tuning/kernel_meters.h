#pragma once
#include <vector>

#include "device/device.h"
#include "device/tensor_view.h"
#include "kernels/attention/attention_choice.h"
#include "kernels/linear/gemm_choice.h"
#include "tensor/tensor.h"
#include "train/tuning/tuning_file.h"

// Meters time what can compute one shape on a GPU, and compare the results.
namespace mpitron::train {

/// Bound of a difference, over the largest number: roundings of bf16 in another order.
constexpr double kLargestDifference = 0x1p-5;

/// Returns the numbers of a contiguous tensor of a floating-point type.
std::vector<float> numbers_of(device::Device& device, const device::ConstTensorView& result);

/// Returns the largest difference over the largest number; infinite where one is NaN. Of equal
/// sizes.
double difference_of(const std::vector<float>& got, const std::vector<float>& expected);

/// An attention layer of made-up numbers in the memory of a GPU, as training has it (one fused qkv,
/// or where the lengths differ queries and fused keys and values), on which the kernels for one
/// shape are measured, by the GPU's own clock.
class AttentionMeter {
 public:
  /// `shape`: without bias and dropout.
  AttentionMeter(device::Device& gpu, const kernels::AttentionShape& shape);

  /// Times all kernels that can run it, and chooses the fastest. One that fails, or whose results
  /// are not those of ours, is left out with a warning.
  MeasuredAttention measure();

 private:
  template <class Kernel>
  void set_inputs(Kernel& kernel) const;
  template <class Kernel>
  MeasuredAttention measure_pass(Kernel kernel, const std::vector<tensor::Tensor>& results);
  template <class Kernel>
  double run_and_time(Kernel& kernel, kernels::AttentionKernel name);

  /// Returns where keys, and behind them values, begin in the rows of their tensor.
  Index first_key() const;
  Index heads_of_group() const { return shape_.n / shape_.g; }

  device::Device& gpu_;
  kernels::AttentionShape shape_;
  tensor::Tensor queries_, keys_, mask_, o_, lse_, d_o_;
  tensor::Tensor d_queries_, d_keys_;  // of backward
};

/// A matrix product of made-up numbers in the memory of a GPU, on which cuBLASLt's algorithms for
/// one shape are measured, by the GPU's own clock.
class GemmMeter {
 public:
  GemmMeter(device::Device& gpu, const kernels::GemmShape& shape);

  /// Times the library's own choice and what else it names, and chooses the fastest. One that
  /// fails, does not repeat its bits, or has other results, is left out with a warning.
  MeasuredGemm measure();

 private:
  /// Returns c after one product into zeros; of many elements the first.
  std::vector<float> result();
  MeasuredGemm::Trial try_out(const std::optional<kernels::GemmAlgorithm>& algorithm);

  device::Device& gpu_;
  kernels::GemmShape shape_;
  tensor::Tensor a_, b_, bias_, factors_, c_;
  kernels::GemmOfShape kernel_;
  std::vector<float> expected_;  // of the library's own choice
};

}  // namespace mpitron::train
