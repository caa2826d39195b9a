#pragma once
#include <string_view>

#include "config/optimizer_config.h"
#include "tensor/tensor.h"

namespace mpitron::optim {

/// A matrix that Muon (Jordan et al. 2024) updates, whole; all flat.
struct MuonMatrix {
  std::string_view name;  // linear_qkv is taken apart by its heads
  Shape shape;            // [out, in]
  tensor::Tensor gradient;
  tensor::Tensor momentum;  // fp32; becomes the new average
};

/// What is subtracted, times the learning rate, from the matrix, fp32: the average of gradients
/// m = mu m + (1 - mu) g (with nesterov mu m + (1 - mu) g of the new m), each part of it made
/// orthogonal and scaled.
///
/// Numerical contract: average and scale in fp32; the iteration in fp32 or bf16 (matmul.h), from a
/// norm that is an exact sum.
tensor::Tensor muon_update(device::Device& device, const config::MuonConfig& config,
                           const MuonMatrix& matrix, float gradient_scale);

/// Newton-Schulz steps X <- a X + (b A + c A A) X, A = X X^T, from x [m, n] divided by its norm:
/// about U V^T of its singular value decomposition.
tensor::Tensor orthogonalised(device::Device& device, const config::MuonConfig& config,
                              const tensor::Tensor& x);

}  // namespace mpitron::optim
