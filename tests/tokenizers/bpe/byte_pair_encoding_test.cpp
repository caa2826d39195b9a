#include "tokenizers/bpe/byte_pair_encoding.h"

#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tokenizers/golden_tokenizer.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

namespace mpitron::tokenizers {
namespace byte_pair_encoding_test {

TEST(BytePairEncoding, EqualsTheReferenceVectors) {
  std::ifstream file(golden_tokenizer_dir() / "gpt2_vectors.json");
  ASSERT_TRUE(file) << golden_tokenizer_dir();
  const auto vectors = nlohmann::json::parse(file)["vectors"];
  ASSERT_GE(vectors.size(), 373U);
  const auto cache = gpt2_tokenizer().make_cache();
  for (int pass = 0; pass < 2; ++pass) {  // the second pass answers from the cache
    for (const auto& vector : vectors) {
      TokenIds ids;
      const auto text = vector["text"].get<std::string>();
      gpt2_tokenizer().encode(text, *cache, ids);
      ASSERT_EQ(ids, vector["gpt2"].get<TokenIds>()) << vector["kind"] << ": " << text;
      ASSERT_EQ(gpt2_tokenizer().decode(ids), text);
    }
  }
}

TEST(BytePairEncoding, DecodeInvertsEncodeOnFuzzedText) {
  const auto cache = gpt2_tokenizer().make_cache();
  std::mt19937_64 random(11);
  TokenIds ids = {1, 2, 3};
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (std::size_t n = random() % 200; n > 0; --n) {
      const auto c =
          static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 0x110000 : ' ' + random() % 95);
      append_utf8(c >= 0xD800 && c < 0xE000 ? 'a' : c, text);
    }
    ids.resize(3);
    gpt2_tokenizer().encode(text, *cache, ids);
    ASSERT_EQ(gpt2_tokenizer().decode(std::span(ids).subspan(3)), text);
    ASSERT_EQ(TokenIds(ids.begin() + 3, ids.end()), gpt2_tokenizer().encode(text))
        << "with and without a warm cache";
  }
  EXPECT_EQ(ids[2], 3) << "encode appends";
}

TEST(BytePairEncoding, ForgettingKeepsTheIds) {  // far more distinct words than the cache holds
  const auto cache = gpt2_tokenizer().make_cache();
  for (int i = 0; i < 700'000; ++i) {
    const std::string word = "q" + std::to_string(i * 7919LL % 1'000'003) + "\xC3\xA9";
    TokenIds ids;
    gpt2_tokenizer().encode(word, *cache, ids);
    if (i % 97 == 0) {
      ASSERT_EQ(ids, gpt2_tokenizer().encode(word));
    }
  }
}

TEST(BytePairEncoding, SpecialTokensAreOrdinaryText) {
  EXPECT_EQ(gpt2_tokenizer().eod(), 50256);
  EXPECT_EQ(gpt2_tokenizer().vocab_size(), 50257);
  EXPECT_EQ(gpt2_tokenizer().encode("<|endoftext|>").size(), 7U);
  EXPECT_EQ(gpt2_tokenizer().decode(std::vector<TokenId>{50256}), "<|endoftext|>");
}

TEST(BytePairEncoding, RejectsIdsOutsideTheVocabulary) {
  for (const TokenId id : {-1, 50257}) {
    EXPECT_THROW(gpt2_tokenizer().decode(std::vector<TokenId>{id}), Error);
  }
}

TEST(BytePairEncoding, IdentityIsTheReferences) {
  const TokenizerIdentity identity = gpt2_tokenizer().identity();
  EXPECT_EQ(identity.class_name, "_GPT2BPETokenizer");
  EXPECT_EQ(identity.paths.size(), 2U);
  EXPECT_EQ(gpt2_tokenizer().fingerprint().size(), 32U);
}

}  // namespace byte_pair_encoding_test

}  // namespace mpitron::tokenizers
