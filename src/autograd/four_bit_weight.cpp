// Packs and unpacks weights in 4 bits. An unpacked weight lives for one product, so memory holds
// one at a time.
#include "autograd/four_bit_weight.h"

#include "autograd/context.h"
#include "kernels/linear/normal_float.h"
#include "utils/error.h"

namespace mpitron::autograd {

/// Refuses rows that are no whole groups on this rank: groups that ranks cut would have other
/// scales than in other layouts.
void pack_kept_weight(device::Device& device, Parameter& parameter) {
  if (!parameter.four_bits) {
    return;
  }
  const Shape& shape = parameter.value.shape();
  constexpr Index kGroup = kernels::kNormalFloatGroup;
  if (shape[1] % kGroup != 0) {
    throw_usage(
        "--lora-base-weights nf4: {} has {} inputs on a rank, which is no multiple of the {} "
        "weights that share a scale",
        parameter.name, shape[1], kGroup);
  }
  FourBitWeight& packed = *parameter.four_bits;
  if (!packed.codes) {
    packed.codes = Tensor::empty(device, {shape[0], shape[1] / 2}, DType::u8);
    packed.scales = Tensor::empty(device, {shape[0], shape[1] / kGroup}, DType::f16);
    packed.dtype = parameter.value.dtype();
  }
  device::launch(device.stream(), kernels::PackNormalFloat{.weight = parameter.value.view(),
                                                           .codes = packed.codes.view(),
                                                           .scales = packed.scales.view()});
  parameter.value = {};
}

void open_kept_weight(device::Device& device, Parameter& parameter) {
  if (parameter.four_bits) {
    parameter.value = Tensor::empty(device, parameter.local_shape(), parameter.four_bits->dtype);
  }
}

/// Takes memory of the weight's size, which lives as long as the caller keeps the result.
Tensor weight_numbers(Context& context, const Parameter& weight) {
  if (!weight.four_bits) {
    return weight.value;
  }
  const Tensor numbers = context.empty(weight.local_shape(), weight.four_bits->dtype);
  context.launch(kernels::UnpackNormalFloat{.codes = weight.four_bits->codes.view(),
                                            .scales = weight.four_bits->scales.view(),
                                            .weight = numbers.view()});
  return numbers;
}

}  // namespace mpitron::autograd
