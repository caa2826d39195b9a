#include <algorithm>

#include "corpus/ngram_filter.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// Cuts a document where words of a test stand, at the ends of sentences.

namespace mpitron::corpus {
namespace {

constexpr std::string_view kSentenceEnds = ".!?";

/// Goes `characters` back from `at`, then back to the end of a sentence: one past it, or 0.
std::size_t end_of_first(std::string_view text, std::size_t at, Index characters) {
  while (at > 0 && characters > 0) {
    --at;
    characters -= !continues_character(text[at]);
  }
  while (at > 0 && kSentenceEnds.find(text[at]) == std::string_view::npos) {
    --at;
  }
  return at > 0 ? at + 1 : 0;
}

/// Goes `characters` on from `at`, then on to the end of a sentence: one past it, or the end.
std::size_t begin_of_second(std::string_view text, std::size_t at, Index characters) {
  while (at < text.size() && characters > 0) {
    ++at;
    characters -= at == text.size() || !continues_character(text[at]);
  }
  while (at < text.size() && kSentenceEnds.find(text[at]) == std::string_view::npos) {
    ++at;
  }
  return std::min(at + 1, text.size());
}

Index characters_in(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return !continues_character(c); });
}

}  // namespace

/// Cuts the surroundings of each hit out, from the left; no value where there are too many hits.
std::optional<std::vector<std::string_view>> NgramFilter::split(std::string_view text) const {
  std::vector<std::string_view> pieces;
  std::optional<Hit> hit = first_hit(text);
  if (!hit) {
    pieces.push_back(text);
    return pieces;
  }
  const auto keep = [&](std::string_view piece) {
    if (characters_in(piece) > options_.least_characters) {
      pieces.push_back(piece);
    }
  };
  for (Index splits = 1; hit; ++splits) {
    if (splits > options_.most_splits) {
      return std::nullopt;
    }
    keep(text.substr(0, end_of_first(text, hit->begin, options_.margin)));
    text.remove_prefix(begin_of_second(text, hit->end, options_.margin));
    hit = first_hit(text);
  }
  keep(text);
  return pieces;
}

}  // namespace mpitron::corpus
