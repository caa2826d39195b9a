#pragma once
#include <vector>

#include "device/device.h"
#include "device/tensor_view.h"

// What kernels that are measured against each other must agree in.
namespace mpitron::train {

/// Roundings of bf16 in another order, over the largest number.
constexpr double kLargestDifference = 0x1p-5;

/// The numbers of a contiguous tensor of a floating-point type.
std::vector<float> numbers_of(device::Device& device, const device::ConstTensorView& result);

/// Largest difference over the largest number; infinite where one is NaN. Of equal sizes.
double difference_of(const std::vector<float>& got, const std::vector<float>& expected);

}  // namespace mpitron::train
