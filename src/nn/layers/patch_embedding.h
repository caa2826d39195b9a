#pragma once
#include "autograd/context.h"
#include "nn/base/builder.h"

namespace mpitron::nn {

/// Images cut into patches: a linear map of each, class tokens in front, learned positions, dropout
/// (Dosovitskiy et al. 2021).
class PatchEmbedding {
 public:
  explicit PatchEmbedding(const Builder& builder);

  /// patches [n, b, P P 3], fp32, and the row numbers of their positions [K + n, b] -> [s, b, h];
  /// with sequence parallelism this rank's rows.
  autograd::Var forward(autograd::Context& context, const tensor::Tensor& patches,
                        const tensor::Tensor& positions) const;

 private:
  ops::TensorParallel shared_;
  double hidden_dropout_;
  Index class_tokens_;
  DType dtype_;
  bool fp32_residual_;
  Parameter* tokens_ = nullptr;  // [K, h]
  Parameter* weight_;            // [h, P P 3]: row, column, channel
  Parameter* bias_;
  Parameter* positions_;  // [K + n, h], class tokens first
};

}  // namespace mpitron::nn
