#include "models/base/model.h"

#include <algorithm>

#include "autograd/cached_pass.h"
#include "nn/attention/rotary_embedding.h"
#include "ops/elementwise/initialize.h"
#include "ops/elementwise/scaled.h"
#include "ops/elementwise/soft_capped.h"
#include "ops/linear/parallel_linear.h"
#include "ops/loss/cross_entropy.h"
#include "ops/parallel/tensor_parallel_regions.h"
#include "utils/numbers/torch_random.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

Model::Model(const config::ModelConfig& config, device::Device& device, Share share,
             Index token_types)
    : config_(config), device_(device), share_(std::move(share)) {
  if (part().looks_up_words()) {
    embedding_.emplace(builder("embedding."), token_types);
    share_over_stages(embedding_->word_embeddings());
  }
  if (config_.has_rotary_positions()) {
    const Index s = std::max(config_.seq_length, config_.decoder_seq_length);
    rotary_ = nn::make_rotary_tables(device_, config_, s, config_.params_dtype);
    window_rotary_ = nn::make_window_rotary_tables(device_, config_, s, config_.params_dtype);
    query_factors_ = nn::make_query_factors(device_, config_, s);
  }
}

Model::Model(const config::ModelConfig& config, device::Device& device, Share share, NoWords)
    : config_(config), device_(device), share_(std::move(share)) {}

std::optional<ops::RotaryTables> Model::rows_of(Context& context, const ops::RotaryTables& tables,
                                                Index s) {
  if (!tables.cos) {
    return std::nullopt;
  }
  if (context.cached != nullptr) {
    return ops::rotary_rows(context, tables, context.cached->positions);
  }
  return ops::rotary_rows(context, tables, {.map = context.position.sequence, .length = s});
}

tensor::Tensor Model::query_factor_rows(Context& context, Index s) const {
  if (!query_factors_) {
    return {};
  }
  return context.cached != nullptr
             ? ops::position_rows(context, query_factors_, context.cached->positions)
             : ops::position_rows(context, query_factors_,
                                  {.map = context.position.sequence, .length = s});
}

Index Model::whole_rows(const Var& x) const {
  const ops::TensorParallel shared = tensor_parallel();
  return x.shape()[0] * (shared.cuts_sequence() ? shared.size() : 1);
}

nn::Builder Model::builder(const std::string& prefix) const {
  // Beside a language model that sees images stand its tower and projector.
  return nn::Builder({config_, share_.groups, *share_.parameters},
                     (config_.vlm ? "language_model." : "") + prefix);
}

ops::TensorParallel Model::tensor_parallel() const {
  return {share_.groups.tensor.get(), share_.groups.sequence_parallel, config_.tp_comm_overlap};
}

Var Model::predict(Context& /*context*/, Index depth, const Var& /*hidden*/,
                   const Batch& /*batch*/) const {
  MPITRON_CHECK(false, depth, config_.num_layers);
  return {};
}

void Model::encode(Context& /*context*/, const Batch& /*batch*/) const {
  MPITRON_CHECK(false, config_.num_layers);
}

tensor::Tensor Model::see(Context& /*context*/, std::span<const float> tiles) const {
  MPITRON_CHECK(false, tiles.size(), config_.num_layers);
  return {};
}

void Model::make_output_weight() {
  if (config_.untie_embeddings_and_output_weights) {
    const nn::Builder layer = builder("output_layer.");
    const Index rows = config_.padded_vocab_size;
    output_weight_ =
        &layer.linear_weight("weight", rows, config_.hidden_size, layer.piece(0, rows));
    output_weight_->role.embedding_or_output = true;
  } else if (embedding_) {
    output_weight_ = &embedding_->word_embeddings();
  } else {
    // The last stage's copy of the first stage's table starts with the same values: same name.
    output_weight_ = &nn::make_word_embeddings(builder("embedding."));
    share_over_stages(*output_weight_);
  }
}

void Model::share_over_stages(Parameter& words) const {
  const bool used_at_both_ends =
      !config_.text_head &&
      (!config_.untie_embeddings_and_output_weights || config_.mtp_num_layers.value_or(0) > 0);
  words.placement.shared_over_stages =
      used_at_both_ends && part().has_embedding != part().has_output;
  words.placement.counted_elsewhere = !part().has_embedding;
}

void Model::make_output_bias(const std::string& name) {
  const nn::Builder layer = builder("");
  const Index rows = config_.padded_vocab_size;
  output_bias_ = layer.bias(name, rows, true, layer.piece(0, rows));
}

Var Model::local_logits(Context& context, const Var& x) const {
  MPITRON_CHECK(output_weight_ != nullptr, part().first_layer, part().num_layers);
  // The factor of muP on logits.
  const Var input = config_.mup ? ops::scaled(context, x, config_.mup->output_factor) : x;
  const Var logits =
      ops::column_parallel_linear(context, input, *output_weight_, output_bias_, tensor_parallel());
  const auto bound = config_.final_logit_softcapping;
  return bound ? ops::soft_capped(context, logits, *bound) : logits;
}

Var Model::whole_logits(Context& context, const Var& x) const {
  return ops::gather_from_tp(context, local_logits(context, x), *groups().tensor);
}

Var Model::token_losses(Context& context, const Var& x, const tensor::Tensor& labels) const {
  return ops::vocab_parallel_cross_entropy(context, local_logits(context, x), labels,
                                           tensor_parallel());
}

void Model::initialize() {
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
    autograd::pack_kept_weight(device_, parameter);
  }
  clear_buffers();
}

void Model::allocate() {
  for (Parameter& parameter : *share_.parameters) {
    ops::allocate(device_, parameter, config_.params_dtype);
  }
  clear_buffers();
}

void Model::clear_buffers() {
  for (autograd::Buffer& buffer : share_.parameters->buffers()) {
    ops::initialize(device_, buffer);
  }
}

}  // namespace mpitron::models
