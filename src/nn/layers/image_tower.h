#pragma once
#include <optional>

#include "nn/base/norm.h"
#include "nn/feed_forward/mlp.h"
#include "nn/layers/transformer_block.h"

namespace mpitron::nn {

/// The image encoder of CLIP, SigLIP, Qwen2-VL or Llama 4 (Radford et al. 2021; Zhai et al. 2023;
/// Wang et al. 2024; Meta 2025) over tiles, without a causal mask; config::TowerParts tells them
/// apart.
class ImageTower {
 public:
  /// `builder`: of a configuration whose layers are the tower's. Layers count behind
  /// `layers_before` others of the model. `rotary`: of patches that turn.
  ImageTower(const Builder& builder, const config::VlmConfig& vlm, Index layers_before,
             std::optional<ops::RotaryTables> rotary = {});

  /// tiles [n, T, 3 P P], fp32 -> [positions, T, h].
  autograd::Var forward(autograd::Context& context, const tensor::Tensor& tiles) const;

 private:
  autograd::Var with_class_token(autograd::Context& context, const autograd::Var& x) const;
  autograd::Var with_positions(autograd::Context& context, const autograd::Var& x) const;

  config::VlmConfig vlm_;
  DType dtype_;
  Parameter* class_token_ = nullptr;  // [1, h]
  Parameter* patch_weight_;           // [h, 3 P P]: channel, row, column
  Parameter* patch_bias_ = nullptr;
  Parameter* positions_ = nullptr;  // [positions, h]
  std::optional<ops::RotaryTables> rotary_;
  std::optional<Norm> norm_before_, norm_behind_;
  TransformerBlock decoder_;
};

/// Projects what a tower makes of an image to the width of the language model: one linear layer,
/// two with an activation between them (Liu et al. 2023), a norm and one without a bias (Gemma 3),
/// or three with an activation behind each of the first two (Llama 4).
class ImageProjector {
 public:
  ImageProjector(const Builder& builder, config::ProjectorKind kind, Index inputs);

  /// [s, b, inputs] -> [s, b, h], the same on every tensor parallel rank.
  autograd::Var forward(autograd::Context& context, const autograd::Var& x) const;

 private:
  ops::TensorParallel shared_;
  ops::ActivationSettings activation_;
  std::optional<Norm> norm_;  // pooled
  Parameter* weight_;         // affine and pooled
  Parameter* bias_ = nullptr;
  Parameter* fc2_weight_ = nullptr;  // mlp and adapter
  Parameter* fc2_bias_ = nullptr;
  Parameter* behind_mlp_ = nullptr;  // adapter
};

}  // namespace mpitron::nn
