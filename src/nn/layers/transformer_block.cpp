// Runs the layers of a part, in stretches that are recomputed where asked: `uniform` in groups of
// equal length, `block` the first layers only.
#include "nn/layers/transformer_block.h"

#include <algorithm>

#include "autograd/activation_offload.h"
#include "autograd/parameter_unit.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Var;

TransformerBlock::TransformerBlock(const Builder& builder, const ModelPart& part,
                                   Index layers_before)
    : TransformerBlock(builder, part, layers_before,
                       [&](Index number) { return config::layer_spec(builder.config(), number); }) {
}

TransformerBlock::TransformerBlock(const Builder& builder, const ModelPart& part,
                                   const config::LayerSpec& spec, Index layers_before)
    : TransformerBlock(builder, part, layers_before, [&](Index /*number*/) { return spec; }) {}

TransformerBlock::TransformerBlock(const Builder& builder, const ModelPart& part,
                                   Index layers_before, const SpecOf& spec_of)
    : config_(builder.config()), shared_(builder.tensor_parallel()) {
  for (Index i = part.first_layer; i < part.first_layer + part.num_layers; ++i) {
    const Index number = layers_before + i + 1;
    layers_.emplace_back(builder.layer("layers." + std::to_string(i), number), number,
                         spec_of(number));
  }
  if (part.has_output) {
    const bool by_letters = !config_.hybrid.pattern.empty();
    final_norm_.emplace(builder, by_letters ? "final_norm" : "final_layernorm",
                        config_.hidden_size);
  }
}

std::size_t TransformerBlock::recomputed_layers(std::size_t first) const {
  if (config_.recompute_granularity != config::RecomputeGranularity::full) {
    return 0;
  }
  const auto count = static_cast<std::size_t>(config_.recompute_num_layers);
  if (config_.recompute_method == config::RecomputeMethod::block) {
    return first < count ? 1 : 0;
  }
  return std::min(count, layers_.size() - first);
}

Var TransformerBlock::run_layers(Context& context, Var x, const LayerInputs& inputs,
                                 std::size_t first, std::size_t last) const {
  for (std::size_t i = first; i < last; ++i) {
    const auto layer = [&](Context& inner, const Var& input) {
      return layers_[i].forward(inner, input, inputs);
    };
    const auto kept = [&](Context& inner, const Var& input) {
      return inner.recorder.offload == nullptr ? layer(inner, input)
                                               : inner.recorder.offload->run(inner, layer, input);
    };
    x = autograd::in_unit(context, layers_[i].number(), kept, x);
  }
  return x;
}

Var TransformerBlock::forward(Context& context, Var x, const LayerInputs& inputs) const {
  for (std::size_t first = 0; first < layers_.size();) {
    const std::size_t count = context.recording() ? recomputed_layers(first) : 0;
    const std::size_t last = first + std::max<std::size_t>(count, 1);
    const auto block = [this, inputs, first, last](Context& inner, const Var& input) {
      return run_layers(inner, input, inputs, first, last);
    };
    x = count > 0 ? recomputed(context, config_, shared_, block, x) : block(context, x);
    first = last;
  }
  return final_norm_ ? final_norm_->forward(context, x) : x;
}

void TransformerBlock::keep_encoded(Context& context, const Var& encoder_output) const {
  for (const TransformerLayer& layer : layers_) {
    layer.keep_encoded(context, encoder_output);
  }
}

}  // namespace mpitron::nn
