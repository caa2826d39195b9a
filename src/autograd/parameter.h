#pragma once
#include <optional>
#include <string>
#include <vector>

#include "autograd/four_bit_weight.h"
#include "autograd/fp8_products.h"
#include "autograd/var.h"
#include "tensor/shard.h"

namespace mpitron::autograd {

struct Parameter;

/// How a parameter starts; its values depend on the seed and its global name only.
struct Initialization {
  enum class Kind {
    zeros,
    ones,
    constant,  // value
    normal,
    xavier_uniform,
    uniform,        // in [-bound, bound)
    log_of_rate,    // ln of U(1, 16): A_log of Mamba-2
    inverse_steps,  // where softplus is e^U(ln 0.001, ln 0.1), at least 1e-4: dt_bias of Mamba-2
  } kind = Kind::zeros;
  double std = 0;    // normal
  double bound = 0;  // uniform
  double value = 0;  // constant
};

/// Place of a parameter among all ranks and layers.
struct Placement {
  tensor::Shard shard = {};  // which part of it `value` is
  Index unit = 0;  // the layer that it is gathered with where it lies in pieces; 0: outside layers
  /// Says that it is an expert's: other ranks hold its replicas and share it in pieces than those
  /// of other layers.
  bool expert = false;
  /// The values are the same on every rank that shares the layer (the expert), but each knows only
  /// a part of the gradient's sum (of its rows of the sequence, of its heads): summed once a step.
  bool sum_over_tensor = false;
  // A tied weight that first and last pipeline stage hold, and the first counts in norms.
  bool shared_over_stages = false;
  bool counted_elsewhere = false;
};

/// Role of a parameter for those who train it.
struct ParameterRole {
  bool linear_weight = false;        // its gradient may be added in fp32 by the product itself
  bool embedding_or_output = false;  // its learning rate may be decoupled
  bool low_rank = false;             // a factor of an update of a weight that keeps its value
  bool frozen = false;  // keeps its value: no gradient, no place in buckets and optimizer
  bool held = false;    // in this step: it keeps its value and its optimizer state
  /// Keeps the moving average of this one instead of being trained; frozen, too.
  Parameter* average_of = nullptr;
};

/// Sink to which the gradients of a step are added, and how far they are.
struct GradientSink {
  Tensor main_grad;      // a part of the gradient buffer; fp32, or fp16 where the reference adds in
                         // half precision
  bool rounds = false;   // each microbatch's gradient to value's type before it is added
  bool written = false;  // in this step; the first write is `=`, so that nothing needs zeroing
  bool sent = false;     // its reduction over ranks has begun: nothing may be added
  Index live_tapes = 0;  // that used it and have not yet played the last node that did
};

/// A trained tensor: its value in the model's type, and the sink of its gradients.
struct Parameter {
  std::string name;  // global, as the reference names it: decoder.layers.3.mlp.linear_fc1.weight
  Shape shape;       // global
  Placement placement = {};
  Initialization initialization = {};
  ParameterRole role = {};
  std::optional<Fp8Products> fp8 = {};  // of a linear weight whose products take 8-bit factors
  std::optional<FourBitWeight> four_bits = {};  // of a kept one: then `value` is absent
  Tensor value = {};
  GradientSink sink = {};

  /// Returns the shape of what lies on this rank.
  Shape local_shape() const { return four_bits ? four_bits->shape() : value.shape(); }
  Index local_bytes() const { return four_bits ? four_bits->bytes() : value.view().bytes(); }
  /// Whether this rank of those that share the layer (the expert) counts it in a norm over all
  /// parameters: a shard counts where it lies, what all ranks have counts once.
  bool counts_in_norm(Index sharing_rank) const {
    const bool changes = !role.frozen && !role.held;
    const bool here = !placement.shard.whole() || sharing_rank == 0;
    return changes && !placement.counted_elsewhere && here;
  }
};

/// A tensor without a gradient that belongs to a model's state: fp32, the same on all ranks that
/// have the layer.
struct Buffer {
  std::string name;  // global, like a parameter's
  Shape shape;
  Index layer = 0;  // 1-based, global
  Tensor value;
  bool fp8_history = false;  // of Parameter::fp8
};

/// The parameters that a tape (one chunk, one microbatch) used, once each. A gradient bucket is
/// ready when every tape that uses one of its parameters has finished its backward pass; whoever
/// runs the tapes knows that. Uses are not counted one by one: a tied weight inside several
/// recomputed blocks would look finished too early.
using ParameterUses = std::vector<Parameter*>;

}  // namespace mpitron::autograd
