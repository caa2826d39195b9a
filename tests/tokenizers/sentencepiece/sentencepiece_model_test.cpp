#include "tokenizers/sentencepiece/sentencepiece_model.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/families_folder.h"
#include "utils/system/files.h"

namespace mpitron::tokenizers {
namespace sentencepiece_model_test {

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

}  // namespace sentencepiece_model_test
}  // namespace mpitron::tokenizers
