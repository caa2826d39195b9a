#include "models/gpt/gpt_batch.h"
#include "models/gpt/gpt_model.h"
#include "ops/elementwise/embedding.h"
#include "ops/loss/auxiliary_loss.h"
#include "ops/loss/distillation_loss.h"
#include "ops/loss/preference_loss.h"

// What a GPT learns from: the next token, a teacher, preferences.

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

Var GptModel::loss(Context& context, const Batch& batch, const Var& input) const {
  Var x = hidden(context, batch, input);
  if (context.training()) {
    x = with_predictions(context, batch, x);
  }
  return token_losses(context, x, batch[kLabels]);
}

std::vector<Objective> GptModel::objectives(Context& context, const Batch& batch,
                                            const Var& input) const {
  if (config().distillation) {
    return distilled(context, batch, input);
  }
  const Var losses = loss(context, batch, input);
  if (config().preference) {
    return preferences(context, batch, losses);
  }
  return {{.losses = losses, .mask = batch[kLossMask], .count = batch.loss_tokens}};
}

std::vector<ObjectiveTraits> GptModel::objective_traits() const {
  if (config().preference) {
    return {{.name = "dpo loss"}, {.name = "accuracy"}, {.name = "margin"}};
  }
  if (config().distillation) {
    return {{.name = "total loss"}, {.name = "lm loss"}, {.name = "distillation loss"}};
  }
  return Model::objective_traits();
}

std::vector<Objective> GptModel::distilled(Context& context, const Batch& batch,
                                           const Var& input) const {
  const Var logits = local_logits(context, hidden(context, batch, input));
  const ops::DistillationLosses told =
      ops::distillation_loss(context, logits, batch[kLabels],
                             {.ids = batch[kTeacherIds],
                              .log_probs = batch[kTeacherLogProbs],
                              .temperature = config().distillation->temperature,
                              .weight = config().distillation->weight},
                             tensor_parallel());
  const auto objective = [&](const Var& values) {
    return Objective{.losses = values, .mask = batch[kLossMask], .count = batch.loss_tokens};
  };
  return {objective(told.loss), objective(autograd::constant(told.label)),
          objective(autograd::constant(told.divergence))};
}

std::vector<Objective> GptModel::preferences(Context& context, const Batch& batch,
                                             const Var& losses) const {
  const config::PreferenceConfig& preference = *config().preference;
  const Index b = losses.shape()[1];
  const ops::PreferenceLosses told =
      ops::preference_loss(context, losses,
                           {.weights = batch[kLossMask],
                            .reference = batch[kReferenceMargins].reshape({b}),
                            .beta = preference.beta,
                            .label_smoothing = preference.label_smoothing},
                           *groups().context);
  const auto objective = [&](const Var& values) {
    return Objective{.losses = values, .mask = batch[kPairs], .count = batch.loss_tokens};
  };
  return {objective(told.loss), objective(autograd::constant(told.right)),
          objective(autograd::constant(told.margin))};
}

}  // namespace mpitron::models
