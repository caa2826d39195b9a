#include "ops/attention/largest_scores.h"

#include <limits>

#include "kernels/attention/attention_largest.h"
#include "kernels/elementwise/elementwise.h"

namespace mpitron::ops {

tensor::Tensor largest_scores(Context& context, const tensor::Tensor& qkv,
                              const AttentionSettings& settings) {
  const tensor::Tensor largest = context.empty({settings.layout.heads}, DType::f32);
  context.launch(kernels::Fill{.x = largest.view(), .value = std::numeric_limits<float>::lowest()});
  const device::ConstTensorView view = qkv.view();
  context.launch(kernels::AttentionLargest{.q = settings.layout.queries(view),
                                           .k = settings.layout.keys(view),
                                           .largest = largest.view(),
                                           .scale = settings.scale,
                                           .causal = settings.causal,
                                           .window = settings.window});
  return largest;
}

}  // namespace mpitron::ops
