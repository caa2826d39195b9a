// Puts a classifier over an encoder or decoder for `mpitron finetune`. The rows that the classifier
// reads are named by the batch, so that only they go through its layers.
#include "models/text_head/text_classifier.h"

#include "models/bert/bert_batch.h"
#include "models/text_head/text_head_batch.h"
#include "ops/elementwise/reshape.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/row_error.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

namespace {

bool is_encoder(const config::ModelConfig& config) {
  return !config.family().decoder_only;
}

}  // namespace

TextClassifier::TextClassifier(const config::ModelConfig& config, device::Device& device,
                               Share share)
    : Model(config, device, std::move(share), is_encoder(config) ? 2 : 0),
      layers_(builder(is_encoder(config) ? "encoder." : "decoder."), part()) {
  if (part().has_output) {
    const autograd::Initialization start{.kind = autograd::Initialization::Kind::normal,
                                         .std = config.init_method_std};
    const nn::PooledClassifier::Layer pooler{"pooler.dense", start};
    const char* name = config.text_head->choices > 1 ? "multichoice_head" : "classification_head";
    head_.emplace(builder(""), config.text_head->outputs,
                  is_encoder(config) ? std::optional(pooler) : std::nullopt,
                  nn::PooledClassifier::Layer{name, start}, config.hidden_dropout);
  }
}

std::vector<ObjectiveTraits> TextClassifier::objective_traits() const {
  std::vector<ObjectiveTraits> traits = {{.name = "lm loss", .mean_of_means = true}};
  if (!config().text_head->score) {
    traits.push_back({.name = "accuracy"});
  }
  return traits;
}

Batch TextClassifier::batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const {
  return text_head_batch(device(), microbatch, slice, *config().text_head);
}

std::span<const std::string_view> TextClassifier::batch_fields() const {
  return text_head_fields();
}

Var TextClassifier::hidden(Context& context, const Batch& batch, const Var& input) const {
  const Var x = embedding() ? embedding()->forward(context, {.ids = batch[kTokens],
                                                             .position_ids = batch[kPositionIds],
                                                             .types = batch[kTokenTypes]})
                            : input;
  return layers_.forward(context, x,
                         {.rotary = rotary_rows(context, whole_rows(x)),
                          .attention_mask = batch[kAttentionMask],
                          .window_rotary = window_rotary_rows(context, whole_rows(x)),
                          .query_factors = query_factor_rows(context, whole_rows(x))});
}

Var TextClassifier::logits(Context& context, const Batch& batch, const Var& input) const {
  const Var numbers =
      head_->forward(context, hidden(context, batch, input), {batch[kReadRows], batch[kReadFrom]});
  const Index columns = config().text_head->columns();
  return ops::reshape(context, numbers, {1, numbers.value.numel() / columns, columns});
}

std::vector<Objective> TextClassifier::objectives(Context& context, const Batch& batch,
                                                  const Var& input) const {
  const Var x = logits(context, batch, input);
  const tensor::Tensor &labels = batch[kLabels], &mask = batch[kLossMask];
  if (config().text_head->score) {
    return {{.losses = ops::row_error(context, x, batch[kScores], 1),
             .mask = mask,
             .count = batch.loss_tokens}};
  }
  // Before the backward pass overwrites the logits.
  const Var matches = autograd::constant(ops::label_matches(context, x.value, labels));
  return {
      {.losses = ops::cross_entropy(context, x, labels), .mask = mask, .count = batch.loss_tokens},
      {.losses = matches, .mask = mask, .count = batch.loss_tokens}};
}

}  // namespace mpitron::models
