#pragma once
#include <optional>

#include "models/base/model.h"
#include "nn/layers/patch_embedding.h"
#include "nn/layers/transformer_block.h"

namespace mpitron::models {

/// A transformer over the patches of an image, every one of which sees all others (Dosovitskiy et
/// al. 2021), or what a part holds of it.
class VitBackbone {
 public:
  /// Names begin with the builder's prefix.
  VitBackbone(const nn::Builder& builder, const nn::ModelPart& part);

  /// [s, b, h] of the batch's patches, or of `input` where the part has no embedding.
  autograd::Var forward(autograd::Context& context, const Batch& batch,
                        const autograd::Var& input) const;

 private:
  std::optional<nn::PatchEmbedding> embedding_;
  nn::TransformerBlock transformer_;
};

}  // namespace mpitron::models
