#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/index/numpy_random.h"
#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Tokens and word beginnings that masked language models must know of a vocabulary.
struct MaskedLmVocabulary {
  std::int64_t pad = 0;  // the reference pads types and masks with it, so 0 is the only sound value
  std::int64_t cls = 0;
  std::int64_t sep = 0;
  std::int64_t mask = 0;
  std::int64_t bos = 0;
  std::int64_t eos = 0;
  Index size = 0;               // ids that may replace a token: [0, size)
  std::vector<bool> continues;  // per id: goes on with the word before ("##..."); others begin one
  std::int64_t first_sentinel = 0;  // T5: [first, end) stand for masked spans
  std::int64_t end_sentinel = 0;

  bool continues_word(std::int64_t token) const {
    const auto id = static_cast<std::size_t>(token);
    return id < continues.size() && continues[id];
  }
};

/// Masked tokens next to each other: where they are and what they were, in the order of the text.
struct MaskedSpan {
  std::vector<Index> positions;
  std::vector<std::int64_t> tokens;
};

struct MaskingOptions {
  double probability = 0.15;  // share of the tokens
  Index target = 0;           // tokens that the sample wants: bounds the number masked, too
  Index max_words = 3;        // of a span
  bool geometric = false;     // words of a span: geometric(0.2), else n with weight 1/n
  /// Called for each masked token in the order they are chosen; returns what takes its place.
  /// Empty: the text stays.
  std::function<std::int64_t(std::int64_t)> replace;
};

/// Chooses spans of whole words in the order of the draws, and replaces their tokens.
/// Source: masked_dataset.py of the reference.
std::vector<MaskedSpan> mask_words(const MaskingOptions& options,
                                   const MaskedLmVocabulary& vocabulary,
                                   std::span<std::int64_t> text, RandomState& random);

}  // namespace mpitron::data
