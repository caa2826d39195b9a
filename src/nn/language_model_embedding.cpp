#include "nn/language_model_embedding.h"

#include "ops/bias_dropout_add.h"
#include "ops/cast.h"

namespace mpitron::nn {

using autograd::Var;

Parameter& make_word_embeddings(const Builder& builder) {
  return builder.embedding("word_embeddings.weight", builder.config().padded_vocab_size,
                           builder.config().hidden_size);
}

LanguageModelEmbedding::LanguageModelEmbedding(const Builder& builder)
    : hidden_dropout_(builder.config().hidden_dropout),
      fp32_residual_(builder.config().fp32_residual_connection),
      words_(&make_word_embeddings(builder)) {
  const config::ModelConfig& config = builder.config();
  if (config.position_embedding_type == config::PositionEmbedding::learned_absolute) {
    positions_ = &builder.embedding("position_embeddings.weight", config.max_position_embeddings,
                                    config.hidden_size);
  }
}

Var LanguageModelEmbedding::forward(autograd::Context& context,
                                    const ops::EmbeddingInputs& inputs) const {
  Var x = ops::embedding(context, inputs, *words_, positions_);
  if (fp32_residual_) {
    x = ops::cast(context, x, DType::f32);
  }
  const auto mask = ops::dropout_mask(context, hidden_dropout_, 0,
                                      static_cast<std::uint32_t>(DropoutSite::embedding));
  return mask.active() ? ops::bias_dropout_add(context, x, nullptr, {}, mask) : x;
}

}  // namespace mpitron::nn
