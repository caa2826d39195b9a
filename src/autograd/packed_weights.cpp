#include "autograd/packed_weights.h"

#include "kernels/linear/packed_matmul.h"

namespace mpitron::autograd {

const Tensor& PackedWeights::of(const Parameter& weight) {
  const auto [place, missing] = packed_.try_emplace(&weight);
  if (missing) {
    const Shape& shape = weight.value.shape();
    place->second = Tensor::empty(device_, {kernels::packed_elements(shape[0], shape[1])}, type_);
    device::launch(device_.stream(), kernels::PackWeight{.weight = weight.value.view(),
                                                         .packed = place->second.view()});
    bytes_ += place->second.view().bytes();
  }
  return place->second;
}

}  // namespace mpitron::autograd
