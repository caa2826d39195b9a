#pragma once
#include "nn/branch.h"
#include "nn/builder.h"
#include "ops/embedding.h"

namespace mpitron::nn {

/// The table of word embeddings, which a tied output layer shares.
Parameter& make_word_embeddings(const Builder& builder);

/// Word embeddings plus learned positions where the model has them, then dropout; fp32 with
/// `--fp32-residual-connection`.
class LanguageModelEmbedding {
 public:
  explicit LanguageModelEmbedding(const Builder& builder);

  autograd::Var forward(autograd::Context& context, const ops::EmbeddingInputs& inputs) const;
  Parameter& word_embeddings() const { return *words_; }

 private:
  autograd::Var embedded(autograd::Context& context, const ops::EmbeddingInputs& inputs) const;

  ops::TensorParallel shared_;
  double hidden_dropout_;
  bool fp32_residual_;
  Parameter* words_;
  Parameter* positions_ = nullptr;
};

}  // namespace mpitron::nn
