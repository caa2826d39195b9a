#include "data/gpt/fim_dataset.h"

#include <algorithm>

#include "data/index/numpy_random.h"
#include "tokenizers/core/single_token.h"
#include "utils/error.h"
#include "utils/numbers/philox.h"
#include "utils/text/utf8.h"

// Filling in the middle (Bavarian et al. 2022) as the reference does it: draws are made in its
// order, so that the same state of the generator cuts a text at the same characters. Each sample
// has a generator of its own here.

namespace mpitron::data {
namespace {

using tokenizers::TokenId;
using tokenizers::TokenIds;
using Tokens = std::vector<std::int64_t>;
using TokenSpan = std::span<const std::int64_t>;

/// Returns the one id that stands for the text alone, whether or not texts may name it.
std::optional<TokenId> find_token(const tokenizers::Tokenizer& tokenizer, const std::string& text) {
  if (const auto named = tokenizers::single_token(tokenizer, text)) {
    return named;
  }
  for (Index id = 0; id < tokenizer.vocab_size(); ++id) {
    const auto token = static_cast<TokenId>(id);
    if (tokenizer.decode({&token, 1}) == text) {
      return token;
    }
  }
  return std::nullopt;
}

/// Runs through one sample's text.
class Permutation {
 public:
  Permutation(const FimOptions& options, RandomState& random)
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

}  // namespace

FimOptions make_fim_options(const config::FimConfig& config, Index seed,
                            const tokenizers::Tokenizer& tokenizer) {
  FimOptions options{.config = config, .split = {}, .seed = seed, .tokenizer = &tokenizer};
  const auto need = [&](const char* option, const std::string& text) {
    const std::optional<TokenId> token = find_token(tokenizer, text);
    if (!token) {
      throw_usage("--fim-{} {}: {} has no such token; name one that its vocabulary has", option,
                  text, tokenizer.name());
    }
    return *token;
  };
  options.prefix = need("prefix-token", config.prefix_token);
  options.middle = need("middle-token", config.middle_token);
  options.suffix = need("suffix-token", config.suffix_token);
  options.pad = need("pad-token", config.pad_token);
  options.eod = need("eod-token", config.eod_token);
  if (config.split_sample) {
    options.split = need("split-sample", *config.split_sample);
  }
  return options;
}

Tokens fill_in_the_middle(TokenSpan tokens, const FimOptions& options, RandomState& random) {
  Permutation permutation(options, random);
  permutation.for_each_part(tokens, options.eod,
                            [&](TokenSpan part) { permutation.add_part(part); });
  return permutation.take();
}

FimDataset::FimDataset(std::shared_ptr<const Dataset> base, FimOptions options)
    : base_(std::move(base)), options_(std::move(options)) {}

/// Permutes the tokens of a sample; what the corpus lacks (negative ids) stays padding of the data
/// set's. A text that became longer is cut, a shorter one padded with the pad token.
void FimDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  base_->read(sample, tokens);
  const auto held = static_cast<std::size_t>(
      std::ranges::find_if(tokens, [](std::int64_t token) { return token < 0; }) - tokens.begin());
  const auto number = static_cast<std::uint64_t>(sample);
  RandomState random(Philox::generate(
      {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), 0, 0},
      {static_cast<std::uint32_t>(options_.seed), 0})[0]);
  const Tokens text = fill_in_the_middle(tokens.first(held), options_, random);
  const std::size_t kept = std::min(text.size(), held);
  std::copy_n(text.begin(), kept, tokens.begin());
  std::fill(tokens.begin() + static_cast<std::ptrdiff_t>(kept),
            tokens.begin() + static_cast<std::ptrdiff_t>(held), options_.pad);
}

}  // namespace mpitron::data
