#include "models/gpt_model.h"

#include "nn/rotary_embedding.h"
#include "ops/parallel_linear.h"
#include "ops/regions.h"
#include "ops/vocab_parallel_cross_entropy.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

GptModel::GptModel(const config::ModelConfig& config, device::Device& device)
    : GptModel(config, device,
               {.groups = comm::groups_of_one(*comm::make_single_world()),
                .part = nn::whole_model(config)}) {}

GptModel::GptModel(const config::ModelConfig& config, device::Device& device, Share share)
    : Model(config, device, std::move(share)), decoder_(builder("decoder."), part()) {
  if (part().has_output) {
    make_output_weight();
  }
  if (config.position_embedding_type == config::PositionEmbedding::rope) {
    rotary_ = nn::make_rotary_tables(device, config, config.seq_length, config.params_dtype);
  }
}

Var GptModel::hidden(Context& context, const Batch& batch, const Var& input) const {
  nn::LayerInputs inputs{.rotary = {}, .attention_mask = batch.attention_mask};
  if (rotary_.cos) {
    const ops::TensorParallel shared = tensor_parallel();
    const Index s = embedding() ? batch.tokens.shape()[0]
                                : input.shape()[0] * (shared.cuts_sequence() ? shared.size() : 1);
    inputs.rotary =
        ops::rotary_rows(context, rotary_, {.map = context.position.sequence, .length = s});
  }
  return decoder_.forward(
      context,
      embedding() ? embedding()->forward(context, {batch.tokens, batch.position_ids}) : input,
      inputs);
}

Var GptModel::local_logits(Context& context, const Batch& batch, const Var& input) const {
  MPITRON_CHECK(output_weight() != nullptr, part().first_layer, part().num_layers);
  return ops::column_parallel_linear(context, hidden(context, batch, input), *output_weight(),
                                     nullptr, tensor_parallel());
}

Var GptModel::logits(Context& context, const Batch& batch, const Var& input) const {
  return ops::gather_from_tp(context, local_logits(context, batch, input), *groups().tensor);
}

Var GptModel::loss(Context& context, const Batch& batch, const Var& input) const {
  return ops::vocab_parallel_cross_entropy(context, local_logits(context, batch, input),
                                           batch.labels, tensor_parallel());
}

std::vector<Objective> GptModel::objectives(Context& context, const Batch& batch,
                                            const Var& input) const {
  return {
      {.losses = loss(context, batch, input), .mask = batch.loss_mask, .count = batch.loss_tokens}};
}

}  // namespace mpitron::models
