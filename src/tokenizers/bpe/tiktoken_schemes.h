#pragma once
#include <span>
#include <string_view>

#include "tokenizers/bpe/bpe_model.h"
#include "utils/error.h"

namespace mpitron::tokenizers {

/// A special token of a published vocabulary, by its distance from the first id behind the ranks.
struct TiktokenSpecial {
  TokenId behind;  // id - number of ranks
  std::string_view text;
};

/// Special tokens as tiktoken_ext/openai_public.py has them, and of Llama 3 those that its prompts
/// use.
inline constexpr TiktokenSpecial kGpt2Specials[] = {{0, kEndOfText}};
inline constexpr TiktokenSpecial kCl100kSpecials[] = {{1, kEndOfText},
                                                      {2, "<|fim_prefix|>"},
                                                      {3, "<|fim_middle|>"},
                                                      {4, "<|fim_suffix|>"},
                                                      {20, "<|endofprompt|>"}};
inline constexpr TiktokenSpecial kO200kSpecials[] = {{1, kEndOfText}, {20, "<|endofprompt|>"}};
inline constexpr TiktokenSpecial kLlama3Specials[] = {
    {0, "<|begin_of_text|>"}, {1, "<|end_of_text|>"}, {6, "<|start_header_id|>"},
    {7, "<|end_header_id|>"}, {9, "<|eot_id|>"},      {255, "<|reserved_special_token_250|>"}};

/// A value of --tiktoken-pattern: how text is split, and which special tokens there are.
struct TiktokenScheme {
  std::string_view name;  // the value of --tiktoken-pattern
  std::string_view pattern;
  std::span<const TiktokenSpecial> specials;  // empty: Megatron's, in front of the ranks
  std::string_view eod;
};

/// Megatron's defaults: names that must be among the special tokens, and a vocabulary of 2^17.
inline constexpr std::string_view kMegatronEod = "</s>";
inline constexpr std::string_view kMegatronSpecials[] = {"<unk>", "<s>", kMegatronEod};
inline constexpr Index kMegatronVocabSize = Index{1} << 17;

inline constexpr TiktokenScheme kSchemes[] = {
    {"v1", kTiktokenV1Pattern, {}, kMegatronEod},
    {"v2", kTiktokenV2Pattern, {}, kMegatronEod},
    {"gpt2", kGpt2Pattern, kGpt2Specials, kEndOfText},
    {"cl100k", kCl100kPattern, kCl100kSpecials, kEndOfText},
    {"o200k", kO200kPattern, kO200kSpecials, kEndOfText},
    {"llama3", kCl100kPattern, kLlama3Specials, "<|end_of_text|>"},
};

/// Returns the scheme that --tiktoken-pattern names; Error(usage) tells the allowed words.
inline const TiktokenScheme& scheme_of(const TokenizerOptions& options) {
  for (const TiktokenScheme& scheme : kSchemes) {
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

}  // namespace mpitron::tokenizers
