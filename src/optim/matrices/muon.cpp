// Computes Muon's direction: momentum in fp32, orthogonalisation (newton_schulz.cpp), scaling by
// the matrix's shape. A fused matrix is cut into its parts first.
#include "optim/matrices/muon.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/elementwise/elementwise.h"
#include "optim/matrices/tensor_arithmetic.h"

namespace mpitron::optim {
namespace {

using device::Device;
using tensor::Tensor;

/// sqrt(max(out, in)), sqrt(out / in) or sqrt(max(1, out / in)): how large an orthogonal update of
/// this shape is to be.
double scale_of(const config::MuonConfig& config, Index out, Index in) {
  const auto o = static_cast<double>(out), i = static_cast<double>(in);
  switch (config.scale) {
    case config::MuonScale::unit_rms_norm:
      return config.extra_scale * std::sqrt(o / i);
    case config::MuonScale::shape_scaling:
      return config.extra_scale * std::sqrt(std::max(1.0, o / i));
    case config::MuonScale::spectral:
      break;
  }
  return config.extra_scale * std::sqrt(std::max(o, i));
}

/// Rows of the parts that are made orthogonal each on its own, within every query group; one part
/// with all rows where the matrix stays whole.
std::vector<Index> parts_of(const config::MuonConfig& config, std::string_view name, Index rows) {
  const bool split = name.ends_with("linear_qkv.weight") && !config.qkv_rows.empty();
  return split ? config.qkv_rows : std::vector<Index>{rows};
}

}  // namespace

Tensor muon_average(Device& device, const config::MuonConfig& config, const Tensor& gradient,
                    const Tensor& average, float gradient_scale) {
  const auto mu = static_cast<float>(config.momentum);
  const Tensor fresh = scaled(device, converted(device, gradient, DType::f32),
                              static_cast<float>(1 - config.momentum) * gradient_scale);
  device::launch(device.stream(),
                 kernels::Scale{.x = average.view(), .y = average.view(), .factor = mu});
  add(device, average, fresh);
  if (!config.nesterov) {
    return average;
  }
  add(device, fresh, scaled(device, average, mu));
  return fresh;
}

Tensor muon_direction(Device& device, const config::MuonConfig& config, std::string_view name,
                      const Tensor& average) {
  const Index columns = average.shape()[1];
  const std::vector<Index> parts = parts_of(config, name, average.shape()[0]);
  const Index rows = std::accumulate(parts.begin(), parts.end(), Index{0});
  const Index groups = average.shape()[0] / rows;
  const Tensor update = Tensor::empty(device, average.shape(), DType::f32);
  const Tensor to = update.reshape({groups, rows, columns});
  const Tensor from = average.reshape({groups, rows, columns});
  Index begin = 0;
  for (const Index count : parts) {
    const Tensor part = converted(device, from.slice(1, begin, begin + count), DType::f32)
                            .reshape({groups * count, columns});
    const Tensor made = scaled(device, orthogonalised(device, config, part),
                               static_cast<float>(scale_of(config, groups * count, columns)));
    device::launch(device.stream(),
                   kernels::Cast{.x = made.reshape({groups, count, columns}).view(),
                                 .y = to.slice(1, begin, begin + count).view()});
    begin += count;
  }
  return update;
}

}  // namespace mpitron::optim
