// Embeds tokens, positions and token types. Dropout is drawn by global position; with a cut
// sequence each rank looks up positions and types of its own rows only.
#include "nn/layers/language_model_embedding.h"

#include <cmath>

#include "ops/elementwise/bias_dropout_add.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/scaled.h"
#include "ops/linear/parallel_linear.h"

namespace mpitron::nn {

using autograd::Var;

Parameter& make_word_embeddings(const Builder& builder) {
  const Index rows = builder.config().padded_vocab_size;
  Parameter& words = builder.embedding("word_embeddings.weight", rows, builder.config().hidden_size,
                                       builder.piece(0, rows));
  words.role.embedding_or_output =
      true;  // other tables are not, as in the reference (LanguageModule)
  return words;
}

namespace {

/// The root of the width is rounded to the type of the embeddings, as Gemma's own code does.
double factor_of(const config::ModelConfig& config) {
  double factor = config.mup ? config.mup->embedding_factor : 1;
  if (config.scale_embeddings) {
    const double root = std::sqrt(static_cast<double>(config.hidden_size));
    const auto rounded = static_cast<float>(root);
    factor *= config.params_dtype == DType::bf16  ? static_cast<float>(BFloat16(rounded))
              : config.params_dtype == DType::f16 ? static_cast<float>(Float16(rounded))
                                                  : root;
  }
  return factor;
}

}  // namespace

LanguageModelEmbedding::LanguageModelEmbedding(const Builder& builder, Index token_types)
    : shared_(builder.tensor_parallel()),
      hidden_dropout_(builder.config().hidden_dropout),
      fp32_residual_(builder.config().fp32_residual_connection),
      factor_(factor_of(builder.config())),
      words_(&make_word_embeddings(builder)) {
  const config::ModelConfig& config = builder.config();
  if (config.position_embedding_type == config::PositionEmbedding::learned_absolute) {
    positions_ = small_table(builder, "position_embeddings.weight", config.max_position_embeddings);
  }
  if (token_types > 0) {
    types_ = small_table(builder, "tokentype_embeddings.weight", token_types);
  }
}

Parameter* LanguageModelEmbedding::small_table(const Builder& builder, const std::string& name,
                                               Index rows) const {
  Parameter& table = builder.embedding(name, rows, builder.config().hidden_size);
  table.placement.sum_over_tensor = shared_.cuts_sequence();
  return &table;
}

/// Each rank looks up its own rows of a cut sequence.
Var LanguageModelEmbedding::add_rows(autograd::Context& context, const Var& x, tensor::Tensor ids,
                                     Parameter& table) const {
  if (shared_.cuts_sequence()) {
    const Index s_local = x.shape()[0];
    ids = ids.slice(0, shared_.rank() * s_local, (shared_.rank() + 1) * s_local);
  }
  return ops::bias_dropout_add(context, x, nullptr,
                               ops::embedding(context, {ids, {}}, table, nullptr), {});
}

/// Each tensor parallel rank has some words of the table; what it lacks counts as zeros in the sum.
Var LanguageModelEmbedding::words_and_positions(autograd::Context& context,
                                                const EmbeddedTokens& tokens) const {
  if (!shared_.shared()) {
    return ops::embedding(context, {tokens.ids, tokens.position_ids}, *words_, positions_);
  }
  const Var words = ops::sum_to_stream(
      context, ops::embedding(context, {tokens.ids, {}}, *words_, nullptr), shared_);
  return positions_ == nullptr ? words : add_rows(context, words, tokens.position_ids, *positions_);
}

Var LanguageModelEmbedding::forward(autograd::Context& context,
                                    const EmbeddedTokens& tokens) const {
  Var x = words_and_positions(context, tokens);
  if (types_ != nullptr) {
    x = add_rows(context, x, tokens.types, *types_);
  }
  if (factor_ != 1) {
    x = ops::scaled(context, x, factor_);
  }
  if (fp32_residual_) {
    x = ops::cast(context, x, DType::f32);
  }
  const auto mask = ops::local_mask(ops::dropout_mask(context, hidden_dropout_, tokens.layer,
                                                      static_cast<std::uint32_t>(tokens.site)),
                                    shared_, x.shape()[0]);
  return mask.active() ? ops::bias_dropout_add(context, x, nullptr, {}, mask) : x;
}

}  // namespace mpitron::nn
