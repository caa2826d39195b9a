#pragma once
#include <functional>
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

/// Scores of the counted tokens of a window.
struct WindowScore {
  double loss = 0;         // sum of -log p over the padded vocabulary, in nats
  std::size_t tokens = 0;  // counted
  bool greedy = true;      // each of them is the likeliest; the lowest id among equals
};

/// Texts of one forward pass and what follows each of their tokens, row-major.
struct TokenBatch {
  Index rows = 0, length = 0;
  std::vector<std::int64_t> tokens, labels;  // [rows, length]
};

/// Scores of each label in a pass; 0 where another rank tells it.
struct TokenScores {
  std::vector<double> losses;  // [rows, length]
  std::vector<double> misses;  // likewise; 1: another token is likelier
};

/// -log p of labels [s, b] and whether each is the likeliest, from logits [s, b, v], which this
/// overwrites; on the host, fp32.
struct LabelScores {
  tensor::Tensor losses, matches;  // [s, b]
};
LabelScores score_labels(device::Device& device, const tensor::Tensor& logits,
                         const tensor::Tensor& labels);

/// Scores given tokens by whole forward passes of windows of like lengths. Every rank that holds a
/// part of the model calls it with the same windows and gets the same scores.
class WindowScorer {
 public:
  struct Options {
    Index longest = 0;                // predictions of a window
    Index batch_size = 1;             // windows of one pass
    Index length_step = 64;           // lengths are multiples, so that a GPU plans for few of them
    tokenizers::TokenId padding = 0;  // behind shorter windows, where it changes no score
    Index replicas = 1, replica = 0;  // that share the passes, and which this rank belongs to
    /// Adds numbers up over all ranks; unset: this one has all of them.
    std::function<void(std::span<double>)> sum = {};
  };
  using Pass = std::function<void(const TokenBatch&, TokenScores&)>;
  /// `pass`: called equally often on every rank.
  WindowScorer(Options options, Pass pass) : options_(std::move(options)), pass_(std::move(pass)) {}
  /// Scores with a model that lies on this rank, or on all of a tensor parallel group.
  WindowScorer(device::Device& device, const models::Model& model, tokenizers::TokenId padding,
               Index batch_size);

  /// One score for each window, in their order; a window has at most `longest` and one more tokens.
  std::vector<WindowScore> score(std::span<const TextWindow> windows) const;

 private:
  /// `numbers`: loss and misses of each window.
  void score_batch(std::span<const TextWindow> windows, std::span<const std::size_t> chosen,
                   std::vector<double>* numbers) const;

  Options options_;
  Pass pass_;
};

}  // namespace mpitron::inference
