#include "models/gpt/gpt_model.h"

#include <algorithm>

#include "models/gpt/gpt_batch.h"
#include "ops/elementwise/embedding.h"
#include "ops/elementwise/shift_sequence.h"
#include "ops/loss/auxiliary_loss.h"
#include "ops/loss/distillation_loss.h"
#include "ops/loss/preference_loss.h"
#include "ops/loss/token_losses.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

GptModel::GptModel(const config::ModelConfig& config, device::Device& device)
    : GptModel(config, device,
               {.groups = comm::groups_of_one(*comm::make_single_world()),
                .part = nn::whole_model(config)}) {}

GptModel::GptModel(const config::ModelConfig& config, device::Device& device, Share share)
    : Model(config, device, std::move(share)), decoder_(builder("decoder."), part()) {
  for (Index depth = 0; depth < part().prediction_depths; ++depth) {
    const Index number = config.num_layers + depth * config.depth_layers() + 1;
    predictions_.emplace_back(builder("mtp.").layer("layers." + std::to_string(depth), number),
                              number);
  }
  if (part().has_output) {
    make_output_weight();
  }
}

Batch GptModel::batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const {
  return gpt_batch(device(), microbatch, slice);
}

std::span<const std::string_view> GptModel::batch_fields() const {
  return gpt_fields();
}

nn::LayerInputs GptModel::layer_inputs(Context& context, const Batch& batch,
                                       const Var& stream) const {
  return {.rotary = rotary_rows(context, whole_rows(stream)),
          .attention_mask = batch[kAttentionMask],
          .document_starts = batch[kDocumentStarts],
          .window_rotary = window_rotary_rows(context, whole_rows(stream)),
          .query_factors = query_factor_rows(context, whole_rows(stream))};
}

Var GptModel::embed(Context& context, const Batch& batch) const {
  return embedding()->forward(context, {batch[kTokens], batch[kPositionIds]});
}

Var GptModel::hidden(Context& context, const Batch& batch, const Var& input) const {
  const Var x = part().has_embedding ? embed(context, batch) : input;
  return decoder_.forward(context, x, layer_inputs(context, batch, x));
}

Var GptModel::logits(Context& context, const Batch& batch, const Var& input) const {
  return whole_logits(context, hidden(context, batch, input));
}

std::vector<GptModel::Prediction> GptModel::predictions(Context& context, const Batch& batch,
                                                        const Var& hidden) const {
  std::vector<Prediction> result;
  if (predictions_.empty()) {
    return result;
  }
  const nn::LayerInputs inputs = layer_inputs(context, batch, hidden);
  Prediction last{hidden, batch[kLabels], batch[kLossMask]};
  tensor::Tensor tokens = batch[kTokens];
  const auto shift = [&](tensor::Tensor& x) {
    x = x ? ops::shift_sequence(context, x, *groups().context) : x;
  };
  for (const nn::MultiTokenPrediction& depth : predictions_) {
    shift(tokens), shift(last.labels), shift(last.mask);
    const Var embedded = embedding()->forward(
        context, {.ids = tokens, .layer = static_cast<std::uint32_t>(depth.number())});
    last.hidden = depth.forward(context, last.hidden, embedded, inputs);
    result.push_back(last);
  }
  return result;
}

Var GptModel::predict(Context& context, Index depth, const Var& hidden, const Batch& batch) const {
  const nn::MultiTokenPrediction& deep = predictions_[static_cast<std::size_t>(depth)];
  const Var embedded = embedding()->forward(
      context, {.ids = batch[kTokens], .layer = static_cast<std::uint32_t>(deep.number())});
  return deep.forward(context, hidden, embedded, layer_inputs(context, batch, hidden));
}

Var GptModel::with_predictions(Context& context, const Batch& batch, const Var& hidden) const {
  const autograd::AuxiliaryLosses& auxiliary = context.recorder.auxiliary;
  // The mean over the ranks that share the sequences: which of them has the position that is lost
  // at the end does not matter.
  const auto ranks = static_cast<double>(groups().context->size());
  const auto masked = [&](const Var& losses, const tensor::Tensor& mask) {
    const auto sums = ops::read_sums(context.device, ops::sum_tokens(context, losses.value, mask));
    return std::pair(sums.loss, std::max(groups().context->reduce(sums.tokens), 1.0) / ranks);
  };
  const double weight = config().mtp_loss_scaling_factor / static_cast<double>(predictions_.size());
  Var result = hidden;
  Index number = 0;
  for (const Prediction& depth : predictions(context, batch, hidden)) {
    const Var losses = token_losses(context, depth.hidden, depth.labels);
    const auto [loss, tokens] = masked(losses, depth.mask);
    double divisor = auxiliary.per_token_loss ? 1 : tokens;
    if (auxiliary.per_token_loss && !config().hybrid.depth_pattern.empty()) {
      // The step is divided by the main loss's tokens; the releases that have letters make up for
      // those that a depth has lost.
      divisor = tokens / masked(losses, batch[kLossMask]).second;
    }
    if (auxiliary.sums != nullptr) {
      auxiliary.sums->add("mtp loss", ++number, loss / tokens);
    }
    result = ops::with_auxiliary_loss(
        context, result, losses,
        ops::token_seed(context, depth.mask, auxiliary.token_seed * weight / divisor));
  }
  return result;
}

}  // namespace mpitron::models
