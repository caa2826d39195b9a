#include "data/masked_lm/masked_lm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

// Chooses the tokens that are masked: whole words in a random order until the share is reached.
// What takes their place is the caller's.

namespace mpitron::data {
namespace {

constexpr double kStop = 0.2;  // of the geometric distribution

/// The words of a text by the positions of their tokens.
struct Words {
  std::vector<Index> positions;    // of all words, one after the other
  std::vector<std::size_t> begin;  // of each word in `positions`, and the end

  std::size_t size() const { return begin.size() - 1; }
  /// Returns the positions of up to `count` words from `first` on.
  std::span<const Index> span(std::size_t first, std::size_t count) const {
    const std::size_t end = begin[std::min(first + count, size())];
    return std::span(positions).subspan(begin[first], end - begin[first]);
  }
};

/// Finds the words: a piece that continues a word joins the word before, even across a separator.
Words find_words(std::span<const std::int64_t> text, const MaskedLmVocabulary& vocabulary) {
  Words words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == vocabulary.cls || text[i] == vocabulary.sep) {
      continue;
    }
    if (words.begin.empty() || !vocabulary.continues_word(text[i])) {
      words.begin.push_back(words.positions.size());
    }
    words.positions.push_back(static_cast<Index>(i));
  }
  words.begin.push_back(words.positions.size());
  return words;
}

/// Draws the number of words of a span.
class SpanLength {
 public:
  explicit SpanLength(const MaskingOptions& options) : options_(options) {
    for (Index n = 1; n <= options.max_words; ++n) {
      weights_.push_back(1.0 / static_cast<double>(n));
    }
    const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    for (double& weight : weights_) {
      weight /= total;
    }
  }

  Index draw(RandomState& random) const {
    return options_.geometric ? std::min(random.geometric(kStop), options_.max_words)
                              : 1 + random.choice(weights_);
  }

 private:
  const MaskingOptions& options_;
  std::vector<double> weights_;
};

/// Returns the number of tokens to mask, which need not be whole: the reference compares with an
/// unrounded product.
double masking_limit(const MaskingOptions& options, std::size_t tokens) {
  const double share = std::nearbyint(options.probability * static_cast<double>(tokens));
  return std::min(options.probability * static_cast<double>(options.target), std::max(1.0, share));
}

}  // namespace

std::vector<MaskedSpan> mask_words(const MaskingOptions& options,
                                   const MaskedLmVocabulary& vocabulary,
                                   std::span<std::int64_t> text, RandomState& random) {
  const Words words = find_words(text, vocabulary);
  const double limit = masking_limit(options, text.size());
  const SpanLength length(options);
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(std::span(order));
  std::vector<bool> masked(text.size());
  std::size_t count = 0;
  std::vector<MaskedSpan> spans;
  for (const std::size_t first : order) {
    if (static_cast<double>(count) >= limit) {
      break;
    }
    auto n = static_cast<std::size_t>(length.draw(random));
    while (n > 0 && static_cast<double>(count + words.span(first, n).size()) > limit) {
      --n;
    }
    const std::span<const Index> positions = words.span(first, n);
    const auto is_masked = [&](Index i) { return masked[static_cast<std::size_t>(i)]; };
    // A span that meets a masked word is given up, and its draw is lost: as in the reference.
    if (positions.empty() || std::any_of(positions.begin(), positions.end(), is_masked)) {
      continue;
    }
    MaskedSpan span{{positions.begin(), positions.end()}, {}};
    for (const Index position : positions) {
      const auto i = static_cast<std::size_t>(position);
      masked[i] = true;
      span.tokens.push_back(text[i]);
      text[i] = options.replace ? options.replace(text[i]) : text[i];
    }
    count += positions.size();
    spans.push_back(std::move(span));
  }
  return spans;
}

}  // namespace mpitron::data
