#pragma once
#include <span>
#include <vector>

#include "models/base/model.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::inference {

/// Tokens of a text; each but the first is predicted from those before it.
struct TextWindow {
  tokenizers::TokenIds tokens;
  std::size_t first_scored = 1;  // the first token whose prediction counts
};

/// Keeps the last `length` + 1 tokens; false where that was all.
bool cut_front(TextWindow& window, std::size_t length);

/// What a model says of the counted tokens of a window.
struct WindowScore {
  double loss = 0;         // sum of -log p over the padded vocabulary, in nats
  std::size_t tokens = 0;  // counted
  bool greedy = true;      // each of them is the likeliest; the lowest id among equals
};

/// Scores given tokens by whole forward passes. Every rank that holds a part of the model calls it
/// with the same windows and gets the same scores; the model must have no pipeline stages.
class WindowScorer {
 public:
  /// `batch_size`: windows of one forward pass. `padding`: the token behind shorter windows, which
  /// changes no score.
  WindowScorer(device::Device& device, const models::Model& model, tokenizers::TokenId padding,
               Index batch_size)
      : device_(device), model_(model), padding_(padding), batch_size_(batch_size) {}

  /// One score for each window, in their order; a window has at most the model's sequence length
  /// and one more tokens.
  std::vector<WindowScore> score(std::span<const TextWindow> windows) const;

 private:
  void score_batch(std::span<const TextWindow> windows, std::vector<WindowScore>& scores) const;

  device::Device& device_;
  const models::Model& model_;
  const tokenizers::TokenId padding_;
  const Index batch_size_;
};

}  // namespace mpitron::inference
