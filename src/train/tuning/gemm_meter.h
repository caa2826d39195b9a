#pragma once
#include "kernels/linear/gemm_choice.h"
#include "tensor/tensor.h"
#include "train/tuning/tuning_file.h"

namespace mpitron::train {

/// A matrix product of made-up numbers in the memory of a GPU, on which cuBLASLt's algorithms for
/// one shape are measured, by the GPU's own clock.
class GemmMeter {
 public:
  GemmMeter(device::Device& gpu, const kernels::GemmShape& shape);

  /// Times of the library's own choice and of what else it names, and the fastest. One that fails,
  /// does not repeat its bits, or has other results, is left out with a warning.
  MeasuredGemm measure();

 private:
  /// c after one product into zeros; of many elements the first.
  std::vector<float> result();
  MeasuredGemm::Trial try_out(const std::optional<kernels::GemmAlgorithm>& algorithm);

  device::Device& gpu_;
  kernels::GemmShape shape_;
  tensor::Tensor a_, b_, bias_, factors_, c_;
  kernels::GemmOfShape kernel_;
  std::vector<float> expected_;  // of the library's own choice
};

}  // namespace mpitron::train
