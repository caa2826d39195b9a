#include "tokenizers/bpe/tik_tokenizer.h"

#include <algorithm>
#include <array>
#include <set>

#include "tokenizers/bpe/tiktoken_schemes.h"
#include "utils/error.h"

// Tokenizers of tiktoken's vocabularies: ranks, special tokens, and what the reference calls them.

namespace mpitron::tokenizers {

namespace {

/// Returns the texts of the special tokens in Megatron's order: those given, then numbered ones.
std::vector<std::string> megatron_specials(const TokenizerOptions& options) {
  std::vector<std::string> names = options.tiktoken_special_tokens;
  if (names.empty()) {
    names.assign(std::begin(kMegatronSpecials), std::end(kMegatronSpecials));
  }
  for (const std::string_view needed : kMegatronSpecials) {
    if (std::find(names.begin(), names.end(), needed) == names.end()) {
      throw_usage("--tiktoken-special-tokens {}: must include <unk> <s> </s>; {} is missing",
                  fmt::join(names, " "), needed);
    }
  }
  const Index count = options.tiktoken_num_special_tokens;
  if (count < static_cast<Index>(names.size())) {
    throw_usage("--tiktoken-num-special-tokens {}: there are {} special tokens; give {} or more",
                count, names.size(), names.size());
  }
  while (static_cast<Index>(names.size()) < count) {
    names.push_back(fmt::format("<SPECIAL_{}>", names.size()));
  }
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
    throw_usage("--tiktoken-special-tokens: a name appears twice");
  }
  return names;
}

/// Puts the special tokens in front of the ranks. The file may hold more ranks than --vocab-size
/// leaves room for, the others are cut off as the reference does; fewer are an error.
BpeModel megatron_model(const TokenizerOptions& options) {
  const Index vocab_size = options.vocab_size > 0 ? options.vocab_size : kMegatronVocabSize;
  const Index count = options.tiktoken_num_special_tokens;
  if (count >= vocab_size) {
    throw_usage("--tiktoken-num-special-tokens {} must be less than --vocab-size {}", count,
                vocab_size);
  }
  const std::vector<std::string> specials = megatron_specials(options);
  const auto ranks = load_tiktoken_ranks(options.tokenizer_model, vocab_size - count);
  const auto found = static_cast<Index>(ranks.size());
  if (found < vocab_size - count) {
    throw_data(
        "--tokenizer-model {}: has {} tokens, but --vocab-size {} needs {} besides the {} special "
        "ones; give --vocab-size {}",
        options.tokenizer_model, found, vocab_size, vocab_size - count, count, found + count);
  }
  BpeModel model = bpe_model_of_ranks(ranks, static_cast<TokenId>(count));
  std::copy(specials.begin(), specials.end(), model.tokens.begin());
  return model;
}

/// Puts the special tokens behind the ranks; gaps between them are named as unused.
BpeModel published_model(const TokenizerOptions& options, const TiktokenScheme& scheme) {
  if (!options.tiktoken_special_tokens.empty()) {
    throw_usage("--tiktoken-special-tokens goes with --tiktoken-pattern v1 or v2; {} has its own",
                scheme.name);
  }
  const auto ranks = load_tiktoken_ranks(options.tokenizer_model, PairRanks::kMaxTokens);
  BpeModel model = bpe_model_of_ranks(ranks, 0);
  for (const TiktokenSpecial& special : scheme.specials) {
    while (model.tokens.size() < ranks.size() + static_cast<std::size_t>(special.behind)) {
      model.tokens.push_back(fmt::format("<|unused_{}|>", model.tokens.size()));
    }
    model.tokens.emplace_back(special.text);
  }
  const auto size = static_cast<Index>(model.tokens.size());
  if (options.vocab_size > 0 && options.vocab_size != size) {
    throw_usage("--vocab-size {}: --tokenizer-model {} has {} tokens, special ones included",
                options.vocab_size, options.tokenizer_model, size);
  }
  return model;
}

/// Writes what Python's str() makes of a list of strings: the reference hashes that text.
std::string python_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", word);
  }
  return words.empty() ? "None" : fmt::format("[{}]", text);
}

/// Returns the class, files and parameters by which the reference's caches know a tokenizer.
TokenizerIdentity identity_of(const TokenizerOptions& options, const TiktokenScheme& scheme) {
  return {"CustomTikTokenizer",
          {options.tokenizer_model},
          {{"pattern", std::string(scheme.pattern)},
           {"vocab_size", options.vocab_size > 0 ? std::to_string(options.vocab_size) : "None"},
           {"num_special_tokens", std::to_string(options.tiktoken_num_special_tokens)},
           {"special_tokens", python_list(options.tiktoken_special_tokens)}}};
}

}  // namespace

std::unique_ptr<Tokenizer> make_tik_tokenizer(const TokenizerOptions& options) {
  if (options.tokenizer_model.empty()) {
    throw_usage(
        "--tokenizer-type TikTokenizer needs --tokenizer-model: a .json list of ranks as Megatron "
        "reads it, or a .tiktoken file");
  }
  const TiktokenScheme& scheme = scheme_of(options);
  BpeModel model =
      scheme.specials.empty() ? megatron_model(options) : published_model(options, scheme);
  model.pattern = scheme.pattern;
  // The special token, which comes after any ordinary one of the same bytes, or before all of them.
  const auto specials_end = scheme.specials.empty()
                                ? model.tokens.begin() + options.tiktoken_num_special_tokens
                                : model.tokens.end();
  const auto last = std::find(std::reverse_iterator(specials_end), model.tokens.rend(), scheme.eod);
  model.eod = static_cast<TokenId>(model.tokens.rend() - last - 1);
  return std::make_unique<TikTokenizer>(std::move(model), identity_of(options, scheme));
}

}  // namespace mpitron::tokenizers
