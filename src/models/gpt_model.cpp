#include "models/gpt_model.h"

#include "nn/rotary_embedding.h"
#include "ops/initialize.h"
#include "ops/parallel_linear.h"
#include "ops/regions.h"
#include "ops/vocab_parallel_cross_entropy.h"
#include "utils/torch_random.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

GptModel::GptModel(const config::ModelConfig& config, device::Device& device)
    : GptModel(config, device,
               {.groups = comm::groups_of_one(*comm::make_single_world()),
                .part = nn::whole_model(config)}) {}

GptModel::GptModel(const config::ModelConfig& config, device::Device& device, Share share)
    : config_(config),
      device_(device),
      share_(std::move(share)),
      embedding_(share_.part.has_embedding ? std::optional<nn::LanguageModelEmbedding>(
                                                 nn::LanguageModelEmbedding(builder("embedding.")))
                                           : std::nullopt),
      decoder_(builder("decoder."), share_.part),
      output_weight_(share_.part.has_output ? make_output_weight() : nullptr) {
  if (embedding_ && !share_.part.has_output && !config_.untie_embeddings_and_output_weights) {
    embedding_->word_embeddings().shared_over_stages = true;
  }
  if (config_.has_rotary_positions()) {
    rotary_ = nn::make_rotary_tables(device, config_, config_.seq_length, config_.params_dtype);
  }
}

nn::Builder GptModel::builder(const std::string& prefix) {
  return nn::Builder({config_, share_.groups, *share_.parameters}, prefix);
}

ops::TensorParallel GptModel::tensor_parallel() const {
  return {share_.groups.tensor.get(), share_.groups.sequence_parallel, config_.tp_comm_overlap};
}

Parameter* GptModel::make_output_weight() {
  if (config_.untie_embeddings_and_output_weights) {
    const nn::Builder layer = builder("output_layer.");
    const Index rows = config_.padded_vocab_size;
    Parameter& weight =
        layer.linear_weight("weight", rows, config_.hidden_size, layer.piece(0, rows));
    weight.embedding_or_output = true;
    return &weight;
  }
  if (embedding_) {
    return &embedding_->word_embeddings();
  }
  // The last stage's copy of the first stage's table starts with the same values: same name.
  Parameter& weight = nn::make_word_embeddings(builder("embedding."));
  weight.shared_over_stages = weight.counted_elsewhere = true;
  return &weight;
}

void GptModel::initialize() {
  const auto seed = static_cast<std::uint64_t>(config_.seed);
  std::optional<TorchGenerator> torch;
  if (config_.use_cpu_initialization) {
    torch.emplace(seed);
  }
  for (Parameter& parameter : *share_.parameters) {
    if (torch) {
      ops::initialize_like_torch(device_, parameter, config_.params_dtype, *torch);
    } else {
      ops::initialize(device_, parameter, config_.params_dtype, seed);
    }
  }
}

Var GptModel::hidden(Context& context, const GptBatch& batch, const Var& input) const {
  nn::LayerInputs inputs{.rotary = {}, .attention_mask = batch.attention_mask};
  if (rotary_.cos) {
    const ops::TensorParallel shared = tensor_parallel();
    const Index s = embedding_ ? batch.tokens.shape()[0]
                               : input.shape()[0] * (shared.cuts_sequence() ? shared.size() : 1);
    inputs.rotary =
        ops::rotary_rows(context, rotary_, {.map = context.position.sequence, .length = s});
  }
  return decoder_.forward(
      context,
      embedding_ ? embedding_->forward(context, {batch.tokens, batch.position_ids}) : input,
      inputs);
}

Var GptModel::local_logits(Context& context, const GptBatch& batch, const Var& input) const {
  MPITRON_CHECK(output_weight_ != nullptr, part().first_layer, part().num_layers);
  return ops::column_parallel_linear(context, hidden(context, batch, input), *output_weight_,
                                     nullptr, tensor_parallel());
}

Var GptModel::logits(Context& context, const GptBatch& batch, const Var& input) const {
  return ops::gather_from_tp(context, local_logits(context, batch, input), *share_.groups.tensor);
}

Var GptModel::loss(Context& context, const GptBatch& batch, const Var& input) const {
  return ops::vocab_parallel_cross_entropy(context, local_logits(context, batch, input),
                                           batch.labels, tensor_parallel());
}

}  // namespace mpitron::models
