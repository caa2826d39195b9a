#include "models/gpt_model.h"

#include "nn/rotary_embedding.h"
#include "ops/cross_entropy.h"
#include "ops/initialize.h"
#include "ops/linear.h"
#include "utils/torch_random.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

GptModel::GptModel(const config::ModelConfig& config, device::Device& device)
    : config_(config),
      device_(device),
      embedding_(nn::Builder(config_, parameters_, "embedding.")),
      decoder_(nn::Builder(config_, parameters_, "decoder.")),
      output_weight_(make_output_weight(nn::Builder(config_, parameters_, "output_layer."))) {
  if (config_.position_embedding_type == config::PositionEmbedding::rope) {
    rotary_ = nn::make_rotary_tables(device, config_, config_.seq_length, config_.params_dtype);
  }
}

Parameter& GptModel::make_output_weight(const nn::Builder& builder) const {
  if (!config_.untie_embeddings_and_output_weights) {
    return embedding_.word_embeddings();
  }
  Parameter& weight =
      builder.linear_weight("weight", config_.padded_vocab_size, config_.hidden_size);
  weight.embedding_or_output = true;
  return weight;
}

void GptModel::initialize() {
  const auto seed = static_cast<std::uint64_t>(config_.seed);
  std::optional<TorchGenerator> torch;
  if (config_.use_cpu_initialization) {
    torch.emplace(seed);
  }
  for (Parameter& parameter : parameters_) {
    if (torch) {
      ops::initialize_like_torch(device_, parameter, config_.params_dtype, *torch);
    } else {
      ops::initialize(device_, parameter, config_.params_dtype, seed);
    }
  }
}

Var GptModel::logits(Context& context, const GptBatch& batch) const {
  nn::LayerInputs inputs{.rotary = {}, .attention_mask = batch.attention_mask};
  if (rotary_.cos) {
    const Index s = batch.tokens.shape()[0];
    inputs.rotary = ops::RotaryTables{.cos = rotary_.cos.slice(0, 0, s),
                                      .sin = rotary_.sin.slice(0, 0, s),
                                      .interleaved = rotary_.interleaved};
  }
  const Var embedded = embedding_.forward(context, {batch.tokens, batch.position_ids});
  return ops::linear(context, decoder_.forward(context, embedded, inputs), output_weight_, nullptr);
}

Var GptModel::loss(Context& context, const GptBatch& batch) const {
  return ops::cross_entropy(context, logits(context, batch), batch.labels);
}

}  // namespace mpitron::models
