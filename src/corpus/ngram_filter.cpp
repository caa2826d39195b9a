#include "corpus/ngram_filter.h"

#include <algorithm>
#include <set>

#include "tokenizers/text/unicode_classes.h"
#include "utils/error.h"
#include "utils/text/hash.h"
#include "utils/text/utf8.h"

// Decontamination: a hash table of the tasks' n-grams is looked up along each document; hits cut
// the document with a margin on both sides, up to ends of sentences (Brown et al. 2020, appendix
// C).

namespace mpitron::corpus {
namespace {

/// Adds a word to the hash of an n-gram; order counts.
std::uint64_t join(std::uint64_t hash, std::uint64_t word) {
  return (hash ^ word) * 0x9E3779B97F4A7C15 + (hash >> 29);
}

}  // namespace

NgramFilter::NgramFilter(const NgramOptions& options) : options_(options) {
  if (options.least_words < 1 || options.words < options.least_words) {
    throw_usage("--ngram-size {}: at least {} words are needed", options.words,
                options.least_words);
  }
}

/// Returns the runs of letters and digits as hashes of their lower case, with their place in the
/// text.
std::vector<NgramFilter::Word> NgramFilter::words_of(std::string_view text) {
  std::vector<Word> words;
  std::string word;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const Utf8Char next = at < text.size() ? decode_utf8(text.substr(at)) : Utf8Char{};
    const auto kind = tokenizers::char_class(next.code_point);
    const bool inside =
        next.bytes > 0 &&
        ((kind & (tokenizers::kLetter | tokenizers::kNumber)) != 0 || text[at] == '_');
    const auto bytes = static_cast<std::size_t>(std::max(next.bytes, 1));
    if (inside) {
      begin = word.empty() ? at : begin;
      const char c = text[at];
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
      word += text.substr(at + 1, bytes - 1);
    } else if (!word.empty()) {
      words.push_back({begin, at, hash64(word)});
      word.clear();
    }
    at += bytes;
  }
  return words;
}

/// Adds all n-grams of the text; one that is shorter than n counts as a whole.
void NgramFilter::add_task(std::string_view text) {
  const std::vector<Word> words = words_of(text);
  const Index length = std::min(options_.words, std::ssize(words));
  if (length < options_.least_words) {
    return;
  }
  for (Index first = 0; first + length <= std::ssize(words); ++first) {
    std::uint64_t hash = static_cast<std::uint64_t>(length);
    for (Index i = first; i < first + length; ++i) {
      hash = join(hash, words[static_cast<std::size_t>(i)].hash);
    }
    counts_.try_emplace(hash, 0);
  }
  if (std::ranges::find(lengths_, length) == lengths_.end()) {
    lengths_.push_back(length);
    std::ranges::sort(lengths_, std::greater());
  }
}

/// Calls visit(hash, first word, last word) until it returns true. Longer n-grams come first, so
/// that a cut takes all of them.
template <class Visit>
void NgramFilter::for_each_known(const std::vector<Word>& words, const Visit& visit) const {
  for (Index first = 0; first < std::ssize(words); ++first) {
    for (const Index length : lengths_) {
      if (first + length > std::ssize(words)) {
        continue;
      }
      std::uint64_t hash = static_cast<std::uint64_t>(length);
      for (Index i = first; i < first + length; ++i) {
        hash = join(hash, words[static_cast<std::size_t>(i)].hash);
      }
      if (counts_.contains(hash) && visit(hash, words[static_cast<std::size_t>(first)],
                                          words[static_cast<std::size_t>(first + length - 1)])) {
        return;
      }
    }
  }
}

/// Collects the hashes of those that the tasks have.
std::vector<std::uint64_t> NgramFilter::find(std::string_view text) const {
  std::set<std::uint64_t> found;
  for_each_known(words_of(text), [&](std::uint64_t hash, const Word&, const Word&) {
    found.insert(hash);
    return false;
  });
  return {found.begin(), found.end()};
}

void NgramFilter::count(const std::vector<std::uint64_t>& found) {
  for (const std::uint64_t hash : found) {
    ++counts_.at(hash);
  }
}

void NgramFilter::drop_idioms() {
  std::erase_if(counts_, [&](const auto& ngram) { return ngram.second > options_.most_documents; });
}

/// Returns the leftmost hit, so that what is in front of it can be kept.
std::optional<NgramFilter::Hit> NgramFilter::first_hit(std::string_view text) const {
  std::optional<Hit> hit;
  for_each_known(words_of(text), [&](std::uint64_t, const Word& first, const Word& last) {
    hit = Hit{first.begin, last.end};
    return true;
  });
  return hit;
}

}  // namespace mpitron::corpus
