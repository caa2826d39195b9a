#pragma once
#include "config/optimizer_config.h"
#include "optim/matrices/matrix_state.h"

namespace mpitron::optim {

// Adaptive Muon: Muon's scaled directions, divided by roots of averages of their squares. As in
// Megatron-Core 0.19 with the optimizers that it pins (emerging_optimizers 0.2.0), a direction is
// scaled before it is squared, so that the quotient does not grow with the scale.
//
// Numerical contract: kernels::AdamStep without momentum (AdaMuon), kernels::MomentScale (NorMuon);
// averages in fp32, of whole matrices.

/// Returns averages that are zero, of a matrix [out, in]: "moment2_buffer", [out, in], or with
/// NorMuon of each line along the longer side, [out] or [in]. Nothing for Muon itself.
MatrixState adaptive_state(device::Device& device, const config::MuonConfig& config,
                           const Shape& shape);

/// Takes a direction's squares into the averages and returns the quotient; of Muon itself the
/// direction.
tensor::Tensor adaptive_direction(device::Device& device, const config::MuonConfig& config,
                                  const tensor::Tensor& direction, const MatrixState& state);

}  // namespace mpitron::optim
