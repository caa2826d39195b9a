#include "train/tuning/kernel_meters.h"

#include <algorithm>
#include <cmath>

#include "device/copy.h"
#include "device/launch.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/tensor.h"

namespace mpitron::train {

std::vector<float> numbers_of(device::Device& device, const device::ConstTensorView& result) {
  const tensor::Tensor wide = tensor::Tensor::empty(device, result.shape, DType::f32);
  device::launch(device.stream(), kernels::Cast{.x = result, .y = wide.view()});
  std::vector<float> values(static_cast<std::size_t>(result.numel()));
  device::copy_bytes(device.stream(), values.data(), wide.view().data, wide.view().bytes());
  device::synchronize(device.stream());
  return values;
}

/// The largest difference over the largest number of what is expected; infinite where one is NaN.
double difference_of(const std::vector<float>& got, const std::vector<float>& expected) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double delta = std::abs(static_cast<double>(got[i]) - expected[i]);
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    difference = std::isnan(delta) ? INFINITY : std::max(difference, delta);
  }
  return difference == 0 ? 0 : difference / largest;
}

}  // namespace mpitron::train
