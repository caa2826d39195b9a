#pragma once
#include "nn/base/branch.h"
#include "nn/base/builder.h"
#include "ops/elementwise/embedding.h"

namespace mpitron::nn {

/// The table of word embeddings, which a tied output layer shares.
Parameter& make_word_embeddings(const Builder& builder);

/// Ids that are embedded; all [s, b], int64.
struct EmbeddedTokens {
  tensor::Tensor ids;
  tensor::Tensor position_ids = {};  // only with learned positions
  tensor::Tensor types = {};         // only with token types
  DropoutSite site = DropoutSite::embedding;
  std::uint32_t layer = 0;  // whose random numbers dropout draws; 0: outside the layers
};

/// Word embeddings plus learned positions and token types where the model has them, then dropout;
/// fp32 with `--fp32-residual-connection`.
class LanguageModelEmbedding {
 public:
  /// `token_types`: rows of their table; 0: there is none.
  explicit LanguageModelEmbedding(const Builder& builder, Index token_types = 0);

  autograd::Var forward(autograd::Context& context, const EmbeddedTokens& tokens) const;
  Parameter& word_embeddings() const { return *words_; }

 private:
  Parameter* small_table(const Builder& builder, const std::string& name, Index rows) const;
  autograd::Var words_and_positions(autograd::Context& context, const EmbeddedTokens& tokens) const;
  /// x plus rows of a table that every rank has; of ids [s, b] those of this rank's piece of s.
  autograd::Var add_rows(autograd::Context& context, const autograd::Var& x, tensor::Tensor ids,
                         Parameter& table) const;

  ops::TensorParallel shared_;
  double hidden_dropout_;
  bool fp32_residual_;
  double factor_;  // of muP, and the root of the width
  Parameter* words_;
  Parameter* positions_ = nullptr;
  Parameter* types_ = nullptr;
};

}  // namespace mpitron::nn
