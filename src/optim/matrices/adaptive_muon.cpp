#include "optim/matrices/adaptive_muon.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/optimizer.h"
#include "kernels/linear/moment_scale.h"
#include "optim/matrices/tensor_arithmetic.h"

// Divides Muon's directions by averages of their squares: of elements, or of rows or columns.

namespace mpitron::optim {
namespace {

using config::MuonMoments;
using device::Device;
using tensor::Tensor;

Tensor zeros(Device& device, const Shape& shape) {
  const Tensor x = Tensor::empty(device, shape, DType::f32);
  device::launch(device.stream(), kernels::Fill{.x = x.view(), .value = 0});
  return x;
}

/// Adam's step from zero, without momentum and at a rate of -1, is the quotient.
Tensor by_elements(Device& device, const config::MuonConfig& config, const Tensor& direction,
                   const Tensor& moments) {
  const Tensor quotient = zeros(device, direction.shape());
  device::launch(device.stream(),
                 kernels::AdamStep{.param = flat(quotient).view(),
                                   .exp_avg = flat(zeros(device, direction.shape())).view(),
                                   .exp_avg_sq = flat(moments).view(),
                                   .grad = flat(direction).view(),
                                   .model_param = {},
                                   .lr = -1,
                                   .beta1 = 0,
                                   .beta2 = static_cast<float>(config.moments_beta),
                                   .eps = static_cast<float>(config.moments_eps)});
  return quotient;
}

bool by_columns(const Shape& shape) {
  return shape[0] < shape[1];
}

Tensor by_lines(Device& device, const config::MuonConfig& config, const Tensor& direction,
                const Tensor& moments) {
  const Tensor quotient = Tensor::empty(device, direction.shape(), DType::f32);
  device::launch(device.stream(), kernels::MomentScale{.x = direction.view(),
                                                       .moments = moments.view(),
                                                       .y = quotient.view(),
                                                       .beta = config.moments_beta,
                                                       .eps = config.moments_eps,
                                                       .columns = by_columns(direction.shape())});
  return quotient;
}

}  // namespace

MatrixState adaptive_state(Device& device, const config::MuonConfig& config, const Shape& shape) {
  const Shape lines{shape[by_columns(shape) ? 1 : 0]};
  switch (config.moments) {
    case MuonMoments::adamuon:
      return {{"moment2_buffer", zeros(device, shape)}};
    case MuonMoments::normuon:
      return {{"moment2_buffer", zeros(device, lines)}};
    case MuonMoments::none:
      break;
  }
  return {};
}

Tensor adaptive_direction(Device& device, const config::MuonConfig& config, const Tensor& direction,
                          const MatrixState& state) {
  switch (config.moments) {
    case MuonMoments::adamuon:
      return by_elements(device, config, direction, state.front().numbers);
    case MuonMoments::normuon:
      return by_lines(device, config, direction, state.front().numbers);
    case MuonMoments::none:
      break;
  }
  return direction;
}

}  // namespace mpitron::optim
