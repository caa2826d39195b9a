#include "autograd/packed_weights.h"

#include "kernels/linear/packed_matmul.h"

namespace mpitron::autograd {

/// [heads, n, k], one behind the other.
Tensor PackedWeights::pack(const Tensor& weights) {
  const Index heads = weights.shape()[0], n = weights.shape()[1], k = weights.shape()[2];
  const Index bytes = kernels::packed_bytes(format_, n, k);
  const Tensor packed = Tensor::empty(device_, {heads * bytes}, DType::u8);
  for (Index head = 0; head < heads; ++head) {
    device::launch(
        device_.stream(),
        kernels::PackWeight{.weight = weights.slice(0, head, head + 1).reshape({n, k}).view(),
                            .packed = packed.slice(0, head * bytes, (head + 1) * bytes).view(),
                            .format = format_});
  }
  bytes_ += packed.view().bytes();
  return packed;
}

const Tensor& PackedWeights::of(const Parameter& weight) {
  const auto [place, missing] = whole_.try_emplace(&weight);
  if (missing) {
    const Shape& shape = weight.value.shape();
    place->second = pack(weight.value.reshape({1, shape[0], shape[1]}));
  }
  return place->second;
}

const Tensor& PackedWeights::of_heads(const Parameter& weight, int part,
                                      const std::function<Tensor()>& make) {
  const auto [place, missing] = of_heads_.try_emplace({&weight, part});
  if (missing) {
    place->second = pack(make());
  }
  return place->second;
}

}  // namespace mpitron::autograd
