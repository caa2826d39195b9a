#pragma once
#include "nn/base/builder.h"
#include "ops/elementwise/norm.h"

namespace mpitron::nn {

/// LayerNorm or RMSNorm over the last dimension, as `--normalization` says; zero-centred with
/// `--apply-layernorm-1p`.
class Norm {
 public:
  Norm(const Builder& builder, const std::string& name, Index size);

  /// The result has the model's type, x may be a wider residual stream.
  autograd::Var forward(autograd::Context& context, const autograd::Var& x) const;
  const ops::NormParameters& parameters() const { return parameters_; }

 private:
  ops::NormParameters parameters_;
  DType output_dtype_;
};

}  // namespace mpitron::nn
