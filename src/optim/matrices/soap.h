#pragma once
#include "config/optimizer_config.h"
#include "optim/matrices/matrix_state.h"

namespace mpitron::optim {

// SOAP (Vyas et al. 2024): Adam among the eigenvectors of averages of G G^T and G^T G, by default
// KL-Shampoo's (Lin et al. 2025), which divide what they average by the other side's eigenvalues.
// As Megatron-Core 0.19 with emerging_optimizers 0.2.0: the first bases are eigenvectors, each
// later one a step of orthogonal iteration.
//
// Numerical contract: all of it in fp64 (kernels/linear/soap.h, kernels/linear/eigenbasis.h), state
// too; the direction is rounded once. A gradient lies in the space of its eigenvectors but for
// rounding, and Adam divides what it finds by its own size: what fp32 rounds would come out as
// large as everything else. Signs of eigenvectors cancel.

/// Returns the state before the first update of a matrix [m, n]: exp_avg and exp_avg_sq [m, n], L
/// and Q_L [m, m], R and Q_R [n, n]; an eigenvector is a row. exp_avg is the average of gradients,
/// not turned into any basis.
MatrixState soap_state(device::Device& device, const Shape& shape);

/// Takes a gradient [m, n], fp32, into the state and returns the direction, fp32, that is
/// subtracted times the learning rate. `update`: its number, from 1.
tensor::Tensor soap_direction(device::Device& device, const config::OptimizerConfig& config,
                              const tensor::Tensor& gradient, MatrixState& state, Index update);

}  // namespace mpitron::optim
