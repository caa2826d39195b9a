#pragma once
#include <algorithm>

#include "data/gpt/fim_dataset.h"
#include "data/index/numpy_random.h"
#include "utils/text/utf8.h"

namespace mpitron::data {

/// Runs through one sample's text.
class FimPermutation {
 public:
  using TokenIds = tokenizers::TokenIds;
  using Tokens = std::vector<std::int64_t>;
  using TokenSpan = std::span<const std::int64_t>;

  FimPermutation(const FimOptions& options, RandomState& random)
      : options_(options), random_(random), cache_(options.tokenizer->make_cache()) {}

  /// Permutes the text between two ends of documents; fragments of it by themselves, where it has
  /// some.
  void add_part(TokenSpan part) {
    const double rate = options_.config.rate;
    if (!options_.split || std::ranges::find(part, *options_.split) == part.end()) {
      add_cut(part, rate);
    } else if (random_.bernoulli(rate)) {
      for_each_part(part, *options_.split, [this](TokenSpan fragment) {
        add_cut(fragment, options_.config.fragment_rate.value_or(0));
      });
    } else {
      append(part);
    }
  }

  /// Calls `body` for the parts between separators, which follow as they are; empty parts are left
  /// out with theirs.
  template <class Body>
  void for_each_part(TokenSpan text, std::int64_t separator, const Body& body) {
    for (auto end = std::ranges::find(text, separator); end != text.end();
         end = std::ranges::find(text, separator)) {
      const auto length = static_cast<std::size_t>(end - text.begin());
      if (length > 0) {
        body(text.first(length));
        result_.push_back(separator);
      }
      text = text.subspan(length + 1);
    }
    body(text);
  }

  Tokens take() { return std::move(result_); }

 private:
  void append(TokenSpan tokens) { result_.insert(result_.end(), tokens.begin(), tokens.end()); }

  void append_text(std::string_view text) {
    TokenIds ids;
    options_.tokenizer->encode_part(text, *cache_, ids);
    result_.insert(result_.end(), ids.begin(), ids.end());
  }

  /// Cuts a part at two characters: tokens are decoded and each piece encoded again, since a cut
  /// within a token needs other tokens.
  void add_cut(TokenSpan part, double rate) {
    if (!random_.bernoulli(rate)) {
      return append(part);
    }
    const TokenIds ids(part.begin(), part.end());
    const std::string text = replace_invalid_utf8(options_.tokenizer->decode(ids));
    const std::string& untouched = options_.config.no_prefix;
    if (!untouched.empty() && text.starts_with(untouched)) {
      return append(part);
    }
    const std::vector<std::size_t> characters = begins_of_characters(text);
    const auto draw = [&] {
      return characters[static_cast<std::size_t>(
          random_.randint(0, static_cast<std::int64_t>(characters.size())))];
    };
    const std::size_t first = draw(), second = draw();
    const auto [begin, end] = std::minmax(first, second);
    add_pieces(std::string_view(text).substr(0, begin),
               std::string_view(text).substr(begin, end - begin),
               std::string_view(text).substr(end));
  }

  /// Returns where characters of UTF-8 begin, and the end of the last one: places to cut at.
  static std::vector<std::size_t> begins_of_characters(const std::string& text) {
    std::vector<std::size_t> begins;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U) {
        begins.push_back(at);
      }
    }
    begins.push_back(text.size());
    return begins;
  }

  /// Writes prefix, suffix, middle with their marks; in the other order, SPM, the marks stand first
  /// and prefix and middle are one stretch.
  void add_pieces(std::string_view prefix, std::string_view middle, std::string_view suffix) {
    const bool suffix_first = random_.bernoulli(options_.config.spm_rate);
    result_.push_back(options_.prefix);
    if (!suffix_first) {
      append_text(prefix);
    }
    result_.push_back(options_.suffix);
    append_text(suffix);
    result_.push_back(options_.middle);
    if (suffix_first) {
      append_text(prefix);
    }
    append_text(middle);
  }

  const FimOptions& options_;
  RandomState& random_;
  std::unique_ptr<tokenizers::Tokenizer::Cache> cache_;
  Tokens result_;
};

}  // namespace mpitron::data
