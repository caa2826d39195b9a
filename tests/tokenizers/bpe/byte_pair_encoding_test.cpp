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

// Plain BPE as the paper writes it: the lowest-ranked pair anywhere, leftmost first, until none is
// left.
TokenIds merge_naively(const BpeModel& model, std::string_view piece) {
  TokenIds ids;
  for (const char c : piece) {
    ids.push_back(model.byte_ids[static_cast<unsigned char>(c)]);
  }
  for (const BpeModel::Merge& merge : model.merges) {
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      if (ids[i] == merge.left && ids[i + 1] == merge.right) {
        ids[i] = merge.result;
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  return ids;
}

TEST(BytePairEncoding, ShortAndLongPiecesEqualTheNaiveAlgorithm) {
  const BpeModel model = load_bpe_model(golden_tokenizer_dir() / "gpt2/vocab.json",
                                        golden_tokenizer_dir() / "gpt2/merges.txt");
  std::mt19937_64 random(13);
  for (int i = 0; i < 40; ++i) {
    std::string piece;
    for (std::size_t n = 1 + random() % 130; n > 0; --n) {
      piece += "etaoinshrdlu"[random() % 12];
    }
    TokenIds ids;
    gpt2_tokenizer().merge(piece, ids);
    ASSERT_EQ(ids, merge_naively(model, piece)) << piece;
  }
}

TEST(BytePairEncoding, VeryLongPiecesTakeNoQuadraticTime) {
  const std::string text(4'000'000, 'a');
  EXPECT_EQ(gpt2_tokenizer().decode(gpt2_tokenizer().encode(text)), text);
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
