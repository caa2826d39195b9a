#include "models/text_classifier.h"

#include "ops/elementwise/reshape.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/row_error.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

namespace {

bool is_encoder(const config::ModelConfig& config) {
  return config.kind == config::ModelKind::bert;
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

Var TextClassifier::hidden(Context& context, const Batch& batch, const Var& input) const {
  const Var x = embedding() ? embedding()->forward(context, {.ids = batch.tokens,
                                                             .position_ids = batch.position_ids,
                                                             .types = batch.token_types})
                            : input;
  return layers_.forward(
      context, x,
      {.rotary = rotary_rows(context, whole_rows(x)), .attention_mask = batch.attention_mask});
}

Var TextClassifier::logits(Context& context, const Batch& batch, const Var& input) const {
  const Var numbers =
      head_->forward(context, hidden(context, batch, input), {batch.read_rows, batch.read_from});
  const Index columns = config().text_head->columns();
  return ops::reshape(context, numbers, {1, numbers.value.numel() / columns, columns});
}

std::vector<Objective> TextClassifier::objectives(Context& context, const Batch& batch,
                                                  const Var& input) const {
  const Var x = logits(context, batch, input);
  if (config().text_head->score) {
    return {{.losses = ops::row_error(context, x, batch.scores, 1),
             .mask = batch.loss_mask,
             .count = batch.loss_tokens}};
  }
  // Before the backward pass overwrites the logits.
  const Var matches = autograd::constant(ops::label_matches(context, x.value, batch.labels));
  return {{.losses = ops::cross_entropy(context, x, batch.labels),
           .mask = batch.loss_mask,
           .count = batch.loss_tokens},
          {.losses = matches, .mask = batch.loss_mask, .count = batch.loss_tokens}};
}

}  // namespace mpitron::models
