#pragma once
#include "autograd/recomputable.h"
#include "nn/base/builder.h"
#include "nn/base/layer_inputs.h"
#include "ops/attention/context_attention.h"

namespace mpitron::nn {

/// Softmax attention of a layer, between its projections: which keys a query sees, dropout of the
/// probabilities, and the ranks that share the sequence.
class CoreAttention {
 public:
  /// `layer_number` is global and starts at 1; `layout` has this rank's heads; scores are
  /// multiplied by `scale`; `causal`: keys behind the query are hidden.
  CoreAttention(const Builder& builder, Index layer_number, const ops::QkvLayout& layout,
                double scale, bool causal = true);

  /// [s, b, n dv] of a fused qkv.
  autograd::Var forward(autograd::Context& context, const autograd::Recomputable& qkv,
                        const LayerInputs& inputs) const;
  const ops::QkvLayout& layout() const { return settings_.layout; }
  /// Returns the settings without what a pass brings.
  const ops::AttentionSettings& settings() const { return settings_; }
  /// Returns the ranks that share the sequence.
  comm::Group& ranks() const { return *context_groups_.all; }

 private:
  void make_sink(const Builder& builder);
  /// Tells the step of the largest score of each head, where somebody asks.
  void tell_largest(autograd::Context& context, const autograd::Var& qkv,
                    const ops::AttentionSettings& settings) const;

  Index heads_ = 0;  // of the layer, on all ranks
  bool tells_largest_ = false;
  ops::AttentionSettings settings_;
  ops::ContextExchange exchange_;
  ops::ContextGroups context_groups_;
  double dropout_;
  std::uint32_t layer_number_;
  Index first_head_;  // of this tensor parallel rank
};

}  // namespace mpitron::nn
