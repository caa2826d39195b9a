// Finds the largest scores of heads for QK-clip, from the queries and keys of a forward pass.
// Nothing is recorded: the numbers go to the optimizer and have no gradient.
#include "ops/attention/largest_scores.h"

#include <limits>

#include "kernels/attention/attention_largest.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/attention/context_attention.h"

namespace mpitron::ops {

tensor::Tensor largest_scores(Context& context, const tensor::Tensor& qkv,
                              const AttentionSettings& settings, comm::Group* group) {
  const tensor::Tensor largest = context.empty({settings.layout.heads}, DType::f32);
  context.launch(kernels::Fill{.x = largest.view(), .value = std::numeric_limits<float>::lowest()});
  const device::ConstTensorView view = qkv.view();
  kernels::AttentionLargest kernel{.q = settings.layout.queries(view),
                                   .k = settings.layout.keys(view),
                                   .largest = largest.view(),
                                   .scale = settings.scale,
                                   .causal = settings.causal,
                                   .window = settings.window,
                                   .chunk = settings.chunk};
  if (settings.mask) {
    kernel.mask = settings.mask.view();
  }
  tensor::Tensor keys;
  if (group != nullptr && group->size() > 1) {
    keys = gathered_keys(context, qkv, settings.layout, *group);
    kernel.k = device::slice(device::ConstTensorView(keys), 3, 0, settings.layout.head_dim);
    kernel.queries = zigzag_slice(qkv.shape()[0] * group->size(), group->size(), group->rank()).map;
  }
  context.launch(kernel);
  return largest;
}

}  // namespace mpitron::ops
