#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "data/gpt/fim_dataset.h"
#include "data/index/numpy_random.h"

namespace mpitron::data::fim_samples {

using Tokens = std::vector<std::int64_t>;

/// Ids 0 to 255 are bytes; marks follow, which texts cannot name.
class ByteTokenizer : public tokenizers::Tokenizer {
 public:
  std::string_view name() const override { return "bytes"; }
  tokenizers::TokenizerIdentity identity() const override { return {}; }
  std::string fingerprint() const override { return "bytes"; }
  Index vocab_size() const override { return 256 + static_cast<Index>(std::size(kMarks)); }
  tokenizers::TokenId eod() const override { return 260; }
  std::vector<std::filesystem::path> files() const override { return {}; }
  void encode(std::string_view text, Cache&, tokenizers::TokenIds& ids) const override {
    for (const char c : text) {
      ids.push_back(static_cast<unsigned char>(c));
    }
  }
  std::string decode(std::span<const tokenizers::TokenId> ids) const override {
    std::string text;
    for (const tokenizers::TokenId id : ids) {
      text += id < 256 ? std::string(1, static_cast<char>(id))
                       : kMarks[static_cast<std::size_t>(id - 256)];
    }
    return text;
  }

 private:
  static constexpr const char* kMarks[] = {"<fim_prefix>", "<fim_middle>",  "<fim_suffix>",
                                           "<fim_pad>",    "<|endoftext|>", "<file>"};
};
inline constexpr std::int64_t kPrefix = 256, kMiddle = 257, kSuffix = 258, kPad = 259, kEod = 260,
                              kFile = 261;

inline const ByteTokenizer kBytes;

inline config::FimConfig config_of(double rate, double spm_rate) {
  return {.rate = rate,
          .spm_rate = spm_rate,
          .split_sample = {},
          .fragment_rate = {},
          .no_prefix = "",
          .prefix_token = "<fim_prefix>",
          .middle_token = "<fim_middle>",
          .suffix_token = "<fim_suffix>",
          .pad_token = "<fim_pad>",
          .eod_token = "<|endoftext|>"};
}

inline Tokens tokens_of(const std::string& text) {
  Tokens tokens;
  for (const char c : text) {
    tokens.push_back(static_cast<unsigned char>(c));
  }
  return tokens;
}

inline Tokens permuted(const Tokens& tokens, const config::FimConfig& config,
                       std::uint32_t seed = 1) {
  RandomState random(seed);
  return fill_in_the_middle(tokens, make_fim_options(config, 0, kBytes), random);
}

/// What stands behind a mark, up to the next one.
inline std::string behind(const Tokens& tokens, std::int64_t mark) {
  std::string text;
  for (auto at = std::ranges::find(tokens, mark); ++at != tokens.end() && *at < 256;) {
    text += static_cast<char>(*at);
  }
  return text;
}

}  // namespace mpitron::data::fim_samples
