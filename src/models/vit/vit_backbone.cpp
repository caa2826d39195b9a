// Runs a vision transformer's layers without causal mask; a pipeline cuts it as it does any model.
#include "models/vit/vit_backbone.h"

#include "models/vit/vit_batch.h"

namespace mpitron::models {

using autograd::Var;

VitBackbone::VitBackbone(const nn::Builder& builder, const nn::ModelPart& part)
    : embedding_(part.has_embedding ? std::optional<nn::PatchEmbedding>(builder) : std::nullopt),
      transformer_(builder.child("transformer"), part) {}

Var VitBackbone::forward(autograd::Context& context, const Batch& batch, const Var& input) const {
  const Var x =
      embedding_ ? embedding_->forward(context, batch[kPatches], batch[kPositionIds]) : input;
  return transformer_.forward(context, x, {.rotary = {}, .attention_mask = {}});
}

}  // namespace mpitron::models
