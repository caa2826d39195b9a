#pragma once
#include <memory>
#include <optional>

#include "config/layer_pattern.h"
#include "nn/attention/cross_attention.h"
#include "nn/base/layer_parts.h"
#include "nn/base/norm.h"

namespace mpitron::nn {

/// A pre-norm layer of the halves that its spec names: x = x + dropout(mixer(norm(x)) + bias), then
/// the same with cross attention where there is one, and with the feed-forward network. Where there
/// are norms behind the branches, too, what is added is norm(mixer(norm(x)) + bias).
class TransformerLayer {
 public:
  TransformerLayer(const Builder& builder, Index layer_number, const config::LayerSpec& spec);
  /// Builds the layer that the model's configuration has at this place.
  TransformerLayer(const Builder& builder, Index layer_number)
      : TransformerLayer(builder, layer_number,
                         config::layer_spec(builder.config(), layer_number)) {}

  autograd::Var forward(autograd::Context& context, const autograd::Var& x,
                        const LayerInputs& inputs) const;
  /// Keeps what cross attention looks at of an encoder's output, [s, 1, h], in the encoder's pass.
  void keep_encoded(autograd::Context& context, const autograd::Var& encoder_output) const;
  /// 1-based, global.
  Index number() const { return static_cast<Index>(layer_number_); }

 private:
  /// norm(x), not kept where the norms are recomputed.
  autograd::Recomputable normed(autograd::Context& context, const Norm& norm,
                                const autograd::Var& x) const;
  /// Runs the feed-forward half; nothing is kept inside where it is recomputed as a whole.
  BranchOutput feed_forward(autograd::Context& context, const autograd::Recomputable& x) const;
  /// norm(branch + bias), or the branch where there is no such norm.
  static BranchOutput normed_behind(autograd::Context& context, const std::optional<Norm>& norm,
                                    BranchOutput branch);
  autograd::Var add(autograd::Context& context, const BranchOutput& branch,
                    const autograd::Var& residual, DropoutSite site) const;

  ops::TensorParallel shared_;
  double hidden_dropout_;
  std::uint32_t layer_number_;
  double drop_path_;
  bool recompute_norms_;
  std::optional<Norm> input_norm_;
  std::unique_ptr<Mixer> mixer_;
  std::optional<Norm> post_mixer_norm_;
  std::optional<Norm> pre_cross_attention_norm_;
  std::optional<CrossAttention> cross_attention_;
  std::optional<Norm> pre_mlp_norm_;
  std::unique_ptr<FeedForward> feed_forward_;
  std::optional<Norm> post_mlp_norm_;
  bool recompute_feed_forward_;
};

}  // namespace mpitron::nn
