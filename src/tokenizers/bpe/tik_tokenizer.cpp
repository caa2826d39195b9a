#include "tokenizers/bpe/tik_tokenizer.h"

#include <algorithm>
#include <set>

#include "tokenizers/bpe/tiktoken_file.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace {

struct Special {
  TokenId behind;  // id - number of ranks
  std::string_view text;
};

constexpr Special kGpt2Specials[] = {{0, kEndOfText}};
constexpr Special kCl100kSpecials[] = {{1, kEndOfText},
                                       {2, "<|fim_prefix|>"},
                                       {3, "<|fim_middle|>"},
                                       {4, "<|fim_suffix|>"},
                                       {20, "<|endofprompt|>"}};
constexpr Special kO200kSpecials[] = {{1, kEndOfText}, {20, "<|endofprompt|>"}};
constexpr Special kLlama3Specials[] = {
    {0, "<|begin_of_text|>"}, {1, "<|end_of_text|>"}, {6, "<|start_header_id|>"},
    {7, "<|end_header_id|>"}, {9, "<|eot_id|>"},      {255, "<|reserved_special_token_250|>"}};

struct Scheme {
  std::string_view name;  // the value of --tiktoken-pattern
  std::string_view pattern;
  std::span<const Special> specials;  // empty: Megatron's, in front of the ranks
  std::string_view eod;
};

constexpr std::string_view kMegatronEod = "</s>";
constexpr std::string_view kMegatronSpecials[] = {"<unk>", "<s>", kMegatronEod};
constexpr Index kMegatronVocabSize = Index{1} << 17;

constexpr Scheme kSchemes[] = {
    {"v1", kTiktokenV1Pattern, {}, kMegatronEod},
    {"v2", kTiktokenV2Pattern, {}, kMegatronEod},
    {"gpt2", kGpt2Pattern, kGpt2Specials, kEndOfText},
    {"cl100k", kCl100kPattern, kCl100kSpecials, kEndOfText},
    {"o200k", kO200kPattern, kO200kSpecials, kEndOfText},
    {"llama3", kCl100kPattern, kLlama3Specials, "<|end_of_text|>"},
};

const Scheme& scheme_of(const TokenizerOptions& options) {
  for (const Scheme& scheme : kSchemes) {
    if (options.tiktoken_pattern == scheme.name) {
      return scheme;
    }
  }
  constexpr std::string_view kAllowed =
      "v1 and v2 (Megatron's), gpt2, cl100k, o200k and llama3 (as published)";
  if (options.tiktoken_pattern.empty()) {
    throw_usage("--tokenizer-type TikTokenizer needs --tiktoken-pattern: allowed are {}", kAllowed);
  }
  throw_usage("--tiktoken-pattern {}: allowed are {}", options.tiktoken_pattern, kAllowed);
}

// The text of the special tokens in Megatron's order: those given, then numbered ones.
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

BpeModel published_model(const TokenizerOptions& options, const Scheme& scheme) {
  if (!options.tiktoken_special_tokens.empty()) {
    throw_usage("--tiktoken-special-tokens goes with --tiktoken-pattern v1 or v2; {} has its own",
                scheme.name);
  }
  const auto ranks = load_tiktoken_ranks(options.tokenizer_model, PairRanks::kMaxTokens);
  BpeModel model = bpe_model_of_ranks(ranks, 0);
  for (const Special& special : scheme.specials) {
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

// Python's str() of a list of strings, as the reference describes the tokenizer.
std::string python_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", word);
  }
  return words.empty() ? "None" : fmt::format("[{}]", text);
}

TokenizerIdentity identity_of(const TokenizerOptions& options, const Scheme& scheme) {
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
  const Scheme& scheme = scheme_of(options);
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
