// Classifies images by the first class token.
#include "models/vit/vit_classifier.h"

#include "models/vit/vit_batch.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/row_error.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Initialization;
using autograd::Var;

VitClassifier::VitClassifier(const config::ModelConfig& config, device::Device& device, Share share)
    : Model(config, device, std::move(share), NoWords{}), backbone_(builder("backbone."), part()) {
  if (part().has_output) {
    if (config.vision.linear_head) {
      head_.emplace(builder(""), config.vision.classes, std::nullopt,
                    nn::PooledClassifier::Layer{"head", {}, {}});
      return;
    }
    // No class is likely at first: what is learned early is not that one is.
    constexpr double kUnlikely = -10;
    const Initialization start = nn::uniform_of_inputs(config.hidden_size);
    const Initialization unlikely{.kind = Initialization::Kind::constant, .value = kUnlikely};
    head_.emplace(builder("head."), config.vision.classes,
                  nn::PooledClassifier::Layer{"dense_in", start, start},
                  nn::PooledClassifier::Layer{"dense_out", start, unlikely});
  }
}

std::vector<ObjectiveTraits> VitClassifier::objective_traits() const {
  return {{.name = "loss"}, {.name = "accuracy"}};
}

Batch VitClassifier::batch(const HostMicrobatch& microbatch, const SequenceSlice& /*slice*/) const {
  return vit_batch(device(), microbatch, config().vision);
}

std::span<const std::string_view> VitClassifier::batch_fields() const {
  return vit_fields();
}

Var VitClassifier::hidden(Context& context, const Batch& batch, const Var& input) const {
  return backbone_.forward(context, batch, input);
}

Var VitClassifier::logits(Context& context, const Batch& batch, const Var& input) const {
  return head_->forward(context, hidden(context, batch, input));
}

std::vector<Objective> VitClassifier::objectives(Context& context, const Batch& batch,
                                                 const Var& input) const {
  const Var classes = logits(context, batch, input);
  // Before the backward pass overwrites the logits.
  const Var matches =
      autograd::constant(ops::label_matches(context, classes.value, batch[kLabels]));
  return {{.losses = ops::cross_entropy(context, classes, batch[kLabels]),
           .mask = batch[kLossMask],
           .count = batch.loss_tokens},
          {.losses = matches, .mask = batch[kLossMask], .count = batch.loss_tokens}};
}

}  // namespace mpitron::models
