#pragma once
#include <optional>

#include "autograd/context.h"
#include "nn/base/builder.h"
#include "ops/parallel/select_rows.h"

namespace mpitron::nn {

/// Classes of a whole sample: dense and tanh on the first position, then one more dense layer
/// (Devlin et al. 2019); or that layer alone on a position that the sample names (Radford et al.
/// 2018). What the last layer reads is dropped out.
class PooledClassifier {
 public:
  /// Name of a layer, and how its weight and bias start.
  struct Layer {
    std::string name;
    autograd::Initialization weight, bias = {};
  };
  /// `classes`: columns of the result. `pooler`: absent where the head stands alone. `dropout`:
  /// probability, on what the head reads.
  PooledClassifier(const Builder& builder, Index classes, const std::optional<Layer>& pooler,
                   const Layer& head, double dropout = 0);

  /// [1, b, classes] of x [s, b, h]; every tensor parallel rank gets the same. `read`: b of the
  /// s * b rows; absent: the first positions.
  autograd::Var forward(autograd::Context& context, const autograd::Var& x,
                        const ops::RowChoice& read = {}) const;

 private:
  ops::TensorParallel shared_;
  // The reference creates the head before the pooler.
  Parameter* head_weight_;
  Parameter* head_bias_;
  Parameter* pooler_weight_ = nullptr;
  Parameter* pooler_bias_ = nullptr;
  double dropout_;
};

}  // namespace mpitron::nn
