#include "tokenizers/sentencepiece/sentencepiece_normalizer.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::tokenizers {
namespace sentencepiece_normalizer_test {

std::string normalized(const SentencePieceModel& model, std::string_view text) {
  std::string out = "left over";
  SentencePieceNormalizer(model).normalize(text, out);
  return out;
}

TEST(SentencePieceNormalizer, SpacesBecomeMarksAndRunsOfThemOne) {
  SentencePieceModel model;
  EXPECT_EQ(normalized(model, "  a  b "), "\u2581a\u2581b");
  model.normalizer.add_dummy_prefix = false;
  EXPECT_EQ(normalized(model, "a b"), "a\u2581b");
  model.normalizer.remove_extra_whitespaces = false;
  EXPECT_EQ(normalized(model, "a  b"), "a\u2581\u2581b");
}

TEST(SentencePieceNormalizer, RefusesWhatIsNotUtf8) {
  EXPECT_NE(test::message_of([] { normalized({}, "a\xFF"); }), "");
}

}  // namespace sentencepiece_normalizer_test
}  // namespace mpitron::tokenizers
