#pragma once
#include "autograd/context.h"
#include "nn/base/builder.h"

namespace mpitron::nn {

/// The head of DINO (Caron et al. 2021): three linear layers with erf GELU between them, rows of
/// length 1, and one more linear layer whose rows have a length of their own (weight
/// normalisation).
class DistillationHead {
 public:
  DistillationHead(const Builder& builder, const config::DinoConfig& dino);

  /// [rows, h] -> [rows, outputs]; the same on every tensor parallel rank.
  autograd::Var forward(autograd::Context& context, const autograd::Var& x) const;

 private:
  struct Layer {
    Parameter& weight;
    Parameter& bias;
  };
  static Layer layer(const Builder& builder, const std::string& name, Index out, Index in);

  Layer first_, second_, third_;
  Parameter& direction_;  // [outputs, bottleneck]
  Parameter& length_;     // [outputs, 1]
};

}  // namespace mpitron::nn
