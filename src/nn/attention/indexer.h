#pragma once
#include <optional>

#include "autograd/recomputable.h"
#include "nn/base/builder.h"
#include "nn/base/layer_inputs.h"
#include "ops/elementwise/norm.h"
#include "ops/sparse_attention/indexer_loss.h"

namespace mpitron::nn {

/// Indexer of sparse attention (DeepSeek-V3.2): small heads score the keys of each query, and
/// attention looks at the best ones. It learns from a loss of its own, whose gradient ends at its
/// inputs. Every tensor parallel rank has it whole and makes the same choice.
class Indexer {
 public:
  /// `layer_number` is global and starts at 1; the model has IndexerConfig.
  Indexer(const Builder& builder, Index layer_number);

  /// The layer's normed input, [s, b, h], and what its queries are made of, [s, b, rq].
  struct Inputs {
    const autograd::Recomputable& x;
    const autograd::Recomputable& queries;
  };
  /// Keys that are hidden from a query, those of the layer's mask among them, and all scores.
  struct Choice {
    autograd::Var scores;   // [b, s, s]
    tensor::Tensor hidden;  // [b, s, s], u8, 1 = hidden
  };
  /// Where `rotary` is absent, heads have no positions.
  Choice choose(autograd::Context& context, const Inputs& inputs,
                const std::optional<ops::RotaryTables>& rotary, const tensor::Tensor& mask) const;
  /// Returns what attention gives, `attended`, with the indexer's loss beside it. `attention`: what
  /// the layer sees without the indexer.
  autograd::Var with_loss(autograd::Context& context, const autograd::Var& attended,
                          const Choice& choice, ops::ForetoldAttention attention) const;

 private:
  /// Queries of the heads and the key, [s, b, (n + 1) d], of this rank's rows.
  autograd::Var heads_of(autograd::Context& context, const Inputs& inputs) const;
  autograd::Var scores(autograd::Context& context, const Inputs& inputs,
                       const std::optional<ops::RotaryTables>& rotary) const;

  ops::TensorParallel shared_;
  config::IndexerConfig config_;
  Index number_;
  Parameter& query_weight_;
  Parameter& key_weight_;
  ops::NormParameters key_norm_;
  Parameter& head_weight_;
};

}  // namespace mpitron::nn
