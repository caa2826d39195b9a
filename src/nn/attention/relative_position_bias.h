#pragma once
#include "autograd/context.h"
#include "nn/base/builder.h"

namespace mpitron::nn {

/// How distances share the rows of a relative bias.
struct RelativeBuckets {
  Index count = 32;
  Index max_distance = 128;   // from here on all share the last
  bool bidirectional = true;  // keys behind the query have the upper half

  /// Returns the bucket of a key `distance` positions behind its query: exact for near ones,
  /// logarithmic for others.
  Index operator()(Index distance) const;
};

/// The learned bias of T5's scores: a number for each head and bucket of distances, the same in all
/// layers (Raffel et al. 2020).
class RelativePositionBias {
 public:
  /// Makes the bias for sequences of `s` tokens.
  RelativePositionBias(const Builder& builder, device::Device& device, Index s, bool bidirectional);

  /// [2 s - 1, 1, n] of all heads, in the model's type: from the key s - 1 before its query to that
  /// s - 1 behind it.
  autograd::Var forward(autograd::Context& context) const;

 private:
  Parameter* table_;        // [buckets, n]
  tensor::Tensor buckets_;  // [2 s - 1, 1], int64
};

}  // namespace mpitron::nn
