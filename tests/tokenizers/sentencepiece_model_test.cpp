#include "tokenizers/sentencepiece_model.h"

#include <random>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/families_folder.h"
#include "tokenizers/sentencepiece.h"
#include "utils/files.h"

namespace mpitron::tokenizers {
namespace {

std::string golden_model(const std::string& name) {
  return read_file(families_folder() / name / "tokenizer.model");
}

TEST(SentencePieceModel, ReadsTheSpecialPieces) {
  const SentencePieceModel model = parse_sentencepiece_model(golden_model("sp_bpe_llama"));
  EXPECT_EQ(model.kind, SentencePieceModel::Kind::bpe);
  EXPECT_EQ(model.unknown, 0);
  EXPECT_EQ(model.bos, 1);
  EXPECT_EQ(model.eos, 2);
  EXPECT_EQ(model.pad, -1);
  EXPECT_TRUE(model.byte_fallback);
  EXPECT_EQ(model.byte_ids[0], 3);
  EXPECT_FALSE(model.normalizer.remove_extra_whitespaces);
  EXPECT_TRUE(model.normalizer.charsmap.empty());
}

TEST(SentencePieceModel, SaysWhatIsWrong) {
  EXPECT_NE(test::message_of([] { parse_sentencepiece_model("{}"); }).find("protobuf"),
            std::string::npos);
  EXPECT_NE(test::message_of([] { parse_sentencepiece_model(""); }).find("no pieces"),
            std::string::npos);
  EXPECT_NE(
      test::message_of([] { load_sentencepiece_model("/nowhere/x.model"); }).find("no such file"),
      std::string::npos);
}

// Broken bytes are refused with an Error or make a model that works; nothing else happens.
TEST(SentencePieceModel, SurvivesMutations) {
  std::mt19937 random(17);
  for (const char* name : {"sp_unigram_identity", "sp_bpe_user", "sp_unigram_nfkc"}) {
    const std::string good = golden_model(name);
    for (int round = 0; round < 60; ++round) {
      std::string bytes = good;
      for (std::size_t i = 1 + random() % 8; i > 0; --i) {
        // The pieces come first; the rest lies behind them.
        const std::size_t from = random() % 2 == 0 ? 0 : bytes.size() - bytes.size() / 20;
        bytes[from + random() % (bytes.size() - from)] = static_cast<char>(random());
      }
      if (random() % 4 == 0) {
        bytes.resize(random() % bytes.size());
      }
      try {
        const SentencePiece pieces(parse_sentencepiece_model(bytes));
        SentencePiece::Cache cache;
        TokenIds ids;
        pieces.encode("some text  with <sep> and ab 123 \u00e9\u4e2d", cache, ids);
        pieces.decode(ids);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::data);
      }
    }
  }
}

}  // namespace
}  // namespace mpitron::tokenizers
