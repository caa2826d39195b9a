#include "models/bert/bert_model.h"

#include "models/bert/bert_batch.h"
#include "ops/loss/cross_entropy.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

namespace {

constexpr Index kParts = 2;  // of a sample: token types, and classes of the binary head

}  // namespace

BertModel::BertModel(const config::ModelConfig& config, device::Device& device, Share share)
    : Model(config, device, std::move(share), config.bert_binary_head ? kParts : 0),
      encoder_(builder("encoder."), part()) {
  if (part().has_output) {
    lm_head_.emplace(builder("lm_head."));
    make_output_weight();
    make_output_bias("output_layer.bias");
    if (config.bert_binary_head) {
      const autograd::Initialization start{.kind = autograd::Initialization::Kind::normal,
                                           .std = config.init_method_std};
      binary_head_.emplace(builder(""), kParts, nn::PooledClassifier::Layer{"pooler.dense", start},
                           nn::PooledClassifier::Layer{"binary_head", start});
    }
  }
}

std::vector<ObjectiveTraits> BertModel::objective_traits() const {
  std::vector<ObjectiveTraits> traits = {{.name = "lm loss", .mean_of_means = true}};
  if (config().bert_binary_head) {
    traits.push_back({.name = "sop loss", .mean_of_means = true});
  }
  return traits;
}

Batch BertModel::batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const {
  return bert_batch(device(), microbatch, slice);
}

std::span<const std::string_view> BertModel::batch_fields() const {
  return bert_fields();
}

Var BertModel::hidden(Context& context, const Batch& batch, const Var& input) const {
  const Var x = embedding() ? embedding()->forward(context, {.ids = batch[kTokens],
                                                             .position_ids = batch[kPositionIds],
                                                             .types = batch[kTokenTypes]})
                            : input;
  return encoder_.forward(
      context, x,
      {.rotary = rotary_rows(context, whole_rows(x)), .attention_mask = batch[kAttentionMask]});
}

Var BertModel::logits(Context& context, const Batch& batch, const Var& input) const {
  return whole_logits(context, lm_head_->forward(context, hidden(context, batch, input)));
}

Objective BertModel::sentence_order(Context& context, const Batch& batch, const Var& hidden) const {
  const tensor::Tensor& labels = batch[kSentenceOrder];
  return {.losses = ops::cross_entropy(context, binary_head_->forward(context, hidden), labels),
          .mask = {},
          .count = static_cast<double>(labels.numel())};
}

std::vector<Objective> BertModel::objectives(Context& context, const Batch& batch,
                                             const Var& input) const {
  const Var x = hidden(context, batch, input);
  std::vector<Objective> result = {
      {.losses = token_losses(context, lm_head_->forward(context, x), batch[kLabels]),
       .mask = batch[kLossMask],
       .count = batch.loss_tokens}};
  if (binary_head_) {
    result.push_back(sentence_order(context, batch, x));
  }
  return result;
}

}  // namespace mpitron::models
