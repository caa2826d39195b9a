#pragma once
#include <string_view>

#include "config/optimizer_config.h"
#include "tensor/tensor.h"

namespace mpitron::optim {

// Muon (Jordan et al. 2024): of a matrix, what is subtracted times the learning rate is the average
// of its gradients, each part of it made orthogonal and scaled.
//
// Numerical contract: average and scale in fp32, element by element; the iteration in fp32 or bf16
// (matmul.h), from a norm that is an exact sum.

/// `average`, fp32, becomes m = mu m + (1 - mu) g with g = scale * gradient; what is made
/// orthogonal is m, or with nesterov mu m + (1 - mu) g of the new m. All flat, of any part of a
/// matrix.
tensor::Tensor muon_average(device::Device& device, const config::MuonConfig& config,
                            const tensor::Tensor& gradient, const tensor::Tensor& average,
                            float gradient_scale);

/// Returns the direction that is subtracted from such a matrix [out, in]; linear_qkv is taken apart
/// by its heads.
tensor::Tensor muon_direction(device::Device& device, const config::MuonConfig& config,
                              std::string_view name, const tensor::Tensor& average);

/// Newton-Schulz steps X <- a X + (b A + c A A) X, A = X X^T, from x [m, n] divided by its norm:
/// about U V^T of its singular value decomposition.
tensor::Tensor orthogonalised(device::Device& device, const config::MuonConfig& config,
                              const tensor::Tensor& x);

}  // namespace mpitron::optim
