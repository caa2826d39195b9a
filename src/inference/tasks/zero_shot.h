#pragma once
#include <string>
#include <vector>

#include "inference/tasks/window_scorer.h"

namespace mpitron::inference {

/// A text cut into windows that overlap, so that most tokens are predicted from many others.
struct OverlappingWindows {
  std::vector<TextWindow> windows;
  Index count = 0;  // as the reference counts them, with those at the end that score nothing
};

/// Windows of `length` predictions, a new one every `stride` tokens; behind the first only the last
/// `stride` predictions count, so every token but the first counts once.
OverlappingWindows overlapping_windows(const tokenizers::TokenIds& tokens, Index length,
                                       Index stride);

/// Perplexity of a text, per token and per word of the text before it was joined.
struct PerplexityResult {
  double loss = 0;  // sum
  Index targets = 0, windows = 0, tokens = 0, words = 0;

  double average() const { return loss / static_cast<double>(targets); }
  double token_ratio() const;
  /// Cut off at exp(20), as the reference does.
  double perplexity() const;
  double adjusted_perplexity() const;
  /// The reference's line without the dashes.
  std::string line(const std::string& task) const;
};

/// Measures a text file; `path` chooses how words are joined (detokenize_corpus). Error(data) where
/// it has fewer than two tokens or two words.
PerplexityResult perplexity(const WindowScorer& scorer, const tokenizers::Tokenizer& tokenizer,
                            const std::string& path, Index length, Index stride);

/// How many last words a model guesses.
struct CompletionResult {
  std::vector<bool> correct;  // of each example
  Index cut = 0;              // examples that were longer than the window

  Index number_correct() const;
  std::string line(const std::string& task) const;
};

/// A line of a LAMBADA file, to be completed. `strict`: the last word by white space, else the last
/// token. Error(data) where there is nothing to predict or to predict it from.
TextWindow completion_window(const tokenizers::Tokenizer& tokenizer, const std::string& text,
                             bool strict);

/// Measures a JSONL file with the field `text`. `length`: predictions of a window; of longer texts
/// the end is kept. Error(data) names file and line.
CompletionResult completion_accuracy(const WindowScorer& scorer,
                                     const tokenizers::Tokenizer& tokenizer,
                                     const std::string& path, Index length, bool strict);

}  // namespace mpitron::inference
