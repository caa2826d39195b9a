#pragma once
#include "nn/base/builder.h"
#include "nn/base/norm.h"

namespace mpitron::nn {

/// Head of BERT between its encoder and the output layer: dense, GELU (always the exact one, as the
/// reference), norm (Devlin et al. 2019).
class MaskedLmHead {
 public:
  explicit MaskedLmHead(const Builder& builder);

  /// [s, b, h] of x [s, b, h]; the tensor parallel ranks do the same, each on its piece of s where
  /// the sequence is cut.
  autograd::Var forward(autograd::Context& context, const autograd::Var& x) const;

 private:
  Parameter* weight_;
  Parameter* bias_;
  Norm norm_;
};

}  // namespace mpitron::nn
