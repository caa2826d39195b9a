#include "inference/templates/infill_prompt.h"

#include <gtest/gtest.h>

#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace infill_prompt_test {

/// Knows three special tokens behind the ids of its texts.
class InfillTokenizer : public tokenizers::NullTokenizer {
 public:
  using NullTokenizer::NullTokenizer;
  void encode_part(std::string_view text, Cache& cache, tokenizers::TokenIds& ids) const override {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (text == kNames[i]) {
        ids.push_back(static_cast<tokenizers::TokenId>(10 + i));
        return;
      }
    }
    NullTokenizer::encode(text.starts_with('<') ? "" : text, cache, ids);
  }
  std::string decode(std::span<const tokenizers::TokenId> ids) const override {
    return ids[0] >= 10 ? kNames[static_cast<std::size_t>(ids[0] - 10)]
                        : NullTokenizer::decode(ids);
  }

 private:
  static constexpr std::array<const char*, 3> kNames = {"<fim_prefix>", "<fim_suffix>",
                                                        "<fim_middle>"};
};

TEST(InfillPrompt, LiesBetweenTheTokensOfAFamily) {
  EXPECT_EQ(infill_prompt(InfillTokenizer(20), "1 2", "3"),
            (tokenizers::TokenIds{10, 1, 2, 11, 3, 12}));
}

TEST(InfillPrompt, NeedsTheTokens) {
  class Plain : public tokenizers::NullTokenizer {
   public:
    using NullTokenizer::NullTokenizer;
    void encode_part(std::string_view /*text*/, Cache& /*cache*/,
                     tokenizers::TokenIds& ids) const override {
      ids = {1, 2};
    }
  };
  EXPECT_EQ(infill_prompt(Plain(20), "1", "2"), std::nullopt);
}

}  // namespace infill_prompt_test
}  // namespace mpitron::inference
