#pragma once
#include "kernels/linear/matmul.h"

namespace mpitron::kernels::cuda {

/// Finishes a product behind its sums, where cuBLASLt has no epilogue for it: c = activation(sums +
/// bias), rounded once, or with `accumulate` c += sums.
struct ProductFinish {
  static constexpr const char* name = "product_finish";
  In sums;  // [m, n] fp32 or fp64; may be c
  In bias;  // [n], optional: fp32, bf16, fp16, or fp64
  InOut c;  // [m, n] fp32, bf16, fp16 or fp64
  Activation activation = Activation::none;
  bool accumulate = false;
};

void run(device::CudaStream&, const ProductFinish&);

}  // namespace mpitron::kernels::cuda
