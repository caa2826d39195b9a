// Looks T5's relative bias up: one embedding row for each bucket of distances, made once for a pass
// and used by all layers of the stack.
#include "nn/attention/relative_position_bias.h"

#include <algorithm>
#include <cmath>

#include "ops/elementwise/embedding.h"
#include "tensor/host_copy.h"

namespace mpitron::nn {

/// Half of the buckets of a direction are single distances, the others grow logarithmically up to
/// max_distance; from there on all share the last one (Raffel et al. 2020).
Index RelativeBuckets::operator()(Index distance) const {
  const Index half = bidirectional ? count / 2 : count;
  const Index first = bidirectional && distance > 0 ? half : 0;
  const Index n = bidirectional ? std::abs(distance) : std::max<Index>(-distance, 0);
  const Index exact = half / 2;
  if (n < exact) {
    return first + n;
  }
  // In fp32, as the reference: a last bit decides on which side of a border a distance falls.
  const float ratio =
      std::log(static_cast<float>(n) / static_cast<float>(exact)) /
      static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact)));
  const auto logarithmic = static_cast<Index>(ratio * static_cast<float>(half - exact));
  return first + std::min(exact + logarithmic, half - 1);
}

RelativePositionBias::RelativePositionBias(const Builder& builder, device::Device& device, Index s,
                                           bool bidirectional) {
  const config::ModelConfig& config = builder.config();
  const RelativeBuckets bucket{config.relative_attention_num_buckets,
                               config.relative_attention_max_distance, bidirectional};
  const tensor::Tensor buckets = tensor::empty_on_host(device, {2 * s - 1, 1}, DType::i64);
  for (Index i = 0; i < 2 * s - 1; ++i) {
    buckets.data<std::int64_t>()[i] = bucket(i - (s - 1));
  }
  buckets_ = tensor::to_device(device, buckets);
  table_ =
      &builder.matrix("relative_attention_bias.weight", bucket.count, config.num_attention_heads);
  table_->placement.sum_over_tensor =
      builder.tensor_parallel().shared();  // each rank knows its heads
}

autograd::Var RelativePositionBias::forward(autograd::Context& context) const {
  return ops::embedding(context, {buckets_, {}}, *table_, nullptr);
}

}  // namespace mpitron::nn
