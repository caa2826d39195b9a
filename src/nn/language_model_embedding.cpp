#include "nn/language_model_embedding.h"

#include "ops/bias_dropout_add.h"
#include "ops/cast.h"
#include "ops/parallel_linear.h"

namespace mpitron::nn {

using autograd::Var;

Parameter& make_word_embeddings(const Builder& builder) {
  return builder.embedding("word_embeddings.weight", builder.config().padded_vocab_size,
                           builder.config().hidden_size,
                           builder.piece(0, builder.config().padded_vocab_size));
}

LanguageModelEmbedding::LanguageModelEmbedding(const Builder& builder)
    : shared_(builder.tensor_parallel()),
      hidden_dropout_(builder.config().hidden_dropout),
      fp32_residual_(builder.config().fp32_residual_connection),
      words_(&make_word_embeddings(builder)) {
  const config::ModelConfig& config = builder.config();
  if (config.position_embedding_type == config::PositionEmbedding::learned_absolute) {
    positions_ = &builder.embedding("position_embeddings.weight", config.max_position_embeddings,
                                    config.hidden_size);
    positions_->sum_over_tensor = shared_.cuts_sequence();
  }
}

Var LanguageModelEmbedding::embedded(autograd::Context& context,
                                     const ops::EmbeddingInputs& inputs) const {
  if (!shared_.shared()) {
    return ops::embedding(context, inputs, *words_, positions_);
  }
  Var x = ops::sum_to_stream(context, ops::embedding(context, {inputs.ids, {}}, *words_, nullptr),
                             shared_);
  if (positions_ == nullptr) {
    return x;
  }
  tensor::Tensor ids = inputs.position_ids;
  if (shared_.cuts_sequence()) {
    const Index s_local = x.shape()[0];
    ids = ids.slice(0, shared_.rank() * s_local, (shared_.rank() + 1) * s_local);
  }
  const Var positions = ops::embedding(context, {ids, {}}, *positions_, nullptr);
  return ops::bias_dropout_add(context, x, nullptr, positions, {});
}

Var LanguageModelEmbedding::forward(autograd::Context& context,
                                    const ops::EmbeddingInputs& inputs) const {
  Var x = embedded(context, inputs);
  if (fp32_residual_) {
    x = ops::cast(context, x, DType::f32);
  }
  const auto mask =
      ops::local_mask(ops::dropout_mask(context, hidden_dropout_, 0,
                                        static_cast<std::uint32_t>(DropoutSite::embedding)),
                      shared_, x.shape()[0]);
  return mask.active() ? ops::bias_dropout_add(context, x, nullptr, {}, mask) : x;
}

}  // namespace mpitron::nn
