// Embeds patches of images. Patches arrive cut and in rows, so the convolution of other programs is
// one linear layer here.
#include "nn/layers/patch_embedding.h"

#include <cmath>

#include "nn/base/branch.h"
#include "ops/elementwise/bias_dropout_add.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/embedding.h"
#include "ops/linear/linear.h"
#include "ops/parallel/sequence_rows.h"
#include "ops/parallel/tensor_parallel_regions.h"

namespace mpitron::nn {

using autograd::Var;

PatchEmbedding::PatchEmbedding(const Builder& builder)
    : shared_(builder.tensor_parallel()),
      hidden_dropout_(builder.config().hidden_dropout),
      class_tokens_(builder.config().vision.class_tokens),
      dtype_(builder.config().params_dtype),
      fp32_residual_(builder.config().fp32_residual_connection) {
  const config::VisionConfig& vision = builder.config().vision;
  const Index h = builder.config().hidden_size, width = vision.patch_width();
  const autograd::Initialization start = uniform_of_inputs(width);
  if (class_tokens_ > 0) {
    tokens_ = &builder.parameter("cls_token", {class_tokens_, h}, {}, {});
  }
  weight_ = &builder.parameter("linear_encoder.weight", {h, width}, {}, start);
  bias_ = &builder.parameter("linear_encoder.bias", {h}, {}, start);
  positions_ = &builder.embedding("position_embeddings.weight", vision.positions(), h);
}

Var PatchEmbedding::forward(autograd::Context& context, const tensor::Tensor& patches,
                            const tensor::Tensor& positions) const {
  const Var input = autograd::constant(ops::converted(context, patches, dtype_));
  Var x = ops::linear(context, input, *weight_, bias_);
  if (tokens_ != nullptr) {
    const tensor::Tensor rows = positions.slice(0, 0, class_tokens_);
    x = ops::join_rows(context, ops::embedding(context, {rows, {}}, *tokens_, nullptr), x);
  }
  const Var places = ops::embedding(context, {positions, {}}, *positions_, nullptr);
  x = ops::bias_dropout_add(context, x, nullptr, places, {});
  if (shared_.cuts_sequence()) {
    x = ops::scatter_to_sp(context, x, *shared_.group);
  }
  if (fp32_residual_) {
    x = ops::cast(context, x, DType::f32);
  }
  const auto mask =
      ops::local_mask(ops::dropout_mask(context, hidden_dropout_, 0,
                                        static_cast<std::uint32_t>(DropoutSite::embedding)),
                      shared_, x.shape()[0]);
  return mask.active() ? ops::bias_dropout_add(context, x, nullptr, {}, mask) : x;
}

}  // namespace mpitron::nn
